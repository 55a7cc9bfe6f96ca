// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The soft clock: a thread that stores a time into the log's counter word once in a period.
#define _GNU_SOURCE
#include "counter_thread.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include <teeperf/atomic.h>
#include <teeperf/log.h>

#include "host_clock.h"

enum {
	// How often a thread that counts looks at a clock, which may cost it a system call.
	LOOK_NS = 50 * 1000,
	STORES_A_LOOK_MAX = 1024,
	CALIBRATION_PAUSES = 2000,
	SLICES_PERIOD_NS = 1000, // a slice must be short beside the period
	START_LOOK_NS = 20 * 1000,
};

void tp_clock_gaps_init(struct tp_clock_gaps *gaps)
{
	*gaps = (struct tp_clock_gaps){.from_ns = UINT64_MAX, .to_ns = UINT64_MAX};
}

void tp_clock_gaps_begin(struct tp_clock_gaps *gaps, uint64_t now_ns)
{
	tp_store_relaxed(&gaps->from_ns, now_ns);
}

void tp_clock_gaps_end(struct tp_clock_gaps *gaps, uint64_t now_ns)
{
	tp_store_relaxed(&gaps->to_ns, now_ns);
}

bool tp_clock_gaps_note(struct tp_clock_gaps *gaps, uint64_t now_ns, uint64_t gap_ns)
{
	const uint64_t first = tp_load_relaxed(&gaps->from_ns);
	const uint64_t last = tp_load_relaxed(&gaps->to_ns);
	uint64_t from = gap_ns < now_ns ? now_ns - gap_ns : 0;
	// The noting thread measures in ticks, so two gaps may seem to overlap a little.
	if (from < gaps->told_ns)
		from = gaps->told_ns;
	if (from < first)
		from = first;
	const uint64_t to = now_ns < last ? now_ns : last;
	if (from >= to)
		return false;
	gaps->told_ns = to;
	const uint64_t length = to - from;
	if (length > tp_load_relaxed(&gaps->max_ns))
		tp_store_relaxed(&gaps->max_ns, length);
	if (length > TP_CLOCK_STARVED_NS) {
		tp_fetch_add_relaxed(&gaps->starved_ns, length);
		tp_fetch_add_relaxed(&gaps->starved_count, 1);
	}
	return true;
}

static void pause_a_little(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#elif defined(__riscv)
	__asm__ volatile(".4byte 0x0100000f"); // pause, which older assemblers do not know
#endif
}

static uint64_t to_ns(uint64_t ticks, uint64_t hz)
{
	return (uint64_t)((double)ticks * 1e9 / (double)hz);
}

// Publish the host's clock.
static void publish(struct tp_counter_thread *counter)
{
	const struct tp_counter_options *options = &counter->options;
	const uint64_t period = options->hz * options->period_ns / 1000000000;
	// Gaps are looked into only when they are the longest so far, or long.
	const uint64_t long_gap = options->hz * TP_CLOCK_STARVED_NS / 1000000000;
	uint64_t longest = 0;
	uint64_t last = tp_clock_ticks(options->clock);
	uint64_t stores = 1;
	tp_store_relaxed(options->word, last);
	tp_store_relaxed(&counter->stores, stores);
	while (!tp_load_relaxed(&counter->stop)) {
		if (period && !tp_slices_step(&counter->slices))
			pause_a_little();
		const uint64_t now = tp_clock_ticks(options->clock);
		const uint64_t gap = now - last;
		if (gap < period)
			continue;
		tp_store_relaxed(options->word, now);
		last = now;
		tp_store_relaxed(&counter->stores, ++stores);
		if (gap > longest || gap > long_gap) {
			const uint64_t ns = to_ns(gap, options->hz);
			if (tp_clock_gaps_note(&counter->gaps, tp_clock_monotonic_ns(), ns) &&
			    gap > longest)
				longest = gap;
		}
	}
	// We may have slept through the end.
	const uint64_t rest = tp_clock_ticks(options->clock) - last;
	tp_clock_gaps_note(&counter->gaps, tp_clock_monotonic_ns(), to_ns(rest, options->hz));
}

