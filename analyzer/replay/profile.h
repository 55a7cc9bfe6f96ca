/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The calling-context tree of one thread: a node for each distinct path of calls, with counts and
 * times in ticks. Memory grows with distinct paths, not with calls. The stack (stack.h) fills it.
 */
#ifndef TP_PROFILE_H
#define TP_PROFILE_H

#include "analyzer/replay/time_histogram.h"
#include "analyzer/trace/sched.h"
#include "common/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parent's index is always below its children's. Node 0 is the thread itself. */
struct tp_node {
	uint32_t name;     /* as in a record, kind cleared; 0 for node 0 */
	uint32_t function; /* index in functions */
	uint32_t parent;
	uint32_t first_child;  /* 0: none */
	uint32_t next_sibling; /* 0: none */
	bool is_way;    /* only there for the nodes below it (filter.h): own times do not count */
	uint64_t calls; /* that have ended */
	uint64_t inclusive;
	uint64_t self;
	uint64_t min; /* of the inclusive time of a call; UINT64_MAX without calls */
	uint64_t max;
	struct tp_histogram times; /* of calls, as min and max; fine, and of ns, with fine_ns */
};

struct tp_local_function {
	uint32_t name;
	uint32_t active; /* calls of it on the stack */
	bool untimed;    /* its calls end without a time */
	/*
	 * What recording a call with a time at its end costs: as in tp_profile_cost, or known of
	 * this function.
	 */
	uint64_t in;
	uint64_t out;
};

/* The parts of a tick. */
#define TP_COST_PARTS 256

/* What recording the calls of one function costs, as in tp_profile_cost. */
struct tp_function_cost {
	uint32_t name; /* as in a record, kind cleared */
	uint64_t in;
	uint64_t out;
};

/*
 * What recording costs, the first three in parts of a tick for each call; all 0: nothing is to be
 * taken off.
 */
struct tp_profile_cost {
	uint64_t in;      /* in its own time, if it ended with a time */
	uint64_t out;     /* in its caller's time, if it ended with a time */
	uint64_t untimed; /* in its own time, if it ended without one */
	/*
	 * With a clock that another core stores: how many ticks later the first look after a store
	 * is than it would be.
	 */
	double wait;
	uint64_t period; /* ticks from store to store; 0 with other clocks */
	const struct tp_function_cost
	    *own; /* of functions of which it is known, by name; it outlives the profile */
	uint32_t own_count;
};

/*
 * From a caller's node to a callee's. All that the start of a call has to know is here, so that it
 * takes one place in memory, and the node waits for the end of the call.
 */
struct tp_edge {
	uint32_t name; /* 0: free */
	uint32_t node;
	uint32_t function;
	uint32_t block; /* of the edges of `node`: the same as profile->blocks has */
};

/* Costs and calls that are in no node because of a least time. */
struct tp_dropped {
	uint64_t cost;  /* of recording the calls that are part of its own, in parts of a tick */
	uint64_t calls; /* of it, that are part of its callers */
};

/* Which time of a call counts: all of it, or a part. */
enum tp_time {
	TP_TIME_WALL = 0,
	TP_TIME_CPU,       /* it had a processor */
	TP_TIME_WAIT,      /* it waited for something */
	TP_TIME_PREEMPTED, /* it could have run, and had no processor */
};

/* "wall", "cpu", "wait", "preempted"; and its description: "in which ...". */
const char *tp_time_name(enum tp_time time);
const char *tp_time_meaning(enum tp_time time);

/*
 * How the time of a node is made up. The replay fills what of its own time was off;
 * tp_profile_choose_time the rest.
 */
struct tp_node_parts {
	struct tp_off self_off;
	struct tp_off inclusive_off;
	uint64_t self_cpu;
	uint64_t inclusive_cpu;
};

static inline void tp_node_parts_add(struct tp_node_parts *to, const struct tp_node_parts *parts)
{
	tp_off_add(&to->self_off, &parts->self_off);
	tp_off_add(&to->inclusive_off, &parts->inclusive_off);
	to->self_cpu += parts->self_cpu;
	to->inclusive_cpu += parts->inclusive_cpu;
}

/*
 * With this number of nodes they do not fit into the second cache, and replay goes on while it
 * waits for them (stack_usual.c). With 21,846 paths that saves a fifth of the time, with 8114 it
 * costs a tenth.
 */
#define TP_FAR_NODES 12000

