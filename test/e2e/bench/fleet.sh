#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the benchmark of fleets works in miniature: runs that a seed makes of traces are
# whole, differ from one another, are the same for the same seed, and their percentiles from
# histograms are as near to the exact ones as is promised. It says nothing of times and sizes.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v "${CC:-cc}" >/dev/null || skip "no C compiler (CC=${CC:-cc})"

python3 "$lib/fleet_traces.py" traces 3 2000
for i in 0 1 2; do
	"$TEEPERF" dump --assemble traces/$i.txt -o traces/$i.trace
	set -- "$@" --template traces/$i.trace
done
# Throws, whose records name places of others.
if "$TEEPERF" cc -O1 -g -x c++ "$lib/calls_unwind.cpp" -o unwind -lstdc++ >compiled 2>&1; then
	expect 0 "$TEEPERF" record -q --clock tsc --sched off -o unwind.trace ./unwind
	set -- "$@" --template unwind.trace
fi
expect 0 "$root/benchmarks/fleet/run" --mini --columns --figures --keep --teeperf "$TEEPERF" \
	--work work --modules /nowhere "$@"
mv out table
says '^12 runs of [34] programs, [1-9][0-9]+ calls; ' table
says '^profile +[1-9][0-9]+ +[0-9]+ +[1-9][0-9]+ +[0-9.]+$' table
says '^path_key +[0-9.]+ a row   [a-z]+ ' table
says '^p99_off_percent +[0-9.]+   bar 1.56: met$' table
says '^query_s +-   bar 2.00: not run$' table
says '^figure profile_bytes [0-9.]+$' table

# The same seed, the same run; another one is another.
for seed in 5 5 6; do
	work/vary traces/0.trace $seed.trace $seed
	cksum <$seed.trace
	"$TEEPERF" analyze --format csv $seed.trace >$seed.csv 2>$seed.err ||
		fail "$(cat $seed.err)"
	! grep -q 'damage\|lost' $seed.err || fail "$(cat $seed.err)"
done >sums
[ "$(sed -n 1p sums)" = "$(sed -n 2p sums)" ] || fail "one seed makes two runs"
[ "$(sort -u sums | wc -l)" = 2 ] || fail "two seeds make one run"
[ "$(wc -l <5.csv)" = "$(wc -l <6.csv)" ] || fail "functions are lost"
