// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The soft clock: a thread that stores a real clock into the log's counter word all the time.
#define _GNU_SOURCE
#include "counter_thread.h"

#include <sched.h>
#include <string.h>

#include "host_clock.h"
#include "shared.h"

enum {
	// A store invalidates the line in every reader's cache. In a prototype, on another CPU, a
	// store every 25, 100, 400 ns cost the program 2.6, 3.2, 1.4 ns a call; 100 keeps the
	// resolution.
	STORE_INTERVAL_NS = 100,
	STARVED_NS = 10 * 1000,
};

static void pause_a_little(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#endif
}

static void *run(void *argument)
{
	struct tp_counter_thread *counter = argument;
	const uint64_t interval = counter->hz * STORE_INTERVAL_NS / 1000000000;
	const uint64_t starved = counter->hz * STARVED_NS / 1000000000;
	uint64_t last = tp_clock_ticks(counter->clock);
	tp_shared_store_relaxed(counter->word, last);
	uint64_t stores = 1;
	uint64_t max_gap = 0;
	uint64_t starved_sum = 0;
	tp_shared_store_relaxed(&counter->stores, stores);
	while (!tp_shared_load_relaxed(&counter->stop)) {
		pause_a_little();
		const uint64_t now = tp_clock_ticks(counter->clock);
		const uint64_t gap = now - last;
		if (gap < interval)
			continue;
		tp_shared_store_relaxed(counter->word, now);
		last = now;
		tp_shared_store_relaxed(&counter->stores, ++stores);
		if (gap > max_gap) {
			max_gap = gap;
			tp_shared_store_relaxed(&counter->max_gap_ticks, max_gap);
		}
		if (gap > starved) {
			starved_sum += gap;
			tp_shared_store_relaxed(&counter->starved_ticks, starved_sum);
		}
	}
	return NULL;
}

// The last core that we may use: interrupts and first threads like the first one. -1 if only one.
static int own_core(void)
{
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2)
		return -1;
	int core = -1;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &allowed))
			core = i;
	}
	return core;
}

// Keep the calling thread, and what it starts from here on, off the counter's core.
static void leave_core(int core)
{
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	CPU_CLR((size_t)core, &allowed);
	sched_setaffinity(0, sizeof(allowed), &allowed);
}

int tp_counter_thread_start(struct tp_counter_thread *counter, uint64_t *word, uint32_t clock,
    uint64_t hz, struct tp_err *err)
{
	*counter =
	    (struct tp_counter_thread){.word = word, .clock = clock, .hz = hz, .cpu = own_core()};
	const int error = pthread_create(&counter->thread, NULL, run, counter);
	if (error)
		return tp_err_system(err, error, NULL, "cannot start the counter thread");
	if (counter->cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET((size_t)counter->cpu, &set);
		if (pthread_setaffinity_np(counter->thread, sizeof(set), &set))
			counter->cpu = -1;
		else
			leave_core(counter->cpu);
	}
	while (!tp_shared_load_relaxed(&counter->stores))
		sched_yield();
	return 0;
}

void tp_counter_thread_stop(struct tp_counter_thread *counter)
{
	tp_shared_store_relaxed(&counter->stop, 1);
	pthread_join(counter->thread, NULL);
}

static uint64_t to_ns(const struct tp_counter_thread *counter, uint64_t ticks)
{
	return (uint64_t)((double)ticks * 1e9 / (double)counter->hz);
}

uint64_t tp_counter_thread_stores(const struct tp_counter_thread *counter)
{
	return tp_shared_load_relaxed(&counter->stores);
}

uint64_t tp_counter_thread_max_gap_ns(const struct tp_counter_thread *counter)
{
	return to_ns(counter, tp_shared_load_relaxed(&counter->max_gap_ticks));
}

uint64_t tp_counter_thread_starved_ns(const struct tp_counter_thread *counter)
{
	return to_ns(counter, tp_shared_load_relaxed(&counter->starved_ticks));
}
