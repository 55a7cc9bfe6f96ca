// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short times in which all functions that a budget has switched off record.
#define _GNU_SOURCE
#include "steps.h"

#include <time.h>

// The part of the budget that is spent on windows.
#define PROBE_PART 0.1
// By how much the gap between two windows is longer or shorter.
#define JITTER 0.25

enum {
	// A window is this long, and the next one comes after a gap of so much, which grows with
	// the time so far, and of this for each function, as changing each one's gate takes a
	// while.
	WINDOW_LEAST_US = 200,
	WINDOW_MOST_US = 50000,
	WINDOW_GAP_MS = 150,
	WINDOW_GAP_MOST_MS = 30000,
	WINDOWS_EACH = 40, // of the time so far, the gap is at least one part in WINDOWS_EACH
	WINDOW_GAP_FUNCTION_US = 50,
	WINDOW_DEAR = 4, // it ends early only if it costs this multiple of its limit
	// Whether functions come back is decided with the sums of all windows since it was decided
	// last, at most so seldom.
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

// The number of functions that are off, and in *overhead the cost of their events according to our
// data, as a share of the running time.
static uint32_t count_off(const struct tp_budget *budget, double *overhead)
{
	uint32_t count = 0;
	double calls = 0;
	for (uint32_t i = 0; i < budget->count; i++)
		if (!budget->functions[i].on) {
			count++;
			calls += budget->functions[i].calls;
		}
	*overhead = calls * budget->call_ns / 1e9;
	return count;
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
	double gap = so_far / WINDOWS_EACH;
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
	double calls = 0;
	if (!(budget->window_cpu_ns > 0))
		return;
	tp_budget_take(budget);
	for (uint32_t i = 0; i < budget->count; i++)
		calls += budget->members[i].window_calls;
	const double seconds =
	    tp_budget_running_ns(budget->window_cpu_ns, calls * budget->call_ns) / 1e9;
	for (uint32_t i = 0; i < budget->count; i++) {
		struct tp_budget_function *function = &budget->functions[i];
		struct tp_budget_member *member = &budget->members[i];
		if (!function->on && seconds > 0) {
			function->calls = member->window_calls / seconds;
			function->ticks = member->window_ticks / seconds;
		}
		member->window_calls = member->window_ticks = 0;
	}
	budget->window_cpu_ns = 0;
	tp_budget_change(budget, true);
	budget->probe_gap_ns += budget->probe_gap_ns / 2;
	if (budget->probe_gap_ns > DECIDE_GAP_MOST_MS * TP_BUDGET_MS)
		budget->probe_gap_ns = DECIDE_GAP_MOST_MS * TP_BUDGET_MS;
	budget->probe_ns = budget->now_ns + budget->probe_gap_ns;
}

/*
 * Switch on all functions that are off, for a moment that costs a small part of the budget: so it
 * is known what they would cost now, and the trace has a sample of them. Neither when it begins nor
 * how long it lasts depends on what the program does in it, or windows would be longer where little
 * is called.
 */
void tp_budget_probe(struct tp_budget *budget)
{
	const double spare = PROBE_PART * budget->share;
	double overhead;
	if (!count_off(budget, &overhead))
		return;
	tp_budget_take(budget);
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
	budget->window_cpu_ns += window_cpu_ns(budget, &from, &to);
	// By what windows before this one have cost: else those in which much is called would stand
	// for longer times.
	const double before =
	    budget->window_cost_ns > 0 ? budget->window_cost_ns : part * (double)(to.ns - from.ns);
	budget->window_cost_ns = (3 * before + tp_budget_cost_since(budget, tail)) / 4;
	tp_budget_plan_window(budget, before / spare);
}
