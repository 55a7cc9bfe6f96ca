#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --pid: what was running when the recording began returns, is left by an exception, or by
# longjmp; also across calls that an earlier recording has seen begin. Calls that begin and end in a
# recording are exact, and nothing is unmatched.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"

cat >open.cpp <<'EOC'
#include <csetjmp>
#include <cstdio>
#include <unistd.h>

#define KEEP extern "C" __attribute__((noinline, used))
#define STAYS asm volatile("" ::: "memory")
static jmp_buf place;
static int waits;

KEEP void before()
{
	STAYS;
}
KEEP void after()
{
	STAYS;
}
// A line of standard input.
KEEP void wait_here()
{
	char byte = 0;
	printf("waits %d\n", ++waits);
	fflush(stdout);
	while (byte != '\n' && read(0, &byte, 1) == 1)
		;
}
KEEP void throws(int depth)
{
	if (!depth)
		throw depth;
	throws(depth - 1);
	STAYS;
}
KEEP void jumps(int depth)
{
	if (!depth)
		longjmp(place, 1);
	jumps(depth - 1);
	STAYS;
}
KEEP void returns()
{
	wait_here();
	before();
}
KEEP void inner_throws()
{
	wait_here();
	before();
	wait_here();
	throws(3);
	STAYS;
}
KEEP void catches()
{
	try {
		inner_throws();
	} catch (int) {
		after();
	}
}
KEEP void inner_jumps()
{
	wait_here();
	before();
	wait_here();
	jumps(3);
	STAYS;
}
KEEP void lands()
{
	if (!setjmp(place))
		inner_jumps();
	else
		after();
}
int main()
{
	returns();
	catches();
	lands();
	after();
	wait_here();
	return 5;
}
EOC
"$TEEPERF" c++ -O1 -o open open.cpp

waits=0
# waits: it does so once more.
waits() {
	waits=$((waits + 1))
	await open.out "^waits $waits\$"
}
line() {
	echo >&3
	waits
}
detach() {
	expect 0 "$TEEPERF" ctl stop "$recorder"
	ended 0 record
}
# exact NAME FUNCTION=CALLS...: so often has each been called; nothing is wrong, and nothing is
# lost.
exact() {
	name=$1
	shift
	facts "$name.trace" lost=0 end_sections=1
	sound "$name.trace"
	for wanted; do
		says "^${wanted%=*},${wanted#*=}," out
	done
}

begin open sh -c 'exec ./open <commands'
exec 3>commands
program=$begun
waits
attach return
line # in catches()
line # in the same, and `before` has been called
detach
attach throw # in frames of which the recording before has the beginning
line         # in lands()
line
detach
attach jump
line
detach
attach quiet
detach
echo >&3
exec 3>&-
ended 5 open

# Calls from them are below [attached], and nothing else is outermost.
rooted() {
	expect 0 "$TEEPERF" analyze --view tree --format csv "$1.trace"
	[ "$(grep -c '^0,1,' out)" = 1 ] || fail "$(cat out)"
	says '^0,1,\[attached\],0,[1-9]' out
	says "^0,2,$2,1," out
	expect 0 "$TEEPERF" export --format folded -o - "$1.trace"
	! grep -v '^open[^;]*;\[attached\];' out ||
		fail 'the folded stacks have another outermost call'
	expect 0 "$TEEPERF" query --format csv "$1.trace" \
		'SELECT f.name, p.depth FROM paths p JOIN functions f USING (fn) WHERE p.depth = 1'
	says '^\[attached\],1$' out
	[ "$(wc -l <out)" = 2 ] || fail "$(cat out)"
}

exact return before=2 wait_here=2
rooted return catches
exact throw throws=4 after=1 before=1 wait_here=2
rooted throw lands
exact jump jumps=4 after=2
