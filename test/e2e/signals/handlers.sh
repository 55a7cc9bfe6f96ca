#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Instrumented signal handlers that interrupt anything: what the program itself calls is counted
# exactly, a handler's activation is recorded whole or not at all, and one that jumps out of
# wherever the program was leaves a thread that records on.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true

cat >storm.c <<'EOF'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static sigjmp_buf place;
static volatile int hits, has_place; // to jump to
static int jumps, onces;

__attribute__((noinline)) int leaf(int x)
{
	__asm__ volatile("");
	return x;
}
__attribute__((noinline)) void handler(int signal)
{
	for (int i = 0; i < 20; i++)
		leaf(signal);
	hits++;
	if (has_place)
		siglongjmp(place, 1);
}
__attribute__((noinline)) void busy(void)
{
	do
		leaf(1);
	while (jumps);
}
__attribute__((noinline)) void once(void)
{
	if (!sigsetjmp(place, 1)) {
		has_place = 1;
		busy();
	}
}
__attribute__((noinline)) int last(int x)
{
	return leaf(x);
}
int main(int argc, char **argv)
{
	jumps = argc > 1;
	static char stack[1 << 16];
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	sigaltstack(&other, NULL);
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
	sigaction(SIGALRM, &action, NULL);
	struct itimerval timer = {{0, 300}, {0, 300}};
	const struct itimerval off = {{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &timer, NULL);
	for (; hits < 300; onces += jumps)
		jumps ? once() : busy();
	has_place = 0; // its function has returned
	setitimer(ITIMER_REAL, &off, NULL);
	for (int i = 0; i < 1000; i++)
		last(i);
	printf("%d %d\n", hits, onces);
	return 0;
}
EOF
"$TEEPERF" cc -O1 storm.c -o storm
# calls FUNCTION: as top.csv has it.
calls() {
	awk -F, -v name="$1" '$1 == name { print $2 }' top.csv
}
# Room for all of it from the start: handlers alone lose events.
room='--size 128M --ready 128M'
for clock in tsc soft; do
	expect 0 "$TEEPERF" record --clock $clock $room -q -o storm.trace -- ./storm
	hits=$(cut -d ' ' -f 1 out)
	"$TEEPERF" analyze storm.trace --format csv >top.csv 2>/dev/null
	"$TEEPERF" analyze storm.trace --view threads --format csv >threads.csv 2>/dev/null
	lost=$(awk -F, 'NR == 2 { print $5 }' threads.csv)
	[ "$(calls leaf)" = $((20 * $(calls handler) + $(calls busy) + 1000)) ] ||
		fail "$clock: $(cat top.csv)"
	# Each has 42 events, and missing ones are reported.
	[ "$lost" = $((42 * (hits - $(calls handler)))) ] ||
		fail "$clock: $hits signals, $(calls handler) recorded, $lost events lost"

	expect 0 "$TEEPERF" record --clock $clock $room -q -o jumps.trace -- ./storm jump
	"$TEEPERF" analyze jumps.trace --format csv >top.csv 2>/dev/null
	[ "$(calls last)" = 1000 ] || fail "$clock: recording stopped: $(cat top.csv)"
	onces=$(cut -d ' ' -f 2 out)
	[ "$(calls once)" -ge $((onces * 5 / 6)) ] && [ "$(calls once)" -le "$onces" ] ||
		fail "$clock: recording paused: $onces calls of once: $(cat top.csv)"
done
