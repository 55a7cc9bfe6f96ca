// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 'record --budget': the facts from chunks, and the choices that follow from them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/budget/choice.h"
#include "recorder/budget/learn.h"
#include "recorder/budget/names.h"
#include "recorder/budget/steps.h"

#include <teeperf/abi.h>

// ---- learning

enum { F = 0x10000, G = 0x10100, H = 0x10200, HEADER = sizeof(struct teeperf_chunk) / 8 };

static uint64_t words[8192];
static uint32_t word_count;

static void begin(uint64_t first_time)
{
	memset(words, 0, sizeof(words));
	struct teeperf_chunk *chunk = (void *)words;
	chunk->first_time = first_time;
	word_count = HEADER;
}
static void add(uint32_t name, uint32_t time)
{
	words[word_count++] = (uint64_t)name << 32 | time;
}
static void see(struct tp_learn *learn)
{
	struct teeperf_chunk *chunk = (void *)words;
	chunk->used = 8 * (uint64_t)word_count;
	tp_learn_see(learn, chunk);
}
static const struct tp_learn_function *find(
    const struct tp_learn_function *functions, uint32_t count, uint32_t name)
{
	for (uint32_t i = 0; i < count; i++)
		if (functions[i].name == name)
			return &functions[i];
	fail_msg("function %#x was not seen", name);
	return NULL;
}

static struct tp_learn_function functions[TP_LEARN_FUNCTIONS];

static void own_times(void **state)
{
	(void)state;
	struct tp_learn learn;
	double calls;
	assert_true(tp_learn_init(&learn));
	tp_learn_set_window(&learn, UINT64_MAX, UINT64_MAX);
	// H was called before the chunk began. F calls G, which a jump leaves.
	begin(UINT64_C(7) << 32);
	add(F, 100);
	const uint64_t position = 8 * (uint64_t)(word_count - 1);
	add(G, 110);
	add(F | TEEPERF_KIND_RESYNC, 150);
	words[word_count++] = position;
	add(G, 160);
	add(G | TEEPERF_KIND_EXIT, 165);
	add(TEEPERF_CONTROL_SYNC, 8);
	add(F | TEEPERF_KIND_EXIT, 5);
	add(H | TEEPERF_KIND_EXIT, 25);
	add(TEEPERF_CONTROL_COUNTS, 1);
	words[word_count++] = (uint64_t)F << 32;
	words[word_count++] = 9;
	see(&learn);
	const uint32_t count = tp_learn_take(&learn, functions, &calls);
	assert_int_equal(count, 3);
	assert_true(find(functions, count, F)->usual.calls == 1);
	assert_true(find(functions, count, G)->usual.calls == 2);
	assert_true(find(functions, count, H)->usual.calls == 0);
	assert_true(find(functions, count, G)->usual.ticks == 40 + 5);
	const double across = (double)((UINT64_C(1) << 32) + 5 - 165);
	assert_true(find(functions, count, F)->usual.ticks == 10 + 10 + across);
	assert_true(find(functions, count, H)->usual.ticks == 20);
	assert_true(calls == (double)(word_count - HEADER) / 2);
	// What was taken is not there again.
	assert_int_equal(tp_learn_take(&learn, functions, &calls), 3);
	assert_true(functions[0].usual.calls == 0 && calls == 0);
	tp_learn_release(&learn);
}

// A chunk that was full only now has calls of before.
static void late_calls(void **state)
{
	(void)state;
	struct tp_learn learn;
	double calls;
	assert_true(tp_learn_init(&learn));
	tp_learn_set_window(&learn, UINT64_MAX, UINT64_MAX);
	tp_learn_set_since(&learn, 200);
	begin(0);
	add(F, 100);
	add(F | TEEPERF_KIND_EXIT, 150);
	add(G, 180);
	add(G | TEEPERF_KIND_EXIT, 240);
	add(F, 250);
	add(F | TEEPERF_KIND_EXIT, 260);
	see(&learn);
	const uint32_t count = tp_learn_take(&learn, functions, &calls);
	const struct tp_learn_function *f = find(functions, count, F);
	const struct tp_learn_function *g = find(functions, count, G);
	assert_true(f->late.calls == 1 && f->usual.calls == 1);
	assert_true(g->late.calls == 1 && g->usual.calls == 0);
	assert_true(f->late.ticks == 50 && f->usual.ticks == 10 && g->usual.ticks == 60);
	assert_true(calls == 3);
	assert_int_equal(tp_learn_take(&learn, functions, &calls), 2);
	assert_true(functions[0].late.calls == 0);
	tp_learn_release(&learn);
}

