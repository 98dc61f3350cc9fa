# SPDX-License-Identifier: GPL-2.0-or-later
# Makefile - the only one. Everything it makes goes below build/.
#
# On Debian 13 with the packages of tests/vm/packages.list it builds natively.
# Elsewhere the same rules run in the Debian 13 root that `make deps` builds:
# one entry into it per goal, through tests/vm/enter.sh.
#
#   V=1                     show the commands
#   SAN=address,undefined   sanitizers, in a build directory of their own
#   WERROR=                 warnings do not stop the build
#   NATIVE=0|1              overrule the choice above
#   MIRROR=URI KERNELS=all  see tests/vm/root.sh

VERSION := 0.1.0
PREFIX ?= /usr
DESTDIR ?=

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
export LC_ALL := C.UTF-8

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

PACKAGES := libbpf libsystemd libmicrohttpd yaml-0.1 libprotobuf-c grpc libcgroup cmocka
PROGRAMS := clang-19 llvm-strip-19 bpftool protoc protoc-gen-c cc

NATIVE ?= $(shell . /etc/os-release 2>/dev/null; \
	[ "$$ID$${VERSION_ID:-}" = debian13 ] && pkg-config --exists $(PACKAGES) 2>/dev/null && \
	PATH=$$PATH:/usr/sbin && for p in $(PROGRAMS); do command -v $$p >/dev/null || exit; done && echo 1)
# Without git (in the root, in a guest) the last known one stays.
REVISION ?= $(or $(shell git describe --always --dirty 2>/dev/null), \
	$(shell sed -n 's/.*SCHEDD_REVISION "\(.*\)"/\1/p' build/gen/version.h 2>/dev/null),unknown)

# Goals that compile or look at the sources; the others are for the host.
GOALS := all tests check-unit check-style sim format lint fuzz

.PHONY: $(GOALS) help deps check check-bpf check-vm demo bench install clean distclean FORCE

all:          ## build/schedd and build/schedctl (the default)
tests:        ## build every test, benchmark and demo program
check-unit:   ## unit tests, simulation, style, arrows, manual pages: seconds, no root
check-style:  ## only the scripts of tests/check
sim:          ## compare the policies in virtual time: half a minute, build/sim; SIM="--help" for its options
format:       ## clang-format on FILES="..."
lint:         ## shellcheck, clang-tidy
fuzz:         ## build the fuzzers with clang, into build/fuzz

ifneq ($(NATIVE),1)
# ---------------------------------------------------------------------------
# Not native: enter the root.

.NOTPARALLEL:

# $(call enter,GOAL)
enter = tests/vm/enter.sh -- make --no-print-directory -j$(or $(JOBS),$(shell nproc)) NATIVE=1 \
	REVISION='$(REVISION)' $(foreach v,V SAN WERROR CFLAGS LDFLAGS SIM,$(if $(filter-out undefined default,$(origin $(v))),$(v)='$($(v))')) $1

$(GOALS): | root-if-root
	@$(call enter,$@)
build/%: FORCE | root-if-root
	@$(call enter,$@)

# Makes the root on the way where that is allowed; enter.sh says so elsewhere.
.PHONY: root-if-root
root-if-root:
	@[ "$$(id -u)" != 0 ] || tests/vm/root.sh
Makefile: ;

else
# ---------------------------------------------------------------------------
# The build proper.

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-7s %s\n' $1 $2)

CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
CLANG ?= clang-19
export PATH := $(PATH):/usr/sbin
# Warnings are errors with the compiler we know, the root's; elsewhere they are not.
WERROR ?= $(if $(wildcard /.schedd-root),1)

comma := ,
empty :=
space := $(empty) $(empty)
O ?= build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
GEN := build/gen
OBJ := $(O)/obj

CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes \
	-Wpointer-arith -Wformat=2 -Wno-format-truncation -Wvla $(if $(WERROR),-Werror) -fno-common -fPIE \
	-fstack-protector-strong -ffile-prefix-map=$(CURDIR)=. \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer,-D_FORTIFY_SOURCE=2) \
	-D_GNU_SOURCE -I. -I$(GEN) $(CFLAGS)
ALL_LDFLAGS = -pie -Wl,-z,relro,-z,now,--as-needed $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)
PKG_LIBS := $(shell pkg-config --libs libbpf libsystemd libmicrohttpd yaml-0.1 libprotobuf-c)
LIBS := $(PKG_LIBS) -lcgroup -lgrpc -lgpr -lm -pthread

# --- interfaces: protobuf ---

PROTOS := $(patsubst proto/%,%,$(sort $(shell find proto -name '*.proto' 2>/dev/null)))
# protobuf-c ships none of the well-known types compiled.
WELL_KNOWN := $(sort $(if $(PROTOS),$(shell grep -rhoE 'google/protobuf/[a-z_]+\.proto' proto)))
PROTO_C := $(patsubst %.proto,$(GEN)/%.pb-c.c,$(PROTOS) $(WELL_KNOWN))
PROTO_H := $(PROTO_C:.c=.h)
PROTO_OBJS := $(PROTO_C:$(GEN)/%.c=$(OBJ)/gen/%.o)
PROTOSET := $(GEN)/schedd.protoset

protoc = mkdir -p $(GEN) && protoc -Iproto -I/usr/include --c_out=$(GEN) $1

$(GEN)/%.pb-c.c $(GEN)/%.pb-c.h &: proto/%.proto
	$(call say,PROTOC,$<)
	$(Q)$(call protoc,$<)
$(GEN)/google/protobuf/%.pb-c.c $(GEN)/google/protobuf/%.pb-c.h &: /usr/include/google/protobuf/%.proto
	$(call say,PROTOC,$<)
	$(Q)$(call protoc,$<)
$(PROTOSET): $(PROTOS:%=proto/%)
	$(call say,PROTOC,$@)
	$(Q)mkdir -p $(@D) && protoc -Iproto -I/usr/include --include_imports --descriptor_set_out=$@ $^

# --- the BPF object, its skeleton, its hash ---

BPF_SOURCES := $(wildcard bpf/*.bpf.c bpf/*.h)
BPF_OBJECT := build/obj/schedd.bpf.o
BPF_CFLAGS := -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Werror -std=gnu11 \
	-ffile-prefix-map=$(CURDIR)=. -I. -isystem /usr/include/$(shell $(CC) -print-multiarch)

$(BPF_OBJECT): bpf/main.bpf.c $(BPF_SOURCES) Makefile
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@
	$(Q)llvm-strip-19 -g $@
$(GEN)/schedd.skel.h: $(BPF_OBJECT)
	$(call say,SKEL,$@)
	$(Q)mkdir -p $(@D) && bpftool gen skeleton $< name schedd_bpf >$@
$(GEN)/bpf_hash.h: $(BPF_OBJECT)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && printf '#define SCHEDD_BPF_HASH "%.16s"\n' "$$(sha256sum <$<)" >$@

# --- version ---

$(GEN)/version.h: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)printf '#define SCHEDD_VERSION "%s"\n#define SCHEDD_REVISION "%s"\n' '$(VERSION)' '$(REVISION)' >$@.new
	$(Q)cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# --- objects: the daemon, the CLI ---

CORE_SRCS := $(filter-out daemon/main.c,$(wildcard daemon/*.c daemon/base/*.c cgroup/*.c api/*.c)) $(wildcard api/*.S)
CTL_SRCS := $(filter-out api/ctl/main.c,$(wildcard api/ctl/*.c))
CORE_OBJS := $(patsubst %,$(OBJ)/%.o,$(basename $(CORE_SRCS))) $(PROTO_OBJS)
CTL_OBJS := $(patsubst %,$(OBJ)/%.o,$(basename $(CTL_SRCS)))
CORE := $(OBJ)/libscheddcore.a
CTL := $(OBJ)/libschedctl.a

# Order-only: the first build must have them, afterwards the .d files know better.
$(OBJ)/%.o: %.c | $(PROTO_H) $(GEN)/version.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
$(OBJ)/%.o: %.S $(PROTOSET)
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D) && $(CC) -fPIE -Wa,-I$(GEN) -c $< -o $@
# Generated code is not ours to warn about.
$(OBJ)/gen/%.o: $(GEN)/%.c | $(PROTO_H)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -w -MMD -MP -c $< -o $@

# Only what includes the skeleton or the hash waits for the BPF compiler.
WANT_BPF := $(shell grep -lE '"(schedd\.skel|bpf_hash)\.h"' $(wildcard daemon/*.c tests/*/*.c) /dev/null 2>/dev/null)
$(WANT_BPF:%.c=$(OBJ)/%.o): | $(GEN)/schedd.skel.h $(GEN)/bpf_hash.h