struct tp_profile {
	enum tp_time time; /* that of min, max and times; of the rest when all is there */
	struct tp_node_parts
	    *parts; /* NULL: when the thread had no processor is not known; or for each node */
	struct tp_profile_cost cost; /* off min and max; off the rest when all is there */
	struct tp_node *nodes;
	struct tp_dropped *dropped; /* NULL, or for each node */
	/* NULL, or for each node: of stretches of its own time the part up to cost.period */
	uint64_t *waited;
	uint32_t node_count;
	uint32_t node_capacity;
	struct tp_pool pool; /* of the nodes' histograms */
	/*
	 * The edges of each caller are a hash table of their own, a block of 4 or more of these, a
	 * power of two; 4 are a cache line. An edge is at home where its hash says, or else in the
	 * same line, or else in a later one. While paths are few, blocks grow until most edges are
	 * at home, which a processor foresees; when they are many (TP_FAR_NODES), until most are in
	 * their line, as each further line would be one more to wait for. Block 0 is for callers
	 * without callees, and stays empty.
	 */
	struct tp_edge *edges;
	uint32_t edge_count;
	uint32_t edge_capacity;
	uint32_t *blocks;                    /* for each node: tp_edge_home */
	uint32_t *callees;                   /* for each node: edges in its block */
	uint32_t free_blocks[32];            /* by the shift of their numbers, the first; 0: none */
	struct tp_local_function *functions; /* 0 is not used */
	uint32_t function_count;
	uint32_t function_capacity;
	struct tp_index names; /* of functions */
	/* not 0: histograms are of nanoseconds, in fine buckets; the nanoseconds of a tick */
	double fine_ns;
};

/* 0 or TP_ERR_MEMORY. Release it in any case. */
int tp_profile_init(struct tp_profile *profile);
void tp_profile_release(struct tp_profile *profile);

/* The edge for a call of NAME from node PARENT, making its node if need be; NULL: no memory. */
const struct tp_edge *tp_profile_find_edge(
    struct tp_profile *profile, uint32_t parent, uint32_t name);
/* The same in a block, which does not grow: NULL, it is not there. */
const struct tp_edge *tp_edges_search(const struct tp_edge *edges, uint32_t block, uint32_t name);
/* Have `dropped`. False: no memory. */
bool tp_profile_keep_dropped(struct tp_profile *profile);
/* Have `waited`, if the cost has a wait. False: no memory. */
bool tp_profile_keep_waited(struct tp_profile *profile);
/* Have `parts`. False: no memory. */
bool tp_profile_keep_parts(struct tp_profile *profile);
/*
 * All is there, and costs are taken off: split the time of each node, and have `time` in self and
 * inclusive. Without `parts` there is wall time only.
 */
void tp_profile_choose_time(struct tp_profile *profile);
/* Make the inclusive times of all nodes from their own times. */
void tp_profile_sum_up(struct tp_profile *profile);
/*
 * What of INCLUSIVE ticks counts, of which OFF were without a processor, and COST (parts of a tick)
 * went into recording.
 */
static inline uint64_t tp_profile_net(
    const struct tp_profile *profile, uint64_t inclusive, const struct tp_off *off, uint64_t cost)
{
	uint64_t less = (cost + TP_COST_PARTS / 2) / TP_COST_PARTS;
	if (profile->time == TP_TIME_WAIT)
		return off->blocked;
	if (profile->time == TP_TIME_PREEMPTED)
		return off->preempted;
	if (profile->time == TP_TIME_CPU)
		less += off->blocked + off->preempted;
	return less < inclusive ? inclusive - less : 0;
}
/* A look at the clock ended a stretch of NODE's own time. */
static inline void tp_profile_look(struct tp_profile *profile, uint32_t node, uint64_t ticks)
{
	profile->waited[node] += ticks < profile->cost.period ? ticks : profile->cost.period;
}
/* Index of the function NAME, or 0 if it was never called. */
uint32_t tp_profile_function(const struct tp_profile *profile, uint32_t name);

/*
 * The number of a block: its first edge by 8, as that is a multiple of 4, and how far a hash is to
 * be shifted.
 */
#define TP_BLOCK_SHIFT UINT32_C(31)
#define TP_BLOCK_NONE UINT32_C(30) /* block 0, of 4 edges */

/* Where the search for an edge begins. */
static inline const struct tp_edge *tp_edge_home(
    const struct tp_edge *edges, uint32_t block, uint32_t name)
{
	const uint32_t hash = name * UINT32_C(0x9e3779b1);
	return &edges[(size_t)(block / (TP_BLOCK_SHIFT + 1)) * 4 +
		      (hash >> block % (TP_BLOCK_SHIFT + 1))];
}

/* The edge of NAME in a block, or NULL; quick for edges in their first place. */
static inline const struct tp_edge *tp_edges_find(
    const struct tp_edge *edges, uint32_t block, uint32_t name)
{
	const struct tp_edge *edge = tp_edge_home(edges, block, name);
	return __builtin_expect(edge->name == name, 1) ? edge : tp_edges_search(edges, block, name);
}

