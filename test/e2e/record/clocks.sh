#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each clock that a recording can have: the calls are the same, and the trace says which it was, how
# often it was stored, and how it compares with the system's clock all along.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >main.c <<'EOF'
#include <time.h>
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
int main(void)
{
	const struct timespec nap = {.tv_nsec = 20000000};
	for (int i = 0; i < 5; i++) {
		nanosleep(&nap, 0);
		for (int j = 0; j < 2000; j++)
			leaf();
	}
	return 0;
}
EOF
"$TEEPERF" cc -O1 -o main main.c
fake=
# Whether this machine has that clock; where not, the recorder says what to do.
expect_ordered() {
	if "$TEEPERF" record -q -o ordered.trace --clock tsc-ordered ./main 2>err; then
		return 0
	fi
	says "'tsc-ordered' needs x86-64 with a counter of constant rate: use '--clock auto'" err
	return 1
}
calls() {
	"$TEEPERF" analyze "$1" --format csv 2>/dev/null | grep -q '^leaf,10000,' ||
		fail "$1 does not have 10000 calls of leaf"
}

# points TRACE OPTIONS...: a recording, which was compared with the system's clock while it ran,
# too. A recorder that had no processor for a tenth of a second could not do that: record again.
points() {
	trace=$1
	shift
	for _ in 1 2 3 4 5; do
		expect 0 "$TEEPERF" record -o "$trace" "$@" ./main
		facts "$trace"
		[ "$(fact points)" -lt 4 ] || return 0
	done
	fail "only $(fact points) points"
}

expect 0 "$TEEPERF" record -o none.trace --clock none ./main
facts none.trace clock=0 records=20002 host.clock=none host.clock_gaps=0
calls none.trace

# The program sleeps for a tenth of a second: whatever a period really was, the trace knows it.
points count.trace --clock count
facts count.trace clock=6 records=20002 stored=1 period=2000 host.clock=soft-count
calls count.trace
expect 0 "$TEEPERF" record -o fast.trace --clock count --clock-period 0 ./main
facts fast.trace clock=6 records=20002 stored=1 period=0

for period in 0 1000; do
	points soft.trace --clock soft --clock-period $period
	# No number of records: when the clock's upper half changes, there is one more.
	facts soft.trace lost=0 stored=1 period=$period
	case $(fact clock) in
	4 | 5) ;;
	*) fail "soft is clock $(fact clock)" ;;
	esac
	calls soft.trace
done

# Between fences: for code that takes any clock, in line or in a routine.
if expect_ordered; then
	for shape in inline call; do
		"$TEEPERF" cc --shape=$shape -O1 -o shaped main.c
		expect 0 "$TEEPERF" record -o ordered.trace --clock tsc-ordered ./shaped
		facts ordered.trace clock=7 lost=0 stored=0 host.clock=tsc-ordered
		calls ordered.trace
		expect 0 "$TEEPERF" analyze ordered.trace
		says '^clock .*tsc-ordered' out
	done
	for compiled in tsc soft; do
		"$TEEPERF" cc --clock $compiled -O1 -o narrow main.c
		expect 0 "$TEEPERF" record -o narrow.trace --clock tsc-ordered ./narrow
		says "'--clock tsc-ordered' needs code for any clock" err
	done
fi

# Code for the processor's counter alone has no use for a recording without one.
"$TEEPERF" cc --clock tsc -O1 -o tsc main.c
for clock in none count; do
	expect 0 "$TEEPERF" record -o tsc.trace --clock $clock ./tsc
	says "compiled for another clock; record with '--clock tsc'" err
done
"$TEEPERF" cc --clock soft -O1 -o soft main.c
for clock in none count soft; do
	expect 0 "$TEEPERF" record -o soft.trace --clock $clock ./soft
	calls soft.trace
done

expect 129 "$TEEPERF" record --clock-period 1000001 ./main
says "'--clock-period' takes at most 1000000" err
expect 129 "$TEEPERF" record --clock-period often ./main
says "takes a whole number, not 'often'" err
expect 129 "$TEEPERF" record --clock sun ./main
says "takes auto\|tsc\|tsc-ordered\|soft\|count\|none, not 'sun'" err
