// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing under a budget: against all possible choices, for small programs; choices that are
// certain beforehand; sampling, counting, the log's budget, and the path term.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allowlists/choose/choose.h"
#include "allowlists/choose/workload.h"

static const struct tp_cost cost = {.event_ns = 10, .count_ns = 1};

static uint32_t seed = 1;
static uint32_t number(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static struct tp_choice item(double calls, double value)
{
	return (struct tp_choice){.calls = calls, .value = value};
}

static void choose(struct tp_choice *items, uint32_t count, const struct tp_choose_options *options,
    struct tp_chosen *chosen)
{
	assert_int_equal(tp_choose(items, count, options, chosen), 0);
}

// The largest value of events within a number of calls.
static double best_of_all(const struct tp_choice *items, uint32_t count, double calls)
{
	double best = 0;
	for (uint32_t set = 0; set < 1u << count; set++) {
		double value = 0;
		double used = 0;
		for (uint32_t i = 0; i < count; i++)
			if (set >> i & 1) {
				value += items[i].value;
				used += items[i].calls;
			}
		if (used <= calls && value > best)
			best = value;
	}
	return best;
}

static void events_are_chosen_exactly(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct tp_choice items[12];
		const uint32_t count = 1 + number(12);
		double calls = 0;
		for (uint32_t i = 0; i < count; i++) {
			items[i] = item(1000 + number(9000), number(5) ? 1 + number(1000) : 0);
			calls += items[i].calls;
		}
		const double room = calls * (1 + number(99)) / 100;
		const struct tp_choose_options options = {.budget_ns = room * 10, .cost = cost};
		struct tp_chosen chosen;
		choose(items, count, &options, &chosen);
		const double best = best_of_all(items, count, room);
		assert_true(chosen.cost_ns <= options.budget_ns * (1 + 1e-9));
		assert_true(chosen.event_value >= best * (1 - 1e-9));
		assert_true(chosen.event_value <= best * (1 + 1e-9));
		assert_true(chosen.bound >= best * (1 - 1e-9));
		assert_int_equal(chosen.sample_count, 0);
	}
}

// Greedy by density would take the small one and have no room for the large one.
static void one_large_function_may_be_best(void **state)
{
	(void)state;
	struct tp_choice items[] = {item(10, 20), item(100, 100)};
	const struct tp_choose_options options = {.budget_ns = 1000, .cost = cost};
	struct tp_chosen chosen;
	choose(items, 2, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_SKIP);
	assert_int_equal(items[1].level, TP_CATEGORY_ALLOW);
	assert_true(chosen.bound == 110);
}

// All levels of all functions: never better than the choice by more than one function's worth.
static void sampling_is_nearly_best(void **state)
{
	(void)state;
	const double worth = 0.5;
	for (int round = 0; round < 200; round++) {
		struct tp_choice items[7];
		const uint32_t count = 1 + number(7);
		double all = 0;
		double largest = 0;
		for (uint32_t i = 0; i < count; i++) {
			items[i] = item(20000 + number(900000), 1 + number(1000));
			all += items[i].calls * cost.event_ns;
			if (items[i].value > largest)
				largest = items[i].value;
		}
		const struct tp_choose_options options = {
		    .budget_ns = all * (1 + number(60)) / 100, .cost = cost, .sample_worth = worth};
		struct tp_chosen chosen;
		choose(items, count, &options, &chosen);
		assert_true(chosen.cost_ns <= options.budget_ns * (1 + 1e-9));
		uint32_t sets = 1;
		for (uint32_t i = 0; i < count; i++)
			sets *= 3;
		double best = 0;
		for (uint32_t set = 0; set < sets; set++) {
			double value = 0;
			double used = 0;
			uint32_t rest = set;
			for (uint32_t i = 0; i < count; i++, rest /= 3) {
				const enum tp_category levels[] = {
				    TP_CATEGORY_SKIP, TP_CATEGORY_SAMPLE, TP_CATEGORY_ALLOW};
				const double part[] = {0, worth, 1};
				value += part[rest % 3] * items[i].value;
				used += items[i].calls * tp_cost_call_ns(&cost, levels[rest % 3],
							     tp_choose_sample(items[i].calls));
			}
			if (used <= options.budget_ns && value > best)
				best = value;
		}
		const double value = chosen.event_value + worth * chosen.sample_value;
		assert_true(value >= best - largest);
		assert_true(value <= best * (1 + 1e-9));
	}
}

