#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# record --follow-fork: each process has a trace of its own, whose calls are those that the process
# itself has counted, however it came about and however it ends. With TEEPERF_FULL more rounds.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static volatile long steps, counts, samples;
static char *self;
static char log_path[4096];
__attribute__((noinline)) int counted(int x)
{
	__asm__ volatile("");
	counts++;
	return x + 1;
}
__attribute__((noinline)) int sampled(int x)
{
	__asm__ volatile("");
	samples++;
	return x + 1;
}
__attribute__((noinline)) int step(int x)
{
	steps++;
	return sampled(counted(x)) - 1;
}
__attribute__((noinline)) void work(int n)
{
	for (volatile int x = 0; x < n;)
		x = step(x);
}
/* What this process called itself, for the test to compare. Its functions are not instrumented. */
static void tell(void)
{
	char line[128];
	const int fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT, 0600);
	const int size = snprintf(
	    line, sizeof(line), "%d %ld %ld %ld\n", (int)getpid(), steps, counts, samples);
	if (fd < 0 || write(fd, line, (size_t)size) != size)
		_exit(99);
	close(fd);
}
static void begin(void)
{
	steps = counts = samples = 0;
}
__attribute__((noinline)) void child(int n, int depth)
{
	begin();
	work(n);
	if (depth) {
		const long before[3] = {steps, counts, samples};
		if (fork() == 0) {
			child(n + 1, depth - 1);
			_exit(depth);
		}
		steps = before[0], counts = before[1], samples = before[2];
		while (wait(NULL) > 0)
			;
		work(n);
	}
	tell();
}
/* The child returns through functions that its parent called. */
__attribute__((noinline)) int returns(void)
{
	work(50);
	const int pid = fork();
	if (!pid)
		begin();
	work(70);
	return pid;
}
__attribute__((noinline)) int outer(void)
{
	const int pid = returns();
	work(20);
	return pid;
}
static volatile int handled;
__attribute__((noinline)) void on_signal(int number)
{
	(void)number;
	if (fork() == 0) {
		child(300, 0);
		_exit(0);
	}
	handled++;
}
static volatile int in_child;
/* The child goes on where the signal interrupted it, which may be in the middle of anything. */
__attribute__((noinline)) void on_signal_returns(int number)
{
	(void)number;
	if (fork() == 0)
		in_child = 1;
	else
		handled++;
}
static void *thread(void *argument)
{
	work(500);
	if (argument && fork() == 0) {
		child(1000, 1);
		exit(3);
	}
	work(500);
	return argument;
}
static void spawn(char *what)
{
	char *const arguments[] = {self, what, NULL};
	pid_t pid;
	if (posix_spawn(&pid, self, NULL, NULL, arguments, environ))
		exit(98);
}
static void wait_all(void)
{
	while (wait(NULL) > 0)
		;
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char folder[2048];
	self = realpath("/proc/self/exe", NULL);
	snprintf(log_path, sizeof(log_path), "%s/counts", getcwd(folder, sizeof(folder)));
	if (getenv("COUNTS"))
		strcpy(log_path, getenv("COUNTS"));
	setenv("COUNTS", log_path, 1);
	if (!strcmp(how, "closed"))
		syscall(SYS_close_range, 3, ~0U, 0);
	work(100);
	if (!strcmp(how, "fork") || !strcmp(how, "closed")) {
		if (fork() == 0) {
			child(1000, 0);
			_exit(7);
		}
	} else if (!strcmp(how, "nested")) {
		if (fork() == 0) {
			child(2000, 5);
			_exit(0);
		}
	} else if (!strcmp(how, "returns")) {
		if (outer() == 0) {
			tell();
			_exit(0);
		}
	} else if (!strcmp(how, "thread")) {
		pthread_t threads[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, thread, i ? NULL : &threads[0]);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		wait_all();
		return 0;
	} else if (!strcmp(how, "signal") || !strcmp(how, "interrupted")) {
		const int rounds = atoi(argv[2]);
		signal(SIGALRM, how[0] == 's' ? on_signal : on_signal_returns);
		while (handled < rounds && !in_child) {
			const int before = handled;
			ualarm(500 + 37 * (unsigned)handled % 100, 0);
			while (handled == before && !in_child)
				step(1);
		}
		if (in_child)
			_exit(0);
		wait_all();
		return 0;
	} else if (!strcmp(how, "turns")) {
		for (int i = 0; i < atoi(argv[2]); i++) {
			if (fork() == 0) {
				child(10 + i, 0);
				_exit(0);
			}
			wait_all();
		}
	} else if (!strcmp(how, "crowd")) {
		for (int i = 0; i < 20; i++)
			if (fork() == 0) {
				child(10000 + i, 0);
				_exit(0);
			}
	} else if (!strcmp(how, "exec")) {
		if (fork() == 0)
			execl(self, self, "idle", (char *)NULL);
	} else if (!strcmp(how, "spawn")) {
		spawn("idle");
		spawn("fork");
	} else if (!strcmp(how, "vfork")) {
		if (vfork() == 0) {
			execl(self, self, "idle", (char *)NULL);
			_exit(97);
		}
		work(5);
	} else if (!strcmp(how, "shell")) {
		char command[5000];
		snprintf(command, sizeof(command), "'%s' idle; '%s' fork", self, self);
		if (system(command))
			return 96;
		FILE *pipe = popen(command, "r");
		pclose(pipe);
	} else if (!strcmp(how, "daemon")) {
		if (fork() == 0) {
			setsid();
			if (fork() == 0) {
				begin();
				chdir("/");
				syscall(SYS_close_range, 0, ~0U, 0);
				usleep(100000);
				clearenv();
				child(3000, 1);
			}
			_exit(0);
		}
		work(1);
	} else if (!strcmp(how, "outlives")) {
		if (fork() == 0) {
			usleep(200000);
			child(4000, 0);
			_exit(5);
		}
		tell();
		_exit(4);
	} else if (!strcmp(how, "killed")) {
		if (fork() == 0) {
			begin();
			work(100000);
			tell();
			kill(getpid(), SIGKILL);
		}
	} else if (!strcmp(how, "environment")) {
		clearenv();
		dup2(2, 3), dup2(2, 4), dup2(2, 5), dup2(2, 6);
		if (fork() == 0) {
			child(100, 1);
			_exit(0);
		}
	}
	wait_all();
	tell();
	return 0;
}
EOS
cat >app.allow <<'EOS'
default:allow
fun:counted=count
fun:sampled=sample/10
fun:tell=skip
fun:begin=skip
EOS
expect 0 "$TEEPERF" cc -O2 -g -pthread --allowlist="$PWD/app.allow" -o app app.c

