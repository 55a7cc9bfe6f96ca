// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When the calls of a node had no processor, and which of its times counts.
#include "profile.h"

#include "common/arena.h"
#include "common/array.h"

#include <stdlib.h>

bool tp_profile_keep_parts(struct tp_profile *profile)
{
	profile->parts_of = tp_table_alloc(profile->node_capacity, sizeof(*profile->parts_of));
	profile->parts_count = 1;
	return profile->parts_of != NULL;
}

// NULL: it has none.
static struct tp_node_parts *find(const struct tp_profile *profile, uint32_t node)
{
	const uint32_t at = profile->parts_of[node];
	return at ? &profile->part_items[at] : NULL;
}

struct tp_node_parts tp_profile_parts(const struct tp_profile *profile, uint32_t node)
{
	const struct tp_node_parts *parts = find(profile, node);
	const struct tp_node *of = &profile->nodes[node];
	return parts ? *parts
		     : (struct tp_node_parts){
			   .self_cpu = node ? of->self : 0, .inclusive_cpu = of->inclusive};
}

static bool set(struct tp_profile *profile, uint32_t node, const struct tp_node_parts *parts)
{
	struct tp_node_parts *old = find(profile, node);
	if (old) {
		*old = *parts;
		return true;
	}
	const uint32_t at = profile->parts_count;
	if (!TP_GROW(profile->part_items, profile->parts_capacity, at + UINT64_C(1)))
		return false;
	profile->part_items[at] = *parts;
	profile->parts_of[node] = at;
	profile->parts_count++;
	return true;
}

// The parts of NODE before tp_profile_choose_time.
static struct tp_node_parts off_of(const struct tp_profile *profile, uint32_t node)
{
	const struct tp_node_parts *parts = find(profile, node);
	return parts ? *parts : (struct tp_node_parts){0};
}

static bool change(struct tp_profile *profile, uint32_t node, const struct tp_off *off,
    void (*how)(struct tp_off *, const struct tp_off *))
{
	if (!profile->parts_of || !(off->blocked | off->preempted))
		return true;
	struct tp_node_parts parts = off_of(profile, node);
	how(&parts.self_off, off);
	return set(profile, node, &parts);
}

bool tp_profile_add_off(struct tp_profile *profile, uint32_t node, const struct tp_off *off)
{
	return change(profile, node, off, tp_off_add);
}

bool tp_profile_take_off(struct tp_profile *profile, uint32_t node, const struct tp_off *off)
{
	return change(profile, node, off, tp_off_take);
}

bool tp_profile_take_over(struct tp_profile *profile, uint32_t caller, uint32_t node)
{
	if (profile->parts_of && (profile->parts_of[caller] || profile->parts_of[node])) {
		struct tp_node_parts parts = tp_profile_parts(profile, caller);
		const struct tp_node_parts more = tp_profile_parts(profile, node);
		tp_off_add(&parts.self_off, &more.self_off);
		parts.self_cpu += more.self_cpu;
		if (!set(profile, caller, &parts))
			return false;
	}
	profile->nodes[caller].self += profile->nodes[node].self;
	return true;
}

// What was off in the calls of each node, and in those that they made. CPU has room for the nodes'
// processor times.
static bool sum_up_parts(struct tp_profile *profile, uint64_t *cpu)
{
	for (uint32_t i = 0; i < profile->node_count; i++) {
		struct tp_node_parts *parts = find(profile, i);
		cpu[i] = tp_profile_parts(profile, i).self_cpu;
		if (parts)
			parts->inclusive_off = parts->self_off;
	}
	// Callees come behind their callers: each is complete when it is added to its caller.
	for (uint32_t i = profile->node_count; i-- > 1;) {
		const uint32_t caller = profile->nodes[i].parent;
		cpu[caller] += cpu[i];
		const struct tp_off off = off_of(profile, i).inclusive_off;
		if (!(off.blocked | off.preempted))
			continue;
		struct tp_node_parts parts = tp_profile_parts(profile, caller);
		tp_off_add(&parts.inclusive_off, &off);
		if (!set(profile, caller, &parts))
			return false;
	}
	for (uint32_t i = 0; i < profile->node_count; i++) {
		struct tp_node_parts parts = tp_profile_parts(profile, i);
		if (parts.inclusive_cpu == cpu[i])
			continue;
		parts.inclusive_cpu = cpu[i];
		if (!set(profile, i, &parts))
			return false;
	}
	return true;
}

static bool split(struct tp_profile *profile)
{
	uint64_t *cpu = calloc(profile->node_count, sizeof(*cpu));
	const bool ok = cpu && sum_up_parts(profile, cpu);
	free(cpu);
	return ok;
}

bool tp_profile_sum_up(struct tp_profile *profile)
{
	struct tp_node *nodes = profile->nodes;
	for (uint32_t i = 0; i < profile->node_count; i++)
		nodes[i].inclusive = nodes[i].self;
	for (uint32_t i = profile->node_count; i-- > 1;)
		nodes[nodes[i].parent].inclusive += nodes[i].inclusive;
	return !profile->parts_of || split(profile);
}

// What counts of a node's own time, SELF.
static uint64_t chosen_part(enum tp_time time, uint64_t self, const struct tp_node_parts *parts)
{
	switch (time) {
	case TP_TIME_CPU:
		return parts->self_cpu;
	case TP_TIME_WAIT:
		return parts->self_off.blocked;
	case TP_TIME_PREEMPTED:
		return parts->self_off.preempted;
	default:
		return self;
	}
}

bool tp_profile_choose_time(struct tp_profile *profile)
{
	if (!profile->parts_of)
		return true;
	// The thread itself has no calls.
	profile->parts_of[0] = 0;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		struct tp_node *node = &profile->nodes[i];
		struct tp_node_parts parts = off_of(profile, i);
		const uint64_t off = parts.self_off.blocked + parts.self_off.preempted;
		parts.self_cpu = node->self > off ? node->self - off : 0;
		const uint64_t chosen = chosen_part(profile->time, node->self, &parts);
		if ((profile->parts_of[i] || chosen != node->self) && !set(profile, i, &parts))
			return false;
		node->self = chosen;
	}
	return profile->time == TP_TIME_WALL ? split(profile) : tp_profile_sum_up(profile);
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
