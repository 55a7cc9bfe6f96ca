/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threaded programs whose work can be made faster, to hold predictions of `teeperf what-if`
 * against:
 *
 *	threads PROGRAM FUNCTION PERCENT
 *
 * runs PROGRAM with FUNCTION faster by PERCENT ("none 0": as it is), and prints the ns that it
 * took. Work is processor time.
 *
 *   join      two threads of unlike length: short_work is behind long_work, and does not matter
 *             until that is gone
 *   lock      three threads: outside in parallel, inside under one lock
 *   pipe      stages of a pipeline over pipes: parse -> pack -> store, the slowest of which is pack
 *   rounds    two threads that meet at a barrier: left and right take turns in being the slower one
 *   apart     four threads that share nothing but processors
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *faster;
static double factor;

static long long now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void work(const char *name, double us)
{
	const double ns = us * 1000 * (strcmp(name, faster) ? 1 : factor);
	const long long until = now(CLOCK_THREAD_CPUTIME_ID) + (long long)ns;
	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

static void need(int is_so)
{
	if (!is_so)
		abort();
}

static pthread_t start(void *(*run)(void *), void *argument)
{
	pthread_t thread;
	need(!pthread_create(&thread, NULL, run, argument));
	return thread;
}

/* ---- join */

__attribute__((noinline)) static void long_work(void)
{
	work("long_work", 300000);
}
__attribute__((noinline)) static void short_work(void)
{
	work("short_work", 180000);
}
__attribute__((noinline)) static void prepare(void)
{
	work("prepare", 100000);
}
__attribute__((noinline)) static void *short_thread(void *argument)
{
	short_work();
	return argument;
}
__attribute__((noinline)) static void run_join(void)
{
	prepare();
	const pthread_t other = start(short_thread, NULL);
	long_work();
	pthread_join(other, NULL);
}

/* ---- lock */

enum { ROUNDS = 100, THREADS = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void inside(void)
{
	work("inside", 1500);
}
__attribute__((noinline)) static void outside(void)
{
	work("outside", 500);
}
__attribute__((noinline)) static void *lock_thread(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		outside();
		pthread_mutex_lock(&lock);
		inside();
		pthread_mutex_unlock(&lock);
	}
	return argument;
}
__attribute__((noinline)) static void run_lock(void)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(lock_thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* ---- pipe */

enum { ITEMS = 150 };
static int first[2];
static int second[2];
__attribute__((noinline)) static void parse(void)
{
	work("parse", 700);
}
__attribute__((noinline)) static void pack(void)
{
	work("pack", 2500);
}
__attribute__((noinline)) static void store(void)
{
	work("store", 700);
}
__attribute__((noinline)) static void *pack_thread(void *argument)
{
	char item;
	while (read(first[0], &item, 1) == 1) {
		pack();
		need(write(second[1], &item, 1) == 1);
	}
	close(second[1]);
	return argument;
}
__attribute__((noinline)) static void *store_thread(void *argument)
{
	char item;
	while (read(second[0], &item, 1) == 1)
		store();
	return argument;
}
__attribute__((noinline)) static void run_pipe(void)
{
	need(!pipe(first) && !pipe(second));
	const pthread_t packs = start(pack_thread, NULL);
	const pthread_t stores = start(store_thread, NULL);
	for (int i = 0; i < ITEMS; i++) {
		parse();
		need(write(first[1], "x", 1) == 1);
	}
	close(first[1]);
	pthread_join(packs, NULL);
	pthread_join(stores, NULL);
}

/* ---- rounds */

static pthread_barrier_t barrier;
__attribute__((noinline)) static void left(int round)
{
	work("left", round % 2 ? 4000 : 2000);
}
__attribute__((noinline)) static void right(int round)
{
	work("right", round % 2 ? 1000 : 3500);
}
__attribute__((noinline)) static void *right_thread(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		right(i);
		pthread_barrier_wait(&barrier);
	}
	return argument;
}
__attribute__((noinline)) static void run_rounds(void)
{
	need(!pthread_barrier_init(&barrier, NULL, 2));
	const pthread_t other = start(right_thread, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		left(i);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(other, NULL);
}

/* ---- apart */

__attribute__((noinline)) static void piece(void)
{
	work("piece", 4000);
}
__attribute__((noinline)) static void *apart_thread(void *argument)
{
	for (int i = 0; i < 20; i++)
		piece();
	return argument;
}
__attribute__((noinline)) static void run_apart(void)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		threads[i] = start(apart_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} programs[] = {{"join", run_join}, {"lock", run_lock}, {"pipe", run_pipe},
	    {"rounds", run_rounds}, {"apart", run_apart}};
	need(argc == 4);
	faster = argv[2];
	factor = 1 - atof(argv[3]) / 100;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(programs[i].name, argv[1])) {
			const long long from = now(CLOCK_MONOTONIC_RAW);
			programs[i].run();
			printf("%lld\n", now(CLOCK_MONOTONIC_RAW) - from);
			return 0;
		}
	return 1;
}
