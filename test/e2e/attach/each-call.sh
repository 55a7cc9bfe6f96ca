#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# record --pid: the program has one thread, so that it is that one which is stopped, in each kind of
# system call. The call goes on as if nothing had been.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"

for kind in read recv poll ppoll select epoll epoll-signal suspend signal futex sleep spin accept \
	child semaphore heap; do
	start $kind
	go 10
	attach one
	go 1000
	expect 0 "$TEEPERF" ctl stop "$recorder"
	ended 0 record
	counted one 1000
	go 10
	over
done

# One that comes back from io_uring_enter without what it waited for is not stopped while there is
# another: the first thread waits there, the second one in read.
cat >rings.c <<'EOC'
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) void work(int n) { __asm__ volatile("" : : "r"(n) : "memory"); }
static atomic_int over;
static void *reads(void *nothing)
{
	puts("ready");
	fflush(stdout);
	char c;
	while (read(0, &c, 1) == 1)
		work(c);
	over = 1;
	return nothing;
}
int main(void)
{
	struct io_uring_params about = {0};
	const int ring = (int)syscall(SYS_io_uring_setup, 4, &about);
	if (ring < 0)
		return 77;
	char *submitted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	char *completed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	struct io_uring_sqe *entry = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	if (submitted == MAP_FAILED || completed == MAP_FAILED || entry == MAP_FAILED)
		return 77;
	pthread_t reader;
	pthread_create(&reader, NULL, reads, NULL);
	int empty = 0;
	for (long i = 0; !over; i++) {
		struct { int64_t s, ns; } span = {0, 50000000};
		memset(entry, 0, sizeof(*entry));
		entry->opcode = IORING_OP_TIMEOUT;
		entry->addr = (uintptr_t)&span;
		entry->len = 1;
		((unsigned *)(submitted + about.sq_off.array))[i & 3] = 0;
		atomic_fetch_add((atomic_uint *)(submitted + about.sq_off.tail), 1);
		if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
			return 1;
		atomic_uint *head = (atomic_uint *)(completed + about.cq_off.head);
		atomic_uint *tail = (atomic_uint *)(completed + about.cq_off.tail);
		empty += *head == *tail;
		while (*head == *tail)
			syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
		*head = *tail;
	}
	pthread_join(reader, NULL);
	printf("empty %d\n", empty);
	return 0;
}
EOC
if "$TEEPERF" cc -O1 -o rings rings.c -lpthread 2>rings.err && ./rings </dev/null >rings.out; then
	begin rings sh -c 'exec ./rings <commands'
	exec 3>commands
	await rings.out ready
	for i in 1 2 3 4 5 6; do
		expect 0 "$TEEPERF" record --pid "$begun" --size 16M -o rings.trace --duration 10ms
	done
	exec 3>&-
	ended 0 rings
	says '^empty 0$' rings.out
else
	echo "not tried: io_uring ($(cat rings.err))"
fi