static void samples_keep_enough_calls(void **state)
{
	(void)state;
	assert_int_equal(tp_choose_sample(10), 16);
	assert_int_equal(tp_choose_sample(16 * 1000), 16);
	assert_int_equal(tp_choose_sample(63 * 1000), 16);
	assert_int_equal(tp_choose_sample(64 * 1000), 64);
	assert_int_equal(tp_choose_sample(256 * 1000), 256);
	assert_int_equal(tp_choose_sample(1e9), 1024);
}

static void a_dear_function_is_sampled(void **state)
{
	(void)state;
	struct tp_choice items[] = {item(1000000, 900), item(1000, 100)};
	struct tp_choose_options options = {.budget_ns = 2e6, .cost = cost, .sample_worth = 0.5};
	struct tp_chosen chosen;
	choose(items, 2, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_SAMPLE);
	assert_int_equal(items[0].sample, 256);
	assert_int_equal(items[1].level, TP_CATEGORY_ALLOW);
	assert_true(chosen.sample_value == 900);
	assert_true(chosen.event_value == 100);
	assert_true(chosen.cost_ns == 1e6 * (1.5 + 10.0 / 256) + 1000 * 10);
	assert_true(chosen.cost_bytes == 1e6 * 16 / 256 + 1000 * 16);
	// Without sampling it is left out, and counted if that is wanted.
	options.sample_worth = 0;
	options.count_rest = true;
	choose(items, 2, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_COUNT);
	assert_int_equal(chosen.count_count, 1);
	assert_true(chosen.cost_ns == 1e6 + 1000 * 10);
	options.budget_ns = 1e6;
	choose(items, 2, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_SKIP);
}

// Events add half of the worth to samples, at the price by which they cost more than these: for the
// last one that is the best use of the rest beside samples of the first one.
static void events_beside_samples(void **state)
{
	(void)state;
	struct tp_choice items[] = {item(600000, 300), item(100000, 40), item(100000, 220)};
	const struct tp_choose_options options = {
	    .budget_ns = 2e6, .cost = cost, .sample_worth = 0.5};
	struct tp_chosen chosen;
	choose(items, 3, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_SAMPLE);
	assert_int_equal(items[1].level, TP_CATEGORY_SKIP);
	assert_int_equal(items[2].level, TP_CATEGORY_ALLOW);
}

// Where events are cheap, a sample costs as much and gives half.
static void cheap_events_are_not_sampled(void **state)
{
	(void)state;
	struct tp_choice items[] = {item(1e6, 100), item(1e6, 60)};
	const struct tp_choose_options options = {
	    .budget_ns = 3.9e6, .cost = {.event_ns = 2, .count_ns = 1}, .sample_worth = 0.5};
	struct tp_chosen chosen;
	choose(items, 2, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_ALLOW);
	assert_int_equal(items[1].level, TP_CATEGORY_SAMPLE);
}

