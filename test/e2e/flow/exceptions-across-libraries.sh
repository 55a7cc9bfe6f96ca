#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that stacks are exact when exceptions cross shared libraries, either way, if what catches
# was compiled with the pass; that what throws need not be; and that a catch which is unseen is
# counted.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >both.h <<'EOS'
#include <stdexcept>
#define KEEP extern "C" __attribute__((noinline, visibility("default"), used))
#define DONE __asm__ volatile("" ::: "memory")
KEEP void library_throws(int n);
KEEP int library_catches(void (*call)(int), int n);
KEEP int library_passes(void (*call)(int), int n);
EOS
cat >library.cpp <<'EOS'
#include "both.h"
static int cleaned;
struct Guard {
	~Guard() { cleaned++; }
};
KEEP void library_throws(int n)
{
	if (n == 0)
		throw std::runtime_error("from the library");
	library_throws(n - 1);
	DONE;
}
KEEP int library_catches(void (*call)(int), int n)
{
	try {
		call(n);
	} catch (const std::exception &) {
		return 1;
	}
	return 0;
}
// Only has something to clean up.
KEEP int library_passes(void (*call)(int), int n)
{
	Guard guard;
	call(n);
	DONE;
	return cleaned;
}
EOS
cat >program.cpp <<'EOS'
#include "both.h"
KEEP void program_throws(int n)
{
	if (n == 0)
		throw std::runtime_error("from the program");
	program_throws(n - 1);
	DONE;
}
KEEP int program_catches(void (*call)(int), int n)
{
	try {
		call(n);
	} catch (const std::exception &) {
		return 1;
	}
	return 0;
}
static void through(int n)
{
	library_passes(program_throws, n);
}
// Volatile: no optimiser makes copies for each of them.
static void (*volatile const calls[])(int) = {library_throws, through, program_throws};
KEEP int round_of(void)
{
	return program_catches(calls[0], 1) + program_catches(calls[1], 0) +
	    library_catches(calls[2], 1);
}
int main()
{
	int caught = 0;
	for (int i = 0; i < 50; i++)
		caught += round_of();
	return caught != 150;
}
EOS
printf 'fun:*\nfun:_Z*=skip\n' >list.allow

# build PROGRAM LIBRARY LEVEL: each instrumented or not (event or off).
build() {
	expect 0 "$TEEPERF" c++ --allowlist list.allow --level "$2" "$3" -g -fPIC \
		-shared library.cpp -o liblibrary.so
	expect 0 "$TEEPERF" c++ --allowlist list.allow --level "$1" "$3" -g program.cpp -o prog \
		-L. -llibrary -Wl,-rpath,"$PWD"
	expect 0 "$TEEPERF" record -q -o run.trace -- ./prog
	"$TEEPERF" analyze run.trace --view tree --format csv >tree.csv 2>odd
	but_busy odd
	python3 "$lib/tree_paths.py" tree.csv >got
}

for level in -O0 -O2; do
	cat >want <<'EOS'
main 1
main;round_of 50
main;round_of;library_catches 50
main;round_of;library_catches;program_throws 50
main;round_of;library_catches;program_throws;program_throws 50
main;round_of;program_catches 100
main;round_of;program_catches;library_passes 50
main;round_of;program_catches;library_passes;program_throws 50
main;round_of;program_catches;library_throws 50
main;round_of;program_catches;library_throws;library_throws 50
EOS
	build event event $level
	diff want got || fail "both, $level: the stacks are not exact"
	[ ! -s odd ] || fail "both, $level: there are oddities: $(cat odd)"

	# The library's functions are missing, and what it catches is seen at the next exit of
	# round_of.
	cat >want <<'EOS'
main 1
main;round_of 50
main;round_of;program_catches 100
main;round_of;program_catches;program_throws 50
main;round_of;program_throws 50
main;round_of;program_throws;program_throws 50
EOS
	build event off $level
	diff want got || fail "the program, $level: the stacks are not exact"
	says 'unmatched +100 calls without an exit' odd

	# What the library throws and passes ends nowhere that is seen, but where it catches itself.
	build off event $level
	says 'open +150 calls' odd
	awk '{ split($1, p, ";"); f[p[length(p)]] += $2 }
		END { for (k in f) print k, f[k] }' got | sort >calls
	printf 'library_catches 50\nlibrary_passes 50\nlibrary_throws 100\n' | diff - calls ||
		fail "the library, $level: the calls are not exact"
done
