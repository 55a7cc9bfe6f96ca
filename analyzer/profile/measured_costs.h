/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What recording the calls of each function has cost in the program itself: from a trace of 'record
 * --calibrate', in which functions were left out in turns, a window each.
 * docs/decisions/0040-measured-costs.md says how.
 */
#ifndef TP_MEASURED_COSTS_H
#define TP_MEASURED_COSTS_H

#include "analyzer/profile/analysis.h"

/* Of a call with its return; as the constants in compensation.h. */
struct tp_measured_cost {
	uint64_t hash; /* of the function's name: teeperf_name_hash */
	double in_ps;
	double out_ps;
	double in_off_ps;
	double out_off_ps;
};

/* All zero: none. */
struct tp_measured_costs {
	struct tp_measured_cost *items; /* ascending by hash, each once */
	uint32_t count;
};

/*
 * Measure by the trace of ANALYSIS, all of it with wall times as recorded. A function gets a cost
 * only if it is known better than by the constants. 0; TP_ERR_NOT_FOUND: it was not recorded so; or
 * another negative tp_error. Release them in any case.
 */
int tp_measured_costs_init(
    struct tp_measured_costs *costs, const struct tp_analysis *analysis, struct tp_err *err);
void tp_measured_costs_release(struct tp_measured_costs *costs);

/* That of the function NAME, NULL: it has none. */
const struct tp_measured_cost *tp_measured_costs_find(
    const struct tp_measured_costs *costs, const char *name);

/*
 * Of the COUNT differences at D between windows, which it sorts: the median, and half the width of
 * the interval around it in which the true one lies in 95 of 100 cases, wherever and however widely
 * they scatter. False: they are too few to say so.
 */
bool tp_measured_costs_median(double *d, size_t count, double *median, double *off);

#endif