// Events and samples have bounds of their own, and no choice exceeds them; the bound of events does
// not limit samples.
static void samples_have_a_bound_of_their_own(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct tp_choice items[10];
		const uint32_t count = 1 + number(10);
		double all = 0;
		for (uint32_t i = 0; i < count; i++) {
			items[i] = item(20000 + number(900000), 1 + number(1000));
			items[i].sure = items[i].value / 2;
			all += items[i].calls * cost.event_ns;
		}
		const struct tp_choose_options options = {.budget_ns = all * (1 + number(60)) / 100,
		    .budget_bytes = number(2) ? all / (1 + number(9)) : 0,
		    .cost = cost,
		    .sample_worth = 0.5};
		struct tp_chosen chosen;
		choose(items, count, &options, &chosen);
		assert_true(chosen.event_value <= chosen.bound * (1 + 1e-9));
		assert_true(chosen.sample_value <= chosen.sample_bound * (1 + 1e-9));
		assert_true(
		    chosen.event_value + chosen.sample_bound <= chosen.all_value * (1 + 1e-9));
		assert_true(chosen.event_sure == chosen.event_value / 2);
		assert_true(chosen.sample_sure == chosen.sample_value / 2);
		assert_true(chosen.all_sure == chosen.all_value / 2);
	}
	// 40 % of the sampling of one function fit beside the events of another.
	const double sample_ns = 1e6 * (1.5 + 10.0 / 256);
	struct tp_choice few[] = {item(1000, 50), item(1e6, 900)};
	const struct tp_choose_options options = {
	    .budget_ns = 10000 + 0.4 * sample_ns, .cost = cost, .sample_worth = 0.5};
	struct tp_chosen chosen;
	choose(few, 2, &options, &chosen);
	assert_int_equal(few[0].level, TP_CATEGORY_ALLOW);
	assert_int_equal(few[1].level, TP_CATEGORY_SKIP);
	assert_true(chosen.sample_bound > 359.999 && chosen.sample_bound < 360.001);
}

// Code that makes the program larger costs, whatever the calls: the choice, against all that there
// are, counts it.
static void the_size_of_code_counts(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct tp_choice items[8];
		const uint32_t count = 1 + number(8);
		double all = 0;
		for (uint32_t i = 0; i < count; i++) {
			items[i] = item(1000 + number(9000), 1 + number(1000));
			items[i].code_ns = number(30000);
			all += items[i].calls * 10 + items[i].code_ns;
		}
		const struct tp_choose_options options = {
		    .budget_ns = all * (1 + number(99)) / 100, .cost = cost};
		double best = 0;
		for (uint32_t set = 0; set < 1u << count; set++) {
			double value = 0;
			double used = 0;
			for (uint32_t i = 0; i < count; i++)
				if (set >> i & 1) {
					value += items[i].value;
					used += items[i].calls * 10 + items[i].code_ns;
				}
			if (used <= options.budget_ns && value > best)
				best = value;
		}
		struct tp_chosen chosen;
		choose(items, count, &options, &chosen);
		assert_true(chosen.cost_ns <= options.budget_ns * (1 + 1e-9));
		assert_true(chosen.code_ns <= chosen.cost_ns);
		assert_true(chosen.event_value >= best * (1 - 1e-9));
		assert_true(chosen.event_value <= best * (1 + 1e-9));
		assert_true(chosen.bound >= best * (1 - 1e-9));
	}
}

// Where all is compiled in, a function that is left out costs its closed gate.
static void closed_gates_cost(void **state)
{
	(void)state;
	const struct tp_cost gated = {.event_ns = 10, .count_ns = 1, .closed_ns = 2};
	struct tp_choice items[] = {item(1000, 5), item(1000, 9)};
	struct tp_choose_options options = {.budget_ns = 12000, .cost = gated};
	struct tp_chosen chosen;
	choose(items, 2, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_SKIP);
	assert_int_equal(items[1].level, TP_CATEGORY_ALLOW);
	assert_true(chosen.cost_ns == 2000 + 10000);
	options.budget_ns = 11999;
	choose(items, 2, &options, &chosen);
	assert_int_equal(chosen.event_count, 0);
	assert_false(chosen.over_budget);
	options.budget_ns = 3999;
	choose(items, 2, &options, &chosen);
	assert_true(chosen.over_budget);
	assert_true(chosen.cost_ns == 4000);
}

