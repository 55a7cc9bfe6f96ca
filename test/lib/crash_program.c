// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An instrumented program that can be killed at any moment and of which it is known afterwards what
// it had done: its threads count in a file that they share with the test, before and behind each
// call.
//
//   crash_program FILE THREADS CALLS PACE
//
// Each thread calls leaf() CALLS times (0: until it is killed), and sleeps for a millisecond behind
// each PACE of them (0: never).
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 16 };

// A cache line for each thread. The calls that `done` counts are in the log, or counted as lost.
static struct account {
	volatile uint64_t tid;
	volatile uint64_t begun;
	volatile uint64_t done;
	uint64_t reserved[5];
} * accounts;

static uint64_t calls;
static uint64_t pace;

__attribute__((noinline)) void leaf(void)
{
	__asm__ volatile("");
}

static void *work(void *argument)
{
	struct account *account = argument;
	account->tid = (uint64_t)syscall(SYS_gettid);
	for (uint64_t i = 1; i <= calls || !calls; i++) {
		account->begun = i;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		leaf();
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		account->done = i;
		if (pace && i % pace == 0) {
			const struct timespec nap = {.tv_nsec = 1000000};
			nanosleep(&nap, NULL);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 97;
	const int fd = open(argv[1], O_RDWR);
	if (fd < 0)
		return 96;
	accounts =
	    mmap(NULL, THREADS_MAX * sizeof(*accounts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (accounts == MAP_FAILED)
		return 95;
	const int threads = atoi(argv[2]);
	calls = strtoull(argv[3], NULL, 10);
	pace = strtoull(argv[4], NULL, 10);
	pthread_t others[THREADS_MAX];
	for (int i = 1; i < threads && i < THREADS_MAX; i++)
		if (pthread_create(&others[i], NULL, work, &accounts[i]))
			return 94;
	work(&accounts[0]);
	for (int i = 1; i < threads && i < THREADS_MAX; i++)
		pthread_join(others[i], NULL);
	return 0;
}
