#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reading a trace allocates for what it has, functions and paths, not for each event; recording
# allocates nothing. Counted.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

${CC:-cc} -O1 -shared -fPIC -Wall -Werror -o fail.so "$lib/fail_nth.c" ||
	skip "no C compiler (CC=${CC:-cc})"
"$TEEPERF" cc -O1 -g -pthread -o crash "$lib/crash_program.c"

# allocations NAME COMMAND...: of the program NAME in it.
allocations() {
	name=$1
	shift
	head -c 16 /dev/zero >count
	LD_PRELOAD=$PWD/fail.so FAIL_IN=/$name FAIL_KIND=memory FAIL_AT=99999999 FAIL_COUNT=count \
		"$@" >out 2>err || {
		cat err >&2
		fail "$*"
	}
	od -An -t u8 -N 8 count | tr -d ' '
}

for calls in 100000 1600000; do
	head -c 1024 /dev/zero >accounts
	expect 0 "$TEEPERF" record -q --clock tsc --size 64M --ready 64M \
		-o $calls.trace ./crash accounts 1 $calls 0
	expect 0 "$TEEPERF" record -q --clock tsc --compress --size 64M \
		-o $calls.packed ./crash accounts 1 $calls 0
done
same() {
	few=$(allocations teeperf "$TEEPERF" $1 100000.$2)
	many=$(allocations teeperf "$TEEPERF" $1 1600000.$2)
	echo "$1, $2: $few allocations of 100,000 calls, $many of 1,600,000"
	[ "$few" -gt 0 ] || fail "none is counted"
	# Blocks of chunks may differ: by far fewer than one for a thousand calls.
	[ "$many" -le $((few + 400)) ] || fail "it allocates by events"
}
same analyze trace
same analyze packed
same "analyze --view tree" trace
same "export --format folded -o folded.out" trace
# Histograms of all paths, but no calls.
same "fleet add -q --to some.fleet" trace
same "fleet add -q --to packed.fleet" packed

# Here the one allocation is the program's own.
cat >once.c <<'EOS'
#include <stdlib.h>
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	free(malloc(argc > 1 ? 64 : 32));
	for (long i = 0; i < atol(argv[1]); i++)
		leaf();
	return 0;
}
EOS
"$TEEPERF" cc -O1 -fno-builtin once.c -o once
without=$(allocations once ./once 1000)
with=$(allocations once "$TEEPERF" record -q -o some.trace ./once 1000)
more=$(allocations once "$TEEPERF" record -q -o more.trace ./once 1000000)
echo "the program: $without allocation alone, $with recorded, $more with a thousand times the calls"
[ "$without" -eq 1 ] && [ "$with" -eq 1 ] && [ "$more" -eq 1 ] ||
	fail "recording allocates in the program"
