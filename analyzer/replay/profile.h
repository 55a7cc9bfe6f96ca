/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The calling-context tree of one thread: a node for each distinct path of calls, with counts and
 * times in ticks. Memory grows with distinct paths, not with calls. The stack (stack.h) fills it.
 */
#ifndef TP_PROFILE_H
#define TP_PROFILE_H

#include "analyzer/replay/time_histogram.h"
#include "analyzer/trace/sched.h"
#include "analyzer/trace/tracefile.h"
#include "common/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parent's index is always below its children's. Node 0 is the thread itself. */
struct tp_node {
	uint64_t calls;     /* that have ended */
	uint64_t inclusive; /* this and the others without what recording cost */
	uint64_t self;
	uint64_t min; /* of the inclusive time of a call; UINT64_MAX without calls */
	uint64_t max;
	uint32_t name;     /* as in a record, kind cleared; 0 for node 0 */
	uint32_t function; /* index in functions */
	uint32_t parent;
	int32_t debt; /* parts of a tick that are to come off its next call: tp_ended_net */
	uint32_t
	    debts_of; /* the profile's `debts` when it was made; if that is another one now, 0 */
	struct tp_histogram times; /* of calls, as min and max; fine, and of ns, with fine_ns */
};

struct tp_local_function {
	uint32_t name;
	uint32_t active; /* calls of it on the stack */
	bool untimed;    /* its calls end without a time */
	uint64_t more;   /* calls that TP_NAME_MORE has */
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
	 * With a clock that another core stores, the first look after a store is later than it
	 * would be, by this number of parts of each tick of a stretch from look to look, up to
	 * `period`.
	 */
	double wait_share;
	uint64_t period;  /* ticks from store to store; 0 with other clocks */
	int32_t debt_max; /* parts of a tick: the most that a call leaves to the next ones */
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

/* How the time of a node is made up. */
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
	/*
	 * NULL: when the thread had no processor is not known; or for each node the number of its
	 * item in `part_items`. That of most nodes is 0: they had a processor all the time, and all
	 * of their times are processor time (tp_profile_parts). The replay fills what of a node's
	 * own time was off, tp_profile_choose_time the rest.
	 */
	uint32_t *parts_of;
	struct tp_node_parts *part_items;
	uint32_t parts_count; /* with 0, which is not used */
	uint32_t parts_capacity;
	struct tp_profile_cost cost; /* off all times */
	/*
	 * Position (log.h) of the first record since debts were forgotten last. That is done now
	 * and then, so that a part of a thread that begins there (stack_part.h) knows what they
	 * are.
	 */
	uint64_t window;
	uint32_t debts; /* those of nodes with another number are forgotten */
	struct tp_node *nodes;
	/*
	 * 0: any number of nodes. With this number, the calls of a path that is new, and all that
	 * they call, are those of one more node, TP_NAME_MORE below their first caller that has a
	 * node of its own. It has the own times of all of them.
	 */
	uint32_t most_nodes;
	/* NULL, or for each node: its calls that are part of its callers because of a least time */
	uint64_t *dropped;
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
	uint32_t *blocks;  /* for each node: tp_edge_home */
	uint32_t *callees; /* for each node: edges in its block */
	/*
	 * When the replay is done these take the place of blocks and callees, and there are no
	 * edges any more (tp_profile_link).
	 */
	uint32_t *first_child;  /* of each node; 0: none */
	uint32_t *next_sibling; /* of each node; 0: none */
	/*
	 * NULL, or for each node: it is only there for the nodes below it (filter.h), own times do
	 * not count.
	 */
	bool *is_way;
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

/* Whether there are most_nodes. */
static inline bool tp_profile_is_full(const struct tp_profile *profile)
{
	return profile->most_nodes && profile->node_count >= profile->most_nodes;
}
/*
 * The edge for a call of NAME from node PARENT, making its node if need be; NULL: no memory. Its
 * own name is TP_NAME_MORE if the profile is full, and has no such path.
 */
const struct tp_edge *tp_profile_find_edge(
    struct tp_profile *profile, uint32_t parent, uint32_t name);
/* The same in a block, which does not grow: NULL, it is not there. */
const struct tp_edge *tp_edges_search(const struct tp_edge *edges, uint32_t block, uint32_t name);
/* Have `dropped`. False: no memory. */
bool tp_profile_keep_dropped(struct tp_profile *profile);
/* Have `waited`, if the cost has a wait. False: no memory. */
bool tp_profile_keep_waited(struct tp_profile *profile);
/* Have `parts_of`. False: no memory. */
bool tp_profile_keep_parts(struct tp_profile *profile);
/*
 * Of the own time of NODE, OFF was without a processor, or was not, if it is known at all. False:
 * no memory.
 */
bool tp_profile_add_off(struct tp_profile *profile, uint32_t node, const struct tp_off *off);
bool tp_profile_take_off(struct tp_profile *profile, uint32_t node, const struct tp_off *off);
/* The parts of NODE when tp_profile_choose_time is done; there must be parts_of. */
struct tp_node_parts tp_profile_parts(const struct tp_profile *profile, uint32_t node);
/* No part of it is off. */
static inline void tp_profile_forget_parts(struct tp_profile *profile, uint32_t node)
{
	if (profile->parts_of)
		profile->parts_of[node] = 0;
}
/* The own time of NODE is CALLER's, too. False: no memory. */
bool tp_profile_take_over(struct tp_profile *profile, uint32_t caller, uint32_t node);
/*
 * All is there, and costs are taken off: split the time of each node, and have `time` in self and
 * inclusive. Without `parts_of` there is wall time only. False: no memory.
 */
bool tp_profile_choose_time(struct tp_profile *profile);
/* No call will be added: what finds the node of one goes. */
void tp_profile_close(struct tp_profile *profile);
/* The replay is done: have first_child and next_sibling, of the nodes that have a function. */
void tp_profile_link(struct tp_profile *profile);
/* Make the inclusive times of all nodes from their own times. False: no memory. */
bool tp_profile_sum_up(struct tp_profile *profile);
/* What counts of NET ticks without the cost of recording, of which OFF were without a processor. */
static inline uint64_t tp_profile_chosen(
    const struct tp_profile *profile, uint64_t net, const struct tp_off *off)
{
	if (profile->time == TP_TIME_WAIT)
		return off->blocked;
	if (profile->time == TP_TIME_PREEMPTED)
		return off->preempted;
	const uint64_t less = profile->time == TP_TIME_CPU ? off->blocked + off->preempted : 0;
	return less < net ? net - less : 0;
}
/* Of TICKS from look to look, those in which a soft clock is stored at most once. */
static inline uint64_t tp_profile_look(const struct tp_profile *profile, uint64_t ticks)
{
	return ticks < profile->cost.period ? ticks : profile->cost.period;
}
/* Parts of a tick for the waits that LOOKED ticks of such stretches have. */
static inline uint64_t tp_profile_waits(const struct tp_profile *profile, uint64_t looked)
{
	return (uint64_t)((double)looked * profile->cost.wait_share);
}
/* Forget debts; records follow from POSITION on. */
static inline void tp_profile_begin_window(struct tp_profile *profile, uint64_t position)
{
	profile->debts++;
	profile->window = position;
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

/* The function of a call of NAME by that edge. */
static inline uint32_t tp_profile_callee(
    const struct tp_profile *profile, const struct tp_edge *edge, uint32_t name)
{
	return __builtin_expect(edge->name == name, 1) ? edge->function
						       : tp_profile_function(profile, name);
}

/* The bucket of NET ticks in a fine histogram. */
static inline uint32_t tp_profile_fine_bucket(const struct tp_profile *profile, uint64_t net)
{
	const double ns = (double)net * profile->fine_ns + 0.5;
	return tp_histogram_fine_bucket(ns < 9e18 ? (uint64_t)ns : UINT64_MAX / 2);
}

/* A call that has ended. */
struct tp_ended {
	uint64_t inclusive; /* ticks, as recorded */
	uint64_t children;  /* of these, in calls that it made */
	uint64_t net;       /* the same without what recording cost */
	uint64_t off;       /* of its own ticks, those without a processor */
	uint64_t cost;      /* of recording, in parts of its own ticks; waits included */
	uint64_t looked;    /* as in struct tp_frame */
	uint64_t position;  /* of its enter record */
	uint32_t node;
};

/* What of it is left. */
struct tp_net {
	uint64_t inclusive; /* ticks */
	uint64_t self;      /* of these, in no call that it made */
};

static inline uint64_t tp_ended_self(const struct tp_ended *call)
{
	return call->children < call->inclusive ? call->inclusive - call->children : 0;
}

/*
 * Take what recording it has cost off a call: off its own ticks with a processor, as far as they
 * go. The rest of the cost, up to cost.debt_max, comes off the next calls of the same path: a
 * clock that moves in steps, or looks that a processor does early, make one call too short and the
 * next too long. So the times of single calls are never below 0, add up to the sums, and the sums
 * are right. A call that began in an earlier window has no part in that, and ends it for all.
 *
 * HERE: it began in this window. LEFT gets the rest of the cost.
 */
static inline struct tp_net tp_ended_net(const struct tp_profile *profile,
    const struct tp_node *node, const struct tp_ended *call, bool here, int64_t *left)
{
	const uint64_t self = tp_ended_self(call);
	const uint64_t most = call->off < self ? self - call->off : 0;
	const int64_t debt = here && node->debts_of == profile->debts ? node->debt : 0;
	const uint64_t due = call->cost + (uint64_t)debt + TP_COST_PARTS / 2;
	const uint64_t ticks = due / TP_COST_PARTS;
	const uint64_t taken = ticks < most ? ticks : most;
	*left = (int64_t)(due - taken * TP_COST_PARTS) - TP_COST_PARTS / 2;
	return (struct tp_net){call->net + self - taken, self - taken};
}

static inline bool tp_ended_is_here(const struct tp_profile *profile, const struct tp_ended *call)
{
	return call->position >= profile->window;
}

/* After tp_ended_net: LEFT is for the next calls. */
static inline void tp_node_owe(
    struct tp_profile *profile, struct tp_node *node, bool here, int64_t left)
{
	const int32_t most = profile->cost.debt_max;
	if (__builtin_expect(!here, 0)) {
		profile->debts++;
		return;
	}
	node->debt = left < most ? (int32_t)left : most;
	node->debts_of = profile->debts;
}

/* A call of NODE's has ended, CHOSEN of whose ticks count. */
static inline void tp_node_add(struct tp_node *node, struct tp_net net, uint64_t chosen)
{
	node->calls++;
	node->inclusive += net.inclusive;
	node->self += net.self;
	if (chosen < node->min)
		node->min = chosen;
	if (chosen > node->max)
		node->max = chosen;
}

/* What of NET its node has: calls inside one another may have one. */
static inline struct tp_net tp_node_net(const struct tp_node *node, struct tp_net net)
{
	return __builtin_expect(node->name == TP_NAME_MORE, 0) ? (struct tp_net){net.self, net.self}
							       : net;
}

/* The bucket of CHOSEN ticks in its histogram. */
static inline uint32_t tp_profile_bucket(const struct tp_profile *profile, uint64_t chosen)
{
	return __builtin_expect(profile->fine_ns != 0, 0) ? tp_profile_fine_bucket(profile, chosen)
							  : tp_histogram_bucket(chosen);
}

/*
 * The call's times without the cost; the rest of that is for the next calls of NODE, its node.
 * WAITS: the profile has `waited`.
 */
static inline struct tp_net tp_profile_take(
    struct tp_profile *profile, struct tp_node *node, struct tp_ended *call, bool here, bool waits)
{
	if (waits) {
		profile->waited[call->node] += call->looked;
		call->cost += tp_profile_waits(profile, call->looked);
	}
	int64_t left;
	const struct tp_net net = tp_ended_net(profile, node, call, here, &left);
	tp_node_owe(profile, node, here, left);
	return net;
}

/* Add the call to its node. Returns its times without the cost. */
static inline struct tp_net tp_profile_add(
    struct tp_profile *profile, struct tp_ended *call, bool here)
{
	struct tp_node *node = &profile->nodes[call->node];
	const bool waits = __builtin_expect(profile->waited != NULL, 0);
	const struct tp_net net = tp_profile_take(profile, node, call, here, waits);
	const struct tp_net own = tp_node_net(node, net);
	tp_node_add(node, own, own.inclusive);
	tp_histogram_add_bucket(
	    &node->times, tp_profile_bucket(profile, own.inclusive), &profile->pool);
	return net;
}

#endif