static void windows(void **state)
{
	(void)state;
	struct tp_learn learn;
	double calls;
	assert_true(tp_learn_init(&learn));
	tp_learn_set_window(&learn, 200, 300);
	begin(0);
	for (uint32_t time = 100; time < 400; time += 50) {
		add(F, time);
		add(F | TEEPERF_KIND_EXIT, time + 1);
	}
	see(&learn);
	const uint32_t count = tp_learn_take(&learn, functions, &calls);
	assert_int_equal(count, 1);
	assert_true(functions[0].window.calls == 2);
	assert_true(functions[0].usual.calls == 4);
	tp_learn_release(&learn);
}

// Chunks that were not looked at count by those that were; damaged ones do no harm.
static void many_chunks(void **state)
{
	(void)state;
	struct tp_learn learn;
	double calls;
	assert_true(tp_learn_init(&learn));
	tp_learn_set_window(&learn, UINT64_MAX, UINT64_MAX);
	begin(0);
	for (uint32_t i = 0; i < 100; i++) {
		add(F, 10 * i + 1);
		add(F | TEEPERF_KIND_EXIT, 10 * i + 5);
	}
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 1000; i++)
			see(&learn);
		assert_int_equal(tp_learn_take(&learn, functions, &calls), 1);
		assert_true(calls == 100000);
		assert_true(fabs(functions[0].usual.calls - 100000) < 1e-3);
		assert_true(fabs(functions[0].usual.ticks - 400000) < 1e-3);
	}
	assert_true(learn.stride > 1);
	tp_learn_take(&learn, functions, &calls); // every chunk is looked at again
	begin(0);
	add(TEEPERF_CONTROL_COUNTS, UINT32_MAX);
	see(&learn);
	begin(0);
	add(F | TEEPERF_KIND_RESYNC, 1);
	see(&learn);
	begin(0);
	for (uint32_t i = 0; i < 4000; i++) // deeper than is kept
		add(G + 4 * i, i);
	see(&learn);
	assert_int_equal(tp_learn_take(&learn, functions, &calls), 4001);
	tp_learn_release(&learn);
}

// ---- choosing

static struct tp_budget_rule rule = {.share = 0.05, .call_ns = 20};

// What costs 20 ns a call may be called 2.5 million times a second.
static void hot_goes_off(void **state)
{
	(void)state;
	double cost;
	struct tp_budget_function all[] = {
	    {.calls = 1e8, .ticks = 5e8, .on = true},
	    {.calls = 1e6, .ticks = 4e8, .on = true},
	    {.calls = 10, .ticks = 1e8, .on = true},
	    {.calls = 0, .ticks = 0, .on = true},
	};
	rule.widen = false;
	assert_int_equal(tp_budget_choose(all, 4, &rule, &cost), 0);
	assert_false(all[0].on);
	assert_true(all[1].on && all[2].on && all[3].on);
	assert_true(cost > 0.02 && cost < 0.0201);
	// It has become cheap, and comes back only if it may.
	all[0].calls = 1000;
	assert_int_equal(tp_budget_choose(all, 4, &rule, &cost), 0);
	assert_false(all[0].on);
	rule.widen = true;
	all[0].held = true;
	assert_int_equal(tp_budget_choose(all, 4, &rule, &cost), 0);
	assert_false(all[0].on);
	all[0].held = false;
	assert_int_equal(tp_budget_choose(all, 4, &rule, &cost), 0);
	assert_true(all[0].on && all[1].on && all[2].on && all[3].on);
}

// Who is on stays, unless another one is worth much more.
static void nothing_flaps(void **state)
{
	(void)state;
	double cost;
	rule.widen = true;
	for (uint32_t better = 0; better < 2; better++) {
		struct tp_budget_function two[] = {
		    {.calls = 2e6, .ticks = 3e8, .on = true},
		    {.calls = 2e6, .ticks = better ? 6e8 : 4e8},
		};
		assert_int_equal(tp_budget_choose(two, 2, &rule, &cost), 0);
		assert_int_equal(two[0].on, !better);
		assert_int_equal(two[1].on, better);
	}
}

