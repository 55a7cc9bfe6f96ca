// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calling-context tree: one node for each path, found again after it has grown.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyzer/replay/profile.h"

#define FUNCTIONS 3000

static struct tp_profile profile;

static uint32_t name_of(uint32_t index)
{
	return 0x10000000 + 64 * index;
}

static void paths_are_distinct(void **state)
{
	(void)state;
	assert_int_equal(tp_profile_init(&profile), 0);
	const uint32_t a = tp_profile_child(&profile, 0, 0x1000);
	const uint32_t b = tp_profile_child(&profile, 0, 0x2000);
	const uint32_t ab = tp_profile_child(&profile, a, 0x2000);
	const uint32_t aba = tp_profile_child(&profile, ab, 0x1000);
	assert_true(a && b && ab && aba);
	assert_int_equal(profile.node_count, 5);
	// The same ones again, whatever was called last.
	assert_int_equal(tp_profile_child(&profile, 0, 0x1000), a);
	assert_int_equal(tp_profile_child(&profile, 0, 0x2000), b);
	assert_int_equal(tp_profile_child(&profile, a, 0x2000), ab);
	assert_int_equal(profile.node_count, 5);
	// Two functions, in five places.
	assert_int_equal(profile.function_count, 3);
	assert_int_equal(profile.nodes[a].function, profile.nodes[aba].function);
	assert_int_equal(tp_profile_function(&profile, 0x2000), profile.nodes[b].function);
	assert_int_equal(tp_profile_function(&profile, 0x3000), 0);
	assert_int_equal(profile.nodes[aba].parent, ab);
	tp_profile_link(&profile);
	assert_int_equal(profile.first_child[0], b);
	assert_int_equal(profile.next_sibling[b], a);
	assert_int_equal(profile.next_sibling[a], 0);
	tp_profile_release(&profile);
	assert_null(profile.nodes);
}

static void growth_loses_nothing(void **state)
{
	(void)state;
	static uint32_t nodes[2][FUNCTIONS];
	assert_int_equal(tp_profile_init(&profile), 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		nodes[0][i] = tp_profile_child(&profile, 0, name_of(i));
		nodes[1][i] = tp_profile_child(&profile, nodes[0][i / 2], name_of(i));
	}
	assert_int_equal(profile.node_count, 2 * FUNCTIONS + 1);
	assert_int_equal(profile.function_count, FUNCTIONS + 1);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		assert_int_equal(tp_profile_child(&profile, 0, name_of(i)), nodes[0][i]);
		assert_int_equal(
		    tp_profile_child(&profile, nodes[0][i / 2], name_of(i)), nodes[1][i]);
		assert_int_equal(profile.nodes[nodes[1][i]].name, name_of(i));
		assert_true(profile.nodes[nodes[1][i]].parent < nodes[1][i]);
		const uint32_t function = tp_profile_function(&profile, name_of(i));
		assert_int_equal(profile.functions[function].name, name_of(i));
	}
	assert_int_equal(profile.node_count, 2 * FUNCTIONS + 1);
	tp_profile_release(&profile);
}

static void sums_of_a_node(void **state)
{
	(void)state;
	assert_int_equal(tp_profile_init(&profile), 0);
	struct tp_node *node = &profile.nodes[tp_profile_child(&profile, 0, 0x1000)];
	assert_true(node->min == UINT64_MAX);
	struct tp_ended call = {.inclusive = 100, .children = 30, .net = 30};
	call.node = (uint32_t)(node - profile.nodes);
	assert_int_equal(tp_profile_add(&profile, &call, true).self, 70);
	call = (struct tp_ended){.inclusive = 20, .node = call.node};
	assert_int_equal(tp_profile_add(&profile, &call, true).inclusive, 20);
	assert_int_equal(node->calls, 2);
	assert_int_equal(node->inclusive, 120);
	assert_int_equal(node->self, 90);
	assert_int_equal(node->min, 20);
	assert_int_equal(node->max, 100);
	// Children whose sum is longer than their caller leave it no time, rather than an immense
	// one.
	call = (struct tp_ended){.inclusive = 10, .children = 11, .net = 11, .node = call.node};
	assert_int_equal(tp_profile_add(&profile, &call, true).inclusive, 11);
	assert_int_equal(node->self, 90);
	assert_int_equal(node->min, 11);
	tp_profile_release(&profile);
}