static void the_log_may_be_what_is_short(void **state)
{
	(void)state;
	struct tp_choice items[] = {item(1000, 100), item(1000, 90)};
	const struct tp_choose_options options = {
	    .budget_ns = 1e9, .budget_bytes = 1500 * 16, .cost = cost};
	struct tp_chosen chosen;
	choose(items, 2, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_ALLOW);
	assert_int_equal(items[1].level, TP_CATEGORY_SKIP);
	assert_true(chosen.bound == 145);
}

// What costs next to nothing is in, though it has no time of its own; all of it together is
// bounded.
static void cheap_functions_are_in(void **state)
{
	(void)state;
	struct tp_choice items[2000] = {item(100, 0), item(0, 0), item(1e6, 5)};
	struct tp_choose_options options = {.budget_ns = 1e8, .cost = cost};
	struct tp_chosen chosen;
	choose(items, 3, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_ALLOW);
	assert_int_equal(items[0].reason, TP_REASON_CHEAP);
	assert_int_equal(items[1].level, TP_CATEGORY_SKIP);
	assert_int_equal(items[1].reason, TP_REASON_UNUSED);
	assert_int_equal(items[2].reason, TP_REASON_BUDGET);
	for (int i = 0; i < 2000; i++)
		items[i] = item(900, 0);
	choose(items, 2000, &options, &chosen);
	assert_int_equal(chosen.event_count, 555); // 5 % of 1e8 ns
}

static void the_user_decides(void **state)
{
	(void)state;
	struct tp_choice items[] = {item(1000, 1), item(1000, 1000), item(1000, 500), item(10, 1)};
	items[0] = (struct tp_choice){.calls = 1000,
	    .value = 1,
	    .pinned = true,
	    .level = TP_CATEGORY_FORCE,
	    .sample = 1,
	    .reason = TP_REASON_KEPT};
	items[1] = (struct tp_choice){.calls = 1000,
	    .value = 1000,
	    .pinned = true,
	    .level = TP_CATEGORY_SKIP,
	    .sample = 1,
	    .reason = TP_REASON_NEVER};
	struct tp_choose_options options = {.budget_ns = 20100, .cost = cost};
	struct tp_chosen chosen;
	choose(items, 4, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_FORCE);
	assert_int_equal(items[1].level, TP_CATEGORY_SKIP);
	assert_int_equal(items[2].level, TP_CATEGORY_ALLOW);
	assert_true(chosen.event_value == 502);
	assert_true(chosen.bound == 502);
	assert_true(chosen.all_value == 1502);
	assert_false(chosen.over_budget);
	// More than the budget: nothing else is chosen.
	options.budget_ns = 5000;
	choose(items, 4, &options, &chosen);
	assert_true(chosen.over_budget);
	assert_int_equal(items[0].level, TP_CATEGORY_FORCE);
	assert_int_equal(items[2].level, TP_CATEGORY_SKIP);
	assert_int_equal(items[3].level, TP_CATEGORY_SKIP);
}

static struct tp_workload_node node(uint32_t function, uint32_t parent, double self_ns)
{
	return (struct tp_workload_node){
	    .function = function, .parent = parent, .self_ns = self_ns};
}

// main calls f a few times, which calls g often: g is too dear, and f stands for it, half as well.
static void callers_stand_for_callees(void **state)
{
	(void)state;
	struct tp_choice items[] = {item(1000, 0), item(1000, 10), item(100000, 1000)};
	const struct tp_workload_node nodes[] = {
	    node(0, 0, 0), node(1, 0, 10), node(2, 1, 900), node(2, 0, 100)};
	struct tp_choose_options options = {
	    .budget_ns = 10000, .cost = cost, .nodes = nodes, .node_count = 4, .path_decay = 0.5};
	struct tp_chosen chosen;
	choose(items, 3, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_SKIP);
	assert_int_equal(items[1].level, TP_CATEGORY_ALLOW);
	assert_int_equal(items[2].level, TP_CATEGORY_SKIP);
	assert_true(chosen.path_value == 10 + 450);
	options.budget_ns = 20000;
	choose(items, 3, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_ALLOW);
	assert_true(chosen.path_value == 10 + 450 + 50);
}