static void without_a_name(void **state)
{
	(void)state;
	double cost;
	struct tp_budget_function all[] = {
	    {.calls = 1e8, .ticks = 1e8, .fixed = true, .on = true},
	    {.calls = 100, .ticks = 8e8, .on = true},
	};
	rule.widen = true;
	assert_int_equal(tp_budget_choose(all, 2, &rule, &cost), 0);
	assert_true(all[0].on);
	assert_false(all[1].on); // nothing is left for it
	assert_true(cost > 1.99);
}

// At 20 ns, 1.5 million pairs of jump records a second are 3 %: two functions of 1.5 % each do not
// both fit beside them.
static void jumps_have_their_part(void **state)
{
	(void)state;
	double cost;
	struct tp_budget_rule jumping = {.share = 0.05, .others = 1.5e6, .call_ns = 20};
	struct tp_budget_function two[] = {
	    {.calls = 750000, .ticks = 2e8, .on = true},
	    {.calls = 750000, .ticks = 1e8, .on = true},
	};
	assert_int_equal(tp_budget_choose(two, 2, &jumping, &cost), 0);
	assert_true(two[0].on);
	assert_false(two[1].on);
	// With more jumps than may be, nothing that is called is on.
	jumping.others = 1e8;
	assert_int_equal(tp_budget_choose(two, 2, &jumping, &cost), 0);
	assert_false(two[0].on || two[1].on);
	jumping.others = 0;
	jumping.widen = true;
	assert_int_equal(tp_budget_choose(two, 2, &jumping, &cost), 0);
	assert_true(two[0].on && two[1].on);
}

// A call costs 20 ns. Functions 0 to 5 are off and cost 0.6 of the running time each, 6 and 7 next
// to nothing, 8 is on.
static void windows_take_turns(void **state)
{
	(void)state;
	enum { ALL = 9, OFF = 8, DEAR = 6 };
	struct tp_budget_function members_of[ALL] = {{0}};
	struct tp_budget_member members[ALL] = {{0}};
	struct tp_budget budget = {
	    .functions = members_of, .members = members, .count = ALL, .call_ns = 20};
	for (uint32_t i = 0; i < ALL; i++)
		members_of[i] =
		    (struct tp_budget_function){.calls = i < DEAR ? 30e6 : 1000, .on = i >= OFF};
	uint32_t looked[ALL] = {0};
	double overhead;
	for (uint32_t round = 0; round < 2 * DEAR; round++) {
		assert_true(tp_budget_pick(&budget, &overhead));
		uint32_t dear = 0;
		for (uint32_t i = 0; i < ALL; i++) {
			looked[i] += members[i].is_in_window;
			dear += i < DEAR && members[i].is_in_window;
		}
		// Two of them would take more than half of the time.
		assert_int_equal(dear, 1);
		assert_true(fabs(overhead - 0.6 - 2 * 1000 * 20e-9) < 1e-9);
	}
	for (uint32_t i = 0; i < DEAR; i++)
		assert_int_equal(looked[i], 2);
	assert_int_equal(looked[6], 2 * DEAR);
	assert_int_equal(looked[7], 2 * DEAR);
	assert_int_equal(looked[8], 0);
	assert_true(fabs(budget.window_groups - DEAR * 0.6) < 1e-3);
	// Those that are less dear are together, and all of them in few windows.
	for (uint32_t i = 0; i < DEAR; i++)
		members_of[i].calls = 15e6;
	assert_true(tp_budget_pick(&budget, &overhead));
	assert_true(fabs(overhead - 0.9) < 1e-3);
	// One alone that costs more than the limit has windows, too.
	members_of[0].calls = 1e9;
	uint32_t alone = 0;
	for (uint32_t i = 0; i < DEAR; i++) {
		assert_true(tp_budget_pick(&budget, &overhead));
		alone += members[0].is_in_window;
	}
	assert_true(alone > 0);
	for (uint32_t i = 0; i < ALL; i++)
		members_of[i].on = true;
	assert_false(tp_budget_pick(&budget, &overhead));
	assert_true(overhead <= 0);
}

// ---- what was spent, and how long a function stays off

