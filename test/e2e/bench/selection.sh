#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the benchmark of selection works: run in miniature it makes a table and verdicts, and
# the rules of other tools select what they should from a known profile. Times are not looked at.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
plain_folder
command -v clang-19 >/dev/null || skip "clang 19, with which the benchmark builds, is not there"
bench=$root/benchmarks/selection

# What each rule leaves out: ten calls are 1 % of all.
cat >known.csv <<'EOS'
function,calls,self_ns,instrs_start,instrs,loops,level,sample
main,1,1000000000,60,300,0,allow,1
tiny,5000000,500000000,10,5,0,skip,1
long,2000000,1800000000,40,100,1,skip,1
slow,1500000,6000000000,49,199,0,allow,1
rare,50000,1000,50,200,0,allow,1
_ZNSt6vectorIiE4pushEv,1449999,699999000,100,20,0,skip,1
EOS
expect 0 "$bench/table.py" --rules known.csv
tab=$(printf '\t')
rule() { # NAME FUNCTIONS CALLS
	grep -q "^$1$tab$2$tab$3$tab" out ||
		fail "'$1' does not select $2 functions with $3 calls: $(cat out)"
}
rule 'all functions' 6 10000000
rule 'Score-P, scorep-score -g' 3 1550001
rule 'TAU, tau_reduce' 3 1550001
rule 'TAU, LLVM plugin' 2 50001
rule 'XRay, 200 instructions or loop' 3 2050001

expect 0 "$bench/run" --mini --budgets 1000 --teeperf "$TEEPERF" --work work --results results
says '^string_match, budget 1000 %: [0-9]+ functions called' out
says '^TeePerf, autotune +[0-9]+ +[0-9.]+( M)? +[0-9.]+ % +-?[0-9.]+ % ' out
for name in 'all functions' 'Score-P' 'TAU, tau_reduce' 'TAU, LLVM' 'XRay'; do
	says "^$name.* [0-9.]+ %\$" out
done
says '^string_match, 1000 % +measured overhead <= budget .* (met|MISSED)$' out
says '^string_match, 1000 % +events +>= 0.9 of their bound .* (met|MISSED)$' out
says '^string_match, 1000 % +samples +>= 0.9 of their bound .* (met|MISSED)$' out
[ "$(ls results)" != "" ] || fail "the table was not kept"
cp out first
expect 0 "$bench/run" --mini --budgets 1000 --teeperf "$TEEPERF" --work work --results results \
	--table-only
grep -v '^date\|^load\|^TeePerf bench\|^Results' first >first.rest
grep -v '^date\|^load\|^TeePerf bench\|^Results' out >out.rest
cmp -s first.rest out.rest ||
	fail "the table changes without a measurement: $(diff first.rest out.rest)"

expect 129 "$bench/run" --no-such-option
expect 129 "$bench/run" --runs
expect 129 "$bench/run" --runs none
expect 1 "$bench/run" --teeperf ./no-such-teeperf
says "no-such-teeperf" err