// How many pauses last `ns`: by the best of some tries, in the others we were interrupted.
static uint64_t pauses_in(uint64_t ns)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 5; i++) {
		const uint64_t start = tp_clock_monotonic_ns();
		for (int j = 0; j < CALIBRATION_PAUSES; j++)
			pause_a_little();
		const uint64_t took = tp_clock_monotonic_ns() - start;
		if (took < best)
			best = took;
	}
	return best ? ns * CALIBRATION_PAUSES / best : 0;
}

/*
 * Count. Without a clock to go by, a period is a number of pauses. That we stood still shows in a
 * row of stores that took much longer than the fastest one.
 */
static void count(struct tp_counter_thread *counter)
{
	const struct tp_counter_options *options = &counter->options;
	const uint64_t pauses = pauses_in(options->period_ns);
	const uint64_t in_a_look = options->period_ns ? LOOK_NS / options->period_ns : UINT64_MAX;
	const uint64_t row = in_a_look > STORES_A_LOOK_MAX ? STORES_A_LOOK_MAX
			     : in_a_look                   ? in_a_look
							   : 1;
	uint64_t stores = 0;
	uint64_t fastest = UINT64_MAX;
	uint64_t last = tp_clock_monotonic_ns();
	while (!tp_load_relaxed(&counter->stop)) {
		for (uint64_t i = 0; i < row; i++) {
			for (uint64_t j = 0; j < pauses; j++)
				pause_a_little();
			tp_store_relaxed(options->word, ++stores);
			tp_store_relaxed(&counter->stores, stores);
		}
		const uint64_t now = tp_clock_monotonic_ns();
		const uint64_t took = now - last;
		last = now;
		if (took < fastest)
			fastest = took;
		// Program and counter fight for the line: up to four times as slow is usual.
		else if (took / 4 > fastest)
			tp_clock_gaps_note(&counter->gaps, now, took - fastest);
	}
}

static void *run(void *argument)
{
	struct tp_counter_thread *counter = argument;
	if (counter->options.clock == TEEPERF_CLOCK_SOFT_COUNT)
		count(counter);
	else
		publish(counter);
	return NULL;
}

// The last core that we may use: interrupts and first threads like the first one. -1 if only one.
static int own_core(void)
{
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2)
		return -1;
	int core = -1;
	for (size_t i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &allowed))
			core = (int)i;
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

int tp_counter_thread_start(
    struct tp_counter_thread *counter, const struct tp_counter_options *options, struct tp_err *err)
{
	*counter = (struct tp_counter_thread){.options = *options, .cpu = own_core()};
	tp_clock_gaps_init(&counter->gaps);
	if (!tp_slices_init(&counter->slices))
		return tp_err_memory(err, NULL);
	const int error = pthread_create(&counter->thread, NULL, run, counter);
	if (error) {
		tp_slices_release(&counter->slices);
		return tp_err_system(err, error, NULL, "cannot start the counter thread");
	}
	if (counter->cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET((size_t)counter->cpu, &set);
		if (pthread_setaffinity_np(counter->thread, sizeof(set), &set))
			counter->cpu = -1;
		else
			leave_core(counter->cpu);
	}
	// Its core may be another recorder's for long: a loop of sched_yield would burn ours.
	while (!tp_load_relaxed(&counter->stores))
		nanosleep(&(struct timespec){.tv_nsec = START_LOOK_NS}, NULL);
	return 0;
}

bool tp_counter_thread_has_time(const struct tp_counter_thread *counter)
{
	return counter->cpu >= 0 && counter->options.clock != TEEPERF_CLOCK_SOFT_COUNT &&
	       counter->options.period_ns >= SLICES_PERIOD_NS;
}

void tp_counter_thread_stop(struct tp_counter_thread *counter)
{
	tp_store_relaxed(&counter->stop, 1);
	pthread_join(counter->thread, NULL);
	tp_slices_release(&counter->slices);
}
