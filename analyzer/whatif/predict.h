/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `teeperf what-if`: how long a run would take if some of its functions were faster. */
#ifndef TP_PREDICT_H
#define TP_PREDICT_H

#include "analyzer/output/view.h"
#include "common/buf.h"

#define TP_PREDICT_SPEEDUPS_MAX 32

struct tp_predict_options {
	struct tp_view_options view; /* format, limit, columns, width, color */
	const char *const *functions;
	uint32_t function_count; /* patterns; 0: those that ran longest */
	bool callees;            /* with what they call */
	uint32_t processors;     /* 0: as many as the program had */
	double speedups
	    [TP_PREDICT_SPEEDUPS_MAX]; /* parts of the time that go away: 0.2; below 0: slower */
	uint32_t speedup_count;        /* 0: the usual ones */
};

struct tp_prediction {
	uint32_t function; /* in the analysis */
	double running;    /* ticks that it ran, of all threads */
	double speedup;
	double time; /* ticks that the run would take, on the scale of the measured time */
};

struct tp_predictions {
	double measured; /* ticks from the first recorded call to the end of the last one */
	double replayed; /* the same by the model, with nothing changed */
	/*
	 * The same without what recording has cost, on the scale of the measured time; that is what
	 * predictions are held against. As measured if the analysis takes nothing off.
	 */
	double net;
	uint64_t ran;    /* ticks of all threads, without that cost */
	uint64_t waited; /* for other threads */
	uint64_t stood;  /* for time, devices, others */
	uint32_t threads;
	uint32_t processors;
	struct tp_prediction *items; /* by function: the greatest gain first; then as speedups */
	uint64_t count;
};

/*
 * pre: of an analysis without a range and filters. 0; TP_ERR_NOT_FOUND: the trace lacks the data,
 * or no function matches; TP_ERR_SYNTAX: a bad pattern; TP_ERR_MEMORY. Release it in any case.
 */
int tp_predict(struct tp_predictions *predictions, const struct tp_analysis *analysis,
    const struct tp_predict_options *options, struct tp_err *err);
void tp_predictions_release(struct tp_predictions *predictions);

/* Add them to OUT. 0, or what tp_grid_end says. */
int tp_predictions_show(const struct tp_predictions *predictions,
    const struct tp_analysis *analysis, const struct tp_predict_options *options,
    struct tp_buf *out, struct tp_err *err);

#endif
