#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# The benchmark of accuracy in miniature: every function has a row with a known time and what
# TeePerf says of it, with each clock. The figures mean nothing here.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v clang-19 >/dev/null || skip "clang 19, with which the benchmark builds, is not there"
bench=$root/benchmarks/accuracy

expect 0 "$bench/run" --mini --teeperf "$TEEPERF" --work work --results results
table=$(echo results/*-accuracy-mini.txt)
[ -s "$table" ] || fail "there is no table in results"
for function in spin50_leaf spin10ms_caller chain200_leaf fence1us_caller burst_caller deep_leaf \
	many_leaf compute_leaf; do
	grep -Eq "^$function +[1-9][0-9]* +-?[0-9.]+ " "$table" || fail "$function is not in $table"
done
# On a busy machine so short a run may say that a function takes less than nothing: that has no
# error.
figures=$(grep -Ec '^[a-z0-9]+_(leaf|caller) .* [-+][0-9.]+ +[-+][0-9.]+ ' "$table")
[ "$figures" -ge 5 ] || fail "only $figures rows of $table have figures"
grep -q '^      times      without the cost of recording, about ' "$table" ||
	fail "nothing was compensated"
clocks="tsc soft soft-500ns"
[ "$(uname -m)" != x86_64 ] || clocks="$clocks tsc-ordered"
for clock in $clocks; do
	grep -Eq "^$clock +(met|missed: )" "$table" || fail "nothing about the bar for $clock"
done
expect 129 "$bench/run" --rounds none
says "'none' is not a number of rounds" err
