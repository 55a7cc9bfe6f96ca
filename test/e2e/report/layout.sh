#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a report has room for what it is about: a head of one line, all five threads of a run
# with lanes in sight in a window of 1440 by 900, a line between threads and flame graph that mouse
# and keyboard move, and a legend that says what each colour is.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
[ -x /usr/bin/chromium ] && command -v chromedriver >/dev/null ||
	skip "no browser (packages chromium and chromium-driver)"

{
	cat <<'EOS'
trace machine=62
clock kind=tsc hz=1000000000
	point 0 5000
	point 100000000 100005000
command
	string "/"
	string "five"
	string "--with"
	string "many arguments, so many that they cannot all be in the head of a report, and what is left is cut"
symbols
EOS
	for i in $(seq 0 24); do
		printf '\tsymbol 0x%x "function_%d" file="/src/part%d.c" line=%d\n' \
			$((0x401000 + 16 * i)) "$i" $((i % 6)) $((i + 1))
	done
	echo threads
	for t in 0 1 2 3 4; do
		printf '\tthread tid=%d chunks=1 name="worker"\n' $((100 + t))
	done
	for t in 0 1 2 3 4; do
		printf 'chunk thread=%d tid=%d\n' $t $((100 + t))
		awk -v t=$t 'BEGIN {
			for (depth = 0; depth < 10; depth++)
				printf "\t%d enter function_%d\n", 1000 + depth * 100, depth + t
			for (i = 0; i < 20; i++)
				for (k = 0; k < 5; k++) {
					for (j = 0; j < 4; j++)
						printf "\t%d enter function_%d\n", 10000 + i * 100000 + k * 15000 + j * 100, 15 + k + j
					for (j = 3; j >= 0; j--)
						printf "\t%d exit function_%d\n", 10000 + i * 100000 + k * 15000 + 5000 + 1000 * k - j * 100, 15 + k + j
				}
			for (depth = 9; depth >= 0; depth--)
				printf "\t%d exit function_%d\n", 3000000 - depth * 1000, depth + t
		}'
	done
	echo "system groups=15"
	awk 'BEGIN {
		for (i = 0; i < 20; i++)
			for (t = 0; t < 5; t++)
				printf "\tevent 1 start=%d duration=9000 tid=%d pid=100 number=0 result=1 argument=0x3 detail=0\n", 20000 + i * 100000 + t, 100 + t
	}'
	echo "end chunks=5 chunk-draws=5 threads=5 start=5000 end=100005000"
} >five.txt
expect 0 "$TEEPERF" dump --assemble five.txt -o five.trace
expect 0 "$TEEPERF" report -o five.html five.trace
export HOME="$PWD"
expect 0 python3 "$lib/browser_layout.py" five.html
says '^0 failures' out
