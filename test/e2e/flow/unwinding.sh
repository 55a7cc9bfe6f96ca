#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that stacks are exact behind C++ exceptions and longjmp: each path that the program can
# take is in the trace with its exact count of calls, and no other path is.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

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

cp want all

cat >unwind.allow <<'EOF'
src:*unwind.cpp
name:Guard*=skip
EOF
# exact WHAT ARGUMENT...: record so; the paths are those in want.
exact() {
	what=$1
	shift
	expect 0 "$TEEPERF" record -q -o unwind.trace "$@" -- ./unwind
	"$TEEPERF" analyze unwind.trace --view tree --format csv >tree.csv 2>tree.err
	python3 "$lib/tree_paths.py" tree.csv >got
	diff want got || fail "$what: the stacks are not exact"
	! grep -i unmatched tree.err || fail "$what: records did not match"
}
for level in -O0 -O1 -O2 -O3 -Os; do
	"$TEEPERF" c++ --allowlist unwind.allow $level -g unwind.cpp -o unwind
	exact "$level"
	"$TEEPERF" c++ --shape=dual --allowlist unwind.allow $level -g unwind.cpp -o unwind
	exact "$level dual"
done

# The same where the functions that catch, or are jumped to, are not recorded: left out when
# compiled, or when recorded, or only counted. What they call then appears below their caller.
cat >want <<'EOF'
main 1
main;after 600
main;cleans 100
main;cleans;cleans 100
main;cleans;cleans;throws 100
main;cleans;cleans;throws;throws 100
main;cleans;cleans;throws;throws;throws 100
main;jumps 100
main;jumps;jumps 100
main;jumps;jumps;jumps 100
main;rethrows 100
main;rethrows;after 100
main;rethrows;throws 100
main;rethrows;throws;throws 100
EOF
printf '%s\n' fun:catches fun:catches_again fun:lands fun:nests >catchers
sed 's/$/=skip/' catchers | cat unwind.allow - >skip.allow
sed 's/$/=count/' catchers | cat unwind.allow - >count.allow
for level in -O0 -O2; do
	for shape in inline call dual; do
		"$TEEPERF" c++ --shape=$shape --allowlist unwind.allow $level -g unwind.cpp \
			-o unwind
		exact "$level $shape, left out when recorded" --only skip.allow
		for list in skip count; do
			"$TEEPERF" c++ --shape=$shape --allowlist $list.allow $level -g unwind.cpp \
				-o unwind
			exact "$level $shape, $list"
		done
	done
done

# The same of what only cleans up: it reports nothing, and whoever catches does. Its calls are those
# of its caller.
sed 's/;cleans//g' all | sort -u >want
echo fun:cleans=skip | cat unwind.allow - >skip.allow
for level in -O0 -O2; do
	for shape in inline call dual; do
		"$TEEPERF" c++ --shape=$shape --allowlist unwind.allow $level -g unwind.cpp \
			-o unwind
		exact "$level $shape, what cleans up left out when recorded" --only skip.allow
	done
done

# Every second call of each of them.
cat >want <<'EOF'
main 1
main;after 250
main;catches 50
main;catches;after 50
main;catches;cleans 50
main;catches;cleans;cleans 50
main;catches;cleans;cleans;throws 50
main;catches;cleans;cleans;throws;throws 50
main;catches;cleans;cleans;throws;throws;throws 50
main;catches_again 50
main;catches_again;after 50
main;catches_again;rethrows 50
main;catches_again;rethrows;after 50
main;catches_again;rethrows;throws 50
main;catches_again;rethrows;throws;throws 50
main;cleans 50
main;cleans;cleans 50
main;cleans;cleans;throws 50
main;cleans;cleans;throws;throws 50
main;cleans;cleans;throws;throws;throws 50
main;jumps 50
main;jumps;jumps 50
main;jumps;jumps;jumps 50
main;lands 50
main;lands;after 50
main;lands;jumps 50
main;lands;jumps;jumps 50
main;lands;jumps;jumps;jumps 50
main;nests 100
main;nests;after 200
main;nests;nests 100
main;rethrows 50
main;rethrows;after 50
main;rethrows;throws 50
main;rethrows;throws;throws 50
EOF
sed 's/$/=sample\/2/' catchers | cat unwind.allow - >sample.allow
for level in -O0 -O2; do
	"$TEEPERF" c++ --allowlist sample.allow $level -g unwind.cpp -o unwind
	exact "$level, sampled"
done

# One that catches before its thread has any record.
cat >first.cpp <<'EOF'
extern "C" __attribute__((noinline)) int thrower(int n)
{
	asm volatile("" ::: "memory");
	if (n >= 0)
		throw n;
	return n;
}
int main()
{
	int s = 0;
	for (int i = 0; i < 3; i++) {
		try {
			s += thrower(i);
		} catch (int) {
			s++;
		}
	}
	return s != 3;
}
EOF
echo 'thrower 3' >want
printf 'fun:*\nfun:main=skip\n' >first.allow
"$TEEPERF" c++ --allowlist first.allow -O2 -g first.cpp -o unwind
exact 'the first to catch'