# rcs: replace and index, quietly; D: the same bytes again. From nothing, or a
# deleted source would live on as a member.
archive = rm -f $@ && mkdir -p $(@D) && $(or $(AR),ar) rcsD $@ $(filter %.o,$^)
$(CORE): $(CORE_OBJS)
	$(call say,AR,$@)
	$(Q)$(archive)
$(CTL): $(CTL_OBJS)
	$(call say,AR,$@)
	$(Q)$(archive)

link = mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) \
	-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)
$(O)/schedd: $(OBJ)/daemon/main.o $(CORE)
	$(call say,LD,$@)
	$(Q)$(link)
# gRPC goes into schedctl itself: loading its 70 shared libraries took nine tenths
# of a call's 30 ms (and seconds under emulation).  Without TLS, which it does not speak.
GRPC_STATIC = -Wl,-Bstatic -Wl,--start-group $(shell pkg-config --static --libs grpc_unsecure) \
	-laddress_sorting -lupb -lgpr -lz -lcares -Wl,--end-group -Wl,-Bdynamic -l:libstdc++.so.6
$(O)/schedctl: LIBS = $(shell pkg-config --libs libsystemd yaml-0.1 libprotobuf-c) $(GRPC_STATIC) -lm -pthread
$(O)/schedctl: $(OBJ)/api/ctl/main.o $(CTL) $(CORE)
	$(call say,LD,$@)
	$(Q)$(link)

all: $(if $(wildcard daemon/main.c),$(O)/schedd) $(if $(wildcard api/ctl/main.c),$(O)/schedctl)

# --- tests: tests/ROOM/NAME.c makes build/tests/ROOM/NAME ---
# unit and sim link against everything, and may #include a .c file to reach its
# statics: the archive's member is then left out. Files there that are not
# called test_* are help for all that are. The other rooms stand alone.

