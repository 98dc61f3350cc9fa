#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# guest_main.sh - in the guest: measure one part, into build/bench/raw/PART.jsonl
#
# usage: guest_main.sh PART     status 0; 1: something could not be measured; 3: host noise spoilt too much
part=$1
# Virtual time that counts instructions.
# shellcheck disable=SC2034 # for noise_begin
case $1 in
*icount | quick | services_redis) ICOUNT=yes ;;
*) ICOUNT= ;;
esac
# shellcheck source=tests/bench/guest_lib.sh
. "$(dirname "$0")/guest_lib.sh"
# shellcheck source=tests/bench/guest_parts.sh
. "$(dirname "$0")/guest_parts.sh"

[ -x "$schedbench" ] || { say "build/tests/bench/schedbench is missing: run 'make tests'"; exit 1; }
groups_make
"part_$part"
[ "$broken" = 0 ] || exit 1
[ "$inconclusive" = 0 ] || exit 3
