/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What an allowlist costs in a run of which the calls are known, and what it names for that. */
#ifndef TP_LIST_COST_H
#define TP_LIST_COST_H

#include "allowlists/choose/cost.h"
#include "allowlists/check/use.h"
#include "allowlists/choose/workload.h"

struct tp_list_cost {
	uint64_t calls;     /* of functions that are instrumented in some way */
	double events;      /* calls that are recorded with times, as far as is known before */
	uint64_t counted;   /* calls that are only counted */
	double overhead_ns; /* that recording takes */
	double log_bytes;
	double named_ns;   /* self time of functions with events */
	double sampled_ns; /* self time of functions of which calls are sampled */
	double all_ns;     /* self time of all functions */
	double time_ns;    /* of the run without events; 0: unknown */
};

/*
 * Add up what each function of the workload costs at the level that the list gives it. The
 * workload's functions must have their inventory entries (tp_workload_add_inventory).
 */
void tp_list_cost(struct tp_list_cost *sum, const struct tp_list_use *use,
    const struct tp_workload *workload, const struct tp_cost *cost);

/* Calls of FUNCTION in the workload, 0 if it has none. */
uint64_t tp_list_calls(
    const struct tp_workload *workload, const struct tp_inventory_function *function);

#endif
