#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# setjmp's first return leaves no record, each jump back to it one: a program that calls it often
# and jumps seldom does not pay for that, also where the function is not recorded. getcontext does
# not tell its first return, and stacks stay right.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >returns.c <<'EOS'
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define KEEP __attribute__((noinline, used))
static jmp_buf place;
static sigjmp_buf masked;
static ucontext_t context;
KEEP void jump(int n)
{
	if (n % 100 == 7)
		longjmp(place, n);
	if (n % 100 == 8)
		siglongjmp(masked, n);
	__asm__ volatile("");
}
KEEP int catches(int n)
{
	if (setjmp(place))
		return 1;
	if (sigsetjmp(masked, 1))
		return 1;
	jump(n);
	return 0;
}
KEEP void leaf(void)
{
	__asm__ volatile("");
}
KEEP int again(void)
{
	volatile int times = 0;
	getcontext(&context);
	leaf();
	if (times++ < 2)
		setcontext(&context);
	return times;
}
KEEP int spawns(void)
{
	const pid_t pid = vfork();
	if (!pid)
		_exit(0);
	return waitpid(pid, NULL, 0) == pid;
}
int main(void)
{
	int caught = 0;
	for (int i = 0; i < 1000; i++)
		caught += catches(i);
	printf("%d %d %d\n", caught, again(), spawns());
	return 0;
}
EOS
# Without builtins clang does not say which functions return twice.
for flags in -O0 -O2 '-O2 -fno-builtin' '-O0 -ffreestanding'; do
	for shape in inline dual call; do
		# shellcheck disable=SC2086 # words are meant
		"$TEEPERF" cc $flags --shape=$shape -o returns returns.c
		expect 0 "$TEEPERF" record -q -o all.trace ./returns
		[ "$(cat out)" = '20 3 1' ] || fail "the program computes otherwise: $(cat out)"
		"$TEEPERF" dump all.trace >dump
		# Twenty jumps; getcontext returns three times; the parent comes back from vfork.
		[ "$(grep -c ' resync ' dump)" = 24 ] ||
			fail "$(grep -c ' resync ' dump) returns were recorded, $flags, $shape"
		expect 0 "$TEEPERF" analyze --strict --format csv all.trace
		mv out top
		for row in catches,1000 jump,1000 again,1 leaf,3 spawns,1 main,1; do
			says "^$row," top
		done
		expect 0 "$TEEPERF" export --format folded all.trace
		! grep -q 'jump;catches\|leaf;leaf\|catches;catches' out ||
			fail "a stack is wrong: $(cat out)"
	done
done

# Where the function is not recorded, it still says who is left.
echo 'fun:main' >main.allow
expect 0 "$TEEPERF" record -q -o main.trace --only main.allow ./returns
"$TEEPERF" dump main.trace >dump
[ "$(grep -c ' resync ' dump)" -le 24 ] ||
	fail "$(grep -c ' resync ' dump) returns were recorded of functions that are not"
