// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short times in which functions record that a budget has switched off.
#define _GNU_SOURCE
#include "steps.h"

#include <time.h>

// The part of the budget that is spent on windows.
#define PROBE_PART 0.1
// The most that events of a window's functions may cost, in parts of the running time: if those of
// all cost more, each window has some of them. The more of the time events take, the less is known
// of the rest.
#define WINDOW_EVENTS 1.0
// Functions that together cost no more than this part of it are in each window.
#define WINDOW_CHEAP 0.1
// By how much the gap between two windows is longer or shorter.
#define JITTER 0.25

enum {
	// A window is this long, and the next one comes after a gap of so much, which grows with
	// the time so far, and of this for each function, as changing each one's gate takes a
	// while.
	WINDOW_LEAST_US = 200,
	WINDOW_MOST_US = 50000,
	WINDOW_GAP_MS = 100,
	WINDOW_GAP_MOST_MS = 30000,
	// Of the time so far, the gap between two windows of a function is at least one part in
	// WINDOWS_EACH.
	WINDOWS_EACH = 40,
	WINDOW_GAP_FUNCTION_US = 50,
	WINDOW_DEAR = 4, // it ends early only if it costs this multiple of its limit
	// Whether a function comes back is decided with the sums of its windows since that was
	// decided last, if there were at least DECIDE_WINDOWS, and at most so seldom.
	DECIDE_WINDOWS = 3,
	DECIDE_GAP_MOST_MS = 30000,
	REST_MOST_S = 3600,
};

// What the program has run between two looks, as far as it lies between two of its own times.
struct window {
	uint64_t ns;
	uint64_t cpu_ns;
	uint64_t time; // ticks
};

static struct window look(struct tp_budget *budget)
{
	return (struct window){.ns = tp_clock_monotonic_ns(),
	    .cpu_ns = tp_budget_cpu_now(budget),
	    .time = tp_load_relaxed(&tp_budget_header(budget)->selected_time)};
}

static double window_cpu_ns(
    const struct tp_budget *budget, const struct window *from, const struct window *to)
{
	const uint32_t clock = budget->session->clock_log.clock;
	const double wall = (double)(to->ns - from->ns);
	double cpu = (double)(to->cpu_ns - from->cpu_ns);
	const double hz =
	    clock == TEEPERF_CLOCK_SOFT_COUNT ? 0 : (double)tp_budget_header(budget)->clock_hz;
	if (hz > 0 && wall > 0)
		cpu *= (double)(to->time - from->time) / hz * 1e9 / wall;
	return cpu;
}

static bool is_cheap(double share, uint32_t count)
{
	return share * count <= WINDOW_CHEAP * WINDOW_EVENTS;
}

bool tp_budget_pick(struct tp_budget *budget, double *overhead)
{
	const double each = budget->call_ns / 1e9;
	uint32_t count = 0;
	double all = 0;
	for (uint32_t i = 0; i < budget->count; i++) {
		budget->members[i].is_in_window = false;
		if (budget->functions[i].on)
			continue;
		count++;
		all += budget->functions[i].calls * each;
	}
	*overhead = 0;
	for (uint32_t i = 0; i < budget->count; i++) {
		const double share = budget->functions[i].calls * each;
		if (budget->functions[i].on || !is_cheap(share, count))
			continue;
		budget->members[i].is_in_window = true;
		*overhead += share;
	}
	bool first = true;
	for (uint32_t i = 0; i < budget->count; i++) {
		const uint32_t at = (budget->window_next + i) % budget->count;
		const double share = budget->functions[at].calls * each;
		if (budget->functions[at].on || budget->members[at].is_in_window)
			continue;
		if (!first && *overhead + share > WINDOW_EVENTS) {
			budget->window_next = at;
			break;
		}
		first = false;
		budget->members[at].is_in_window = true;
		*overhead += share;
	}
	budget->window_groups = all > WINDOW_EVENTS ? all / WINDOW_EVENTS : 1;
	return count != 0;
}

// A number that no program keeps in step with: xorshift64.
static double random_part(struct tp_budget *budget)
{
	uint64_t x = budget->random;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	budget->random = x;
	return (double)(x >> 11) / (double)(UINT64_C(1) << 53);
}

void tp_budget_plan_window(struct tp_budget *budget, double gap_ns)
{
	const double so_far = (double)(budget->now_ns - budget->start_ns);
	const double groups = budget->window_groups > 1 ? budget->window_groups : 1;
	double gap = so_far / WINDOWS_EACH / groups;
	gap = gap > (double)(WINDOW_GAP_MS * TP_BUDGET_MS) ? gap
							   : (double)(WINDOW_GAP_MS * TP_BUDGET_MS);
	const double work = budget->count * (double)WINDOW_GAP_FUNCTION_US * 1e3;
	gap = gap > work ? gap : work;
	gap = gap < (double)(WINDOW_GAP_MOST_MS * TP_BUDGET_MS)
		  ? gap
		  : (double)(WINDOW_GAP_MOST_MS * TP_BUDGET_MS);
	budget->window_gap_ns = gap;
	gap = gap > gap_ns ? gap : gap_ns;
	gap = gap < REST_MOST_S * 1e9 ? gap : REST_MOST_S * 1e9;
	budget->window_ns =
	    budget->now_ns + (uint64_t)(gap * (1 + JITTER * (2 * random_part(budget) - 1)));
}

