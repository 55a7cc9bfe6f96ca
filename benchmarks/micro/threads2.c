// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threads2: leaf calls by one thread alone, then by two threads at the same time, each on a core of
// its own. Nothing that they compute is shared: what two cost more than one is the recording's.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "micro.h"

enum { MAX_THREADS = 2 };

struct worker {
	_Alignas(128) pthread_t thread;
	pthread_barrier_t *start;
	uint64_t calls;
	uint32_t result;
	struct micro_watch began;
	struct micro_watch ended;
};

__attribute__((noinline)) static uint32_t leaf(uint32_t x)
{
	micro_enter(1);
	const uint32_t result = x * 3 + 1;
	micro_exit(1);
	return result;
}

static uint32_t call_leaf(uint64_t calls)
{
	uint32_t sum = 0;
	for (uint64_t i = 0; i < calls; i++)
		sum += leaf((uint32_t)i + sum);
	return sum;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	worker->result = call_leaf(worker->calls / 8 + 1); // warms up
	pthread_barrier_wait(worker->start);
	worker->began = micro_watch_now();
	worker->result += call_leaf(worker->calls);
	worker->ended = micro_watch_now();
	return NULL;
}

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "threads2: cannot %s: %s\n", what, strerror(error));
		exit(1);
	}
}

// False if there are fewer cores than threads.
static bool choose_core(unsigned number, cpu_set_t *chosen)
{
	cpu_set_t cores;
	if (sched_getaffinity(0, sizeof(cores), &cores) || CPU_COUNT(&cores) < MAX_THREADS)
		return false;
	size_t core = 0;
	while (!CPU_ISSET(core, &cores) || number--)
		core++;
	CPU_ZERO(chosen);
	CPU_SET(core, chosen);
	return true;
}

// Start the thread on a core of its own: schedulers leave two short-lived threads on one at times.
static void start_worker(struct worker *worker, unsigned number)
{
	pthread_attr_t attributes;
	must(pthread_attr_init(&attributes), "make thread attributes");
	cpu_set_t core;
	if (choose_core(number, &core))
		must(pthread_attr_setaffinity_np(&attributes, sizeof(core), &core),
		    "choose a core for a thread");
	must(pthread_create(&worker->thread, &attributes, work, worker), "start a thread");
	pthread_attr_destroy(&attributes);
}

// Wall time is from the first start to the last end; CPU time is the mean of the threads'.
static void run_round(struct micro_times *times, unsigned threads, uint64_t calls)
{
	struct worker workers[MAX_THREADS] = {0};
	pthread_barrier_t start;
	must(pthread_barrier_init(&start, NULL, threads), "make a barrier");
	for (unsigned i = 0; i < threads; i++) {
		workers[i].start = &start;
		workers[i].calls = calls;
		start_worker(&workers[i], i);
	}
	uint64_t first = UINT64_MAX;
	uint64_t last = 0;
	uint64_t cpu_ns = 0;
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		const struct worker *worker = &workers[i];
		first = worker->began.wall_ns < first ? worker->began.wall_ns : first;
		last = worker->ended.wall_ns > last ? worker->ended.wall_ns : last;
		cpu_ns += worker->ended.cpu_ns - worker->began.cpu_ns;
	}
	pthread_barrier_destroy(&start);
	micro_times_add_ns(times, (double)(last - first) / (double)calls,
	    (double)cpu_ns / (double)calls / (double)threads);
}

int main(int argc, char **argv)
{
	const struct micro_options options =
	    micro_start(argc, argv, "threads2", 2000000, MAX_THREADS);
	cpu_set_t core;
	if (!choose_core(0, &core))
		fprintf(stderr, "note: one core for both threads: wall times of two are doubled\n");
	static struct micro_times one = {.name = "threads2.one"};
	static struct micro_times two = {.name = "threads2.two"};
	for (unsigned round = 0; round < options.rounds; round++) {
		run_round(&one, 1, options.calls);
		run_round(&two, 2, options.calls);
	}
	micro_times_print(&one);
	micro_times_print(&two);
	return micro_finish();
}