// 50 ms of the second second on may be spent: 0.5 s of 10.
static void debts_are_saved(void **state)
{
	(void)state;
	static const struct {
		double cost_s;
		double allowed;
	} cases[] = {{0, 0.05}, {0.4, 0.05}, {0.5, 0.05},
	    // 0.1 s too much, saved in 5 s; more than can be saved.
	    {0.6, 0.05 - 0.1 / 5}, {0.7, 0.05 - 0.2 / 5}, {0.7375, 0.0025}, {0.8, 0.0025},
	    {9, 0.0025}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct tp_budget budget = {
		    .share = 0.05, .all_running_ns = 10e9, .all_cost_ns = cases[i].cost_s * 1e9};
		assert_true(fabs(tp_budget_allowed(&budget) - cases[i].allowed) < 1e-9);
	}
}

// Choose with the function at CALLS a second, AT_S seconds later.
static void change_at(struct tp_budget *budget, double at_s, double calls, bool widen)
{
	budget->now_ns = (uint64_t)(at_s * 1e9);
	budget->functions[0].calls = calls;
	tp_budget_change(budget, widen);
}

// Who is switched off soon after it came back is held for twice as long each time.
static void held_for_longer_each_time(void **state)
{
	(void)state;
	static const double holds_s[] = {4, 8, 16, 32, 64, 128, 240, 240};
	struct tp_budget_function one = {.ticks = 5e8, .on = true};
	struct tp_budget_member member = {0};
	struct tp_budget budget = {.functions = &one,
	    .members = &member,
	    .count = 1,
	    .call_ns = 20,
	    .share = 0.05,
	    // Nobody obeys.
	    .result.stopped.code = TP_ERR_LIMIT};
	double now = 1;
	// The first time it just goes. Windows in which it was on anyway say nothing.
	member.windows = 7;
	member.window_calls = 9;
	change_at(&budget, now, 1e8, false);
	assert_false(one.on);
	assert_true(member.switched && member.dearest == 2);
	assert_int_equal(member.hold_ns, 0);
	assert_true(member.windows == 0 && member.window_calls == 0);
	assert_int_equal(budget.result.switched, 1);
	for (size_t i = 0; i < sizeof(holds_s) / sizeof(holds_s[0]); i++) {
		change_at(&budget, now, 1000, true);
		assert_true(one.on);
		now += 9;
		change_at(&budget, now, 1e8, false);
		assert_false(one.on);
		change_at(&budget, now + holds_s[i] - 0.1, 1000, true);
		assert_false(one.on);
		now += holds_s[i];
	}
	// One that stayed for a while begins anew.
	change_at(&budget, now, 1000, true);
	assert_true(one.on);
	now += 11;
	change_at(&budget, now, 1e8, false);
	assert_int_equal(member.hold_ns, 0);
	change_at(&budget, now, 1000, true);
	assert_true(one.on);
	change_at(&budget, now + 1, 1e8, false);
	assert_int_equal(member.hold_ns, 4 * TP_BUDGET_SECOND);
	assert_int_equal(budget.result.switched, 1);
}

// ---- what recording has cost

static struct tp_session session;

static void begin_session(struct tp_budget *budget)
{
	struct tp_err err;
	const struct tp_region_options options = {.chunk_count = 8,
	    .ready = UINT64_C(8) * TP_REGION_CHUNK_SIZE,
	    .mode = TEEPERF_MODE_STREAM,
	    .clock = TEEPERF_CLOCK_TSC};
	memset(&session, 0, sizeof(session));
	assert_int_equal(tp_region_create(&session.region, &options, &err), 0);
	session.region.header->thread_count = 2;
	tp_clock_log_init(&session.clock_log, TEEPERF_CLOCK_TSC, NULL);
	session.options.late = true;
	// Not more processor time than we say.
	session.options.watch = getpid();
	*budget = (struct tp_budget){.share = 0.05, .session = &session, .call_ns = 20};
	assert_true(tp_learn_init(&budget->learn));
	tp_learn_set_window(&budget->learn, UINT64_MAX, UINT64_MAX);
	budget->taken = functions;
	budget->functions = calloc(TP_LEARN_FUNCTIONS, sizeof(*budget->functions));
	budget->members = calloc(TP_LEARN_FUNCTIONS, sizeof(*budget->members));
}

static void end_session(struct tp_budget *budget)
{
	tp_learn_release(&budget->learn);
	tp_names_release(&budget->names);
	free(budget->functions);
	free(budget->members);
	tp_region_release(&session.region);
}

