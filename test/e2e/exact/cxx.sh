#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves for each optimisation and for LTO that C++ calls are counted exactly: a program counts them
# itself, in templates, virtual and recursive functions, tail calls, destructors during unwinding
# and calls that never return, and the profile agrees.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >app.h <<'EOS'
#include <cstdio>
#include <stdexcept>

// Not a call of its own: it is inlined, at -O0 too.
__attribute__((always_inline)) inline void count(long &counter)
{
	counter++;
	__asm__ volatile("" ::: "memory");
}
#define KEEP __attribute__((noinline))

extern long c_leaf, c_even, c_odd, c_int, c_double, c_base, c_derived, c_guard, c_unguard, c_throws,
    c_catches, c_rethrows, c_deep, c_tail, c_never;

KEEP int leaf(int x);
KEEP bool odd(int n);
template <typename T> KEEP T twice(T x, long &counter)
{
	count(counter);
	return x + x;
}
struct Base {
	virtual ~Base() = default;
	KEEP virtual int run(int x)
	{
		count(c_base);
		return leaf(x);
	}
};
EOS
cat >other.cc <<'EOS'
#include "app.h"
long c_leaf, c_even, c_odd, c_int, c_double, c_base, c_derived, c_guard, c_unguard, c_throws,
    c_catches, c_rethrows, c_deep, c_tail, c_never;
KEEP int leaf(int x)
{
	count(c_leaf);
	return x ^ 1;
}
KEEP bool even(int n)
{
	count(c_even);
	return n == 0 || odd(n - 1);
}
EOS
cat >app.cc <<'EOS'
#include "app.h"
#include <cstdlib>
KEEP bool even(int n);
KEEP bool odd(int n)
{
	count(c_odd);
	return n != 0 && even(n - 1);
}
struct Derived : Base {
	KEEP int run(int x) override
	{
		count(c_derived);
		return Base::run(x) + 1;
	}
};
struct Guard {
	KEEP Guard() { count(c_guard); }
	KEEP ~Guard() { count(c_unguard); }
};
KEEP void throws(int n)
{
	count(c_throws);
	Guard guard;
	if (n % 3 == 0)
		throw std::runtime_error("three");
	if (n % 3 == 1)
		throw n;
	leaf(n);
}
KEEP void rethrows(int n)
{
	count(c_rethrows);
	Guard guard;
	try {
		throws(n);
	} catch (int) {
		leaf(n);
		throw;
	}
}
KEEP void deep(int depth, int n)
{
	count(c_deep);
	Guard guard;
	if (depth)
		deep(depth - 1, n);
	else
		rethrows(n);
	leaf(depth);
}
KEEP void catches(int n)
{
	count(c_catches);
	try {
		deep(n % 5, n);
	} catch (const std::exception &e) {
		leaf(e.what()[0]);
	} catch (int) {
		leaf(n);
	}
}
KEEP int tail(int x)
{
	count(c_tail);
	return leaf(x);
}
[[noreturn]] KEEP void never(int wrong)
{
	count(c_never);
	std::printf("leaf %ld\neven %ld\nodd %ld\ntwice<int> %ld\ntwice<double> %ld\nBase::run %ld\n"
	    "Derived::run %ld\nGuard::Guard %ld\nGuard::~Guard %ld\nthrows %ld\ncatches %ld\n"
	    "rethrows %ld\ndeep %ld\ntail %ld\nnever %ld\n", c_leaf, c_even, c_odd, c_int, c_double,
	    c_base, c_derived, c_guard, c_unguard, c_throws, c_catches, c_rethrows, c_deep, c_tail,
	    c_never);
	std::exit(wrong);
}
int main(int argc, char **)
{
	int x = argc;
	for (int i = 0; i < 1000; i++) {
		x = tail(leaf(x));
		x = twice<int>(x & 255, c_int) + (int)twice<double>(0.5, c_double);
		catches(i);
	}
	x += even(500) + odd(301);
	Derived derived;
	Base base;
	for (Base *object : {(Base *)&derived, &base, (Base *)&derived})
		x += object->run(x);
	never(c_guard != c_unguard || x == 0);
}
EOS

for level in -O0 -O1 -O2 -O3 -Os '-O2 -flto' '-O2 -flto=thin' '-O3 -fno-plt -fPIE -pie'; do
	# shellcheck disable=SC2086 # words are meant
	set -- "$TEEPERF" c++ $level -g app.cc other.cc -o app
	case $level in *-flto*) lto "$@" || continue ;; esac
	expect 0 "$@"
	./app | sort >alone || fail "the program went wrong ($level)"
	"$TEEPERF" record -q --mode full --size 64M -o run.trace -- ./app >told ||
		fail "the recorded program went wrong ($level)"
	sort told >expected
	cmp alone expected || fail "recording changed what the program does ($level)"
	"$TEEPERF" analyze run.trace --view threads --format csv >threads.csv 2>warnings
	awk -F, 'NR > 1 && $5 != 0 { exit 1 }' threads.csv || fail "events were lost ($level)"
	"$TEEPERF" analyze run.trace --view top --format csv >top.csv 2>warnings
	but_busy warnings
	# The two calls that exit() leaves open, main and never, are all that is odd.
	grep -q ' 2 calls had not ended' warnings && [ "$(wc -l <warnings)" = 1 ] || {
		cat warnings >&2
		fail "there are oddities ($level)"
	}
	python3 - "$level" <<'EOS'
import collections, csv, re, sys
profile = collections.Counter()
for row in csv.DictReader(open("top.csv", newline="")):
    # "int twice<int>(int, long&)" and "Base::run(int)" are counted as "twice<int>" and "Base::run".
    name = re.sub(r"^(int|double) ", "", row["function"])
    profile[re.sub(r"\(.*", "", name)] += int(row["calls"])
expected = {}
for line in open("expected"):
    name, calls = line.rsplit(" ", 1)
    expected[name] = int(calls)
differ = {name: (calls, profile[name]) for name, calls in expected.items() if profile[name] != calls}
if differ:
    sys.exit("FAILED: %s: counted by the program, by the profile: %s" % (sys.argv[1], differ))
assert len(expected) == 15 and all(expected.values()), expected
print("%s: %d functions, %d calls" % (sys.argv[1], len(expected), sum(expected.values())))
EOS
done
