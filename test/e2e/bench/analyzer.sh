#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that benchmarks/analyzer can be run, and that it counts the events of its programs. It says
# nothing of the times.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v "${CC:-cc}" >/dev/null || skip "no C compiler (CC=${CC:-cc})"
export TMPDIR=$TEST_TMP TEEPERF_BENCH_LUA=
expect 0 "$root/benchmarks/analyzer/run" --mini --teeperf "$TEEPERF"
says '^\| few_paths \| 0.4 M \| 6 \| teeperf analyze \| [0-9.]+ \| [0-9.]+ \| 1 \| [0-9]+ \|$' out
says '^\| call_paths \| 0.4 M \| [0-9]{5} \| teeperf analyze \| [0-9.]+ \| [0-9.]+ \| 1 \| [0-9]+ \|$' out
says '^\| few_paths \| 0.4 M \| 6 \| analyze, one core \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9]+ \|$' out
says '^\| few_paths \| 0.4 M \| 6 \| one core, compressed \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9]+ \|$' out
says '^\| call_paths \| 0.4 M \| [0-9]{5} \| query: GROUP BY fn \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9]+ \|$' out