// One function is worth more than those with most for their price; what fits beside it is taken.
static void beside_the_best_one(void **state)
{
	(void)state;
	struct tp_choice items[] = {item(1e6, 0), item(9000, 1000), item(2000, 300), item(500, 10)};
	const struct tp_workload_node nodes[] = {
	    node(0, 0, 0), node(1, 0, 1000), node(2, 0, 300), node(3, 0, 10)};
	const struct tp_choose_options options = {.budget_ns = 10000 * 10,
	    .cost = cost,
	    .nodes = nodes,
	    .node_count = 4,
	    .path_decay = 0.5};
	struct tp_chosen chosen;
	choose(items, 4, &options, &chosen);
	assert_int_equal(items[1].level, TP_CATEGORY_ALLOW);
	assert_int_equal(items[2].level, TP_CATEGORY_SKIP);
	assert_int_equal(items[3].level, TP_CATEGORY_ALLOW);
	assert_true(chosen.path_value == 1010);
}

// Recursion: a call of the function itself is a caller that is nearer.
static void recursion_is_covered_once(void **state)
{
	(void)state;
	struct tp_choice items[] = {item(1000, 30), item(1e6, 80)};
	const struct tp_workload_node nodes[] = {
	    node(0, 0, 10), node(1, 0, 40), node(0, 1, 20), node(1, 2, 40)};
	const struct tp_choose_options options = {
	    .budget_ns = 10000, .cost = cost, .nodes = nodes, .node_count = 4, .path_decay = 0.5};
	struct tp_chosen chosen;
	choose(items, 2, &options, &chosen);
	assert_int_equal(items[0].level, TP_CATEGORY_ALLOW);
	assert_true(chosen.path_value == 10 + 20 + 20 + 20);
}

static void many_functions(void **state)
{
	(void)state;
	const uint32_t count = 100000;
	struct tp_choice *items = calloc(count, sizeof(*items));
	struct tp_workload_node *nodes = calloc(count, sizeof(*nodes));
	double all = 0;
	for (uint32_t i = 0; i < count; i++) {
		items[i] = item(1 + number(1000000), number(100000));
		all += items[i].calls * cost.event_ns;
		nodes[i] = node(i, i ? number(i) : 0, items[i].value);
	}
	struct tp_choose_options options = {
	    .budget_ns = all / 20, .cost = cost, .sample_worth = 0.5, .count_rest = true};
	struct tp_chosen chosen;
	choose(items, count, &options, &chosen);
	assert_true(chosen.cost_ns <= options.budget_ns * (1 + 1e-9));
	assert_true(chosen.event_value + chosen.sample_value >= 0.99 * chosen.bound);
	options.nodes = nodes;
	options.node_count = count;
	choose(items, count, &options, &chosen);
	assert_true(chosen.cost_ns <= options.budget_ns * (1 + 1e-9));
	free(items);
	free(nodes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(events_are_chosen_exactly),
	    cmocka_unit_test(one_large_function_may_be_best),
	    cmocka_unit_test(sampling_is_nearly_best),
	    cmocka_unit_test(samples_keep_enough_calls),
	    cmocka_unit_test(a_dear_function_is_sampled),
	    cmocka_unit_test(events_beside_samples),
	    cmocka_unit_test(cheap_events_are_not_sampled),
	    cmocka_unit_test(samples_have_a_bound_of_their_own),
	    cmocka_unit_test(the_size_of_code_counts),
	    cmocka_unit_test(closed_gates_cost),
	    cmocka_unit_test(the_log_may_be_what_is_short),
	    cmocka_unit_test(cheap_functions_are_in),
	    cmocka_unit_test(the_user_decides),
	    cmocka_unit_test(callers_stand_for_callees),
	    cmocka_unit_test(beside_the_best_one),
	    cmocka_unit_test(recursion_is_covered_once),
	    cmocka_unit_test(many_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
