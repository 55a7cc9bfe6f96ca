/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The flame graph of a set or of two, between choosing (flame.c) and sending (flame_json.c). */
#ifndef TP_SERVE_FLAME_H
#define TP_SERVE_FLAME_H

#include "answers.h"

/* A path of either set. */
struct tp_flame_node {
	const struct tp_serve_path *a;
	const struct tp_serve_path *b;
	uint32_t parent; /* TP_SERVE_NONE: it is outermost */
	uint32_t shown;  /* its number in the answer; TP_SERVE_NONE: it is in "(smaller)" */
	double total_a;  /* with all below */
	double total_b;
	double share; /* of the set's time, in the set where it is greater */
};

/* An item of the answer. Item 0 is the program. */
struct tp_flame_item {
	uint32_t parent;
	uint32_t function; /* TP_SERVE_NONE: "(smaller)" */
	int32_t level;
	double calls[2]; /* of the set, of the baseline */
	double self[2];
	uint64_t min_ns;
	uint64_t max_ns;
};

struct tp_flame {
	const struct tp_serve_question *question;
	const struct tp_serve_sums *a; /* shown; of two sets the second */
	const struct tp_serve_sums *b; /* the baseline, or NULL */
	double runs_a;                 /* what sums are divided by */
	double runs_b;
	struct tp_flame_node *nodes;
	uint32_t node_count;
	struct tp_flame_item *items;
	uint32_t item_count;
	uint32_t item_room;
	uint32_t
	    *functions_a; /* the number in the answer of each function of a, or TP_SERVE_NONE */
	uint32_t *functions_b;
	const struct tp_serve_function **shown_a; /* functions in the answer; NULL: not there */
	const struct tp_serve_function **shown_b;
	uint32_t function_count;
	uint32_t functions_left;
	double least;
	double cut; /* paths with a smaller share are in "(smaller)" */
	uint64_t folded;
	double folded_share; /* of the time of the set, or of the baseline if that is greater */
};

/* Add the answer as the report's viewer reads it. False: out of memory. */
bool tp_flame_add(const struct tp_flame *flame, struct tp_buf *out);

#endif
