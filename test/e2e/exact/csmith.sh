#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that random C programs of csmith compute the same with instrumentation as without, whatever
# the optimisation and the LLVM.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v csmith >/dev/null || skip "csmith is not there: run tools/setup"

majors=$(ls -d "$TEEPERF_BUILD"/lib/teeperf/llvm-* | sed 's/.*-//' | sort -n)
levels='-O0 -O1 -O2 -O3 -Os'
# In the short form about six builds in all.
every=$(($(echo $majors | wc -w) * 5 / 2))
first=1
count=3
if [ "${TEEPERF_FULL:-0}" = 1 ]; then
	count=50 # a good half hour
	first=1000
fi

# checksum SECONDS PROGRAM...: what it prints, and how it ends; some programs never do. What the
# recorder says, of a log that was full, is not the program's.
checksum() {
	status=0
	timeout "$@" 2>/dev/null || status=$?
	echo "exit status $status"
}
long=900 # for those that do

compared=0
ended=0
seed=$first
while [ $seed -lt $((first + count)) ]; do
	csmith --seed $seed --no-packed-struct --max-funcs 12 >program.c
	number=$seed
	for major in $majors; do
		for level in $levels; do
			# The short form takes another level and LLVM with each program.
			number=$((number + 1))
			if [ "${TEEPERF_FULL:-0}" != 1 ] && [ $((number % every)) != 0 ]; then
				continue
			fi
			shape=inline
			[ $((number % 3)) != 0 ] || shape=call
			[ $((number % 3)) != 1 ] || shape=dual
			"clang-$major" -w "$level" -I/usr/include/csmith program.c -o alone
			"$TEEPERF" cc --llvm "$major" --shape $shape -w "$level" \
				-I/usr/include/csmith program.c -o program ||
				fail "seed $seed is not compiled ($major $level)"
			checksum 5 ./alone >alone.out
			# Without a recorder, ...
			if grep -q 'exit status 124' alone.out; then
				checksum 5 ./program >program.out
				# This one has finished: the other was only slower, or is another
				# one.
				cmp -s alone.out program.out || checksum $long ./alone >alone.out
			else
				checksum $long ./program >program.out
			fi
			cmp alone.out program.out || {
				cp program.c "seed-$seed.c"
				fail "seed $seed does something else (LLVM $major, $level, $shape)"
			}
			compared=$((compared + 1))
			grep -q 'exit status 0' alone.out || continue
			ended=$((ended + 1))
			# ... and with one.
			checksum $long "$TEEPERF" record -q --mode full --size 16M --ready 1M \
				-o run.trace -- ./program >program.out
			cmp alone.out program.out || {
				cp program.c "seed-$seed.c"
				fail "seed $seed does something else when it is recorded (LLVM" \
					"$major, $level, $shape)"
			}
		done
	done
	seed=$((seed + 1))
done
echo "$compared builds of $count programs compared, $ended that come to an end"
[ $ended -gt 0 ] || fail "no program came to an end"
