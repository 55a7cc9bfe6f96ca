# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The few things that people and machines do here; CMake does the building (see CMakePresets.json).

PREFIX ?= /usr/local
DESTDIR ?=
# One test more than processors: some wait.
JOBS ?= $(shell expr $$(nproc) + 1)
PRESET ?= dev

.PHONY: all setup check test test-long test-full demo dist bench bench-quick bench-budget bench-accuracy bench-analyzer install clean fresh-check format help

all:
	@tools/setup --build
	@tools/build release

setup:
	@tools/setup

# What finds most mistakes, a minute and a half after the build: see test/README.md.
check: setup
	@tools/build $(PRESET)
	@tools/run-tests build/$(PRESET) -L quick -j$(JOBS)

# All but the long tests, from nothing if need be; and these.
test: setup
	@tools/build $(PRESET)
	@tools/run-tests build/$(PRESET) -LE '^long$$' -j$(JOBS)
test-long:
	@tools/setup --long
	@tools/build $(PRESET) $(PRESET) -DTEEPERF_CROSS=
	@tools/run-tests build/$(PRESET) -L '^long$$' -j$(JOBS)

# The same with the plugin of each LLVM major, longer fuzzing, the whole test suites of real
# programs, and virtual machines.
test-full:
	@tools/setup --long --all-llvm --suites --servers --machines
	@tools/build dev full -DTEEPERF_LLVM_MAJORS='14;16;19;22' -DTEEPERF_FUZZ_RUNS=2000000 \
		-DTEEPERF_FULL=ON
	@tools/run-tests build/full -j$(JOBS)

demo:
	@tools/setup --build
	@tools/demo

# TeePerf and its peers beside native code: benchmarks/README.md. Let nothing else run meanwhile.
# Cut off and started again it goes on where it was.
bench bench-quick:
	@tools/setup --build
	@tools/setup --bench || echo 'missing programs are left out of the tables' >&2
	@tools/build release
	@benchmarks/run $(if $(filter bench-quick,$@),--quick) $(BENCH_OPTIONS)

# Whether 'record --budget' holds, and what it names: benchmarks/budget/README.md. Let nothing else
# run meanwhile.
bench-budget:
	@tools/setup --build
	@tools/setup --bench || echo 'missing programs are left out of the tables' >&2
	@tools/build release
	@benchmarks/budget/run $(BENCH_OPTIONS)

# Known times and reported ones: benchmarks/accuracy/README.md. Let nothing else run meanwhile.
bench-accuracy:
	@tools/setup --build
	@tools/setup --bench || echo 'missing programs are left out of the tables' >&2
	@tools/build release
	@benchmarks/accuracy/run $(BENCH_OPTIONS)

# Reading traces: events a second, memory, symbols, queries, the report. Let nothing else run
# meanwhile.
bench-analyzer:
	@tools/setup --build
	@tools/setup --bench || echo 'missing programs are left out of the tables' >&2
	@tools/build release
	@benchmarks/analyzer/run $(BENCH_OPTIONS)
	@for other in symbols query report; do \
		[ ! -x benchmarks/$$other/run ] || benchmarks/$$other/run || exit 1; done

install: all
	DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

# The release of the last commit, as a tarball that builds without git: docs/packages.md.
dist:
	@tools/dist

clean:
	rm -rf build

# make demo and make test in a bare Debian of their own (root).
fresh-check:
	@tools/fresh-check

format:
	git ls-files -z '*.c' '*.h' '*.cpp' | xargs -0 clang-format-14 -i

help:
	@echo 'make             build into build/release'
	@echo 'make install     build and install [PREFIX=/usr/local] [DESTDIR=]'
	@echo 'make dist        build/teeperf-VERSION.tar.xz of the last commit'
	@echo 'make demo        profile the Lua interpreter: table, call tree, flame graph'
	@echo 'make check       the quick tests, one of each area: a minute and a half [PRESET=dev]'
	@echo 'make test        the tests but for the long ones: some fifteen minutes [PRESET=dev]'
	@echo 'make test-long   the long ones; CI runs both [PRESET=dev]'
	@echo 'make test-full   all tests with LLVM 14, 16, 19 and 22, in full form: hours'
	@echo 'make bench       TeePerf and its peers against native code, about an hour, can be resumed [BENCH_OPTIONS="--max-time 5m"]'
	@echo 'make bench-quick the same with smaller inputs'
	@echo 'make bench-budget     what record --budget costs and names: half an hour'
	@echo 'make bench-accuracy   reported times against known ones, also of other tools: five minutes'
	@echo 'make bench-analyzer   how fast traces are read, named, queried and drawn: ten minutes'
	@echo 'make fresh-check the tutorial, make demo and what CI runs, in a bare Debian (root)'
	@echo 'make format      clang-format the sources'
	@echo 'make clean       remove build/'
