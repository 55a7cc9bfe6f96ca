// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calling-context tree of one thread.
#include "profile.h"

#include "common/array.h"
#include "common/err.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

#define NODES_AT_FIRST 64
#define EDGES_AT_FIRST 256
#define EDGES_MIN 4 // of a block, what a cache line has
#define FUNCTIONS_AT_FIRST 64

int tp_profile_init(struct tp_profile *profile)
{
	*profile = (struct tp_profile){
	    .nodes = tp_table_alloc(NODES_AT_FIRST, sizeof(*profile->nodes)),
	    .node_count = 1,
	    .node_capacity = NODES_AT_FIRST,
	    .edges = tp_table_alloc(EDGES_AT_FIRST, sizeof(*profile->edges)),
	    .edge_count = EDGES_MIN,
	    .edge_capacity = EDGES_AT_FIRST,
	    .blocks = tp_table_alloc(NODES_AT_FIRST, sizeof(*profile->blocks)),
	    .callees = tp_table_alloc(NODES_AT_FIRST, sizeof(*profile->callees)),
	    .functions = calloc(FUNCTIONS_AT_FIRST, sizeof(*profile->functions)),
	    .function_count = 1,
	    .function_capacity = FUNCTIONS_AT_FIRST,
	};
	if (!tp_index_init(&profile->names, FUNCTIONS_AT_FIRST) || !profile->nodes ||
	    !profile->edges || !profile->blocks || !profile->callees || !profile->functions) {
		// Without any node, as if it had not been begun: the other threads are still shown.
		tp_profile_release(profile);
		return TP_ERR_MEMORY;
	}
	profile->nodes[0].min = UINT64_MAX;
	profile->blocks[0] = TP_BLOCK_NONE;
	return 0;
}

void tp_profile_release(struct tp_profile *profile)
{
	tp_pool_release(&profile->pool);
	free(profile->nodes);
	free(profile->dropped);
	free(profile->waited);
	free(profile->parts_of);
	free(profile->part_items);
	free(profile->edges);
	free(profile->blocks);
	free(profile->callees);
	free(profile->first_child);
	free(profile->next_sibling);
	free(profile->is_way);
	free(profile->functions);
	tp_index_release(&profile->names);
	memset(profile, 0, sizeof(*profile));
}

// ---- edges

// How many edges a block has.
static uint32_t block_size(uint32_t block)
{
	return UINT32_C(1) << (32 - block % (TP_BLOCK_SHIFT + 1));
}

static uint32_t block_start(uint32_t block)
{
	return block / (TP_BLOCK_SHIFT + 1) * EDGES_MIN;
}

// Where the edge of NAME is in a block, or belongs: the first free place from its home on, in the
// same line before others.
// NULL: it is not there, and all places are taken.
static struct tp_edge *edge_place(struct tp_edge *edges, uint32_t block, uint32_t name)
{
	struct tp_edge *first = &edges[block_start(block)];
	const uint32_t size = block_size(block);
	const uint32_t home = (uint32_t)(tp_edge_home(edges, block, name) - first);
	for (uint32_t i = 0; i < size; i++) {
		const uint32_t line = (home - home % EDGES_MIN + i - i % EDGES_MIN) & (size - 1);
		struct tp_edge *edge = &first[line + (home + i) % EDGES_MIN];
		if (!edge->name || edge->name == name)
			return edge;
	}
	return NULL;
}

const struct tp_edge *tp_edges_search(const struct tp_edge *edges, uint32_t block, uint32_t name)
{
	const struct tp_edge *edge = edge_place((struct tp_edge *)edges, block, name);
	return edge && edge->name ? edge : NULL;
}

static bool grow_edges(struct tp_profile *profile, uint64_t count)
{
	uint64_t capacity = profile->edge_capacity;
	while (capacity < count)
		capacity *= 2;
	if (capacity == profile->edge_capacity)
		return true;
	// The number of a block has 27 bits for where it begins.
	struct tp_edge *edges = capacity <= (UINT64_C(1) << 27) * EDGES_MIN
				    ? tp_table_alloc(capacity, sizeof(*edges))
				    : NULL;
	if (!edges)
		return false;
	memcpy(edges, profile->edges, profile->edge_count * sizeof(*edges));
	free(profile->edges);
	profile->edges = edges;
	profile->edge_capacity = (uint32_t)capacity;
	return true;
}

// A block of free edges, to be shifted by SHIFT; 0: no memory.
static uint32_t take_block(struct tp_profile *profile, uint32_t shift)
{
	const uint32_t size = block_size(shift);
	uint32_t *free_block = &profile->free_blocks[shift];
	if (*free_block) {
		const uint32_t block = *free_block;
		struct tp_edge *first = &profile->edges[block_start(block)];
		*free_block = first->block;
		first->block = 0;
		return block;
	}
	if (!grow_edges(profile, (uint64_t)profile->edge_count + size))
		return 0;
	const uint32_t block = profile->edge_count / EDGES_MIN * (TP_BLOCK_SHIFT + 1) + shift;
	profile->edge_count += size;
	return block;
}

static void give_block(struct tp_profile *profile, uint32_t block)
{
	if (block == TP_BLOCK_NONE)
		return;
	const uint32_t shift = block % (TP_BLOCK_SHIFT + 1);
	struct tp_edge *first = &profile->edges[block_start(block)];
	memset(first, 0, block_size(block) * sizeof(*first));
	first->block = profile->free_blocks[shift];
	profile->free_blocks[shift] = block;
}