# calls FUNCTION: as top.csv has it, 0 if it is not there.
calls() {
	awk -F, -v name="$1" '$1 == name { n = $2 } END { print n + 0 }' top.csv
}
# analyze TRACE: into top.csv; nothing is odd in it.
analyze() {
	"$TEEPERF" analyze "$1" --format csv >top.csv 2>heading || fail "$1: $(cat heading)"
	! grep -E 'unmatched|lost|missing|damage' heading | grep -v 'run backwards' ||
		fail "$1: $(cat heading)"
}
# record STATUS PROCESSES ARGS...: run app; PROCESSES of them printed their calls, and their traces
# agree.
record() {
	status=$1
	processes=$2
	shift 2
	rm -f run.trace* counts
	: >counts
	chmod 666 counts
	expect "$status" "$TEEPERF" record $options --follow-fork -o run.trace -- ./app "$@"
	! grep 'not recorded' err || fail "$* $options"
	[ "$(wc -l <counts)" = "$processes" ] || fail "$* $options: $(cat counts err)"
	while read -r pid steps counted sampled; do
		# One that has become another program tells of that.
		trace=run.trace.$pid
		[ ! -f "$trace-2" ] || trace=$trace-2
		[ -f "$trace" ] || trace=run.trace
		analyze "$trace"
		[ "$(calls step) $(calls counted) $(calls sampled)" = \
			"$steps $counted $sampled" ] || fail \
			"$* $options: process $pid has $steps $counted $sampled: $(cat top.csv err)"
	done <counts
}
options=
turns=30
signals=10
if [ "${TEEPERF_FULL:-0}" = 1 ]; then
	turns=200
	signals=150
fi

for clock in tsc soft; do
	options="--clock $clock"
	record 0 2 fork
	says 'process [0-9]+ \(app\): [0-9]+ records in .run.trace.[0-9]+., exit code 7' err
	record 0 4 spawn
	record 0 7 nested
done
options=
record 0 2 returns
# It returns from two calls of its parent, and main is the third: none of them is taken for damage.
"$TEEPERF" analyze run.trace.* 2>&1 |
	grep -q 'began *2 exits belong to calls that began before the process was forked' ||
	fail "$("$TEEPERF" analyze run.trace.* 2>&1)"
record 0 2 thread
record 0 2 closed
record 0 2 exec
record 0 2 vfork
record 0 7 shell
record 0 3 environment
record 0 $((turns + 1)) turns $turns
record 0 21 crowd
# A handler may have interrupted the runtime itself: such a child has no log, and this is reported.
rm -f run.trace* counts
expect 0 "$TEEPERF" record -f -o run.trace -- ./app signal $signals
without=0
while read -r pid steps counted sampled; do
	if [ -f run.trace.$pid ]; then
		analyze run.trace.$pid
		[ "$(calls step) $(calls counted) $(calls sampled)" = \
			"$steps $counted $sampled" ] ||
			fail "process $pid has $steps $counted $sampled: $(cat top.csv err)"
	else
		without=$((without + 1))
	fi
