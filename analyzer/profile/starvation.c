// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times in which a clock stood still, or a program had no processor.
#include "starvation.h"

#include <math.h>

// How long a wait for a processor is: a usual time slice. One such wait is no news, as a program of
// a millisecond may well have one.
#define WAIT_NS 4e6
static void add_clock(struct tp_starvation *starvation, const struct tp_tracefile *trace,
    const struct tp_timebase *time, uint64_t duration_ns)
{
	const struct teeperf_trace_clock *clock = &trace->clock;
	if (!trace->has_clock || !TEEPERF_CLOCK_IS_SOFT(clock->kind) || !time->known ||
	    !duration_ns)
		return;
	starvation->clock_share = fmin((double)clock->starved_ns / (double)duration_ns, 1);
	starvation->clock_gaps = tp_timebase_real_ticks(time, (double)clock->starved_ns);
	starvation->clock_gap = tp_timebase_real_ticks(time, (double)clock->max_gap_ns);
}

static void add_cpu(struct tp_starvation *starvation, const struct tp_tracefile *trace,
    const struct tp_thread *only)
{
	double could = 0;
	double waited = 0;
	double ran = 0;
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		const struct tp_thread *thread = &trace->threads[i];
		if ((only && thread != only) || !thread->has_cpu)
			continue;
		starvation->has_cpu = true;
		ran += (double)thread->cpu_ns;
		if (!thread->has_delay)
			continue;
		starvation->has_delay = true;
		could += (double)thread->cpu_ns + (double)thread->delay_ns;
		waited += (double)thread->delay_ns;
	}
	// That of the process has threads, too, of which nothing was recorded.
	if (!only && trace->cpu.flags & (TEEPERF_CPU_EXACT | TEEPERF_CPU_AT_LEAST)) {
		starvation->has_cpu = true;
		ran = (double)trace->cpu.cpu_ns;
	}
	const double most = 9e18;
	starvation->cpu_ns = (uint64_t)fmin(ran, most);
	starvation->delay_ns = (uint64_t)fmin(waited, most);
	starvation->delay_share = could > 0 ? waited / could : 0;
	starvation->told = !trace->sched.lost;
	for (uint32_t i = 0; i < trace->thread_count; i++)
		starvation->told &= (only && &trace->threads[i] != only) ||
				    !trace->threads[i].chunk_count || trace->threads[i].off;
}

void tp_starvation_init(struct tp_starvation *starvation, const struct tp_tracefile *trace,
    const struct tp_timebase *time, uint64_t duration_ns, const struct tp_thread *only)
{
	*starvation =
	    (struct tp_starvation){.run = tp_timebase_real_ticks(time, (double)duration_ns)};
	add_clock(starvation, trace, time, duration_ns);
	add_cpu(starvation, trace, only);
	if (time->known)
		starvation->delays = tp_timebase_real_ticks(time, (double)starvation->delay_ns);
}

bool tp_starvation_hides(const struct tp_starvation *starvation)
{
	return starvation->clock_share >= TP_STARVATION_HEAVY;
}

/*
 * A gap goes to whoever runs when the clock goes on, a wait to whoever runs when the processor is
 * taken away: of many short ones each function has its share, give or take the square root of how
 * many it has.
 */
double tp_starvation_uncertainty(
    const struct tp_starvation *starvation, const struct tp_timebase *time, uint64_t self)
{
	const double own = (double)self;
	const double part = starvation->run > 0 ? fmin(own / starvation->run, 1) : 1;
	const double gaps = sqrt(starvation->clock_gap * starvation->clock_gaps * part);
	if (starvation->told)
		return gaps;
	const double wait = tp_timebase_real_ticks(time, WAIT_NS);
	const double waited = own * starvation->delay_share;
	const double waits = starvation->delay_share >= TP_STARVATION_HEAVY
				 ? starvation->delays
				 : waited + sqrt(waited * wait);
	// It cannot have waited for longer than it took, nor for longer than all did.
	return gaps + fmin(waits, fmin(own, starvation->delays));
}

bool tp_starvation_is_news(const struct tp_starvation *starvation)
{
	return starvation->delay_share >= TP_STARVATION_HEAVY &&
	       (double)starvation->delay_ns > WAIT_NS &&
	       starvation->delays >= TP_STARVATION_HEAVY * starvation->run;
}
