/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Choosing under a budget: which functions get events, which are sampled or counted, so that as
 * much of the time as possible has a name. Pure arithmetic; docs/selection.md has the formulas.
 */
#ifndef TP_CHOOSE_H
#define TP_CHOOSE_H

#include "allowlists/choose/cost.h"

#include <stdbool.h>
#include <stdint.h>

/* Why an item has the level that it has. */
enum tp_reason {
	TP_REASON_BUDGET = 0, /* what the budget allows, or does not */
	TP_REASON_CHEAP,      /* its cost is next to nothing */
	TP_REASON_KEPT,       /* the user wants this level */
	TP_REASON_NEVER,      /* the user does not want it */
	TP_REASON_NAMELESS,   /* it has no name that a list could hold */
	TP_REASON_UNUSED,     /* it was never called */
	TP_REASON_NO_TIME,    /* it is called, and has no time of its own */
	TP_REASON_ENTRY,      /* seed: main */
	TP_REASON_SIZE,       /* seed: large, or not large enough */
	TP_REASON_LOOP,       /* seed: it has a loop */
	TP_REASON_SYSTEM,     /* seed: from a system header */
};

struct tp_choice {
	/* Facts. */
	double calls;
	double value;   /* its own time, in any unit */
	double sure;    /* the part of it that is known to be its own */
	double code_ns; /* what the code that records it costs, whatever its level */
	bool pinned;    /* level, sample and reason are decided */
	/* The choice. */
	enum tp_category level; /* ALLOW, SAMPLE, COUNT or SKIP */
	uint32_t sample;        /* of SAMPLE, else 1 */
	enum tp_reason reason;
	double size; /* the chooser's own */
};

struct tp_workload_node;

struct tp_choose_options {
	double budget_ns;
	double budget_bytes; /* of the log; 0: no limit */
	struct tp_cost cost;
	double sample_worth; /* of a sampled function's time, beside 1; 0: no sampling */
	uint64_t work;       /* items to look at until the best choice so far has to do; 0: many */
	bool count_rest;     /* count the functions left out, as far as the budget goes */
	/* Call paths, if time whose own function has no events is to count for its callers: ... */
	const struct tp_workload_node *nodes; /* items by number of function */
	uint32_t node_count;
	double path_decay; /* ... as this part of it for each call in between */
};

struct tp_chosen {
	double cost_ns;
	double cost_bytes;
	double all_value; /* of all items */
	double all_sure;  /* of their values */
	double event_value;
	double sample_value;
	double event_sure; /* of these values */
	double sample_sure;
	double bound; /* no choice of events alone names more than this value within the budget */
	double sample_bound; /* no samples name more within what its events leave of the budget */
	double code_ns;      /* part of the cost that is the size of the code */
	double all_event_ns; /* what events for all would cost */
	double path_value;   /* covered, with the path term */
	uint32_t event_count;
	uint32_t sample_count;
	uint32_t count_count;
	bool over_budget; /* what the user wants does not fit */
};

/* Decide COUNT items. 0 or TP_ERR_MEMORY. */
int tp_choose(struct tp_choice *items, uint32_t count, const struct tp_choose_options *options,
    struct tp_chosen *chosen);

/* N of sample/N for a function of this many calls. */
uint32_t tp_choose_sample(double calls);

#endif
