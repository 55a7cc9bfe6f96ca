#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that calls which do not return have their time: in a program that spins until it is killed,
# in one whose threads wait for each other, and while they still run.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true

cat >hang.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static sem_t has_a, has_b;
static volatile unsigned long n;
__attribute__((noinline)) void setup(void) { for (int i = 0; i < 100000; i++) n++; }
__attribute__((noinline)) void spin(void) { for (;;) n++; }
__attribute__((noinline)) void *take_ab(void *x)
{
	pthread_mutex_lock(&a);
	sem_post(&has_a);
	sem_wait(&has_b);
	pthread_mutex_lock(&b);
	return x;
}
__attribute__((noinline)) void *take_ba(void *x)
{
	pthread_mutex_lock(&b);
	sem_post(&has_b);
	sem_wait(&has_a);
	pthread_mutex_lock(&a);
	return x;
}
int main(int count, char **words)
{
	(void)words;
	setup();
	puts("ready");
	fflush(stdout);
	if (count > 1) {
		pthread_t one, other;
		pthread_create(&one, 0, take_ab, 0);
		pthread_create(&other, 0, take_ba, 0);
		pthread_join(one, 0);
	}
	spin();
}
END
expect 0 "$TEEPERF" cc -O1 -g -pthread -o hang hang.c

# hangs NAME LINE [ARGUMENT]: recorded, watched until there is LINE, and killed: when it has hung
# for as long as all before took, however busy the machine is.
hangs() {
	began=$(date +%s%N)
	begin "$1" "$TEEPERF" record -o "$1.trace" ./hang ${3+"$3"}
	recorder=$begun
	trap 'kill "$recorder" 2>/dev/null || :' EXIT
	await "$1.out" ready
	begin "$1.watch" "$TEEPERF" analyze --watch --interval 100ms "$1.trace"
	watch=$begun
	await "$1.watch.out" "$2"
	program=$(tr -d ' ' <"/proc/$recorder/task/$recorder/children")
	[ $# = 2 ] || await_true '[ "$(cat /proc/$program/task/*/stat | grep -c ") S ")" = 3 ]' \
		"three threads that wait"
	took=$((($(date +%s%N) - began) / 1000000))
	sleep "$((took / 1000)).$(printf %03d $((took % 1000)))"
	kill -KILL $program
	status=0
	wait "$recorder" || status=$?
	[ "$status" = 137 ] || fail "the recorder exited with $status"
	wait "$watch" || fail "the watch exited with $?"
}

hangs spins ' spin '
expect 0 "$TEEPERF" analyze --view stacks --format csv spins.trace
says '^0,hang,2,[1-9][0-9]*,[0-9]*,spin,hang.c:' out
says '^0,hang,1,[1-9][0-9]*,[0-9]*,main,hang.c:' out
says 'open .*thread 0 in spin; see --view stacks' err
# Until the end it is spin's time, and setup is long over.
expect 0 "$TEEPERF" query --format csv spins.trace "SELECT c.how, c.self_ns > 0,
	c.end_ns = (SELECT last_ns FROM threads) FROM calls c JOIN functions f USING (fn)
	WHERE f.function = 'spin'"
says '^open,1,1$' out
expect 0 "$TEEPERF" query --format csv spins.trace "SELECT function FROM functions
	ORDER BY self_ns DESC LIMIT 1"
says '^spin$' out

hangs waits ' take_ab ' x
expect 0 "$TEEPERF" analyze --view stacks waits.trace
says '^ *[12] .* take_ab ' out
says '^ *[12] .* take_ba ' out
# Where it is known when threads had a processor, they waited.
expect 0 "$TEEPERF" query --format csv waits.trace "SELECT count(*) FROM functions WHERE
	function LIKE 'take%' AND self_ns > 0 AND
	(self_wait_ns IS NULL OR self_wait_ns > self_ns / 2)"
says '^2$' out

# Who starts another program in its place has no time behind that; nor has another thread that does.
cat >starts.c <<'END'
#include <pthread.h>
#include <unistd.h>
__attribute__((noinline)) void *launch(void *x)
{
	execlp("sleep", "sleep", "1", (char *)0);
	return x;
}
int main(int count, char **words)
{
	(void)words;
	if (count == 1)
		launch(0);
	pthread_t one;
	pthread_create(&one, 0, launch, 0);
	pause();
	return 1;
}
END
expect 0 "$TEEPERF" cc -O1 -g -pthread -o starts starts.c
for argument in '' x; do
	expect 0 "$TEEPERF" record -o starts.trace ./starts $argument
	expect 0 "$TEEPERF" query --format csv starts.trace "SELECT count(*) FROM functions
		WHERE inclusive_ns < 900000000 OR self_wait_ns IS NULL"
	says '^2$' out
done