TESTS := $(O)/tests
CHECKED := $(sort $(wildcard tests/unit/test_*.c tests/sim/test_*.c))
HELP_OBJS := $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(CHECKED) tests/sim/sim.c,$(wildcard tests/unit/*.c tests/sim/*.c)))
HELP := $(OBJ)/libtesthelp.a
ALONE := $(filter-out %.bpf.c,$(sort $(wildcard tests/bench/*.c tests/demo/*.c tests/bpf/*.c tests/vm/*.c)))
CHECKED_PROGRAMS := $(CHECKED:%.c=$(O)/%)
ALONE_PROGRAMS := $(ALONE:%.c=$(O)/%)
TEST_BPF := $(patsubst %.c,build/%.o,$(wildcard tests/bpf/*.bpf.c))

# schedbench is a folder; its parts also serve the programs beside it, and their unit tests.
SCHEDBENCH := $(OBJ)/libschedbench.a
SCHEDBENCH_SRCS := $(filter-out %/main.c,$(wildcard tests/bench/schedbench/*.c))
SCHEDBENCH_PROGRAM := $(TESTS)/bench/schedbench

$(SCHEDBENCH): $(SCHEDBENCH_SRCS:%.c=$(OBJ)/%.o)
	$(Q)$(archive)
$(SCHEDBENCH_PROGRAM): $(OBJ)/tests/bench/schedbench/main.o $(SCHEDBENCH) $(CTL) $(CORE)
	$(call say,LD,$@)
	$(Q)$(link)
$(filter $(TESTS)/unit/test_schedbench_%,$(CHECKED_PROGRAMS)) $(patsubst %,$(TESTS)/bench/%,latprobe burst hog takeover): $(SCHEDBENCH)

$(HELP): $(HELP_OBJS)
	$(Q)$(archive)
$(CHECKED_PROGRAMS): $(O)/%: $(OBJ)/%.o $(HELP) $(CTL) $(CORE)
	$(call say,LD,$@)
	$(Q)$(link) -lcmocka
# These speak to the daemon, as schedctl does; the last measures a part of it.
$(O)/tests/bench/setclass $(O)/tests/bench/grant: $(CTL) $(CORE)
$(O)/tests/bench/allocbench: $(CORE)
$(ALONE_PROGRAMS): $(O)/%: $(OBJ)/%.o
	$(call say,LD,$@)
	$(Q)$(link)
build/tests/bpf/%.bpf.o: tests/bpf/%.bpf.c $(BPF_SOURCES)
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -c $< -o $@ && llvm-strip-19 -g $@

$(TESTS)/sim/sim: $(OBJ)/tests/sim/sim.o $(HELP) $(CORE)
	$(call say,LD,$@)
	$(Q)$(link)

tests: all $(CHECKED_PROGRAMS) $(ALONE_PROGRAMS) $(SCHEDBENCH_PROGRAM) $(TESTS)/sim/sim $(TEST_BPF)

CHECKS = $(wildcard tests/check/*.sh tests/check/*.py)
RUN := BUILD=$(O) tests/run.sh

check-unit: tests
	$(Q)$(RUN) unit $(CHECKED_PROGRAMS) $(CHECKS)
check-style:
	$(Q)$(RUN) style $(CHECKS)

# A missed target is the last to be said, after the plot of what missed it.
sim: $(TESTS)/sim/sim
	$(Q)mkdir -p $(O)/sim
	$(Q)status=0; $(TESTS)/sim/sim --out $(O)/sim $(SIM) | tee $(O)/sim/sim.txt || status=$$?; \
	if [ ! -s $(O)/sim/sim.tsv ]; then :; \
	elif command -v gnuplot >/dev/null; then \
		gnuplot -e "tsv='$(O)/sim/sim.tsv'" tests/sim/plot.gp >$(O)/sim/sim.svg; echo 'plot: $(O)/sim/sim.svg'; \
	else echo 'plot skipped: gnuplot is not installed (package gnuplot-nox)'; fi; \
	exit $$status

# --- fuzzers: everything again with clang, so that the coverage sees it ---

FUZZERS := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
$(FUZZERS): $(O)/%: $(OBJ)/%.o $(CTL) $(CORE)
	$(call say,LD,$@)
	$(Q)$(link) -fsanitize=fuzzer
fuzz:
	$(Q)$(MAKE) --no-print-directory NATIVE=1 CC=$(CLANG) SAN=fuzzer-no-link,address,undefined O=build/fuzz fuzzers
.PHONY: fuzzers
fuzzers: $(FUZZERS)

# --- style ---

SHELL_FILES = $(shell grep -rlE '^\#!.*\b(ba)?sh\b' tests deploy .ci 2>/dev/null | sort) tests/results.sh tests/vm/lib.sh

# Named files only: tables are aligned by hand, which it cannot.
format:
	$(Q)clang-format-19 -i $(or $(FILES),$(error FILES= is missing: make format FILES="daemon/new.c"))
lint: $(PROTO_H) $(GEN)/version.h $(GEN)/schedd.skel.h $(GEN)/bpf_hash.h
	$(call say,LINT,shellcheck)
	$(Q)shellcheck -x -P SCRIPTDIR -e SC2119 $(SHELL_FILES)
	$(call say,LINT,clang-tidy)
	$(Q)printf '%s\n' $(wildcard daemon/*.c daemon/base/*.c cgroup/*.c api/*.c api/ctl/*.c) | \
		xargs -r -P $$(nproc) -n 4 clang-tidy-19 --quiet --warnings-as-errors='*' \
			$(addprefix --extra-arg=,-std=gnu11 -D_GNU_SOURCE -I. -isystem $(GEN)) 2>/dev/null

-include $(shell find $(OBJ) build/obj -name '*.d' 2>/dev/null)

endif

# ---------------------------------------------------------------------------
# For the host, native or not.

SUB := $(MAKE) --no-print-directory

help:         ## this list
	@sed -nE 's/^([a-z-]+): *## (.*)/  make \1\t\2/p' Makefile | expand -t 20
	@echo
	@sed -nE 's/^#   ([A-Z].*)/  \1/p' Makefile
deps:         ## root: what everything needs, once about a minute, then a second
	@[ '$(NATIVE)' = 1 ] && echo 'deps: nothing to do, this Debian 13 has all that a build needs' || tests/vm/root.sh
check:        ## root: every test; counts at the end, logs in build/check-logs
	@tests/vm/root.sh
	@tests/check.sh
check-bpf:    ## root: the BPF object on every kernel of the root, each in a VM
	@tests/vm/root.sh
	@$(SUB) all
	@tests/bpf/load.sh
check-vm:     ## root: the VM scenarios; SCENARIOS="NAME..." chooses
	@tests/vm/root.sh
	@$(SUB) tests
	@tests/vm/check.sh $(SCENARIOS)
# Emulated, time is counted in instructions: real time there would show how busy the host is.
demo:         ## root: a real service and real batch work, with and without schedd
	@[ '$(NATIVE)' = 1 ] || tests/vm/root.sh
	@$(SUB) tests
	@if [ -d /sys/kernel/sched_ext ]; then $(if $(filter 1,$(NATIVE)),,tests/vm/enter.sh) tests/demo/demo.sh; \
	else tests/vm/run.sh --icount --quiet-start --timeout 1800 -- tests/demo/demo.sh --seconds 4; fi
bench:        ## root: schedd beside other schedulers, an hour; T="PART..." for a part, T=quick; build/bench/report.md
	@tests/vm/root.sh
	@$(SUB) tests
	@tests/bench/bench.sh $(T)

D = $(DESTDIR)$(PREFIX)
# $(call put,MODE,FILE,PLACE): nothing for a file that is not there.
put = $(if $(wildcard $2),install -D -m $1 $2 $(D)/$3)
install: all  ## DESTDIR= PREFIX=/usr: programs, manual pages, units, the default configuration
	install -D -m 755 build/schedd $(D)/sbin/schedd
	install -D -m 755 build/schedctl $(D)/bin/schedctl
	$(foreach m,$(wildcard man/*.[1-8]),install -D -m 644 $m $(D)/share/man/man$(patsubst .%,%,$(suffix $m))/$(notdir $m);)
	$(call put,644,deploy/schedd.service,lib/systemd/system/schedd.service)
	$(call put,644,deploy/schedd.socket,lib/systemd/system/schedd.socket)
	$(call put,644,deploy/schedd.yaml,lib/schedd/schedd.yaml)
	$(call put,644,deploy/schedd.sysusers,lib/sysusers.d/schedd.conf)
	$(call put,644,deploy/schedd.tmpfiles,lib/tmpfiles.d/schedd.conf)
	$(call put,644,deploy/completions/schedctl,share/bash-completion/completions/schedctl)
clean:        ## what the build made; the root stays
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name 'root*' -exec rm -rf {} +
distclean:    ## clean, and the root
	@rm -rf --one-file-system build