// Give NODE a block that is larger than its own. False: no memory.
static bool grow_block(struct tp_profile *profile, uint32_t node)
{
	const uint32_t old = profile->blocks[node];
	const uint32_t shift = old % (TP_BLOCK_SHIFT + 1);
	const uint32_t block = take_block(profile, old == TP_BLOCK_NONE ? shift : shift - 1);
	if (!block)
		return false;
	struct tp_edge *edges = profile->edges;
	for (uint32_t i = 0; i < block_size(old); i++) {
		const struct tp_edge *edge = &edges[block_start(old) + i];
		if (edge->name)
			*edge_place(edges, block, edge->name) = *edge;
	}
	give_block(profile, old);
	profile->blocks[node] = block;
	if (node) {
		const struct tp_node *callee = &profile->nodes[node];
		edge_place(edges, profile->blocks[callee->parent], callee->name)->block = block;
	}
	return true;
}

// Whether the edge of one more callee, of which a block then has COUNT, is as near as it is to be.
static bool is_near(const struct tp_profile *profile, uint32_t block, uint32_t name, uint64_t count)
{
	const struct tp_edge *home = tp_edge_home(profile->edges, block, name);
	const struct tp_edge *place = edge_place(profile->edges, block, name);
	if (!place || block_size(block) >= count * 4)
		return place != NULL;
	if (profile->node_count < TP_FAR_NODES)
		return place == home;
	return (place - profile->edges) / EDGES_MIN == (home - profile->edges) / EDGES_MIN;
}

// Have a place for one more callee of PARENT. False: no memory.
static bool make_edge_room(struct tp_profile *profile, uint32_t parent, uint32_t name)
{
	const uint64_t count = profile->callees[parent] + UINT64_C(1);
	while (profile->blocks[parent] == TP_BLOCK_NONE ||
	       !is_near(profile, profile->blocks[parent], name, count))
		if (!grow_block(profile, parent))
			return false;
	return true;
}

// ---- nodes and functions

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
	if (!(profile->cost.wait_share > 0) || !profile->cost.period)
		return true;
	profile->waited = tp_table_alloc(profile->node_capacity, sizeof(*profile->waited));
	return profile->waited != NULL;
}

// Put a larger table with the same COUNT items in the place of that at TABLE, a pointer; one that
// is not there stays so. False: no memory.
static bool grow_table(void *table, uint32_t capacity, uint32_t count, size_t size)
{
	void *old;
	memcpy(&old, table, sizeof(old));
	void *fresh = old ? tp_table_alloc(capacity, size) : NULL;
	if (!fresh)
		return !old;
	memcpy(fresh, old, count * size);
	memcpy(table, &fresh, sizeof(fresh));
	free(old);
	return true;
}

static bool grow_nodes(struct tp_profile *profile)
{
	const uint32_t count = profile->node_count;
	if (count < profile->node_capacity)
		return true;
	if (profile->node_capacity > UINT32_MAX / 4)
		return false;
	// If one fails, those before it are larger than they need be.
	const uint32_t capacity = profile->node_capacity * 2;
	if (!grow_table(&profile->nodes, capacity, count, sizeof(*profile->nodes)) ||
	    !grow_table(&profile->blocks, capacity, count, sizeof(*profile->blocks)) ||
	    !grow_table(&profile->callees, capacity, count, sizeof(*profile->callees)) ||
	    !grow_table(&profile->dropped, capacity, count, sizeof(*profile->dropped)) ||
	    !grow_table(&profile->waited, capacity, count, sizeof(*profile->waited)) ||
	    !grow_table(&profile->parts_of, capacity, count, sizeof(*profile->parts_of)))
		return false;
	profile->node_capacity = capacity;
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
	const struct tp_edge *found =
	    tp_edges_search(profile->edges, profile->blocks[parent], name);
	if (found)
		return found;
	const uint32_t function = find_function(profile, name);
	if (function && name != TP_NAME_MORE && tp_profile_is_full(profile)) {
		const struct tp_node *caller = &profile->nodes[parent];
		const bool is_more = caller->name == TP_NAME_MORE;
		return tp_profile_find_edge(
		    profile, is_more ? caller->parent : parent, TP_NAME_MORE);
	}
	if (!function || !grow_nodes(profile) || !make_edge_room(profile, parent, name))
		return NULL;
	const uint32_t index = profile->node_count++;
	profile->nodes[index] = (struct tp_node){
	    .name = name,
	    .function = function,
	    .parent = parent,
	    .min = UINT64_MAX,
	};
	profile->blocks[index] = TP_BLOCK_NONE;
	profile->callees[parent]++;
	struct tp_edge *edge = edge_place(profile->edges, profile->blocks[parent], name);
	*edge = (struct tp_edge){name, index, function, TP_BLOCK_NONE};
	return edge;
}

void tp_profile_close(struct tp_profile *profile)
{
	free(profile->edges);
	free(profile->blocks);
	free(profile->callees);
	profile->edges = NULL;
	profile->blocks = profile->callees = NULL;
}

void tp_profile_link(struct tp_profile *profile)
{
	const uint32_t count = profile->node_count;
	if (!profile->first_child) {
		profile->first_child = profile->blocks;
		profile->next_sibling = profile->callees;
		profile->blocks = profile->callees = NULL;
		tp_profile_close(profile);
	}
	for (uint32_t i = 0; i < count; i++)
		profile->first_child[i] = profile->next_sibling[i] = 0;
	for (uint32_t i = 1; i < count; i++) {
		const struct tp_node *node = &profile->nodes[i];
		if (!node->function)
			continue;
		profile->next_sibling[i] = profile->first_child[node->parent];
		profile->first_child[node->parent] = i;
	}
}

uint32_t tp_profile_function(const struct tp_profile *profile, uint32_t name)
{
	return *name_slot(profile, name);
}
