/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What it costs to record a call, in nanoseconds and bytes, at each level; docs/selection.md has
 * the model and where its numbers come from. All costs are of a call with its return.
 */
#ifndef TP_COST_H
#define TP_COST_H

#include "allowlists/language/allowlist.h"

#include <stdbool.h>
#include <stdint.h>

/* What a pair of records takes in the log. */
#define TP_COST_PAIR_BYTES 16

enum tp_cost_source {
	TP_COST_GIVEN = 0,  /* the user said so */
	TP_COST_CALIBRATED, /* a loop that does nothing else, here and now */
	TP_COST_CONSTANT,   /* measured when TeePerf was built: docs/overhead.md */
	TP_COST_IN_SITU,    /* in the program itself: runs with and without events */
};

struct tp_cost {
	double event_ns;
	double event_in_ns; /* part of it that falls between the two looks at the clock */
	double count_ns;
	double closed_ns; /* of a function that is not recorded; 0: it is not compiled in */
	enum tp_cost_source source; /* of event_ns */
};

/*
 * The cost of events timed by a clock of this kind (log.h): if `calibrate`, and it is this
 * machine's own processor clock, calibrated in a few milliseconds; else a constant.
 */
void tp_cost_init(struct tp_cost *cost, uint32_t clock_kind, bool calibrate);

/*
 * What a call costs whose function is compiled in, and whose gate is closed, at most. It is tested
 * at entry and exit: 3.4 ns a call of a leaf in a loop, 2.0 without (LLVM 19, x86-64). In a program
 * it mostly hides behind other work.
 */
#define TP_COST_CLOSED_NS 1.4

/* The code of a program that runs. */
struct tp_cost_code {
	double time_ns;   /* that it takes */
	double instrs;    /* of LLVM, optimised; 0: not known */
	double functions; /* that they are of */
};

/*
 * What the size of the code that records costs by itself, at most: of a function with this many
 * calls. 0 if that is not known, or all code fits the processor's cache with it.
 */
double tp_cost_code_ns(const struct tp_cost_code *code, double calls);

/* Nanoseconds and bytes for a call at this level; sample is the N of sample/N, above 0. */
double tp_cost_call_ns(const struct tp_cost *cost, enum tp_category level, uint32_t sample);
double tp_cost_call_bytes(enum tp_category level, uint32_t sample);

/*
 * What a cost that was predicted with this one may turn out to be, as parts of it: a loop that does
 * nothing else is the worst case, and in real programs much of the cost hides behind other work.
 */
double tp_cost_low(const struct tp_cost *cost);
double tp_cost_high(const struct tp_cost *cost);

/* "given", "calibrated here", ... */
const char *tp_cost_source_name(enum tp_cost_source source);

#endif
