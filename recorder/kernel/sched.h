/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * When the threads of the program got a processor and lost it, reported by the kernel: perf's
 * PERF_RECORD_SWITCH (perf_event_open(2)), which an ordinary user may have of his own processes at
 * perf_event_paranoid 2. One event for each processor, inherited by each thread and child, has a
 * ring that the drain's thread empties into the trace (section SCHED).
 */
#ifndef TP_SCHED_H
#define TP_SCHED_H

#include "common/buf.h"
#include "common/err.h"
#include "recorder/kernel/programs.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <teeperf/trace.h>

struct tp_sched_ring {
	int fd;
	struct perf_event_mmap_page *page; /* the ring's data begins behind its first page */
	uint64_t size;                     /* bytes of data, a power of two */
	uint32_t cpu;
};

/* All zero: not open. */
struct tp_sched {
	uint32_t open; /* 1: the rings are there; stored last */
	struct tp_sched_ring *rings;
	uint32_t ring_count;
	uint64_t from_ns; /* CLOCK_MONOTONIC_RAW: switches are known from here on */
	/* bytes of switches to keep, the newest, also when they are written; 0: all until then */
	uint64_t most;
	struct tp_buf switches; /* struct teeperf_trace_sched_switch[] */
	uint64_t lost;          /* switches for which a ring had no room */
	struct tp_err refused;  /* why it is not open; code 0: nobody has tried */
	/*
	 * events of further threads, where they were there already; they have no ring of their own
	 */
	int *more;
	uint32_t more_count;
	uint32_t more_room;
	struct tp_sched_joining *joining; /* NULL except in tp_sched_join */
	bool sees_family;                 /* TP_SCHED_FAMILY */
	struct tp_programs programs;      /* if so; the count stays when this is closed */
};

/* What of it is to be seen. */
enum tp_sched_scope {
	TP_SCHED_FAMILY = 0, /* the process and all that it starts */
	TP_SCHED_THREADS,    /* the process and its threads; on kernels before 5.13 the family */
};

/*
 * Receive the switches of process PID from now on, which has one thread and waits for us, so that
 * nothing is missed. 0, or a negative tp_error, and sched->refused says the same: the recording can
 * do without.
 */
int tp_sched_open(struct tp_sched *sched, pid_t pid, enum tp_sched_scope scope);
/*
 * The same of process PID and its threads, which run already; some of them may come and go
 * meanwhile. What was before is not known. Each thread takes a descriptor for each processor.
 */
int tp_sched_join(struct tp_sched *sched, pid_t pid);
void tp_sched_close(struct tp_sched *sched);

/*
 * Take what the rings have into sched->switches: only of process PROCESS, if that is not 0. Costs
 * next to nothing if there is nothing. Called by one thread.
 */
void tp_sched_take(struct tp_sched *sched, pid_t process);

/* Bytes of switches that were taken and not forgotten. */
uint64_t tp_sched_bytes(const struct tp_sched *sched);
/* Count what was taken as lost. */
void tp_sched_drop(struct tp_sched *sched);
/* A section of tp_sched_add could not be written: what was in it is lost. */
void tp_sched_give_back(struct tp_sched *sched, const struct tp_buf *section);

/* Add the payload of a SCHED section with what was taken; nothing if there is nothing new. */
void tp_sched_add(struct tp_sched *sched, struct tp_buf *out);

#endif
