#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that stacks are exact behind C++ exceptions and longjmp: each path that the program can take
# is in the trace with its exact count of calls, and no other path is.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"

cat >unwind.cpp <<'EOF'
#include <setjmp.h>
#include <stdexcept>

#define KEEP extern "C" __attribute__((noinline, used))
struct Guard {
	int *count;
	~Guard()
	{
		++*count;
	}
};
static jmp_buf place;
static int cleaned;

KEEP int after(int n)
{
	asm volatile("" ::: "memory");
	return n + 1;
}
KEEP int throws(int n)
{
	if (n == 0)
		throw std::runtime_error("deep");
	int r = throws(n - 1);
	asm volatile("" ::: "memory"); // or recursion becomes a loop
	return r + 1;
}
KEEP int cleans(int n)
{
	Guard guard{&cleaned};
	if (n == 0)
		return throws(2);
	return cleans(n - 1) + guard.count[0];
}
KEEP int catches(int n)
{
	try {
		return cleans(n);
	} catch (std::exception &) {
		return after(n);
	}
}
KEEP int rethrows(int n)
{
	try {
		return throws(n);
	} catch (...) {
		after(n);
		throw;
	}
}
KEEP int catches_again(int n)
{
	try {
		return rethrows(n);
	} catch (std::runtime_error &) {
		return after(n);
	}
}
KEEP int jumps(int n)
{
	if (n == 0)
		longjmp(place, 1);
	int r = jumps(n - 1);
	asm volatile("" ::: "memory");
	return r;
}
KEEP int lands(int n)
{
	if (setjmp(place))
		return after(n);
	return jumps(n);
}
// The same function is on the stack above and below the frame that catches.
KEEP int nests(int n)
{
	if (n > 2)
		throw n;
	try {
		nests(n + 1);
	} catch (int) {
		if (n > 1)
			throw;
	}
	return after(n);
}
int main()
{
	for (int i = 0; i < 100; i++) {
		catches(1);
		catches_again(1);
		lands(2);
		nests(0);
		after(i);
	}
	return cleaned != 200;
}
EOF

# What one round is: path, calls. The root frame's name does not matter.
cat >want <<'EOF'
main 1
main;after 100
main;catches 100
main;catches;after 100
main;catches;cleans 100
main;catches;cleans;cleans 100
main;catches;cleans;cleans;throws 100
main;catches;cleans;cleans;throws;throws 100
main;catches;cleans;cleans;throws;throws;throws 100
main;catches_again 100
main;catches_again;after 100
main;catches_again;rethrows 100
main;catches_again;rethrows;after 100
main;catches_again;rethrows;throws 100
main;catches_again;rethrows;throws;throws 100
main;lands 100
main;lands;after 100
main;lands;jumps 100
main;lands;jumps;jumps 100
main;lands;jumps;jumps;jumps 100
main;nests 100
main;nests;after 100
main;nests;nests 100
main;nests;nests;after 100
main;nests;nests;nests 100
main;nests;nests;nests;nests 100
EOF

cat >unwind.allow <<'EOF'
src:*unwind.cpp
name:Guard*=skip
EOF
for level in -O0 -O1 -O2 -O3 -Os; do
	"$TEEPERF" c++ --allowlist unwind.allow $level -g unwind.cpp -o unwind
	expect 0 "$TEEPERF" record -q -o unwind.trace -- ./unwind
	"$TEEPERF" analyze unwind.trace --view tree --format csv >tree.csv 2>tree.err
	python3 "$lib/tree_paths.py" tree.csv >got
	diff want got || fail "$level: the stacks are not exact"
	! grep -i unmatched tree.err || fail "$level: records did not match"
done
