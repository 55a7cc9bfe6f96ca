// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calling-context tree of one thread.
#include "profile.h"

#include "common/array.h"
#include "common/err.h"

#include <stdlib.h>
#include <string.h>

#define NODES_AT_FIRST 64
#define FUNCTIONS_AT_FIRST 64

int tp_profile_init(struct tp_profile *profile)
{
	*profile = (struct tp_profile){
	    .nodes = tp_table_alloc(NODES_AT_FIRST, sizeof(*profile->nodes)),
	    .node_count = 1,
	    .node_capacity = NODES_AT_FIRST,
	    .edges = tp_table_alloc(NODES_AT_FIRST * 2, sizeof(*profile->edges)),
	    .edge_mask = NODES_AT_FIRST * 2 - 1,
	    .functions = calloc(FUNCTIONS_AT_FIRST, sizeof(*profile->functions)),
	    .function_count = 1,
	    .function_capacity = FUNCTIONS_AT_FIRST,
	};
	if (!tp_index_init(&profile->names, FUNCTIONS_AT_FIRST) || !profile->nodes ||
	    !profile->edges || !profile->functions) {
		// Without any node, as if it had not been begun: the other threads are still shown.
		tp_profile_release(profile);
		return TP_ERR_MEMORY;
	}
	profile->nodes[0].min = UINT64_MAX;
	return 0;
}

void tp_profile_release(struct tp_profile *profile)
{
	tp_pool_release(&profile->pool);
	free(profile->nodes);
	free(profile->dropped);
	free(profile->waited);
	free(profile->parts);
	free(profile->edges);
	free(profile->functions);
	tp_index_release(&profile->names);
	memset(profile, 0, sizeof(*profile));
}

// Where the edge is, or belongs: a name is never 0, so what is free matches none.
static struct tp_edge *edge_slot(const struct tp_profile *profile, uint32_t parent, uint32_t name)
{
	struct tp_edge *line = tp_profile_line(profile->edges, profile->edge_mask, parent);
	for (uint32_t i = 0; i < TP_EDGES_IN_LINE; i++)
		if (!line[i].node || (line[i].parent == parent && line[i].name == name))
			return &line[i];
	// Nothing is ever taken out, so the line was full when the edge was made.
	for (uint32_t i = tp_hash_pair(parent, name);; i++) {
		struct tp_edge *edge = &profile->edges[i & profile->edge_mask];
		if (!edge->node || (edge->parent == parent && edge->name == name))
			return edge;
	}
}

static uint32_t *name_slot(const struct tp_profile *profile, uint32_t name)
{
	uint32_t *slot = tp_index_first(&profile->names, tp_hash_number(name));
	while (*slot && profile->functions[*slot].name != name)
		slot = tp_index_next(&profile->names, slot);
	return slot;
}

bool tp_profile_keep_dropped(struct tp_profile *profile)
{
	profile->dropped = tp_table_alloc(profile->node_capacity, sizeof(*profile->dropped));
	return profile->dropped != NULL;
}

bool tp_profile_keep_waited(struct tp_profile *profile)
{
	if (!(profile->cost.wait > 0) || !profile->cost.period)
		return true;
	profile->waited = tp_table_alloc(profile->node_capacity, sizeof(*profile->waited));
	return profile->waited != NULL;
}

bool tp_profile_keep_parts(struct tp_profile *profile)
{
	profile->parts = tp_table_alloc(profile->node_capacity, sizeof(*profile->parts));
	return profile->parts != NULL;
}

// A larger one of the tables that a profile may have or not, as TABLE is there or not. False: no memory.
static bool copy_table(
    void **copy, const void *table, uint32_t capacity, uint32_t count, size_t size)
{
	*copy = table ? tp_table_alloc(capacity, size) : NULL;
	if (*copy)
		memcpy(*copy, table, count * size);
	return *copy || !table;
}

static bool grow_nodes(struct tp_profile *profile)
{
	if (profile->node_count < profile->node_capacity)
		return true;
	if (profile->node_capacity > UINT32_MAX / 4)
		return false;
	const uint32_t capacity = profile->node_capacity * 2;
	struct tp_node *nodes = tp_table_alloc(capacity, sizeof(*nodes));
	struct tp_edge *edges = tp_table_alloc((size_t)capacity * 2, sizeof(*edges));
	void *dropped = NULL;
	void *waited = NULL;
	void *parts = NULL;
	if (!nodes || !edges ||
	    !copy_table(&dropped, profile->dropped, capacity, profile->node_count,
		sizeof(*profile->dropped)) ||
	    !copy_table(&waited, profile->waited, capacity, profile->node_count,
		sizeof(*profile->waited)) ||
	    !copy_table(
		&parts, profile->parts, capacity, profile->node_count, sizeof(*profile->parts))) {
		free(nodes);
		free(edges);
		free(dropped);
		free(waited);
		free(parts);
		return false;
	}
	free(profile->dropped);
	profile->dropped = dropped;
	free(profile->waited);
	profile->waited = waited;
	free(profile->parts);
	profile->parts = parts;
	memcpy(nodes, profile->nodes, profile->node_count * sizeof(*nodes));
	free(profile->nodes);
	profile->nodes = nodes;
	free(profile->edges);
	profile->edges = edges;
	profile->edge_mask = capacity * 2 - 1;
	profile->node_capacity = capacity;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct tp_node *node = &nodes[i];
		*edge_slot(profile, node->parent, node->name) =
		    (struct tp_edge){node->parent, node->name, i, node->function};
	}
	return true;
}

