/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * When the threads of a trace had no processor: the stretches between the switches of its SCHED
 * sections (docs/format.md, Thread switches), on the trace's clock.
 */
#ifndef TP_TRACE_SCHED_H
#define TP_TRACE_SCHED_H

#include "analyzer/trace/timebase.h"
#include "common/arena.h"
#include "common/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/trace.h>

/* Ticks without a processor, by the reason. */
struct tp_off {
	uint64_t blocked;   /* it waited for something */
	uint64_t preempted; /* it could have run */
};

static inline void tp_off_add(struct tp_off *to, const struct tp_off *off)
{
	to->blocked += off->blocked;
	to->preempted += off->preempted;
}

static inline void tp_off_take(struct tp_off *from, const struct tp_off *off)
{
	from->blocked -= off->blocked;
	from->preempted -= off->preempted;
}

/* One stretch: [from, to) in ticks. */
struct tp_off_stretch {
	uint64_t from;
	uint64_t to;
	bool preempted;
};

/* Those of one thread, in order; they do not overlap. */
struct tp_off_list {
	const struct tp_off_stretch *items;
	uint32_t count;
};

/* A thread of the system. */
struct tp_sched_thread {
	uint64_t os_tid;
	struct tp_off_list off;
	uint64_t
	    end; /* ticks: it lost the processor for good; UINT64_MAX: not as far as is known */
	/* Ticks, in order: it ended, or became another program's. The number may be given again. */
	const uint64_t *ends;
	uint32_t end_count;
};

/* All zero: nothing is known. */
struct tp_sched_read {
	struct teeperf_trace_sched_switch *switches; /* by thread and time, once it is finished */
	uint64_t count;
	uint64_t capacity;
	uint64_t from_ns; /* the latest of the sections: before it nothing is known */
	uint64_t from;    /* the same in ticks, once it is finished; 0 without switches */
	uint64_t lost;
	bool any;                        /* there is a section */
	struct tp_sched_thread *threads; /* by os_tid */
	uint32_t thread_count;
};

/* Add a section of SIZE bytes. 0, TP_ERR_FORMAT: that is no size of a section, or TP_ERR_MEMORY. */
int tp_sched_read_add(struct tp_sched_read *sched, const void *payload, uint64_t size);

/*
 * All sections are there: make threads of them, which live in the arena. LIVED: until this tick the
 * program did not end, so a thread that lost its processor for good had none up to there; 0: that
 * is not known. A switch that contradicts the one before it (some were lost) never makes waiting
 * longer than it can be shown to be. 0 or TP_ERR_MEMORY.
 */
int tp_sched_read_finish(struct tp_sched_read *sched, const struct teeperf_trace_clock *clock,
    const struct teeperf_trace_point *points, uint64_t lived, struct tp_arena *arena);
void tp_sched_read_release(struct tp_sched_read *sched);

/* A thread of the system; NULL: nothing is known of it. */
const struct tp_sched_thread *tp_sched_find(const struct tp_sched_read *sched, uint64_t os_tid);

/*
 * Ticks without a processor in [from, to). *at is the first stretch that ends behind `from`, from
 * which the next call, with a `from` that is not earlier, goes on; 0 at first.
 */
struct tp_off tp_off_between(
    const struct tp_off_list *list, uint32_t *at, uint64_t from, uint64_t to);

#endif
