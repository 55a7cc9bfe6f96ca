#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves the path from source to trace: for each optimisation, each clock, LTO and shared objects a
# program that was compiled by `teeperf cc` leaves exactly the records of its calls.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
cat >main.c <<'EOS'
int step(int x);
__attribute__((noinline)) static int walk(int n)
{
	int x = 0;
	while (n--)
		x = step(x);
	return x;
}
int main(void) { return walk(5000) == 5000 ? 7 : 1; }
EOS
echo '__attribute__((noinline)) int step(int x) { __asm__ volatile(""); return x + 1; }' >step.c

# Two records for each of 5002 calls: main, walk, step.
records() {
	what=$1
	shift
	expect 7 "$TEEPERF" record -q -o run.trace "$@" -- ./app
	facts run.trace events=10004 lost=0 threads=1 attach=1 exit=1/7 names=app || fail "$what"
}
for level in -O0 -O1 -O2 -O3 -Os '-O2 -g -fPIE -pie' '-O2 -static'; do
	# shellcheck disable=SC2086 # words are meant
	expect 0 "$TEEPERF" cc $level main.c step.c -o app
	records "$level"
done
# A function that is inlined at link time is no call any more; step and walk stay. The linker of
# LLVM would run no pass at -O0.
for level in '-O2 -flto' '-O2 -flto=thin' '-O0 -flto=thin'; do
	# shellcheck disable=SC2086 # words are meant
	set -- "$TEEPERF" cc $level main.c step.c -o app
	lto "$@" || continue
	expect 0 "$@"
	records "$level"
done

expect 0 "$TEEPERF" cc -O2 -shared -fPIC step.c -o libstep.so
expect 0 "$TEEPERF" cc -O2 main.c -L. -lstep -Wl,-rpath,. -o app
records "shared object"
[ "$(fact modules)" = 2 ] || fail "$(fact modules) modules, not 2"

for clock in auto soft tsc; do
	expect 0 "$TEEPERF" cc --clock $clock -O2 main.c step.c -o app
	case $clock in
	auto) records "auto on soft" --clock soft ;;
	esac
	grep -q constant_tsc /proc/cpuinfo || [ $clock != tsc ] || continue
	case $clock in
	soft) records "soft" --clock soft ;;
	*) records "$clock" --clock auto ;;
	esac
done

# A program for the other clock runs, unrecorded, and a message names the remedy.
rm -f run.trace run.trace.old # a recording of nothing would not replace it
expect 0 "$TEEPERF" cc --clock soft -O2 main.c step.c -o app
if grep -q constant_tsc /proc/cpuinfo; then
	expect 7 "$TEEPERF" record -o run.trace --clock tsc -- ./app
	says "compiled for another clock; record with '--clock soft'" err
	facts run.trace attach=2 records=0
fi
# Without a recorder it just runs.
expect 7 ./app
