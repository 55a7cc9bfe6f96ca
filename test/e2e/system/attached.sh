#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# System events of a program that somebody else starts (record --attach --events): each call of a
# thread that was there before the recorder came, of one made later, and none of a forked child or
# of the program's neighbour. Where the kernel lets nobody load BPF programs, record says so and
# goes on.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
. "$lib/waits.sh"
private_shm || true

cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int null;
static sem_t go;
static void put(int count)
{
	for (int i = 0; i < count; i++)
		if (write(null, "hello", 5) != 5)
			abort();
}
__attribute__((noinline)) static void early_writes(void) { put(200); }
__attribute__((noinline)) static void late_writes(void) { put(50); }
__attribute__((noinline)) static void own_writes(void) { put(100); }
static void *early(void *unused)
{
	while (sem_wait(&go))
		;
	early_writes();
	return unused;
}
static void *late(void *unused)
{
	late_writes();
	return unused;
}
static pthread_t threads[2];
/* Long before the runtime looks for its log. */
__attribute__((constructor(101))) static void before(void)
{
	sem_init(&go, 0, 0);
	pthread_create(&threads[0], NULL, early, NULL);
}
int main(void)
{
	null = open("/dev/null", O_WRONLY);
	if (getchar() != 'g')
		return 1;
	pthread_create(&threads[1], NULL, late, NULL);
	sem_post(&go);
	own_writes();
	const pid_t child = fork();
	if (!child) {
		own_writes();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -pthread -o app app.c
mkfifo go
log=/dev/shm/attached-events.$$.log
waits -o run.trace --attach "$log" --events sched,syscalls
# Until it comes, nobody pays for what the kernel would tell.
links() {
	grep -q link_type /proc/$recorder/fdinfo/* 2>/dev/null
}
! links || fail "BPF programs run before there is a program"
TEEPERF_LOG=$log ./app <go &
app=$!
exec 3>go
# The kernel's programs come first, then the switches. Without those nothing says that they are
# there.
if may_bpf; then
	await_true 'ls -l /proc/$recorder/fd | grep -q perf_event || ! kill -0 $app' \
		'a recorder that watches the threads'
	links || fail "no BPF program runs"
fi
printf g >&3
exec 3>&-
wait $app || fail "the program has failed"
ends 0 'records of'

if ! may_bpf; then
	says "warning: no system events are recorded: .*(BTF|root|libbpf)" recorder.err
	expect 1 "$TEEPERF" analyze --view system run.trace
	says 'has no system events: ' err
	echo "no BPF here: record says why"
	exit 0
fi
! grep 'no system events' recorder.err || fail "they are refused"
query() {
	"$TEEPERF" query --format csv run.trace "$1" 2>query.err | sed 1d
}
is() {
	got=$(query "$2")
	[ "$got" = "$1" ] || fail "not '$1' but '$got': $2"
}
is '200,1' "SELECT count(*), count(DISTINCT thread) FROM syscalls WHERE function = 'early_writes' AND call = 'write'"
is '50,1' "SELECT count(*), count(DISTINCT thread) FROM syscalls WHERE function = 'late_writes' AND call = 'write'"
is '100,1' "SELECT count(*), count(DISTINCT thread) FROM syscalls WHERE function = 'own_writes' AND call = 'write'"
is '1' "SELECT count(DISTINCT pid) FROM syscalls"
