#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How long each thread had a processor is in the trace: of threads that ended and of the first one
# exactly, of others at least what they had at the last look. Held against what the threads read
# from the kernel themselves; also for followed children, behind a shell, and not for a process that
# only says that the log is its own.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/waits.sh"
fake=

cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long long now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
__attribute__((noinline)) static void leaf(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}
/* Until this thread has had a processor for so long. */
__attribute__((noinline)) static long long work(long long ns)
{
	const long long until = now(CLOCK_THREAD_CPUTIME_ID) + ns;
	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		leaf();
	return now(CLOCK_THREAD_CPUTIME_ID);
}
static void *short_one(void *name)
{
	pthread_setname_np(pthread_self(), name);
	printf("%s %lld\n", (char *)name, work(name && *(char *)name == 'l' ? 60000000 : 1000000));
	return NULL;
}
static void *sleeper(void *name)
{
	pthread_setname_np(pthread_self(), name);
	leaf();
	pause();
	return NULL;
}
static void run(const char *name, void *(*body)(void *))
{
	pthread_t thread;
	pthread_create(&thread, NULL, body, (void *)name);
	if (body != sleeper)
		pthread_join(thread, NULL);
}
int main(int count, char **arguments)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	run("short", short_one);
	run("long", short_one);
	run("sleeper", sleeper);
	if (count > 1 && !strcmp(arguments[1], "fork")) {
		const pid_t child = fork();
		if (!child) {
			printf("child %lld\n", work(40000000));
			return 0;
		}
		waitpid(child, NULL, 0);
	}
	printf("main %lld\n", work(30000000));
	printf("process %lld\n", now(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -pthread -o app app.c

# The last CPU section as "process NS FLAGS" and "THREAD NS FLAGS".
cpu() {
	"$TEEPERF" dump "$1" | awk '
		/^cpu / { n = 0; text = "process " $2 " " $4 "\n"; inside = 1; next }
		inside && /^\tof-thread / { text = text $2 " " $3 " " $5 "\n"; next }
		{ inside = 0 }
		END { printf "%s", text }' | sed -e 's/ns=//' -e 's/flags=//'
}

# at_least TRACE THREAD KEY: the time of a thread (or 'process') in the trace is no less than the
# program printed.
at_least() {
	had=$(cpu "$1" | awk -v who="$2" '$1 == who { print $2 }')
	told=$(awk -v who="$3" '$1 == who { print $2 }' told)
	[ "${had:-0}" -ge "${told:?the program did not tell "$3"}" ] || {
		cpu "$1" >&2
		fail "$1: $2 had a processor for ${had:-?} ns, and told $told ($3)"
	}
}

flags() {
	cpu "$1" | awk -v who="$2" '$1 == who { print $3 }'
}

# number TRACE NAME: of the thread with this name.
number() {
	"$TEEPERF" analyze "$1" --view threads --format csv |
		awk -F, -v name="$2" '$3 == name { print $1 }'
}

# Of all that a thread can have of a processor, the process has had the whole.
sums() {
	cpu "$1" | awk '
		$1 == "process" { all = $2; next }
		{ sum += $2 }
		END { if (!(all >= sum && sum > 0)) { print all " of the process, " sum " of its threads"; exit 1 } }' ||
		fail "$1: threads had more of a processor than their process"
}

expect 0 "$TEEPERF" record -q -o run.trace -- ./app
cp out told
for who in short long; do
	at_least run.trace "$(number run.trace $who)" $who
	# 1: exact; 4: and it is known how long it waited for one, if it lived long enough to be
	# seen.
	case $(flags run.trace "$(number run.trace $who)") in
	1|5) ;;
	*) cpu run.trace >&2; fail "the processor time of '$who' is not exact" ;;
	esac
done
at_least run.trace 0 main
at_least run.trace process process
[ "$(flags run.trace 0) $(flags run.trace process)" = "5 1" ] || {
	cpu run.trace >&2
	fail "the first thread's and the process' times are not exact"
}
sums run.trace
# The sleeper was there for most of the time, and had a processor for nearly nothing of it.
"$TEEPERF" analyze run.trace --view threads --format csv >threads.csv
says '^thread,tid,name,events,lost,calls,busy_ns,cpu_ns,delay_ns,missing,' threads.csv
"$TEEPERF" query --format csv run.trace \
	"SELECT cpu_ns IS NULL OR cpu_ns < (SELECT cpu_ns FROM threads WHERE name = 'long')
		FROM threads
	WHERE NOT ended AND thread > 0" >sleeper
says '^1$' sleeper

# A shell is waited for, and not the program: its first thread tells its time when the process ends.
expect 0 "$TEEPERF" record -q -o shell.trace -- sh -c './app; true'
cp out told
at_least shell.trace "$(number shell.trace long)" long
at_least shell.trace 0 main
[ "$(flags shell.trace process)" = 2 ] || fail "what a shell's child had is said to be exact"

# A child has its own time, none of its parent's.
expect 0 "$TEEPERF" record -q --follow-fork -o family.trace -- ./app fork
cp out told
child=$(ls family.trace.*)
at_least "$child" 0 child
at_least "$child" process child
at_least family.trace process process
sums "$child"
sums family.trace

# Whoever attaches by himself may be anywhere: only what threads tell of their end is known.
log=/dev/shm/processor-time.$$.log
waits -o attached.trace --size 4M --attach "$log"
TEEPERF_LOG=$log ./app >told
wait $recorder || fail "the recorder failed: $(cat record.err)"
at_least attached.trace "$(number attached.trace long)" long
[ "$(flags attached.trace process)" = 0 ] || fail "of a process elsewhere something is known"
echo "threads that ended, first threads, children: $(cpu run.trace | wc -l) entries hold"