// A call is two events, and what was lost has cost nearly as much as what was not.
static void lost_events_cost(void **state)
{
	(void)state;
	struct tp_budget budget;
	begin_session(&budget);
	session.region.threads[0].lost = 60;
	session.region.threads[1].lost = 40;
	tp_budget_take(&budget);
	assert_true(budget.period_calls == 50);
	// Only those since then.
	session.region.threads[1].lost = 50;
	tp_budget_take(&budget);
	assert_true(budget.period_calls == 55);
	// A program that takes losses back gains nothing.
	session.region.threads[0].lost = 0;
	tp_budget_take(&budget);
	assert_true(budget.period_calls == 55);
	end_session(&budget);
}

static void see_calls(struct tp_budget *budget, uint32_t calls)
{
	begin(0);
	for (uint32_t i = 0; i < calls; i++) {
		add(F, 10 * i + 1);
		add(F | TEEPERF_KIND_EXIT, 10 * i + 5);
	}
	see(&budget->learn);
}

// 1000 calls at 20 ns are 20 us, of 10.02 ms: the program's own 10 ms. Of a second of it that is
// 100,000.
static void reckoning(void **state)
{
	(void)state;
	struct tp_budget budget;
	begin_session(&budget);
	budget.seen_cpu_ns = budget.cpu_ns = UINT64_C(1000000000000);
	budget.start_ns = 1;
	budget.now_ns = 2 * TP_BUDGET_SECOND;
	see_calls(&budget, 1000);
	budget.seen_cpu_ns += 1999999;
	assert_true(tp_budget_reckon(&budget) < 0);
	budget.seen_cpu_ns += 10020000 - 1999999;
	assert_true(fabs(tp_budget_reckon(&budget) - 0.002) < 1e-9);
	assert_true(fabs(budget.functions[0].calls - 100000) < 1e-6);
	assert_true(fabs(budget.all_running_ns - 10e6) < 1e-3);
	assert_true(fabs(budget.all_cost_ns - 20e3) < 1e-3);
	// Fewer calls count little by little, more of them at once.
	see_calls(&budget, 500);
	budget.seen_cpu_ns += 10010000;
	assert_true(fabs(tp_budget_reckon(&budget) - 0.001) < 1e-9);
	assert_true(fabs(budget.functions[0].calls - 75000) < 1e-6);
	see_calls(&budget, 2000);
	budget.seen_cpu_ns += 10040000;
	assert_true(fabs(tp_budget_reckon(&budget) - 0.004) < 1e-9);
	assert_true(fabs(budget.functions[0].calls - 200000) < 1e-6);
	assert_true(fabs(budget.all_cost_ns - 70e3) < 1e-3);
	// The first second does not count, and behind a choice rates are not believed yet.
	budget.now_ns = TP_BUDGET_SECOND;
	budget.settling = true;
	see_calls(&budget, 4000);
	budget.seen_cpu_ns += 10080000;
	assert_true(fabs(tp_budget_reckon(&budget) - 0.008) < 1e-9);
	assert_true(fabs(budget.functions[0].calls - 200000) < 1e-6);
	assert_true(fabs(budget.all_cost_ns - 70e3) < 1e-3);
	// What cannot be is bounded: a tenth of the time is the program's own.
	assert_true(tp_budget_running_ns(100, 95) == 10);
	assert_true(tp_budget_running_ns(100, 85) == 15);
	end_session(&budget);
}

