/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is different if a program is instrumented by one list or by another. */
#ifndef TP_LIST_DIFF_H
#define TP_LIST_DIFF_H

#include "allowlists/choose/cost.h"
#include "allowlists/check/use.h"
#include "allowlists/choose/workload.h"

enum tp_change_kind {
	TP_CHANGE_ADDED = 0, /* only the second list instruments it */
	TP_CHANGE_REMOVED,   /* only the first one does */
	TP_CHANGE_LEVEL,     /* both do, differently */
	TP_CHANGE_KIND_COUNT,
};

struct tp_change {
	enum tp_change_kind kind;
	uint32_t function; /* index in the inventory */
	/* False: it was inlined or removed, and neither list forces it to stay. */
	bool effective;
	uint64_t calls;  /* of the workload; 0 without one */
	double delta_ns; /* what the second list costs more */
};

struct tp_list_diff {
	struct tp_change *changes; /* by |delta_ns| descending, then in the inventory's order */
	uint32_t count;
	uint32_t effective[TP_CHANGE_KIND_COUNT]; /* how many of each kind */
	uint32_t without_effect;
};

/*
 * Compare A and B, of the same inventory; WORKLOAD and COST may be NULL. 0 or TP_ERR_MEMORY. Release
 * it in any case.
 */
int tp_list_diff_init(struct tp_list_diff *diff, const struct tp_list_use *a,
    const struct tp_list_use *b, const struct tp_workload *workload, const struct tp_cost *cost,
    struct tp_err *err);
void tp_list_diff_release(struct tp_list_diff *diff);

/* "added", "removed", "changed". */
const char *tp_change_kind_name(enum tp_change_kind kind);

#endif
