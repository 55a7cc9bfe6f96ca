#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --follow-fork: a process's trace says when that process ended, not when the recording did;
# a child whose log could not grow is reported, with its losses; and a child that gets signals while
# it asks for its log has one.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm 300m || skip "a /dev/shm of our own can be mounted only by root or in a user namespace"
fake=

cat >ends.c <<'EOS'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
static void tell(const char *what)
{
	printf("%s %llu\n", what, (unsigned long long)now());
	fflush(stdout);
}
__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	called();
	tell("begin");
	const pid_t child = fork();
	if (child == 0) {
		called();
		tell("child");
		if (argc > 1)
			abort();
		_exit(5);
	}
	/* It is not waited for before its trace is complete: how it ended can be seen then. */
	printf("pid %d\n", (int)child);
	fflush(stdout);
	while (access("go", F_OK))
		usleep(1000);
	tell("complete");
	wait(NULL);
	called();
	return argc;
}
EOS
expect 0 "$TEEPERF" cc -O1 -o ends ends.c
at() {
	sed -n "s/^$1 //p" run.out
}
for how in '' abort; do
	rm -f go run.trace*
	begin run "$TEEPERF" record -f -o run.trace -- ./ends $how
	recorder=$begun
	await run.out pid
	child=$(at pid)
	# Its trace is complete while its parent and the recording go on.
	await_true 'python3 "$lib/trace_facts.py" "run.trace.$child" 2>&1 | grep -q "^end_sections=1"' \
		"the end of the child's trace"
	kill -0 $recorder || fail "the recording has ended"
	touch go
	wait $recorder || true
	exit=1/5
	[ -z "$how" ] || exit=2/6
	facts "run.trace.$child" end_sections=1 exit=$exit
	ended=$(fact end_ns)
	[ "$(fact start_ns)" -lt "$ended" ] && [ "$(at begin)" -le "$(at child)" ] &&
		[ "$(at child)" -le "$ended" ] && [ "$ended" -le "$(at complete)" ] ||
		fail "it ended at $ended: $(cat run.out facts)"
	facts run.trace end_sections=1
	[ "$(at complete)" -le "$(fact end_ns)" ] ||
		fail "its parent ended at $(fact end_ns): $(cat run.out)"
done

# The parent's log is as large as it may become; the child's is to grow, and cannot.
cat >grows.c <<'EOS'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}
static void fill(void)
{
	static char zeroes[4096];
	const int fd = open("/dev/shm/full", O_WRONLY | O_CREAT, 0600);
	for (size_t size = sizeof(zeroes); size; size /= 2)
		while (write(fd, zeroes, size) > 0)
			;
	close(fd);
}
int main(int argc, char **argv)
{
	called();
	if (fork() == 0) {
		if (argc > 2)
			fill();
		for (int i = 0; i < atoi(argv[1]); i++) {
			called();
			if (i % 10000 == 0)
				usleep(1000);
		}
		/* It stays until its log has been looked at. */
		close(open("called", O_WRONLY | O_CREAT, 0600));
		while (access("go", F_OK))
			usleep(1000);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
EOS
printf 'fun:called\n' >grows.allow
expect 0 "$TEEPERF" cc -O1 --allowlist="$PWD/grows.allow" -o grows grows.c
# looks PID: how often the thread of this recorder that lets logs grow has waited for its next look.
looks() {
	for task in "/proc/$1/task"/*; do
		grep -q '^teeperf-supply$' "$task/comm" || continue
		sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "$task/status"
	done
}
# grow CALLS ARGS...: the child has these, each as two records, or lost; a few more records are no
# events.
grow() {
	rm -f run.trace* /dev/shm/full called go
	begin run "$TEEPERF" record -f --mode full --size 16M --ready 16M \
		-o run.trace -- ./grows "$@"
	recorder=$begun
	await_true '[ -e called ]' 'the calls of the child'
	# More than once, as a look may wait for a lock as well.
	enough=$(($(looks $recorder) + 20))
	await_true '[ "$(looks $recorder)" -ge $enough ]' "the recorder's looks"
	touch go
	ended 0 run
	cp run.err err
	for trace in run.trace.*; do
		facts "$trace" end_sections=1
	done
	line=$(grep -E 'process [0-9]+ .* records' err)
	records=$(echo "$line" | sed 's/.*: \([0-9]*\) records.*/\1/')
	lost=$(echo "$line" | sed -n 's/.* \([0-9]*\) lost.*/\1/p')
	all=$((records + ${lost:-0}))
	[ $all -ge $((2 * $1)) ] && [ $all -le $((2 * $1 + 64)) ] || fail "of $1 calls: $line"
}
grow 900000
! grep 'ran full' err || fail 'there was room'
grow 900000 full
says 'warning: /dev/shm ran full, so the log was smaller than allowed: make room there' err
[ "${lost:-0}" -gt 0 ] || fail 'a log that could not grow lost nothing'
says "warning: $lost events of the other processes were lost" err
rm -f /dev/shm/full

# Signals at any moment of the asking.
cat >pelted.c <<'EOS'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void on_signal(int number)
{
	(void)number;
}
__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal};
	(void)argc;
	sigaction(SIGUSR1, &action, NULL);
	setpgid(0, 0);
	called();
	/* This one is recorded as well: it forks before the storm. */
	const pid_t pelter = fork();
	if (pelter == 0) {
		signal(SIGUSR1, SIG_IGN);
		called();
		for (;;)
			kill(0, SIGUSR1);
	}
	for (int i = 0; i < atoi(argv[1]); i++) {
		const pid_t child = fork();
		if (child == 0) {
			called();
			_exit(0);
		}
		while (waitpid(child, NULL, 0) < 0)
			;
	}
	kill(pelter, SIGKILL);
	while (waitpid(pelter, NULL, 0) < 0)
		;
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 --allowlist="$PWD/grows.allow" -o pelted pelted.c
children=40
[ "${TEEPERF_FULL:-0}" = 0 ] || children=1000
rm -f run.trace*
expect 0 "$TEEPERF" record -f --size 1M -o run.trace -- ./pelted $children
! grep 'not recorded' err || fail 'a signal has kept a child from its log'
[ "$(find . -name 'run.trace.*' | wc -l)" = $((children + 1)) ] || fail "traces: $(ls | wc -l)"
