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
			const int before = forked; // first: the alarm may come at once
			ualarm(2000, 0);
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

# A program that is started with an environment of its own does not know of the log: the kernel
# reports it, where it reports thread switches.
cat >starter.c <<'EOS'
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
__attribute__((noinline)) static void start(char *how, char *program)
{
	char *argv[] = {program, "idle", NULL};
	char *nothing[] = {NULL};
	pid_t child;
	if (!strcmp(how, "exec") && (child = fork()) == 0) {
		execve(program, argv, nothing);
		_exit(9);
	}
	if (strcmp(how, "exec") != 0 &&
	    posix_spawn(&child, program, NULL, NULL, argv, *how == 'u' ? environ : nothing))
		exit(8);
	int status = 1;
	if (waitpid(child, &status, 0) != child || status)
		exit(7);
}
int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2)
		start(argv[i], argv[i + 1]);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O2 -g -o starter starter.c
# unrecorded COUNT OPTIONS... -- ARGUMENTS...: COUNT programs ran unrecorded.
unrecorded() {
	count=$1
	shift
	rm -f run.trace*
	expect 0 "$TEEPERF" record -o run.trace "$@"
	"$TEEPERF" analyze run.trace >table 2>&1
	"$TEEPERF" dump run.trace >dumped
	if [ "$count" = 0 ] || ! grep -q 'line "sched=perf"' dumped; then
		! grep -Eq 'TEEPERF_\*' err table || fail "$(cat err table)"
	elif ! grep -Eq '^sched .*lost=[1-9]' dumped; then
		says " $count instrumented programs? (was|were) not recorded, as" err
		says "^unrecorded +$count instrumented programs? (was|were) run" table
	fi
}
unrecorded 0 -- ./starter spawn /bin/true exec /bin/true
unrecorded 1 -- ./starter spawn ./app
unrecorded 3 -- ./starter exec ./app spawn ./app spawn /bin/true spawn ./app
unrecorded 2 -- /bin/sh -c './starter exec ./app spawn ./app'
# What asks for a log is not counted twice.
unrecorded 0 -- ./starter usual ./app usual ./app
says '2 more processes are instrumented but not recorded' err
unrecorded 2 -- ./starter usual ./app exec ./app usual /bin/true spawn ./app
says '1 more process is instrumented but not recorded' err
unrecorded 0 --follow-fork -- ./starter usual ./app usual ./app
unrecorded 2 --follow-fork -- ./starter usual ./app exec ./app usual ./app spawn ./app
unrecorded 0 --sched off -- ./starter exec ./app
unrecorded 1 -- /usr/bin/env -i "$PWD/app" idle