done <counts
[ "$(wc -l <counts)" = $signals ] && [ $((2 * without)) -lt $signals ] || fail "$(cat counts err)"
told=$(sed -n 's/.*warning: \([0-9]*\) forked child.*/\1/p' err)
[ "${told:-0}" = $without ] || fail "$without children have no trace: $(cat err)"
record 0 2 killed
says 'killed by signal 9' err
# It is waited for, whoever its parent is, and whatever it has closed.
record 4 2 outlives
says 'exit code 5' err
record 0 3 daemon
options=--compress
record 0 2 fork

# The child of a handler that interrupted anything goes on exactly: steps that were begun are ended.
rm -f run.trace*
expect 0 "$TEEPERF" record -f -o run.trace -- ./app interrupted $signals
for trace in run.trace.*; do
	"$TEEPERF" analyze "$trace" --format csv >top.csv 2>heading || fail "$(cat heading)"
	# The handler's own exit, when it came between the place and the record of a step: that the
	# handler had been called is in the parent's log only.
	! grep -E '([2-9]|[0-9][0-9]) exits without a call|without an exit|lost|missing|never' \
		heading || fail "$trace"
done

# Activations of the thread that forked are the child's own, those of other threads are not, and a
# new thread of the child is not one of the parent's.
cat >homes.c <<'EOS'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
uint64_t __teeperf_home(void);
static uint64_t homes[5];
__attribute__((noinline)) void called(int who)
{
	__asm__ volatile("");
	homes[who] = __teeperf_home();
}
static void *idles(void *argument)
{
	called(3);
	pthread_barrier_wait(argument);
	pthread_barrier_wait(argument);
	return NULL;
}
static void *of_child(void *argument)
{
	called(4);
	return argument;
}
static void *forks(void *argument)
{
	called(1);
	const pid_t child = fork();
	if (child == 0) {
		pthread_t thread;
		called(2);
		pthread_create(&thread, NULL, of_child, NULL);
		pthread_join(thread, NULL);
		printf("%d %d %d %d\n", homes[2] == homes[1], homes[2] != homes[0],
		    homes[4] > homes[1], homes[4] != homes[0] && homes[4] != homes[3]);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return argument;
}
int main(void)
{
	pthread_barrier_t both;
	pthread_t other, thread;
	pthread_barrier_init(&both, NULL, 2);
	called(0);
	pthread_create(&other, NULL, idles, &both);
	pthread_barrier_wait(&both);
	pthread_create(&thread, NULL, forks, NULL);
	pthread_join(thread, NULL);
	pthread_barrier_wait(&both);
	pthread_join(other, NULL);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -pthread -o homes homes.c
rm -f run.trace*
expect 0 "$TEEPERF" record -q -f -o run.trace -- ./homes
[ "$(cat out)" = "1 1 1 1" ] || fail "homes: $(cat out err)"
[ "$(ls run.trace.* | wc -l)" = 1 ] || fail "the child has no trace: $(ls; cat err)"

# The soft clock goes on in a program that another one became: its log is not the one of the
# environment.
cat >clock.c <<'EOS'
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
__attribute__((noinline)) void waits(void)
{
	for (const uint64_t end = now() + 1000000000; now() < end;)
		usleep(1000);
}
int main(int argc, char **argv)
{
	if (argc > 1) {
		waits();
		return 0;
	}
	if (fork() == 0)
		execl(argv[0], argv[0], "child", (char *)0);
	wait(NULL);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -o clock clock.c
rm -f run.trace*
expect 0 "$TEEPERF" record -q -f --clock soft -o run.trace -- ./clock
analyze run.trace.*-2
# Not that it is right: a busy machine may keep the counter from running, but not all the time.
awk -F, '$1 == "waits" && $4 > 0 { found = 1 } END { exit !found }' top.csv ||
	fail "the clock stood still: $(cat top.csv)"

# Without descriptors for more processes, each that has no trace is reported: no descriptor is left
# to watch it, or even to take its connection.
cat >many.c <<'EOS'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	int go[2];
	if (argc < 2 || pipe(go))
		return 1;
	called();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (argc > 2 && access(argv[2], F_OK))
		usleep(1000);
	for (int i = 0; i < atoi(argv[1]); i++)
		if (fork() == 0) {
			char byte;
			close(go[1]);
			called();
			_exit(read(go[0], &byte, 1) != 0);
		}
	close(go[1]);
	while (wait(NULL) > 0)
		called();
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -o many many.c
# not_all PROCESSES: together this number have a trace or are reported, and not all have one.
not_all() {
	traces=$(find . -name 'run.trace.*' | wc -l)
	told=$(sed -n 's/.*warning: \([0-9]*\) process.* could not be recorded: .*Too many open files$/\1/p' err)
	[ "$((traces + ${told:-0}))" = "$1" ] && [ "${told:-0}" -gt 0 ] ||
		fail "$traces traces: $(cat err)"
	told=$(sed -n 's/.*warning: \([0-9]*\) forked child.* not recorded$/\1/p' err)
	[ "$((traces + ${told:-0}))" = "$1" ] || fail "$traces traces: $(cat err)"
}
for limit in 20 21 22 23; do
	rm -f run.trace*
	(
		ulimit -n "$limit"
		expect 0 "$TEEPERF" record -q -f -o run.trace -- ./many 12
	)
	not_all 12
done
if command -v prlimit >/dev/null; then
	rm -f run.trace*
	begin run "$TEEPERF" record -q -f -o run.trace -- ./many 12 go
	recorder=$begun
	await run.out ready
	# What it opens for a moment does not count.
	await_true '(facts run.trace threads=1 modules=1) 2>err' 'the tables of run.trace'
	first_free=1000
	for _ in 1 2 3 4 5; do
		number=0
		while [ -L /proc/$recorder/fd/$number ]; do
			number=$((number + 1))
		done
		[ $number -ge $first_free ] || first_free=$number
	done
	prlimit --pid $recorder --nofile=$first_free
	touch go
	ended 0 run
	cp run.err err
	not_all 12
	says 'cannot accept a connection' err
fi

# Links at the places of the traces of processes that begin next: identifiers begin anew behind the
# highest, with 300.
cat >link_traces.h <<'EOS'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static void link_traces(void)
{
	int highest = 32768;
	FILE *file = fopen("/proc/sys/kernel/pid_max", "r");
	if (file) {
		if (fscanf(file, "%d", &highest) != 1)
			_exit(98);
		fclose(file);
	}
	for (int i = 1; i < 5000; i++) {
		const int next = (int)getpid() + i;
		char name[64];
		snprintf(name, sizeof(name), "run.trace.%d",
		    next < highest ? next : next - highest + 300);
		if (symlink("victim", name))
			perror(name);
	}
}
EOS

# Reports of a grandchild whose parent has no log reach the recording: a link is at its trace's
# place.
cat >grandchild.c <<'EOS'
#include "link_traces.h"
__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}
int main(void)
{
	called();
	if (fork() == 0) {
		called();
		link_traces();
		if (fork() == 0) {
			called();
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -o grandchild grandchild.c
rm -f run.trace*
expect 0 "$TEEPERF" record -f -o run.trace -- ./grandchild
says '1 forked child was not recorded' err
rm -f run.trace*

# Damage to a child's log is reported like that to the first one.
cat >damages.c <<'EOS'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}
/* Its log is the large one: of the first process' log it has the page with the clock. */
static int cut_log(void)
{
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		char *path = strstr(line, "/dev/shm/teeperf-");
		if (!path || sscanf(line, "%lx-%lx", &from, &to) != 2 || to - from < 1 << 20)
			continue;
		path[strcspn(path, "\n")] = '\0';
		return truncate(path, 0);
	}
	return 1;
}
int main(void)
{
	called();
	const pid_t child = fork();
	if (child == 0) {
		called();
		/* No record behind this: it would be the end of us. */
		_exit(cut_log());
	}
	int status;
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	called();
	return 0;
}
EOS
printf 'fun:called\n' >damages.allow
expect 0 "$TEEPERF" cc -O1 --allowlist="$PWD/damages.allow" -o damages damages.c
rm -f run.trace*
expect 0 "$TEEPERF" record -f --size 2M -o run.trace -- ./damages
says 'KiB of the shared log were lost' err
rm -f run.trace*

# Nothing to follow.
rm -f run.trace*
expect 0 "$TEEPERF" record -f -o run.trace -- ./app idle
[ "$(echo run.trace*)" = run.trace ] || fail "$(ls)"
expect 1 "$TEEPERF" record -f -o /dev/null -- ./app idle
says "'--follow-fork' needs a regular file as output" err
# A link at a trace's place is not followed: that name could be guessed.
cat >link.c <<'EOS'
#include "link_traces.h"
__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}
int main(void)
{
	int go[2];
	if (pipe(go))
		return 1;
	called();
	link_traces();
	if (fork() == 0) {
		called();
		_exit(0);
	}
	wait(NULL);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -o link link.c
rm -f run.trace*
expect 0 "$TEEPERF" record -f -o run.trace -- ./link
[ ! -e victim ] || fail "a link was followed"
says '1 process could not be recorded' err
says '1 forked child was not recorded' err
rm -f run.trace*
