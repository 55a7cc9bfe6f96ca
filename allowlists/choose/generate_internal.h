/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the parts of tp_generate share, and what shows its result. */
#ifndef TP_GENERATE_INTERNAL_H
#define TP_GENERATE_INTERNAL_H

#include "common/units.h"
#include "allowlists/choose/generate.h"

/* Make the choices, with those decided that the user decides or that cannot be made. */
int tp_generate_pin(struct tp_generated *generated, struct tp_err *err);

/* Choose by what the inventory says of each function alone. */
void tp_generate_seed(struct tp_generated *generated);

/* ---- words and orders that the list, the tables and the JSON object share ---- */

#define TP_LEVEL_TEXT 32

/* "event", "sample/64", "count", "skip", "force", as a level is called in docs and output. */
char *tp_level_text(char text[TP_LEVEL_TEXT], const struct tp_choice *choice);
/* Why a function has not been chosen, or why it has. */
const char *tp_reason_text(enum tp_reason reason);
/* "events", "samples", ... */
const char *tp_quality_text(enum tp_quality quality);

/*
 * Functions of the workload by own time, largest first, then by calls and name: their numbers, to
 * be freed; NULL: no memory. function_count of them.
 */
uint32_t *tp_generated_by_time(const struct tp_generated *generated);

/* A function that has no events as it was inlined, and where it went, if known. */
struct tp_invisible {
	const struct tp_inventory_function *function;
	double host_ns; /* own time of the functions that hold it */
};

/* Those of the inventory, the time of their hosts first; to be freed. NULL: none, or no memory. */
struct tp_invisible *tp_generated_invisible(const struct tp_generated *generated, uint32_t *count);
/* "A (x3), B, and 2 more" of where it was inlined. */
void tp_invisible_add_hosts(const struct tp_generated *generated,
    const struct tp_inventory_function *function, struct tp_buf *out);

#endif