// What a call is too short for comes off the next ones of its path, up to a limit, and off no call
// that began before the window.
static void debts(void **state)
{
	(void)state;
	assert_int_equal(tp_profile_init(&profile), 0);
	const uint32_t node = tp_profile_child(&profile, 0, 0x1000);
	const uint32_t other = tp_profile_child(&profile, 0, 0x2000);
	struct tp_ended call = {.cost = 10 * TP_COST_PARTS + TP_COST_PARTS / 2, .node = node};
	profile.cost.debt_max = 25 * TP_COST_PARTS;
	call.inclusive = 4;
	assert_int_equal(tp_profile_add(&profile, &call, true).self, 0);
	call.inclusive = 20; // 10.5 of its own, 6.5 of the one before
	assert_int_equal(tp_profile_add(&profile, &call, true).self, 3);
	for (int i = 0; i < 5; i++) {
		call.inclusive = 0;
		assert_int_equal(tp_profile_add(&profile, &call, true).self, 0);
	}
	// Another path has nothing to do with that.
	call = (struct tp_ended){.inclusive = 100, .node = other};
	assert_int_equal(tp_profile_add(&profile, &call, true).self, 100);
	// Nor has time without a processor: 30 of the 35.5 there are.
	call = (struct tp_ended){
	    .inclusive = 100, .off = 70, .cost = 10 * TP_COST_PARTS + 128, .node = node};
	assert_int_equal(tp_profile_add(&profile, &call, true).self, 70);
	call = (struct tp_ended){.inclusive = 6, .net = 5, .children = 6, .node = node};
	assert_int_equal(tp_profile_add(&profile, &call, true).inclusive, 5);
	// A call from before the window: only its own cost, rounded, and debts are over.
	call = (struct tp_ended){
	    .inclusive = 100, .cost = 10 * TP_COST_PARTS + 128, .node = node, .position = 8};
	tp_profile_begin_window(&profile, 16);
	assert_false(tp_ended_is_here(&profile, &call));
	call.inclusive = 1;
	assert_int_equal(tp_profile_add(&profile, &call, true).self, 0);
	call.inclusive = 100;
	assert_int_equal(tp_profile_add(&profile, &call, false).self, 89);
	assert_int_equal(tp_profile_add(&profile, &call, true).self, 89);
	assert_int_equal(profile.nodes[node].self, 3 + 70 + 89 + 89);
	tp_profile_release(&profile);
}

// How many of the edges of the nodes from FIRST on are at home, and in the line of their home.
static void count_near(uint32_t first, uint32_t *home, uint32_t *line)
{
	*home = *line = 0;
	for (uint32_t i = first; i < profile.node_count; i++) {
		const struct tp_node *node = &profile.nodes[i];
		const uint32_t block = profile.blocks[node->parent];
		const struct tp_edge *at = tp_edge_home(profile.edges, block, node->name);
		const struct tp_edge *edge = tp_edges_find(profile.edges, block, node->name);
		assert_ptr_equal(edge, tp_edges_find_far(profile.edges, block, node->name));
		assert_int_equal(edge->node, i);
		assert_int_equal(edge->block, profile.blocks[i]);
		*home += edge == at;
		*line += (edge - profile.edges) / 4 == (at - profile.edges) / 4;
	}
}

// Callers with one to eight callees each.
static void add_paths(uint32_t count)
{
	static uint64_t seed = 1;
	for (uint32_t caller = profile.node_count - 1; profile.node_count < count; caller++)
		for (uint32_t i = 0; i <= caller % 8; i++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			tp_profile_child(
			    &profile, caller, 0x400000 + 16 * (uint32_t)(seed >> 33) % 65536);
		}
}

// What makes it quick to find a path again, and that it takes no more room for that.
static void edges_are_near(void **state)
{
	(void)state;
	uint32_t home;
	uint32_t line;
	assert_int_equal(tp_profile_init(&profile), 0);
	add_paths(11000);
	count_near(1, &home, &line);
	printf("of %u edges %u are at home, %u in its line; room for %u\n", profile.node_count - 1,
	    home, line, profile.edge_count);
	assert_true(home > profile.node_count / 10 * 9);
	assert_true(profile.edge_count < 5 * profile.node_count);
	const uint32_t near = profile.node_count;
	const uint32_t room = profile.edge_count;
	add_paths(60000);
	count_near(near, &home, &line);
	printf("of %u more %u are at home, %u in its line; room for %u\n",
	    profile.node_count - near, home, line, profile.edge_count - room);
	assert_true(line > (profile.node_count - near) / 20 * 19);
	assert_true(profile.edge_count - room < 5 * (profile.node_count - near) / 2);
	tp_profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paths_are_distinct),
	    cmocka_unit_test(growth_loses_nothing),
	    cmocka_unit_test(sums_of_a_node),
	    cmocka_unit_test(debts),
	    cmocka_unit_test(edges_are_near),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
