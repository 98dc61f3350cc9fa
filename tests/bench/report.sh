#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# report.sh - in the root: raw results -> results.jsonl -> report.md and its plots
#
# usage: report.sh FOLDER     FOLDER/raw holds what the guests wrote
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1

# plot NAME SCRIPT: $out/NAME.tsv as a picture, its columns in the order of the file.
plot() {
	local columns

	columns=$(cut -f1 "$out/$1.tsv" | awk '!seen[$1]++' | tr '\n' ' ')
	gnuplot -e "tsv='$out/$1.tsv'; columns='$columns'" "$here/$2" >"$out/$1.svg"
}

rm -f "$out"/*.tsv "$out"/*.svg
export PYTHONDONTWRITEBYTECODE=1
python3 "$here/results.py" "$out/raw" >"$out/results.jsonl"
python3 "$here/report.py" "$out/results.jsonl" "$out"
command -v gnuplot >/dev/null || { echo 'report.sh: no plots: gnuplot is not installed (package gnuplot-nox)' >&2; exit 0; }
for tsv in "$out"/*.tsv; do
	name=$(basename "$tsv" .tsv)
	case $name in
	cdf_*) plot "$name" cdf.gp ;;
	curve) plot "$name" curve.gp ;;
	esac
done
