#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program that switches recording on and off itself: what it calls meanwhile is there to the last
# call, with every clock, and nothing else is. The header is of use without the runtime, in C and
# C++.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >main.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <teeperf/teeperf.h>

__attribute__((noinline)) static void wanted(void)
{
	__asm__ volatile("");
}
__attribute__((noinline)) static void unwanted(void)
{
	__asm__ volatile("");
}
static void repeat(void (*function)(void), int times)
{
	for (int i = 0; i < times; i++)
		function();
}
static void *work(void *times)
{
	repeat(wanted, *(int *)times);
	return 0;
}
int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 0;
	repeat(unwanted, 100000);
	for (int round = 0; round < 3; round++) {
		teeperf_on();
		repeat(wanted, times);
		pthread_t thread;
		pthread_create(&thread, 0, work, &times);
		pthread_join(thread, 0);
		teeperf_off();
		repeat(unwanted, 100000);
	}
	teeperf_poll();
	printf("%d\n", teeperf_is_on());
	return 0;
}
EOF
for level in -O0 -O2; do
	"$TEEPERF" cc $level -I "$root/include" -o main main.c -lpthread
	for clock in tsc soft count none; do
		expect 0 "$TEEPERF" record -o part.trace --clock $clock --on-start off ./main 12345
		says '^0$' out
		fake=
		facts part.trace lost=0 switches=on,off,on,off,on,off host.on_start=off
		"$TEEPERF" analyze part.trace --format csv >top.csv 2>err ||
			fail "analyze: $(cat err)"
		says '^wanted,74070,' top.csv
		if grep -q '^unwanted,' top.csv; then fail "what was off is there ($clock)"; fi
		if grep -q '^teeperf_' top.csv; then fail "the switches are there ($clock)"; fi
	done
done

# From the start: the first part is there too.
expect 0 "$TEEPERF" record -o all.trace ./main 10
facts all.trace switches=off,on,off,on,off
"$TEEPERF" analyze all.trace --format csv >top.csv 2>err
says '^unwanted,100000,' top.csv
says '^wanted,60,' top.csv

# Nobody switches it on.
printf 'int main(void) { return 0; }\n' >still.c
"$TEEPERF" cc -O0 -o still still.c
expect 0 "$TEEPERF" record -o still.trace --on-start off ./still
says "'./still' ran without recording, which was never switched on" err
facts still.trace records=0 lost=0

# Without a recorder, without the runtime, and in C++.
expect 0 ./main 10
says '^0$' out
${CC:-cc} -Wall -Wextra -Werror -pedantic -std=c11 -I "$root/include" -o plain main.c -lpthread
expect 0 ./plain 10
says '^0$' out
if command -v "${CXX:-c++}" >/dev/null; then
	cat >main.cc <<'EOF'
#include <teeperf/teeperf.h>
int main()
{
	teeperf_on();
	teeperf_poll();
	teeperf_off();
	return teeperf_is_on();
}
EOF
	${CXX:-c++} -Wall -Wextra -Werror -I "$root/include" -o plain main.cc
	expect 0 ./plain
fi
expect 129 "$TEEPERF" record --on-start maybe ./main
says "takes on\|off, not 'maybe'" err
