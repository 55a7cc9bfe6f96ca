/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which call a system event belongs to: the innermost that its thread had open. Each thread that
 * has events is replayed once more; memory grows with events, not with calls.
 */
#ifndef TP_SYSTEM_H
#define TP_SYSTEM_H

#include "analyzer/profile/paths.h"

#define TP_SYSTEM_NOBODY UINT32_MAX

/* A place in the program. */
struct tp_system_place {
	/* index in analysis->threads; TP_SYSTEM_NOBODY: a thread that the trace does not have */
	uint32_t thread;
	uint32_t path; /* of the paths; 0: in no call */
};

struct tp_system_item {
	const struct teeperf_system_event *event; /* of the trace */
	uint64_t start; /* ticks; 0 if the trace's clock is not tied to a time */
	struct tp_system_place at;
	struct tp_system_place waker; /* of a wait that was ended by a thread */
	bool sequential; /* a request: it begins where the one before it on this device ended */
};

enum tp_system_list_id {
	TP_SYSTEM_CALLS = 0, /* all system calls */
	TP_SYSTEM_WAITS,     /* futex calls that wait, and others that a thread ended */
	TP_SYSTEM_IO,        /* calls that read and write, requests to block devices */
	TP_SYSTEM_FAULTS,
	TP_SYSTEM_ALLOCATIONS,
	TP_SYSTEM_SGX, /* functions of the kernel's SGX driver */
	TP_SYSTEM_LISTS,
};

/* Numbers of items. */
struct tp_system_list {
	uint64_t *numbers;
	uint64_t count;
	uint64_t room;
};

/* What a function caused of one kind. */
struct tp_system_row {
	/* index in analysis->functions; TP_SYSTEM_NOBODY: see tp_system_row_function */
	uint32_t function;
	bool outside; /* of a thread that the trace does not have */
	struct teeperf_system_event
	    event; /* one of them: of all the same are kind, number, detail, flags */
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	struct tp_histogram times; /* durations */
	bool sequential;           /* of requests */
	uint32_t waker;            /* of waits: the function that ended them, or TP_SYSTEM_NOBODY */
	uint64_t bytes;
	/*
	 * of all rows but allocations and functions of SGX; bytes of calls only: requests carry the
	 * same
	 */
	bool is_total;
};

struct tp_system_items {
	struct tp_system_item
	    *items; /* by their starts: those of the analysis' threads and its range of time */
	uint64_t count;
	struct tp_system_list lists[TP_SYSTEM_LISTS];
	struct tp_system_row *rows; /* those with most time first */
	uint32_t row_count;
	uint32_t row_room;
	struct tp_system_row total;
};

/* 0 or a negative tp_error. Release it in any case. What it is of must outlive it. */
int tp_system_items_init(struct tp_system_items *items, const struct tp_analysis *analysis,
    const struct tp_paths *paths, struct tp_err *err);
void tp_system_items_release(struct tp_system_items *items);

/*
 * "read", "futex", "heap fault", "block write", "kernel memory: read"; TEXT has room for a made
 * one.
 */
const char *tp_system_event_name(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event, char text[64]);
/*
 * The same, but requests that read or write and are not SEQUENTIAL are "random block read", "random
 * block write".
 */
const char *tp_system_item_name(const struct tp_analysis *analysis,
    const struct teeperf_system_event *event, bool sequential, char text[64]);
/* The system call that it is of, or "fault". */
const char *tp_system_event_cause(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event, char text[32]);
/* "stack", "heap", ... */
const char *tp_system_memory_name(uint32_t detail);
/* Bytes that it moved; false: it is not of such a kind, or failed. */
bool tp_system_event_bytes(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event, uint64_t *bytes);
/* Whether it is a call in which the thread waited until thread number event->waker_tid woke it. */
bool tp_system_event_woken(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event);
/* Whether it is such a call, or a futex call that waits. */
bool tp_system_event_waits(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event);
/* The function, or what stands for none: "(no recorded call)", "(no recorded thread)". */
const char *tp_system_row_function(
    const struct tp_analysis *analysis, const struct tp_system_row *row);

#endif
