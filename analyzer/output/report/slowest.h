/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The slowest calls of each function, and all calls that were made inside of them: what a timeline
 * draws in full. Which calls are slowest is known when all calls have passed; what was inside of
 * them is then collected by a second replay. Memory is for the slowest calls of some functions, and
 * for as many calls inside as are allowed.
 */
#ifndef TP_REPORT_SLOWEST_H
#define TP_REPORT_SLOWEST_H

#include "analyzer/profile/calls.h"
#include "analyzer/profile/paths.h"
#include "common/buf.h"

#define TP_REPORT_SLOWEST_FUNCTIONS 2000 /* with most inclusive time, that have slowest calls */

struct tp_report_time;
struct tp_report_tree;

struct tp_report_slow_call {
	struct tp_call call;
	uint64_t inside; /* calls within it */
	uint32_t thread; /* index in analysis->threads */
	uint32_t track;  /* of the timeline, UINT32_MAX: none */
	bool full;       /* all that is inside is drawn */
};

struct tp_report_slowest {
	const struct tp_analysis *analysis;
	uint32_t most;       /* of each function */
	enum tp_time time;   /* by which they are the slowest: processor time, if it is known */
	uint32_t *functions; /* that have any, those with most inclusive time first */
	uint32_t count;
	uint32_t left;                     /* functions with calls that are not among them */
	uint32_t *slot_of;                 /* of each function its place there; UINT32_MAX: none */
	struct tp_report_slow_call *calls; /* `most` places for each, the slowest first */
	uint32_t *call_counts;
	/* by depth: calls that have ended since their caller began, while a thread is replayed */
	uint64_t *below;
	uint64_t depths; /* that it has room for */
	bool failed;
	/* Not drawn: */
	uint64_t part;   /* slowest calls of which only some of the calls inside are drawn */
	uint64_t hidden; /* calls inside that are on paths that are too light or too deep */
};

/* False: no memory. Release it in any case. */
bool tp_report_slowest_init(
    struct tp_report_slowest *slowest, const struct tp_analysis *analysis, uint32_t most);
void tp_report_slowest_release(struct tp_report_slowest *slowest);
/* A thread begins. */
void tp_report_slowest_start(struct tp_report_slowest *slowest);
/* Its next call, of FUNCTION, has ended. */
void tp_report_slowest_add(struct tp_report_slowest *slowest, uint32_t function, uint32_t thread,
    const struct tp_call *call);
/*
 * All have passed. Choose windows with at most ROOM calls together: the slowest call of each
 * function first, and of these those with the fewest calls inside; then the second ones, and so on.
 * The calls inside of them are added to TIME's calls, which have each call once, in their order.
 * False: no memory.
 */
bool tp_report_slowest_finish(struct tp_report_slowest *slowest, const struct tp_paths *paths,
    const struct tp_report_tree *tree, struct tp_report_time *time, const uint32_t *threads,
    uint64_t room);
/*
 * The block "slowest": how many of each function, functions without, 1 if they are the slowest by
 * processor time (else it is not known), functions; for each function
 * its number and how many calls, and their columns thread here + 1 (0: it is not shown), start,
 * duration, calls inside, 1 if all of these are drawn, and the time
 * in which they had a processor.
 */
void tp_report_slowest_write(
    const struct tp_report_slowest *slowest, const struct tp_report_time *time, struct tp_buf *out);

#endif
