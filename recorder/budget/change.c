// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions are to record is chosen anew, and the program obeys.
#define _GNU_SOURCE
#include "steps.h"

#include "common/array.h"

#include <stdlib.h>
#include <time.h>

// The part of the budget that is chosen for.
#define CHOSEN_PART 0.75
// Overspending is saved again within this many seconds of running time, but at least this part of
// the budget always remains.
#define DEBT_SECONDS 5
#define LEAST_PART 0.05

enum {
	PATIENCE_MS = 10,     // until a program that has not looked is sent a signal
	WINDOW_LOOK_US = 100, // how often is looked whether a window is over
	BACK_MS = 10000,      // who is switched off again so soon after it came back is held ...
	HOLD_MS = 4000,       // ... for so long, and twice as long each time, up to
	HOLD_MOST_MS = 240000,
	SELECTIONS_SPARE = 1000, // for what must be changed when nothing is probed any more
};

static bool add_hashes(
    struct tp_budget *budget, const struct tp_elf_symbol *symbols, uint32_t count, uint64_t *used)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!TP_GROW(budget->list, budget->list_room, *used + TP_NAMES_HASHES))
			return false;
		*used += tp_names_hashes(symbols[i].name, budget->list + *used);
	}
	return true;
}

static uint64_t sort(uint64_t *list, uint64_t count)
{
	uint64_t kept = 0;
	if (count)
		qsort(list, count, sizeof(*list), tp_compare_u64);
	for (uint64_t i = 0; i < count; i++)
		if (!kept || list[i] != list[kept - 1])
			list[kept++] = list[i];
	return kept;
}

static bool is_listed(const uint64_t *list, uint64_t count, uint64_t hash)
{
	const uint64_t at = TP_LOWER_BOUND(UINT64_C(0), count, middle, list[middle] < hash);
	return at < count && list[at] == hash;
}

// The functions that the program should record: those of the recording's beginning, less those that
// are off. False: no memory.
static bool make_list(struct tp_budget *budget, struct tp_region_only *only)
{
	const struct tp_region *region = &budget->session->region;
	uint64_t used = 0;
	for (uint32_t i = 0; i < budget->count; i++) {
		const struct tp_budget_member *member = &budget->members[i];
		if (!budget->functions[i].on && !(budget->has_window && member->is_in_window) &&
		    (!add_hashes(budget, member->symbol, 1, &used) ||
			!add_hashes(budget, member->aliases, member->alias_count, &used)))
			return false;
	}
	used = sort(budget->list, used);
	const uint64_t off = used;
	if (!TP_GROW(budget->list, budget->list_room, off + region->only_count + 1))
		return false;
	const bool listed = region->only_kind == TEEPERF_ONLY_LISTED;
	for (uint32_t i = 0; i < region->only_count; i++)
		if (!is_listed(budget->list, off, region->only[i]))
			budget->list[used++] = region->only[i];
	uint64_t *list = budget->list + (listed ? off : 0);
	used = listed ? used - off : sort(budget->list, used);
	*only = (struct tp_region_only){.kind = listed ? TEEPERF_ONLY_LISTED
						: used ? TEEPERF_ONLY_REST
						       : TEEPERF_ONLY_ALL,
	    .hashes = list,
	    .count = (uint32_t)used};
	return true;
}

void tp_budget_nap(struct tp_budget *budget)
{
	if (!budget->in_window) {
		tp_doorbell_wait(&budget->worker.bell, 1);
		return;
	}
	const struct timespec time = {.tv_nsec = WINDOW_LOOK_US * 1000};
	nanosleep(&time, NULL);
}

