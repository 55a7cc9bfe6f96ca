/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Marks: moments, and phases of threads, that a program has named (teeperf.h) or somebody outside
 * has (teeperf ctl mark). Only who shows them reads them: that takes a look at each record of the
 * threads that have any (tp_analysis_marks).
 */
#ifndef TP_MARKS_H
#define TP_MARKS_H

#include "analyzer/trace/timebase.h"
#include "analyzer/trace/tracefile.h"

enum tp_mark_kind {
	TP_MARK_MOMENT,
	TP_MARK_PHASE, /* with a begin, and maybe an end */
	TP_MARK_END,   /* of a phase whose begin is not there: a moment */
};

#define TP_MARK_OUTSIDE UINT32_MAX /* instead of a thread */
#define TP_MARK_OPEN UINT64_MAX    /* instead of an end */

struct tp_mark {
	uint64_t time; /* ticks; of a phase, when it began */
	uint64_t end;  /* of a phase: ticks, or TP_MARK_OPEN: it has not ended; of others `time` */
	uint32_t thread; /* index in trace->threads, or TP_MARK_OUTSIDE */
	uint32_t number; /* in the order in which they were read, as they are in their threads */
	uint8_t kind;    /* enum tp_mark_kind */
	bool timed;      /* false: the time is unknown, and `time` and `end` mean nothing */
	bool cut;        /* the name was longer */
	char name[TEEPERF_MARK_NAME + 1]; /* printable, "unnamed" if it has none */
};

struct tp_marks {
	struct tp_mark
	    *items; /* by time, then by thread, then by number; those without a time last */
	uint64_t count;
	uint64_t room;
	uint64_t left_out; /* more of them, which are not kept */
};

/* The most that are kept: those of the first threads. */
enum { TP_MARKS_MAX = 1 << 18 };

/*
 * The marks from outside, and those of threads whose index in trace->threads is WANTED (NULL: of
 * all); of a thread whose chunks cannot all be read, those before. 0 or TP_ERR_MEMORY. Release it
 * in any case.
 */
int tp_marks_read(struct tp_marks *marks, const struct tp_tracefile *trace, const bool *wanted,
    struct tp_err *err);
void tp_marks_release(struct tp_marks *marks);

/* "mark", "phase" or "end" */
const char *tp_mark_kind_name(const struct tp_mark *mark);

/*
 * What RANGE, "A..B", "A..", "..B" or "A", means: from the first mark A to the first mark B behind
 * it, of phases their begins; or the first phase A. "A#2" is the second one of that name. Ticks,
 * *FROM 0 and *TO UINT64_MAX where it is open. 0; TP_ERR_NOT_FOUND if there are no such marks, with
 * those that there are.
 */
int tp_marks_range(const struct tp_marks *marks, const char *range, const char *file,
    uint64_t *from, uint64_t *to, struct tp_err *err);

#endif