/*
 * Functions come back whose rates in the windows allow it. What came in the last chunk of each
 * thread may be missing yet. A window that costs nothing shows that its functions are cheap, also
 * if no chunk became full in it.
 */
void tp_budget_decide(struct tp_budget *budget)
{
	if (!budget->had_windows)
		return;
	tp_budget_take(budget);
	for (uint32_t i = 0; i < budget->count; i++) {
		struct tp_budget_function *function = &budget->functions[i];
		struct tp_budget_member *member = &budget->members[i];
		if (!function->on && member->windows < DECIDE_WINDOWS)
			continue;
		if (!function->on && member->window_ns > 0) {
			function->calls = member->window_calls * 1e9 / member->window_ns;
			function->ticks = member->window_ticks * 1e9 / member->window_ns;
		}
		tp_budget_forget_windows(member);
	}
	budget->had_windows = false;
	tp_budget_change(budget, true);
	budget->probe_gap_ns += budget->probe_gap_ns / 2;
	if (budget->probe_gap_ns > DECIDE_GAP_MOST_MS * TP_BUDGET_MS)
		budget->probe_gap_ns = DECIDE_GAP_MOST_MS * TP_BUDGET_MS;
	budget->probe_ns = budget->now_ns + budget->probe_gap_ns;
}

// The program's own time in a window is that of the functions that were on in it.
static void note_window(struct tp_budget *budget, double own_ns)
{
	for (uint32_t i = 0; i < budget->count; i++) {
		if (!budget->members[i].is_in_window)
			continue;
		budget->members[i].window_ns += own_ns;
		budget->members[i].windows++;
	}
	budget->had_windows = true;
}

/*
 * Switch on functions that are off, for a moment that costs a small part of the budget: so it is
 * known what they would cost now, and the trace has a sample of them. Neither which ones, nor when
 * it begins, nor how long it lasts depends on what the program does in it, or windows would be
 * longer where little is called.
 */
void tp_budget_probe(struct tp_budget *budget)
{
	const double spare = PROBE_PART * budget->share;
	double overhead;
	tp_budget_take(budget);
	if (!tp_budget_pick(budget, &overhead)) {
		tp_budget_plan_window(budget, 0);
		return;
	}
	const double part = overhead / (1 + overhead);
	const double may_ns = spare * budget->window_gap_ns;
	double length_ns = part > 0 ? may_ns / part : WINDOW_MOST_US * 1e3;
	length_ns = length_ns < WINDOW_MOST_US * 1e3 ? length_ns : WINDOW_MOST_US * 1e3;
	length_ns = length_ns > WINDOW_LEAST_US * 1e3 ? length_ns : WINDOW_LEAST_US * 1e3;
	const double most_ns =
	    WINDOW_DEAR * (may_ns > part * length_ns ? may_ns : part * length_ns);
	budget->in_window = true;
	budget->has_window = true;
	bool done = tp_budget_apply(budget, 0);
	const uint64_t tail = tp_load_relaxed(&tp_budget_header(budget)->tail);
	const struct window from = look(budget);
	tp_learn_set_window(&budget->learn, from.time, UINT64_MAX);
	while (done && (double)(tp_clock_monotonic_ns() - from.ns) < length_ns &&
	       tp_budget_cost_since(budget, tail) < most_ns && !tp_budget_is_ended(budget))
		tp_budget_nap(budget);
	budget->has_window = false;
	done = done && tp_budget_apply(budget, 0);
	budget->in_window = false;
	const struct window to = look(budget);
	tp_learn_set_window(&budget->learn, from.time, to.time);
	if (!done)
		return;
	tp_session_note_window(budget->session);
	const double cost = tp_budget_cost_since(budget, tail);
	note_window(budget, tp_budget_running_ns(window_cpu_ns(budget, &from, &to), cost));
	// By what windows before this one have cost: else those in which much is called would stand
	// for longer times. One that a busy machine made much longer than planned is no reason to
	// rest for seconds: what it cost is saved elsewhere.
	const double before =
	    budget->window_cost_ns > 0 ? budget->window_cost_ns : part * length_ns;
	budget->window_cost_ns = (3 * before + (cost < most_ns ? cost : most_ns)) / 4;
	tp_budget_plan_window(budget, before / spare);
}
