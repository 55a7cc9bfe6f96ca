// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads and signal handlers that make more events than the log takes. lose CALLS [stop]: prints
// how many calls of work and handled there were. With stop the parent, which is the recorder,
// stands still for the first half.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 8 };

static long calls_each, calls;
static int over, inside; // handlers do nothing any more; number of running ones
static pthread_barrier_t half, end;

__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void handled(void)
{
	__asm__ volatile("");
}

static void handle(int signal)
{
	(void)signal;
	__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 5 && !__atomic_load_n(&over, __ATOMIC_SEQ_CST); i++) {
		handled();
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

static void *run(void *argument)
{
	for (int part = 0; part < 2; part++) {
		for (long i = 0; i < calls_each / 2; i++)
			work();
		__atomic_fetch_add(&calls, calls_each / 2, __ATOMIC_RELAXED);
		pthread_barrier_wait(&half);
		pthread_barrier_wait(&half);
	}
	// Half of them never end: what they have lost is known, too.
	pthread_barrier_wait(&end);
	while ((long)argument % 2)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	const int stops = argc > 2 && !strcmp(argv[2], "stop");
	calls_each = argc > 1 ? atol(argv[1]) : 100000;
	pthread_barrier_init(&half, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &action, NULL);
	const struct itimerval often = {{0, 300}, {0, 300}};
	setitimer(ITIMER_REAL, &often, NULL);
	if (stops)
		kill(getppid(), SIGSTOP);
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	pthread_barrier_wait(&half);
	if (stops)
		kill(getppid(), SIGCONT);
	pthread_barrier_wait(&half);
	pthread_barrier_wait(&half);
	pthread_barrier_wait(&half);
	const struct itimerval never = {{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &never, NULL);
	__atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST))
		sched_yield();
	pthread_barrier_wait(&end);
	for (long i = 0; i < THREADS; i += 2)
		pthread_join(threads[i], NULL);
	printf("calls %ld\n", __atomic_load_n(&calls, __ATOMIC_RELAXED));
	return 0;
}
