/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How long the threads of the program had a processor, seen from outside: the kernel's counts,
 * which are looked at again and again while the program runs. That takes at most a hundredth of a
 * processor, however many threads there are.
 */
#ifndef TP_CPU_TIMES_H
#define TP_CPU_TIMES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buf.h"
#include "common/err.h"
#include "recorder/region/region.h"

/* What the last look saw of a thread. */
struct tp_cpu_seen {
	uint64_t cpu_ns; /* 0: it was not seen */
	uint64_t delay_ns;
	bool exact; /* it had ended then */
	bool gone;  /* there is nothing more to see */
};

/* What a thread had had when the recording began. */
struct tp_cpu_base {
	pid_t tid;
	uint64_t cpu_ns;
	uint64_t delay_ns;
};

struct tp_cpu_times {
	const struct tp_region *region;
	pid_t pid;                   /* whose log it is; 0: not known yet */
	bool hidden;                 /* it is not on this machine, or cannot be looked at */
	uint32_t missed;             /* how often its log was not among what it has mapped */
	int folder;                  /* its tasks; -1: not open */
	bool has_tasks;              /* thread ids in the log are this machine's */
	struct tp_cpu_seen *threads; /* TP_REGION_THREADS, by number */
	uint32_t at;                 /* number of the thread to look at next */
	uint64_t base_ns;            /* of the process: before it had the log */
	struct tp_cpu_base *bases;   /* of the threads that it had then, by rising numbers */
	uint32_t base_count;
	bool late; /* it ran already when the recording began */
	uint64_t start_ns;
	uint64_t next_ns; /* when to look next */
	uint64_t cpu_ns;  /* of the process; 0: it was not seen */
	uint64_t seen_ns; /* when */
	bool exact;       /* it had ended then */
	pthread_mutex_t lock;
};

/*
 * The processor time of all threads that process PID has had, also if it waits to be reaped; 0:
 * there is none.
 */
uint64_t tp_cpu_times_of(pid_t pid);

/*
 * Get ready to look at the process that attaches to the log of `region`, which outlives this. PID:
 * it is this one; 0: the one that the log names, if it has the log mapped; -1: none that could be
 * seen. 0 or TP_ERR_MEMORY; release it in any case. OLD: it has been another program before, whose
 * time does not count.
 */
int tp_cpu_times_init(struct tp_cpu_times *times, const struct tp_region *region, pid_t pid,
    bool old, struct tp_err *err);
void tp_cpu_times_release(struct tp_cpu_times *times);

/*
 * It is process PID that has attached, which ran already: its time until now does not count. Nor
 * does that of its threads; if there is no memory for these, they have none.
 */
void tp_cpu_times_join(struct tp_cpu_times *times, pid_t pid);

/* Look, if it is time to. This and what follows may be called by any thread. */
void tp_cpu_times_look(struct tp_cpu_times *times);

/* The processor time of the process so far, looked at now; 0: it cannot be seen. */
uint64_t tp_cpu_times_now(struct tp_cpu_times *times);

/* Look at all there is: the process leaves the log, and runs on. */
void tp_cpu_times_look_all(struct tp_cpu_times *times);

/* Look at all there is, a last time: process PID has ended, and is not waited for yet. */
void tp_cpu_times_look_last(struct tp_cpu_times *times, pid_t pid);

/*
 * Add the payload of a CPU section, nothing if nothing is known. TABLE: the log's, copied, of COUNT
 * threads.
 */
void tp_cpu_times_add(struct tp_cpu_times *times, const struct teeperf_thread *table,
    uint32_t count, struct tp_buf *out);

#endif
