#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A forked child that has no log does not touch its parent's, neither with events nor with counts,
# and is not passed over in silence; nor is a program that finds the log taken, or may not see it.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >app.c <<'EOS'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { CALLS = 20000 };
__attribute__((noinline)) int counted(int x)
{
	__asm__ volatile("");
	return x + 1;
}
__attribute__((noinline)) int sampled(int x)
{
	__asm__ volatile("");
	return x + 1;
}
__attribute__((noinline)) int step(int x)
{
	return sampled(counted(x)) - 1;
}
__attribute__((noinline)) void work(void)
{
	for (volatile int x = 0; x < CALLS;)
		x = step(x);
}
__attribute__((noinline)) void child_only(int depth)
{
	work();
	if (depth && fork() == 0) {
		child_only(depth - 1);
		exit(0);
	}
	while (wait(NULL) > 0)
		;
}
static volatile int forked;
static void on_signal(int number)
{
	(void)number;
	forked++;
	if (fork() == 0) {
		child_only(0);
		_exit(0);
	}
}
static void *thread(void *argument)
{
	work();
	if (fork() == 0) {
		child_only(0);
		exit(0);
	}
	work();
	return argument;
}
int main(int argc, char **argv)
{
	work();
	if (argc > 1 && !strcmp(argv[1], "exec")) {
		if (fork() == 0)
			execl(argv[0], argv[0], "idle", (char *)NULL);
	} else if (argc > 1 && !strcmp(argv[1], "signal")) {
		signal(SIGALRM, on_signal);
		while (forked < 5) {
			ualarm(2000, 0);
			const int before = forked;
			while (forked == before)
				work();
		}
	} else if (argc > 1 && !strcmp(argv[1], "thread")) {
		pthread_t id;
		pthread_create(&id, NULL, thread, NULL);
		work();
		pthread_join(id, NULL);
	} else if (argc == 1 && fork() == 0) {
		child_only(2);
		exit(0);
	}
	while (wait(NULL) > 0)
		;
	work();
	return 0;
}
EOS
cat >app.allow <<'EOS'
default:allow
fun:counted=count
fun:sampled=sample/10
EOS
expect 0 "$TEEPERF" cc -O2 -g -pthread --allowlist=app.allow -o app app.c

# calls FUNCTION: as top.csv has it, 0 if it is not there.
calls() {
	awk -F, -v name="$1" '$1 == name { n = $2 } END { print n + 0 }' top.csv
}
# record CHILDREN ARGS...: record app, whose children are reported; only the parent's calls are in
# the trace.
record() {
	children=$1
	shift
	expect 0 "$TEEPERF" record -o run.trace -- ./app "$@"
	says "$children not recorded" err
	"$TEEPERF" analyze run.trace --format csv >top.csv 2>heading
	"$TEEPERF" analyze run.trace >table 2>&1
	says "$children not recorded" table
	facts run.trace
	# Calls of a handler while its thread was in the runtime are lost, and reported.
	[ "${1:-}" = signal ] || [ "$(fact lost)" = 0 ] || fail "events are lost: $(cat facts)"
	[ "$(calls child_only)" = 0 ] || fail "a child's calls are in the trace: $(cat top.csv)"
	for name in step counted sampled; do
		[ "$(calls $name)" = $((20000 * $(calls work))) ] ||
			fail "$name in '$*': $(cat top.csv)"
	done
}
record '1 (forked )?child was'
[ "$(calls work)" = 2 ] || fail "$(cat top.csv)"
record '1 (forked )?child was' thread
[ "$(calls work)" = 5 ] || fail "$(cat top.csv)"
# In a handler, which interrupts everything.
record '5 (forked )?children were' signal
# The child is another program then, which finds the log taken.
record '1 (forked )?child was' exec
says '1 more process is instrumented but not recorded' err
says '1 more instrumented process was not recorded' table

# Without a child nothing is said.
expect 0 "$TEEPERF" record -o run.trace -- ./app idle
"$TEEPERF" analyze run.trace >table 2>&1
! grep -q 'not recorded' err table || fail "$(cat err table)"
