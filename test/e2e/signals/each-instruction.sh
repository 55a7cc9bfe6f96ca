#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A signal at each instruction of the sequence and of the runtime behind it, one after another, also
# where a chunk ends: the stacks of the program are exact, and a handler is recorded whole, or
# reported as lost. With handlers that are plain, nested on another stack, longer than half a chunk,
# or jump out. A mark that is interrupted is whole, or absent; so is one of the handler.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
[ "$(uname -m)" = x86_64 ] || skip 'it steps by the trap flag of x86-64'
full=${TEEPERF_FULL:-0}

cat >list <<'END'
src:*interrupted.cpp
fun:counted=count
fun:sampled=sample/2
fun:leave_room=skip
fun:_Z*=skip
END

# interrupted SHAPE CLOCK STRIDE HANDLER SWEEPS FIRST
interrupted() {
	"$TEEPERF" c++ --shape "$1" --allowlist list --check off -O1 \
		-I "$root/include" "$lib/interrupted.cpp" -o interrupted
	expect 0 "$TEEPERF" record --clock "$2" -q -o i.trace -- ./interrupted "$4" "$3" "$5" "$6"
	grep '^rounds' out >said || fail "$*: no result: $(cat out err)"
	"$TEEPERF" analyze i.trace --view tree --format csv >tree.csv 2>tree.err
	"$TEEPERF" analyze i.trace --format csv >top.csv 2>top.err
	"$TEEPERF" analyze i.trace --view threads --format csv >threads.csv 2>threads.err
	"$TEEPERF" query --format csv i.trace 'SELECT name FROM marks' >marks.csv 2>marks.err
	printf '%s %s from %s: ' "$1" "$2" "$6"
	python3 "$lib/check_interrupted.py" "$4" said tree.csv top.csv threads.csv marks.csv ||
		fail "$*: the profile is not exact"
	[ "${4%+*}" = jump ] || ! grep -E 'unmatched .*(without|unknown)' tree.err ||
		fail "$*: odd records"
}
if [ "$full" = 1 ]; then
	for shape in inline call dual; do
		for clock in tsc soft; do
			for handler in plain nested big jump plain+marks jump+marks; do
				interrupted $shape $clock 1 $handler 24 0
			done
		done
	done
else
	interrupted inline soft 2 plain 1 0
	interrupted inline tsc 7 nested 3 8
	interrupted inline soft 41 big 1 11
	interrupted call tsc 5 plain 1 0
	interrupted dual tsc 7 jump 2 11
	interrupted dual soft 7 jump+marks 2 11
fi
