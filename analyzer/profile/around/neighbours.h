/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The callers and the callees of a function: sums over the paths that end in a call between the
 * two.
 *
 *	tp_neighbours_init(&neighbours, analysis, &paths, err);
 *	tp_neighbours_find(&neighbours, function, true);
 *	for (i = 0; i < neighbours.count; i++) ... neighbours.items[i] ...
 */
#ifndef TP_NEIGHBOURS_H
#define TP_NEIGHBOURS_H

#include "analyzer/profile/paths.h"

/* The calls between the function that was asked for and this one. */
struct tp_neighbour {
	uint32_t function; /* index in analysis->functions; function_count: the start of a thread */
	uint32_t until;    /* below this path a call of the two is within another one */
	uint64_t calls;
	uint64_t timed;             /* of these */
	uint64_t inclusive;         /* of recursive calls only the outermost */
	uint64_t total;             /* of all */
	uint64_t self;              /* of the callee */
	struct tp_node_parts parts; /* of inclusive and self */
	bool has_no_parts;          /* of some of the calls they are not known */
};

struct tp_neighbours {
	const struct tp_analysis *analysis;
	const struct tp_paths *paths;
	struct tp_neighbour *items; /* of the last tp_neighbours_find, the heaviest first */
	uint32_t count;
	uint32_t *by_function; /* paths in preorder, those of a function together */
	uint32_t *starts;      /* of each function; one more at the end */
	uint32_t *by_caller;   /* the same by the function of the path's parent */
	uint32_t *caller_starts;
	uint32_t *item_of; /* of each function, and of the start of threads; 0: none, else + 1 */
};

/* The arguments must outlive it. 0 or TP_ERR_MEMORY; release it in any case. */
int tp_neighbours_init(struct tp_neighbours *neighbours, const struct tp_analysis *analysis,
    const struct tp_paths *paths, struct tp_err *err);
void tp_neighbours_release(struct tp_neighbours *neighbours);
/* Fill `items` with the callers of FUNCTION, or with its callees. Takes time for its paths only. */
void tp_neighbours_find(struct tp_neighbours *neighbours, uint32_t function, bool callers);

#endif
