#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Exceptions that are caught by calls from before recording was switched on leave exact stacks: the
# catcher began switched off, or before recording was switched off for a while.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >unwind.cpp <<'EOC'
#include <teeperf/teeperf.h>

#define KEEP extern "C" __attribute__((noinline, used))
struct Guard {
	int *count;
	~Guard()
	{
		++*count;
	}
};
static int cleaned;

KEEP int after(int n)
{
	asm volatile("" ::: "memory");
	return n + 1;
}
KEEP int throws(int n)
{
	if (n == 0)
		throw n;
	int r = throws(n - 1);
	asm volatile("" ::: "memory"); // or recursion becomes a loop
	return r + 1;
}
KEEP int switches_on(int n)
{
	teeperf_on();
	after(n);
	int r = throws(2);
	asm volatile("" ::: "memory");
	return r;
}
KEEP int cleans(int n)
{
	Guard guard{&cleaned};
	return switches_on(n) + guard.count[0];
}
KEEP int catches(int n)
{
	try {
		return cleans(n);
	} catch (int) {
		return after(n);
	}
}
KEEP int is_off(int n)
{
	int r = after(n);
	asm volatile("" ::: "memory");
	return r;
}
KEEP int pauses(int n)
{
	teeperf_off();
	is_off(n);
	teeperf_on();
	int r = throws(1);
	asm volatile("" ::: "memory");
	return r;
}
KEEP int catches_late(int n)
{
	try {
		return pauses(n);
	} catch (int) {
		return after(n);
	}
}
KEEP int is_on(int n)
{
	try {
		return throws(1);
	} catch (int) {
		return after(n);
	}
}
KEEP int round_trip(int n)
{
	catches(n);
	after(n);
	catches_late(n);
	after(n);
	is_on(n);
	teeperf_off();
	return is_off(n);
}
int main()
{
	// The log has room for 128 switches that the recorder has not seen yet.
	for (int i = 0; i < 20; i++)
		round_trip(i);
	return cleaned != 20;
}
EOC

# Calls whose caller began while recording was off, or was cut, begin a path.
cat >want <<'EOC'
after 100
catches_late 20
catches_late;pauses 20
is_on 20
is_on;after 20
is_on;throws 20
is_on;throws;throws 20
throws 40
throws;throws 40
throws;throws;throws 20
EOC

cat >unwind.allow <<'EOC'
src:*unwind.cpp
name:Guard*=skip
EOC
for level in -O0 -O1 -O2 -O3 -Os; do
	for exits in timed untimed; do
		shape=inline
		[ "$level$exits" != -O0timed ] && [ "$level$exits" != -O2untimed ] || shape=dual
		"$TEEPERF" c++ --shape $shape --allowlist unwind.allow --exits $exits $level -g \
			-I "$root/include" unwind.cpp -o unwind
		expect 0 "$TEEPERF" record -q -o unwind.trace --clock tsc --on-start off -- ./unwind
		"$TEEPERF" analyze unwind.trace --view tree --format csv >tree.csv 2>tree.err
		python3 "$lib/tree_paths.py" tree.csv >got
		diff want got || fail "$level, exits $exits: the stacks are not exact"
		! grep -i unmatched tree.err || fail "$level, exits $exits: records did not match"
	done
done
