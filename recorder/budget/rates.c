// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What functions are called and take under a budget, and what recording them has cost.
#include "steps.h"

#include "allowlists/choose/cost.h"

// Half a chunk of records is a call for each two of them.
#define CALLS_OF_CHUNK 4092.0
// The processor time without the estimated costs is at least this part of it.
#define RUNNING_LEAST 0.1

bool tp_budget_is_ended(const struct tp_budget *budget)
{
	return tp_load_relaxed(&budget->worker.stop);
}

const struct teeperf_log_header *tp_budget_header(const struct tp_budget *budget)
{
	return budget->session->region.header;
}

const struct tp_session_options *tp_budget_options(const struct tp_budget *budget)
{
	return &budget->session->options;
}

uint64_t tp_budget_process(const struct tp_budget *budget)
{
	return tp_budget_options(budget)->late ? (uint64_t)tp_budget_options(budget)->watch
					       : tp_load_relaxed(&tp_budget_header(budget)->pid);
}

uint64_t tp_budget_cpu_now(struct tp_budget *budget)
{
	const uint64_t now = tp_budget_options(budget)->late
				 ? tp_cpu_times_of(tp_budget_options(budget)->watch)
				 : tp_cpu_times_now(&budget->session->drain.cpu);
	if (now > budget->seen_cpu_ns)
		budget->seen_cpu_ns = now;
	return budget->seen_cpu_ns;
}

bool tp_budget_is_recording(const struct tp_budget *budget)
{
	return tp_switch_log_state(tp_budget_header(budget), !tp_budget_options(budget)->start_off);
}

static void name(struct tp_budget *budget, uint32_t index)
{
	struct tp_budget_member *member = &budget->members[index];
	member->symbol = tp_names_find(
	    &budget->names, budget->taken[index].name, &member->aliases, &member->alias_count);
	budget->functions[index].fixed = !member->symbol;
}

static void meet(struct tp_budget *budget, uint32_t index)
{
	budget->members[index] = (struct tp_budget_member){0};
	budget->functions[index] = (struct tp_budget_function){.on = true};
	name(budget, index);
}

/*
 * By what the calls since the last look are multiplied, so that those of before count, too, which
 * chunks had that were full only now: as many are in chunks that are not full yet. Not each by
 * itself: behind a time in which little was called, they are those of that time. Without calls
 * since then those of before stand for them.
 */
static double for_late(struct tp_learn_function *functions, uint32_t count)
{
	double usual = 0;
	double late = 0;
	for (uint32_t i = 0; i < count; i++) {
		usual += functions[i].usual.calls;
		late += functions[i].late.calls;
	}
	for (uint32_t i = 0; i < count && usual <= 0; i++)
		functions[i].usual = functions[i].late;
	return usual > 0 ? (usual + late) / usual : 1;
}

void tp_budget_take(struct tp_budget *budget)
{
	double calls;
	const uint32_t count = tp_learn_take(&budget->learn, budget->taken, &calls);
	const uint32_t modules = budget->names.count;
	tp_names_follow(&budget->names, &budget->session->region, tp_budget_process(budget));
	for (uint32_t i = 0; modules != budget->names.count && i < budget->count; i++)
		if (budget->functions[i].fixed)
			name(budget, i);
	for (; budget->count < count; budget->count++)
		meet(budget, budget->count);
	double known = 0;
	const double factor = for_late(budget->taken, count);
	for (uint32_t i = 0; i < count; i++) {
		struct tp_budget_member *member = &budget->members[i];
		const double all =
		    budget->taken[i].usual.calls * factor + budget->taken[i].window.calls;
		known += all;
		member->all_calls += all;
		member->calls += budget->taken[i].usual.calls * factor;
		member->ticks += budget->taken[i].usual.ticks * factor;
		member->window_calls += budget->taken[i].window.calls;
		member->window_ticks += budget->taken[i].window.ticks;
	}
	// The program's word, which may be a lie.
	const uint64_t lost = tp_region_lost(&budget->session->region);
	budget->period_calls +=
	    calls + (lost > budget->lost ? (double)(lost - budget->lost) / 2 : 0);
	budget->period_others += calls - known;
	budget->lost = lost;
}

double tp_budget_running_ns(double cpu_ns, double cost_ns)
{
	const double left = cpu_ns - cost_ns;
	return left > RUNNING_LEAST * cpu_ns ? left : RUNNING_LEAST * cpu_ns;
}

// What more calls cost counts at once, what fewer cost little by little.
static double follow(double before, double now)
{
	return now > before ? now : (before + now) / 2;
}

static void learn_rates(struct tp_budget *budget, double seconds)
{
	for (uint32_t i = 0; i < budget->count; i++) {
		struct tp_budget_function *function = &budget->functions[i];
		struct tp_budget_member *member = &budget->members[i];
		if (function->on && !budget->settling) {
			const double calls = member->calls / seconds;
			const double ticks = member->ticks / seconds;
			function->calls = member->known ? follow(function->calls, calls) : calls;
			function->ticks = member->known ? (function->ticks + ticks) / 2 : ticks;
			member->known = true;
		}
		member->calls = member->ticks = 0;
	}
}

double tp_budget_reckon(struct tp_budget *budget)
{
	const uint64_t cpu_ns = tp_budget_cpu_now(budget);
	tp_budget_take(budget);
	if (cpu_ns < budget->cpu_ns + 2 * TP_BUDGET_MS)
		return -1;
	const double cost = budget->period_calls * budget->call_ns;
	const double running = tp_budget_running_ns((double)(cpu_ns - budget->cpu_ns), cost);
	const double others = budget->period_others * 1e9 / running;
	budget->others = (budget->others + (others > 0 ? others : 0)) / 2;
	learn_rates(budget, running / 1e9);
	if (budget->now_ns - budget->start_ns >= TP_BUDGET_SECOND) {
		budget->all_running_ns += running;
		budget->all_cost_ns += cost;
		budget->all_others_ns += budget->period_others * budget->call_ns;
	}
	// Who calls little fills a chunk seldom: its calls are not all of the time since the last
	// look.
	tp_learn_set_since(&budget->learn, tp_clock_log_now(&budget->session->clock_log));
	budget->cpu_ns = cpu_ns;
	budget->tail = tp_load_relaxed(&tp_budget_header(budget)->tail);
	budget->period_calls = budget->period_others = 0;
	budget->reckoned_ns = budget->now_ns;
	return cost / running;
}

// That were drawn since TAIL: the program's word, which may be a lie.
static double chunks_since(const struct tp_budget *budget, uint64_t tail)
{
	const uint64_t now = tp_load_relaxed(&tp_budget_header(budget)->tail);
	return now > tail ? (double)(now - tail) : 0;
}

double tp_budget_cost_since(const struct tp_budget *budget, uint64_t tail)
{
	return chunks_since(budget, tail) * CALLS_OF_CHUNK * budget->call_ns;
}
