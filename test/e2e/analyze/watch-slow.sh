#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that analyze --watch shows the calls of a program that never fills a chunk, by process id
# and by file, in each thread, and that what it shows while the program runs is what the program has
# done: calls that have ended, and those that run.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
cat >slow.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static void leaf(void) { __asm__ volatile(""); }
__attribute__((noinline)) static void stays(void) { for (;;) pause(); }
static pthread_barrier_t done;
static void *work(void *argument)
{
	for (int i = 0; i < 7; i++)
		leaf();
	pthread_barrier_wait(&done);
	stays();
	return argument;
}
int main(void)
{
	pthread_t threads[2];
	pthread_barrier_init(&done, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 5; i++)
		leaf();
	pthread_barrier_wait(&done);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	pthread_join(threads[0], NULL);
	return 0;
}
EOF
"$TEEPERF" cc -O1 -pthread -o slow slow.c
for drain in now end; do
	begin run "$TEEPERF" record -o slow.trace --drain $drain ./slow
	recorder=$begun
	trap 'kill "$recorder" $program $watch 2>/dev/null || :' EXIT
	program= watch=
	await run.out ready
	program=$(sed -n 's/^ready //p' run.out)
	for what in "$program" slow.trace; do
		begin seen "$TEEPERF" analyze --watch --interval 50ms "$what"
		watch=$begun
		await seen.out ' leaf'
		says '^ +19 .* leaf' seen.out
		says '^ +1 .* main' seen.out
		says '^watching .*; with the records of threads so far$' seen.out
		kill -INT $watch
		kill $watch 2>/dev/null || : # it may have ended
		wait $watch || :
		watch=
	done
	kill $program
	wait $recorder || :
	trap - EXIT
	expect 0 "$TEEPERF" analyze --format csv slow.trace
	says '^leaf,19,' out
	! grep -q 'second chunk' err || fail "$(cat err)"
done