bool tp_budget_apply(struct tp_budget *budget, uint64_t patience)
{
	struct tp_budget_result *result = &budget->result;
	struct tp_region_only only;
	if (result->stopped.code)
		return false;
	if (result->selections >= TP_BUDGET_SELECTIONS_MOST + SELECTIONS_SPARE) {
		tp_err_set(&result->stopped, TP_ERR_LIMIT, NULL,
		    "functions were switched %u times, the most that a trace holds",
		    TP_BUDGET_SELECTIONS_MOST + SELECTIONS_SPARE);
		return false;
	}
	if (!make_list(budget, &only)) {
		tp_err_memory(&result->stopped, NULL);
		return false;
	}
	if (tp_session_choose(budget->session, &only, &result->stopped))
		return false;
	result->selections++;
	for (uint64_t i = 0; !tp_session_has_chosen(budget->session); i++) {
		if (tp_budget_is_ended(budget))
			return false;
		// A program that records looks by itself.
		if (i == patience)
			tp_session_tell(budget->session);
		tp_budget_nap(budget);
	}
	budget->now_ns = tp_clock_monotonic_ns();
	budget->settling = true;
	budget->next_ns = budget->now_ns + TP_BUDGET_SETTLE_MS * TP_BUDGET_MS;
	return true;
}

void tp_budget_forget_windows(struct tp_budget_member *member)
{
	member->window_calls = member->window_ticks = member->window_ns = 0;
	member->windows = 0;
}

static void note_switched(struct tp_budget *budget, uint32_t index)
{
	const struct tp_budget_function *function = &budget->functions[index];
	struct tp_budget_member *member = &budget->members[index];
	const double share = function->calls * budget->call_ns / 1e9;
	if (function->on) {
		member->back_ns = budget->now_ns;
		return;
	}
	// Windows in which it was on anyway say nothing.
	tp_budget_forget_windows(member);
	if (!member->switched)
		budget->result.switched++;
	member->switched = true;
	member->dearest = share > member->dearest ? share : member->dearest;
	if (!member->back_ns)
		return;
	if (budget->now_ns - member->back_ns < BACK_MS * TP_BUDGET_MS)
		member->hold_ns = member->hold_ns ? 2 * member->hold_ns : HOLD_MS * TP_BUDGET_MS;
	else
		member->hold_ns = 0;
	if (member->hold_ns > HOLD_MOST_MS * TP_BUDGET_MS)
		member->hold_ns = HOLD_MOST_MS * TP_BUDGET_MS;
	member->held_until_ns = budget->now_ns + member->hold_ns;
}

double tp_budget_allowed(const struct tp_budget *budget)
{
	const double debt_ns = budget->all_cost_ns - budget->share * budget->all_running_ns;
	const double saved = debt_ns > 0 ? debt_ns / (DEBT_SECONDS * 1e9) : 0;
	const double least = LEAST_PART * budget->share;
	return budget->share - saved > least ? budget->share - saved : least;
}

void tp_budget_change(struct tp_budget *budget, bool widen)
{
	const struct tp_budget_rule rule = {
	    .share = CHOSEN_PART * tp_budget_allowed(budget),
	    .others = budget->others,
	    .call_ns = budget->call_ns,
	    .widen = widen,
	};
	bool *before = malloc(budget->count + (size_t)1);
	double cost;
	bool changed = false;
	for (uint32_t i = 0; before && i < budget->count; i++) {
		before[i] = budget->functions[i].on;
		budget->functions[i].held = budget->members[i].held_until_ns > budget->now_ns;
	}
	if (!before || tp_budget_choose(budget->functions, budget->count, &rule, &cost)) {
		free(before);
		tp_err_memory(&budget->result.stopped, NULL);
		return;
	}
	for (uint32_t i = 0; i < budget->count; i++) {
		if (before[i] == budget->functions[i].on)
			continue;
		changed = true;
		note_switched(budget, i);
	}
	free(before);
	if (changed)
		tp_budget_apply(budget, PATIENCE_MS);
	if (changed)
		budget->probe_gap_ns = TP_BUDGET_DECIDE_GAP_MS * TP_BUDGET_MS;
	if (changed && !widen)
		budget->probe_ns = budget->now_ns + budget->probe_gap_ns;
}
