// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calling-context tree of one thread.
#include "profile.h"

#include "common/err.h"

#include <stdlib.h>
#include <string.h>

#define NODES_AT_FIRST 64
#define FUNCTIONS_AT_FIRST 64

static uint32_t hash(uint32_t parent, uint32_t name)
{
	// Multiplicative; the upper half of the product is well mixed.
	const uint64_t key = (uint64_t)parent << 32 | name;
	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

int tp_profile_init(struct tp_profile *profile)
{
	*profile = (struct tp_profile){
	    .nodes = calloc(NODES_AT_FIRST, sizeof(*profile->nodes)),
	    .node_count = 1,
	    .node_capacity = NODES_AT_FIRST,
	    .edges = calloc(NODES_AT_FIRST * 2, sizeof(*profile->edges)),
	    .edge_mask = NODES_AT_FIRST * 2 - 1,
	    .functions = calloc(FUNCTIONS_AT_FIRST, sizeof(*profile->functions)),
	    .function_count = 1,
	    .function_capacity = FUNCTIONS_AT_FIRST,
	    .names = calloc(FUNCTIONS_AT_FIRST * 2, sizeof(*profile->names)),
	    .name_mask = FUNCTIONS_AT_FIRST * 2 - 1,
	};
	if (!profile->nodes || !profile->edges || !profile->functions || !profile->names) {
		// Without any node, as if it had not been begun: the other threads are still shown.
		tp_profile_release(profile);
		return TP_ERR_MEMORY;
	}
	profile->nodes[0].min = UINT64_MAX;
	return 0;
}

void tp_profile_release(struct tp_profile *profile)
{
	free(profile->nodes);
	free(profile->edges);
	free(profile->functions);
	free(profile->names);
	memset(profile, 0, sizeof(*profile));
}

// The slot of (parent, name): where its node number is, or belongs.
static uint32_t *edge_slot(const struct tp_profile *profile, uint32_t parent, uint32_t name)
{
	for (uint32_t i = hash(parent, name);; i++) {
		uint32_t *slot = &profile->edges[i & profile->edge_mask];
		const struct tp_node *node = &profile->nodes[*slot];
		if (!*slot || (node->parent == parent && node->name == name))
			return slot;
	}
}

static uint32_t *name_slot(const struct tp_profile *profile, uint32_t name)
{
	for (uint32_t i = hash(0, name);; i++) {
		uint32_t *slot = &profile->names[i & profile->name_mask];
		if (!*slot || profile->functions[*slot].name == name)
			return slot;
	}
}

static bool grow_nodes(struct tp_profile *profile)
{
	if (profile->node_count < profile->node_capacity)
		return true;
	if (profile->node_capacity > UINT32_MAX / 4)
		return false;
	const uint32_t capacity = profile->node_capacity * 2;
	struct tp_node *nodes = realloc(profile->nodes, (size_t)capacity * sizeof(*nodes));
	if (!nodes)
		return false;
	profile->nodes = nodes;
	uint32_t *edges = calloc((size_t)capacity * 2, sizeof(*edges));
	if (!edges)
		return false;
	free(profile->edges);
	profile->edges = edges;
	profile->edge_mask = capacity * 2 - 1;
	profile->node_capacity = capacity;
	for (uint32_t i = 1; i < profile->node_count; i++)
		*edge_slot(profile, nodes[i].parent, nodes[i].name) = i;
	return true;
}

static bool grow_functions(struct tp_profile *profile)
{
	if (profile->function_count < profile->function_capacity)
		return true;
	if (profile->function_capacity > UINT32_MAX / 4)
		return false;
	const uint32_t capacity = profile->function_capacity * 2;
	struct tp_local_function *functions =
	    realloc(profile->functions, (size_t)capacity * sizeof(*functions));
	if (!functions)
		return false;
	profile->functions = functions;
	uint32_t *names = calloc((size_t)capacity * 2, sizeof(*names));
	if (!names)
		return false;
	free(profile->names);
	profile->names = names;
	profile->name_mask = capacity * 2 - 1;
	profile->function_capacity = capacity;
	for (uint32_t i = 1; i < profile->function_count; i++)
		*name_slot(profile, functions[i].name) = i;
	return true;
}

// Index of the function NAME, making it if need be; 0: no memory.
static uint32_t find_function(struct tp_profile *profile, uint32_t name)
{
	uint32_t *slot = name_slot(profile, name);
	if (*slot)
		return *slot;
	if (!grow_functions(profile))
		return 0;
	const uint32_t index = profile->function_count++;
	profile->functions[index] = (struct tp_local_function){.name = name};
	*name_slot(profile, name) = index;
	return index;
}

uint32_t tp_profile_find_child(struct tp_profile *profile, uint32_t parent, uint32_t name)
{
	uint32_t index = *edge_slot(profile, parent, name);
	if (!index) {
		const uint32_t function = find_function(profile, name);
		if (!function || !grow_nodes(profile))
			return 0;
		index = profile->node_count++;
		profile->nodes[index] = (struct tp_node){
		    .name = name,
		    .function = function,
		    .parent = parent,
		    .next_sibling = profile->nodes[parent].first_child,
		    .min = UINT64_MAX,
		};
		profile->nodes[parent].first_child = index;
		*edge_slot(profile, parent, name) = index;
	}
	profile->nodes[parent].recent_child = index;
	return index;
}

uint32_t tp_profile_function(const struct tp_profile *profile, uint32_t name)
{
	return *name_slot(profile, name);
}