// Who comes back is decided by three windows at least: 30 calls in a millisecond of its own are
// 30,000 a second.
static void windows_decide(void **state)
{
	(void)state;
	struct tp_budget budget;
	begin_session(&budget);
	budget.result.stopped.code = TP_ERR_LIMIT;
	budget.count = 3;
	for (uint32_t i = 0; i < 3; i++) {
		budget.functions[i].calls = 1e9;
		budget.members[i] = (struct tp_budget_member){
		    .windows = 2 + i, .window_calls = 30, .window_ticks = 600, .window_ns = 1e6};
	}
	budget.members[2].window_calls = 1e5;
	// Without a window since the last time nothing is decided.
	tp_budget_decide(&budget);
	assert_int_equal(budget.members[1].windows, 3);
	budget.had_windows = true;
	tp_budget_decide(&budget);
	assert_false(budget.had_windows);
	assert_false(budget.functions[0].on);
	assert_int_equal(budget.members[0].windows, 2);
	assert_true(budget.functions[1].on);
	assert_true(budget.functions[1].calls == 30000 && budget.functions[1].ticks == 600000);
	assert_int_equal(budget.members[1].windows, 0);
	assert_false(budget.functions[2].on);
	assert_true(budget.functions[2].calls == 1e8);
	// A second, and half as long more each time that nothing changes, up to half a minute.
	double gap = 1.5e9;
	for (int i = 0; i < 12; i++) {
		assert_true(fabs((double)budget.probe_gap_ns - gap) < 100);
		assert_int_equal(budget.probe_ns, budget.now_ns + budget.probe_gap_ns);
		gap = fmin(gap * 1.5, 30e9);
		budget.had_windows = true;
		tp_budget_decide(&budget);
	}
	assert_int_equal(budget.probe_gap_ns, 30 * TP_BUDGET_SECOND);
	end_session(&budget);
}

// The gap between windows, give or take a quarter: a fortieth of the time so far for each group, at
// least 0.1 s and 50 us for each function, at most 30 s.
static void windows_are_planned(void **state)
{
	(void)state;
	static const struct {
		double so_far_s;
		double groups;
		double asked_s;
		double gap_s;
	} cases[] = {{1, 1, 0, 0.1}, {80, 0, 0, 2}, {80, 4, 0, 0.5}, {80, 100, 0, 0.1},
	    {4000, 1, 0, 30}, {80, 4, 7, 0.5}, {80, 4, 1e9, 0.5}};
	struct tp_budget budget = {.random = 1, .start_ns = 5};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const double asked = fmin(cases[i].asked_s, 3600) * 1e9;
		double least = INFINITY;
		double most = 0;
		for (int round = 0; round < 1000; round++) {
			budget.now_ns = budget.start_ns + (uint64_t)(cases[i].so_far_s * 1e9);
			budget.window_groups = cases[i].groups;
			tp_budget_plan_window(&budget, cases[i].asked_s * 1e9);
			assert_true(fabs(budget.window_gap_ns - cases[i].gap_s * 1e9) < 1);
			const double wait = (double)(budget.window_ns - budget.now_ns);
			const double part = wait / fmax(cases[i].gap_s * 1e9, asked);
			least = fmin(least, part);
			most = fmax(most, part);
		}
		assert_true(least > 0.7499 && least < 0.77);
		assert_true(most > 1.23 && most < 1.2501);
	}
	budget.count = 4000;
	budget.now_ns = budget.start_ns;
	tp_budget_plan_window(&budget, 0);
	assert_true(budget.window_gap_ns == 0.2e9);
}

static void names(void **state)
{
	(void)state;
	uint64_t hashes[TP_NAMES_HASHES];
	assert_int_equal(tp_names_hashes("name", hashes), 1);
	assert_true(hashes[0] == teeperf_name_hash("name", 4));
	assert_int_equal(tp_names_hashes("name.llvm.123", hashes), 2);
	assert_true(hashes[1] == teeperf_name_hash("name", 4));
	assert_int_equal(tp_names_hashes("name.4.llvm.123", hashes), 3);
	assert_true(hashes[2] == teeperf_name_hash("name", 4));
	assert_int_equal(tp_names_hashes("", hashes), 1);
	assert_int_equal(tp_names_hashes("12", hashes), 1);
	assert_int_equal(tp_names_hashes("a.1.2.3.4.5.6", hashes), TP_NAMES_HASHES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(own_times),
	    cmocka_unit_test(late_calls),
	    cmocka_unit_test(windows),
	    cmocka_unit_test(many_chunks),
	    cmocka_unit_test(hot_goes_off),
	    cmocka_unit_test(nothing_flaps),
	    cmocka_unit_test(without_a_name),
	    cmocka_unit_test(jumps_have_their_part),
	    cmocka_unit_test(windows_take_turns),
	    cmocka_unit_test(debts_are_saved),
	    cmocka_unit_test(held_for_longer_each_time),
	    cmocka_unit_test(lost_events_cost),
	    cmocka_unit_test(reckoning),
	    cmocka_unit_test(windows_decide),
	    cmocka_unit_test(windows_are_planned),
	    cmocka_unit_test(names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