/*
 * The same, quick for edges in their cache line, without a branch that depends on where: a wrong
 * guess would be noticed only when the line has come from memory, and all that was begun meanwhile
 * would have been in vain.
 */
static inline const struct tp_edge *tp_edges_find_far(
    const struct tp_edge *edges, uint32_t block, uint32_t name)
{
	const size_t home = (size_t)(tp_edge_home(edges, block, name) - edges);
	const struct tp_edge *line = &edges[home & ~(size_t)3];
	const size_t at = (size_t)(line[1].name == name) + 2 * (size_t)(line[2].name == name) +
			  3 * (size_t)(line[3].name == name);
	const struct tp_edge *edge = &line[at];
	return __builtin_expect(edge->name == name, 1) ? edge : tp_edges_search(edges, block, name);
}

/* The same as tp_profile_find_edge; quick for most edges that are there. */
static inline const struct tp_edge *tp_profile_edge(
    struct tp_profile *profile, uint32_t parent, uint32_t name)
{
	const struct tp_edge *edge = tp_edges_find(profile->edges, profile->blocks[parent], name);
	return edge ? edge : tp_profile_find_edge(profile, parent, name);
}

/* The node of that edge, 0: no memory. */
static inline uint32_t tp_profile_child(struct tp_profile *profile, uint32_t parent, uint32_t name)
{
	const struct tp_edge *edge = tp_profile_edge(profile, parent, name);
	return edge ? edge->node : 0;
}

/* The bucket of NET ticks in a fine histogram. */
static inline uint32_t tp_profile_fine_bucket(const struct tp_profile *profile, uint64_t net)
{
	const double ns = (double)net * profile->fine_ns + 0.5;
	return tp_histogram_fine_bucket(ns < 9e18 ? (uint64_t)ns : UINT64_MAX / 2);
}

static inline void tp_node_bound(struct tp_node *node, uint64_t net)
{
	if (net < node->min)
		node->min = net;
	if (net > node->max)
		node->max = net;
}

/*
 * A call has ended, after INCLUSIVE ticks of which CHILDREN were spent in calls that it made, all
 * with a processor. Returns the time that it took without COST, what it cost to record it and them
 * in parts of a tick; the caller adds that to node->times.
 */
static inline uint64_t tp_node_add(
    struct tp_node *node, uint64_t inclusive, uint64_t children, uint64_t cost)
{
	node->calls++;
	node->inclusive += inclusive;
	node->self += children < inclusive ? inclusive - children : 0;
	const uint64_t ticks = (cost + TP_COST_PARTS / 2) / TP_COST_PARTS;
	const uint64_t net = ticks < inclusive ? inclusive - ticks : 0;
	tp_node_bound(node, net);
	return net;
}

/*
 * A call has ended, of which PERIOD ticks are NODE's, SELF of these in no call that it made; NET is
 * tp_profile_net of it.
 */
static inline void tp_profile_add_period(
    struct tp_profile *profile, uint32_t node, uint64_t period, uint64_t self, uint64_t net)
{
	struct tp_node *to = &profile->nodes[node];
	to->calls++;
	to->inclusive += period;
	to->self += self;
	tp_node_bound(to, net);
	if (profile->fine_ns != 0)
		tp_histogram_add_bucket(
		    &to->times, tp_profile_fine_bucket(profile, net), &profile->pool);
	else
		tp_histogram_add(&to->times, net, &profile->pool);
}

/* tp_node_add for node number NODE, with its histogram: without fine ones, or with. */
static inline void tp_profile_add_ticks(
    struct tp_profile *profile, uint32_t node, uint64_t inclusive, uint64_t children, uint64_t cost)
{
	struct tp_node *to = &profile->nodes[node];
	tp_histogram_add(&to->times, tp_node_add(to, inclusive, children, cost), &profile->pool);
}

static inline void tp_profile_add_fine(
    struct tp_profile *profile, uint32_t node, uint64_t inclusive, uint64_t children, uint64_t cost)
{
	struct tp_node *to = &profile->nodes[node];
	const uint64_t net = tp_node_add(to, inclusive, children, cost);
	tp_histogram_add_bucket(&to->times, tp_profile_fine_bucket(profile, net), &profile->pool);
}

static inline void tp_profile_add(
    struct tp_profile *profile, uint32_t node, uint64_t inclusive, uint64_t children, uint64_t cost)
{
	if (__builtin_expect(profile->fine_ns != 0, 0))
		tp_profile_add_fine(profile, node, inclusive, children, cost);
	else
		tp_profile_add_ticks(profile, node, inclusive, children, cost);
}

#endif
