/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the parts of tp_generate share. */
#ifndef TP_GENERATE_INTERNAL_H
#define TP_GENERATE_INTERNAL_H

#include "allowlists/choose/generate.h"

struct tp_read_trace {
	struct tp_tracefile trace;
	struct tp_analysis analysis;
};

/* Open and analyse FILE; what is wrong with it goes to `damage`. Release it in any case. */
int tp_read_trace(struct tp_read_trace *read, struct tp_generated *generated, const char *file,
    struct tp_err *err);
void tp_read_trace_release(struct tp_read_trace *read);

/* Correct the event cost by what a run with an earlier list has cost, if the options tell. */
int tp_generate_refine(struct tp_generated *generated, struct tp_err *err);

/* Make the choices, with those decided that the user decides or that cannot be made. */
int tp_generate_pin(struct tp_generated *generated, struct tp_err *err);

/* Choose by what the inventory says of each function alone. */
void tp_generate_seed(struct tp_generated *generated);

#endif
