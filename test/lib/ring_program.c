// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program for tests of flight recorders: its calls show where it is, so that its end differs from
// any other part of it. Step number N is a call of step(), which calls one() or zero() for each of
// N's 24 bits.
//
//   ring_program steps N          N steps, in main's thread
//   ring_program threads T N      T threads of N steps each, and one that makes 50 and then waits
//   ring_program lives N          one that makes 50 steps and waits; N threads of 3 steps, four at
//                                 a time
//   ring_program idle T           T threads of 1 step each, all alive at the same time
//   ring_program forever FILE     two threads, for ten minutes at most; FILE holds how many steps
//                                 of each are done, 8 bytes each
//   ring_program handlers N       N steps, with a handler that makes steps of its own, for a timer
//                                 and for one step in 16
//   ring_program fork N           N steps, a child that makes 2 N, and N steps more
//   ring_program fault N          N steps, and a fault in the last
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BITS = 24, IDLE_STEPS = 50, LIFE_STEPS = 3, AT_A_TIME = 4, THREADS_MAX = 64 };

#define FUNCTION __attribute__((noinline))

FUNCTION void zero(void)
{
	__asm__ volatile("");
}

FUNCTION void one(void)
{
	__asm__ volatile("");
}

FUNCTION void step(uint32_t number)
{
	for (int bit = BITS; bit--;) {
		if (number >> bit & 1)
			one();
		else
			zero();
	}
}

// The same for handlers.
FUNCTION void handler_zero(void)
{
	__asm__ volatile("");
}

FUNCTION void handler_one(void)
{
	__asm__ volatile("");
}

FUNCTION void handler_step(uint32_t number)
{
	for (int bit = BITS; bit--;) {
		if (number >> bit & 1)
			handler_one();
		else
			handler_zero();
	}
}

FUNCTION void steps(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		step(i);
}

static pthread_barrier_t begun;
static pthread_barrier_t all_done;
static int end_pipe[2];

static void *work(void *argument)
{
	steps((uint32_t)(uintptr_t)argument);
	return NULL;
}

// None of them ends before all have done their steps.
static void *work_together(void *argument)
{
	steps((uint32_t)(uintptr_t)argument);
	pthread_barrier_wait(&all_done);
	return NULL;
}

// Its few steps are long ago when the program ends.
static void *idle(void *argument)
{
	char byte;
	steps((uint32_t)(uintptr_t)argument);
	pthread_barrier_wait(&begun);
	if (read(end_pipe[0], &byte, 1) < 0)
		abort();
	return NULL;
}

static void start(pthread_t *thread, void *(*function)(void *), uint32_t count)
{
	if (pthread_create(thread, NULL, function, (void *)(uintptr_t)count))
		abort();
}

static void run_threads(uint32_t threads, uint32_t count)
{
	pthread_t workers[THREADS_MAX];
	pthread_t sleeper;
	pthread_barrier_init(&begun, NULL, 2);
	start(&sleeper, idle, IDLE_STEPS);
	pthread_barrier_wait(&begun);
	pthread_barrier_init(&all_done, NULL, threads);
	for (uint32_t i = 0; i < threads; i++)
		start(&workers[i], work_together, count);
	for (uint32_t i = 0; i < threads; i++)
		pthread_join(workers[i], NULL);
	close(end_pipe[1]);
	pthread_join(sleeper, NULL);
}

static void run_lives(uint32_t lives)
{
	pthread_t workers[AT_A_TIME];
	pthread_t sleeper;
	pthread_barrier_init(&begun, NULL, 2);
	start(&sleeper, idle, IDLE_STEPS);
	pthread_barrier_wait(&begun);
	for (uint32_t i = 0; i < lives; i += AT_A_TIME) {
		for (uint32_t j = 0; j < AT_A_TIME; j++)
			start(&workers[j], work, LIFE_STEPS);
		for (uint32_t j = 0; j < AT_A_TIME; j++)
			pthread_join(workers[j], NULL);
	}
	close(end_pipe[1]);
	pthread_join(sleeper, NULL);
}

static void run_idle(uint32_t threads)
{
	pthread_t sleepers[THREADS_MAX];
	pthread_barrier_init(&begun, NULL, threads + 1);
	for (uint32_t i = 0; i < threads; i++)
		start(&sleepers[i], idle, 1);
	pthread_barrier_wait(&begun);
	close(end_pipe[1]);
	for (uint32_t i = 0; i < threads; i++)
		pthread_join(sleepers[i], NULL);
}

static volatile uint64_t *done;

static void *work_forever(void *argument)
{
	const uintptr_t thread = (uintptr_t)argument;
	for (uint32_t i = 0;; i++) {
		step(i);
		done[thread] = i + 1;
	}
	return NULL;
}

static void run_forever(const char *file)
{
	pthread_t other;
	const int fd = open(file, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 16))
		abort();
	alarm(600); // whatever becomes of the test
	done = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	start(&other, work_forever, 1);
	work_forever(NULL);
}

static volatile sig_atomic_t handled;

static void on_timer(int number)
{
	(void)number;
	handler_step((uint32_t)handled);
	handled++;
}

static void run_handlers(uint32_t count)
{
	const struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	const struct itimerval every = {{0, 200}, {0, 200}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (uint32_t i = 0; i < count; i++) {
		step(i);
		// However fast this is, and however seldom the timer comes.
		if (i % 16 == 0)
			raise(SIGALRM);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

static int run_fork(uint32_t count)
{
	int status;
	steps(count);
	const pid_t child = fork();
	if (!child) {
		steps(2 * count);
		exit(0);
	}
	steps(count);
	return waitpid(child, &status, 0) == child ? status : 1;
}

int main(int argc, char **argv)
{
	if (argc < 3 || pipe(end_pipe))
		return 2;
	const char *what = argv[1];
	const uint32_t first = (uint32_t)strtoul(argv[2], NULL, 10);
	const uint32_t second = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
	if (!strcmp(what, "steps"))
		steps(first);
	else if (!strcmp(what, "threads"))
		run_threads(first, second);
	else if (!strcmp(what, "lives"))
		run_lives(first);
	else if (!strcmp(what, "idle"))
		run_idle(first);
	else if (!strcmp(what, "forever"))
		run_forever(argv[2]);
	else if (!strcmp(what, "handlers"))
		run_handlers(first);
	else if (!strcmp(what, "fork"))
		return run_fork(first);
	else if (!strcmp(what, "fault")) {
		steps(first);
		raise(SIGSEGV);
	} else
		return 2;
	return 0;
}
