/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The calling-context tree of one thread: a node for each distinct path of calls, with counts and
 * times in ticks. Memory grows with distinct paths, not with calls. The stack (stack.h) fills it.
 */
#ifndef TP_PROFILE_H
#define TP_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* A parent's index is always below its children's. Node 0 is the thread itself. */
struct tp_node {
	uint32_t name;     /* as in a record, kind cleared; 0 for node 0 */
	uint32_t function; /* index in functions */
	uint32_t parent;
	uint32_t first_child;  /* 0: none */
	uint32_t next_sibling; /* 0: none */
	uint32_t recent_child; /* the one that was called last */
	uint64_t calls;        /* that have ended */
	uint64_t inclusive;
	uint64_t self;
	uint64_t min; /* of the inclusive time of a call; UINT64_MAX without calls */
	uint64_t max;
};

struct tp_local_function {
	uint32_t name;
	uint32_t active; /* calls of it on the stack */
	bool untimed;    /* its calls end without a time */
};

/* A tick has so many parts. */
#define TP_COST_PARTS 256

/* What recording a call costs, in parts of a tick; all 0: nothing is to be taken off. */
struct tp_profile_cost {
	uint64_t in;      /* in its own time, if it ended with a time */
	uint64_t out;     /* in its caller's time, if it ended with a time */
	uint64_t untimed; /* in its own time, if it ended without one */
};

struct tp_profile {
	struct tp_profile_cost cost; /* off min and max; off the rest when all is there */
	struct tp_node *nodes;
	uint32_t node_count;
	uint32_t node_capacity;
	uint32_t *edges; /* hash table of node numbers by (parent, name); 0: free */
	uint32_t edge_mask;
	struct tp_local_function *functions; /* 0 is not used */
	uint32_t function_count;
	uint32_t function_capacity;
	uint32_t *names; /* hash table of function indices by name; 0: free */
	uint32_t name_mask;
};

/* 0 or TP_ERR_MEMORY. Release it in any case. */
int tp_profile_init(struct tp_profile *profile);
void tp_profile_release(struct tp_profile *profile);

/* Node for a call of NAME from node PARENT by table, making it if need be; 0: no memory. */
uint32_t tp_profile_find_child(struct tp_profile *profile, uint32_t parent, uint32_t name);
/* Index of the function NAME, or 0 if it was never called. */
uint32_t tp_profile_function(const struct tp_profile *profile, uint32_t name);

/* The same as tp_profile_find_child; quick for the child that was called last. */
static inline uint32_t tp_profile_child(struct tp_profile *profile, uint32_t parent, uint32_t name)
{
	const uint32_t recent = profile->nodes[parent].recent_child;
	if (recent && profile->nodes[recent].name == name)
		return recent;
	return tp_profile_find_child(profile, parent, name);
}

/*
 * A call has ended, after INCLUSIVE ticks of which CHILDREN were spent in calls that it made. To record
 * it and them cost so many parts of its time.
 */
static inline void tp_node_add(
    struct tp_node *node, uint64_t inclusive, uint64_t children, uint64_t cost)
{
	node->calls++;
	node->inclusive += inclusive;
	node->self += children < inclusive ? inclusive - children : 0;
	const uint64_t ticks = (cost + TP_COST_PARTS / 2) / TP_COST_PARTS;
	const uint64_t net = ticks < inclusive ? inclusive - ticks : 0;
	if (net < node->min)
		node->min = net;
	if (net > node->max)
		node->max = net;
}

#endif