static uint32_t hash_function(const void *profile, uint32_t number)
{
	return tp_hash_number(((const struct tp_profile *)profile)->functions[number].name);
}

static struct tp_function_cost cost_of(const struct tp_profile_cost *cost, uint32_t name)
{
	const uint32_t at = TP_LOWER_BOUND(0U, cost->own_count, i, cost->own[i].name < name);
	return at < cost->own_count && cost->own[at].name == name
		   ? cost->own[at]
		   : (struct tp_function_cost){name, cost->in, cost->out};
}

// Index of the function NAME, making it if need be; 0: no memory.
static uint32_t find_function(struct tp_profile *profile, uint32_t name)
{
	uint32_t *slot = name_slot(profile, name);
	if (*slot)
		return *slot;
	const uint32_t count = profile->function_count;
	if (count > UINT32_MAX / 4 ||
	    !TP_GROW(profile->functions, profile->function_capacity, (uint64_t)count + 1) ||
	    !tp_index_reserve(&profile->names, count - 1, hash_function, profile))
		return 0;
	const uint32_t index = profile->function_count++;
	const struct tp_function_cost cost = cost_of(&profile->cost, name);
	profile->functions[index] =
	    (struct tp_local_function){.name = name, .in = cost.in, .out = cost.out};
	*name_slot(profile, name) = index;
	return index;
}

const struct tp_edge *tp_profile_find_edge(
    struct tp_profile *profile, uint32_t parent, uint32_t name)
{
	struct tp_edge *edge = edge_slot(profile, parent, name);
	if (edge->node)
		return edge;
	const uint32_t function = find_function(profile, name);
	if (!function || !grow_nodes(profile))
		return NULL;
	const uint32_t index = profile->node_count++;
	profile->nodes[index] = (struct tp_node){
	    .name = name,
	    .function = function,
	    .parent = parent,
	    .next_sibling = profile->nodes[parent].first_child,
	    .min = UINT64_MAX,
	};
	profile->nodes[parent].first_child = index;
	edge = edge_slot(profile, parent, name);
	*edge = (struct tp_edge){parent, name, index, function};
	return edge;
}

uint32_t tp_profile_function(const struct tp_profile *profile, uint32_t name)
{
	return *name_slot(profile, name);
}

static void sum_up_parts(struct tp_profile *profile)
{
	struct tp_node_parts *parts = profile->parts;
	for (uint32_t i = 0; i < profile->node_count; i++) {
		parts[i].inclusive_off = parts[i].self_off;
		parts[i].inclusive_cpu = parts[i].self_cpu;
	}
	// Callees come behind their callers: each is complete when it is added to its caller.
	for (uint32_t i = profile->node_count; i-- > 1;) {
		struct tp_node_parts *caller = &parts[profile->nodes[i].parent];
		tp_off_add(&caller->inclusive_off, &parts[i].inclusive_off);
		caller->inclusive_cpu += parts[i].inclusive_cpu;
	}
}

void tp_profile_sum_up(struct tp_profile *profile)
{
	struct tp_node *nodes = profile->nodes;
	for (uint32_t i = 0; i < profile->node_count; i++)
		nodes[i].inclusive = nodes[i].self;
	for (uint32_t i = profile->node_count; i-- > 1;)
		nodes[nodes[i].parent].inclusive += nodes[i].inclusive;
	if (profile->parts)
		sum_up_parts(profile);
}

// What counts of a node's own time.
static uint64_t chosen_part(const struct tp_profile *profile, uint32_t node)
{
	const struct tp_node_parts *parts = &profile->parts[node];
	switch (profile->time) {
	case TP_TIME_CPU:
		return parts->self_cpu;
	case TP_TIME_WAIT:
		return parts->self_off.blocked;
	case TP_TIME_PREEMPTED:
		return parts->self_off.preempted;
	default:
		return profile->nodes[node].self;
	}
}

void tp_profile_choose_time(struct tp_profile *profile)
{
	if (!profile->parts)
		return;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		struct tp_node_parts *parts = &profile->parts[i];
		struct tp_node *node = &profile->nodes[i];
		const uint64_t off = parts->self_off.blocked + parts->self_off.preempted;
		parts->self_cpu = node->self > off ? node->self - off : 0;
		node->self = chosen_part(profile, i);
	}
	// The thread itself has no calls.
	profile->parts[0] = (struct tp_node_parts){0};
	if (profile->time == TP_TIME_WALL)
		sum_up_parts(profile);
	else
		tp_profile_sum_up(profile);
}

const char *tp_time_name(enum tp_time time)
{
	static const char *const names[] = {"wall", "cpu", "wait", "preempted"};
	return names[time];
}

const char *tp_time_meaning(enum tp_time time)
{
	static const char *const meanings[] = {"from enter to exit",
	    "in which they had a processor", "in which they waited for something",
	    "in which they could run, and had no processor"};
	return meanings[time];
}
