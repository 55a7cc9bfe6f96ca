#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the benchmark of budgets works: run in miniature it makes a table with figures, and
# the shares of a known profile are what they should be. Times are not looked at.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
plain_folder
command -v clang-19 >/dev/null || skip "clang 19, with which the benchmark builds, is not there"
bench=$root/benchmarks/budget

# Of 1000 ns: 500 were recorded all the time; of 300 a half, the rest estimated; of 150 a tenth; 50
# were not seen.
mkdir known
cat >known/one.profile.csv <<'EOS'
function,linkage,module,self_ns
always,always,app,500
half,half,app,300
tenth,tenth,app,150
gone,gone,app,50
EOS
cat >known/one.budget.1.csv <<'EOS'
function,linkage,module,calls,calls_estimated
always,always,app,9,
half,half,app,50,100
tenth,tenth,app,10,100
EOS
for ratio in 100 110 120; do
	echo "1 100" >>known/one.native
	echo "1 101" >>known/one.plain
	echo "1 $ratio" >>known/one.budget
	for variant in native plain budget; do
		echo "1 20" >>known/one.$variant.begin
	done
done
echo 4.5 >known/one.reckoned
echo 'no source' >known/two.skipped
expect 0 "$bench/table.py" 5 known one two three
says '^one +0\.00 +1\.010 \(1\.010-1\.010\) +1\.100 \(1\.050-1\.150\) +1\.125 \(1\.062-1\.188\) +1\.089 \([0-9.-]+\) +4\.5 % +66\.5 % +28\.5 % MISSED$' out
says '^two +not run: no source$' out
! grep -q '^three' out || fail "a program without figures has a row: $(cat out)"
expect 0 "$bench/table.py" 15 known one
says ' met$' out

expect 0 "$bench/run" --mini --teeperf "$TEEPERF" --work work --results results
says '^string_match +[0-9.]+ +[0-9.]+ +[0-9.]+ +- +[0-9.]+ +(-|[0-9.]+ %) +[0-9.]+ % +[0-9.]+ % (met|MISSED)$' out
[ "$(ls results/*-budget-mini.txt | wc -l)" = 1 ] || fail "the table was not kept"

expect 129 "$bench/run" --no-such-option
expect 129 "$bench/run" --rounds
expect 129 "$bench/run" --rounds none
expect 1 "$bench/run" --teeperf ./no-such-teeperf
says "no-such-teeperf" err
