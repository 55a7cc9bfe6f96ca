#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Waits and who ended them, page faults by the kind of memory, requests to a block device: the
# program's number of each, by the functions that cause them. Two groups alone record nothing of the
# others.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
fake=

if ! may_bpf; then
	echo "no BPF here: system/calls has seen what record says"
	exit 0
fi

cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
enum { PAGES = 300, PIECES = 8, PIECE = 65536 };
static long page;
static int word, here;
static void need(int is_so)
{
	if (!is_so)
		abort();
}
__attribute__((noinline)) static void touch(char *at, int pages)
{
	for (int i = 0; i < pages; i++)
		((volatile char *)at)[i * page] = 1;
}
__attribute__((noinline)) static void anon(void)
{
	char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(at != MAP_FAILED);
	madvise(at, PAGES * page, MADV_NOHUGEPAGE);
	touch(at, PAGES);
}
__attribute__((noinline)) static void heap(void)
{
	char *at = sbrk((PAGES + 1) * page);
	need(at != (void *)-1);
	at += -(long)at & (page - 1);
	madvise(at, PAGES * page, MADV_NOHUGEPAGE);
	touch(at, PAGES - 100);
}
/* In the thread that is woken. */
__attribute__((noinline)) static void waits(void)
{
	__atomic_store_n(&here, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}
static void *waiter(void *unused)
{
	waits();
	return unused;
}
/* When it sleeps: there is nobody else to be woken. */
__attribute__((noinline)) static void wakes(void)
{
	while (!__atomic_load_n(&here, __ATOMIC_ACQUIRE))
		usleep(1000);
	while (syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void *)1, &here, 0) != 1)
		usleep(1000);
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	need(syscall(SYS_futex, &here, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 1);
}
static int pipe_ends[2];
static void *reader(void *unused)
{
	char byte;
	__atomic_store_n(&here, gettid(), __ATOMIC_RELEASE);
	need(read(pipe_ends[0], &byte, 1) == 1);
	return unused;
}
/* When it sleeps. */
__attribute__((noinline)) static void writes(void)
{
	char name[64], state = 0;
	int tid;
	while (!(tid = __atomic_load_n(&here, __ATOMIC_ACQUIRE)))
		usleep(1000);
	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", tid);
	while (state != 'S') {
		usleep(1000);
		FILE *stat = fopen(name, "r");
		need(stat && fscanf(stat, "%*d %*s %c", &state) == 1 && !fclose(stat));
	}
	need(write(pipe_ends[1], "x", 1) == 1);
}
/* When main sleeps, which is in joins. */
static void *ends(void *unused)
{
	char state = 0;
	while (state != 'S') {
		usleep(1000);
		FILE *stat = fopen("/proc/self/stat", "r");
		need(stat && fscanf(stat, "%*d %*s %c", &state) == 1 && !fclose(stat));
	}
	return unused;
}
__attribute__((noinline)) static void joins(void)
{
	pthread_t thread;
	need(!pthread_create(&thread, NULL, ends, NULL));
	pthread_join(thread, NULL);
}
__attribute__((noinline)) static void times_out(void)
{
	static int never;
	const struct timespec soon = {.tv_nsec = 1000000};
	need(syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0) == -1);
}
__attribute__((noinline)) static void direct(int fd, char *bytes)
{
	for (int i = 0; i < PIECES; i++)
		need(pread(fd, bytes, PIECE, (off_t)(i * 5 % PIECES) * PIECE) == PIECE);
}
int main(void)
{
	pthread_t thread;
	char *bytes;
	page = sysconf(_SC_PAGESIZE);
	anon();
	heap();
	need(!pthread_create(&thread, NULL, waiter, NULL));
	wakes();
	pthread_join(thread, NULL);
	here = 0;
	need(!pipe(pipe_ends) && !pthread_create(&thread, NULL, reader, NULL));
	writes();
	pthread_join(thread, NULL);
	joins();
	times_out();
	const int fd = open("data", O_RDONLY | O_DIRECT);
	struct stat info;
	need(!posix_memalign((void **)&bytes, 4096, PIECE));
	touch(bytes, PIECE / page);
	const int is_device = fd >= 0 && !fstat(fd, &info) && major(info.st_dev) != 0;
	if (is_device)
		direct(fd, bytes);
	printf("%d\n", is_device ? PIECES * PIECE : 0);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -pthread -o app app.c
dd if=/dev/zero of=data bs=65536 count=8 2>/dev/null
sync data

query() {
	"$TEEPERF" query --format csv "$1" "$2" 2>query.err | sed 1d
}
is() {
	got=$(query run.trace "$2")
	[ "$got" = "$1" ] || fail "not '$1' but '$got': $2"
}
expect 0 "$TEEPERF" record -q -o run.trace --events sched,io,faults -- ./app
bytes=$(cat out)
! grep 'no system events' err || fail "they are refused"

# touch, called by anon and by heap; pages that it has touched stay.
is 'anon,300' \
	"SELECT memory, count(*) FROM faults f JOIN paths p USING (path) JOIN functions c ON c.fn =
	(SELECT fn FROM paths WHERE path = p.parent)
	WHERE c.function = 'anon' AND f.function = 'touch' GROUP BY memory"
is 'heap,200' \
	"SELECT memory, count(*) FROM faults f JOIN paths p USING (path) JOIN functions c ON c.fn =
	(SELECT fn FROM paths WHERE path = p.parent)
	WHERE c.function = 'heap' AND f.function = 'touch' GROUP BY memory"
is '0' "SELECT count(*) FROM faults WHERE function = 'touch' AND (major OR address < 4096)"

# The last wait was ended by wakes; the one of times_out by nobody.
is '0,wakes,1,1' "SELECT result, waker, waker_tid = (SELECT tid FROM threads WHERE thread = 0), woken_ns <= duration_ns
	FROM waits WHERE function = 'waits' ORDER BY start_ns DESC LIMIT 1"
is '-110,,' "SELECT result, waker, waker_tid FROM waits WHERE function = 'times_out'"

# So was a read, by the thread that wrote. What a timer ended is not there.
is 'read,1,writes,1' "SELECT call, result, waker, waker_tid = (SELECT tid FROM threads WHERE thread = 0) FROM waits WHERE function = 'reader'"
is '0' "SELECT count(*) FROM waits WHERE call LIKE '%sleep'"

expect 0 "$TEEPERF" analyze --view system run.trace
says ' futex +wakes +waits$' out
says ' futex +times_out$' out
# By thread, too.
expect 0 "$TEEPERF" analyze --view waits --format csv run.trace
says ',futex,waits,wakes,app 0$' out
says ',read,reader,writes,app 0$' out
says ',,futex,times_out,,$' out
# A thread that is joined ends a wait by its end.
says ',futex,joins,\(end of thread\),app [0-9]+$' out

# Requests carry what was read; a group that was not asked for is not there.
is "$bytes" \
	"SELECT coalesce(sum(bytes), 0) FROM io WHERE call = 'block read' AND function = 'direct'"
[ "$bytes" = 0 ] || {
	is '8,524288' \
		"SELECT count(*), sum(bytes) FROM io WHERE call = 'pread64' AND function = 'direct'"
	is '1' "SELECT min(sector >= 0 AND device > 0 AND duration_ns > 0) FROM io WHERE call = 'block read' AND function = 'direct'"
}
is '0' "SELECT count(*) FROM syscalls WHERE call IN ('mmap', 'clock_nanosleep')"
# Without 'io', too.
expect 0 "$TEEPERF" record -q -o run.trace --events sched -- ./app
is '1' "SELECT count(*) FROM waits WHERE call = 'read' AND waker = 'writes' AND function = 'reader'"
expect 0 "$TEEPERF" record -q -o run.trace --events faults -- ./app
is '0,0,0' "SELECT (SELECT count(*) FROM syscalls), (SELECT count(*) FROM io), (SELECT count(*) FROM waits)"
is '500' "SELECT count(*) FROM faults WHERE function = 'touch' AND memory IN ('anon', 'heap') AND path IN
	(SELECT path FROM paths WHERE parent IN (SELECT path FROM paths WHERE fn IN
	(SELECT fn FROM functions WHERE function IN ('anon', 'heap'))))"
# Each page that is touched is one that the kernel allocates, in a fault and in no call.
expect 0 "$TEEPERF" record -q -o run.trace --events mem -- ./app
is 'fault,1' \
	"SELECT call, sum(page_bytes) >= 300 * $(getconf PAGESIZE) FROM allocations WHERE path IN
	(SELECT path FROM paths WHERE parent IN (SELECT path FROM paths JOIN functions USING (fn) WHERE function = 'anon')) GROUP BY call"
is '1' "SELECT sum(objects) > 0 FROM allocations WHERE call = 'mmap'"
is '0' "SELECT (SELECT count(*) FROM faults) + (SELECT count(*) FROM syscalls)"
echo "300 and 200 faults, waits and their wakers; $bytes bytes from a block device"
