// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions are switched off and on while a recording runs, so that their events cost no more than
// the budget: the schedule.
#define _GNU_SOURCE
#include "steps.h"

#include "allowlists/choose/cost.h"

#include <stdio.h>
#include <stdlib.h>

// So much of the budget in one period is too much.
#define TOO_MUCH 0.95
// ... and this multiple of it is too much to wait for the end of the period, from this cost in ms
// on.
#define ALARM 2
#define ALARM_MS 1

enum {
	LOOK_MS = 5,
	PATIENCE_LOOKS = 200, // until the program's processor time is seen
	FIRST_MS = 20,
	LATE_MS = 250, // between two reckonings, later
	EARLY_SECONDS = 5,
};

// ---- when

// Whether so much was recorded that waiting any longer would cost too much.
static bool is_alarmed(const struct tp_budget *budget)
{
	const double cost = tp_budget_cost_since(budget, budget->tail);
	const double passed = (double)(budget->now_ns - budget->reckoned_ns);
	return cost > ALARM_MS * (double)TP_BUDGET_MS && cost > ALARM * budget->share * passed;
}

static void reckon_and_choose(struct tp_budget *budget)
{
	const bool early = budget->now_ns - budget->start_ns < EARLY_SECONDS * TP_BUDGET_SECOND;
	budget->next_ns = budget->now_ns + (early ? TP_BUDGET_EARLY_MS : LATE_MS) * TP_BUDGET_MS;
	const double overhead = tp_budget_reckon(budget);
	const bool settling = budget->settling;
	if (overhead < 0)
		return;
	budget->settling = false;
	if (settling)
		budget->next_ns =
		    budget->now_ns + (TP_BUDGET_EARLY_MS - TP_BUDGET_SETTLE_MS) * TP_BUDGET_MS;
	if (settling || !tp_budget_is_recording(budget))
		return;
	if (overhead > TOO_MUCH * tp_budget_allowed(budget))
		tp_budget_change(budget, false);
	else if (budget->now_ns >= budget->probe_ns)
		tp_budget_decide(budget);
}

// Regardless of the program's activity: if windows waited for a cheap phase, they would not sample
// the expensive ones.
static bool may_probe(const struct tp_budget *budget)
{
	return tp_budget_is_recording(budget) &&
	       budget->result.selections < TP_BUDGET_SELECTIONS_MOST;
}

// Wait for the program. False: it is over, or this one cannot be chosen for.
static bool await(struct tp_budget *budget)
{
	struct tp_budget_result *result = &budget->result;
	while (tp_load32_acquire(&tp_budget_header(budget)->attach) != TEEPERF_ATTACH_DONE) {
		if (tp_budget_is_ended(budget))
			return false;
		tp_doorbell_wait(&budget->worker.bell, LOOK_MS);
	}
	const char *why = tp_session_no_selection(budget->session);
	uint64_t cpu_ns = 0;
	for (int i = 0; !why && !cpu_ns && i < PATIENCE_LOOKS && !tp_budget_is_ended(budget); i++) {
		cpu_ns = tp_budget_cpu_now(budget);
		if (!cpu_ns)
			tp_doorbell_wait(&budget->worker.bell, LOOK_MS);
	}
	if (!why && !cpu_ns)
		why = "the processor time of the program is not visible from here";
	if (why)
		tp_err_set(&result->refused, TP_ERR_NOT_FOUND, NULL, "%s", why);
	return !why;
}

static void begin(struct tp_budget *budget)
{
	const struct tp_session *session = budget->session;
	struct tp_cost typical;
	tp_cost_init(&typical, session->clock_log.clock, false);
	// Who records little finds a soft clock stored since the last look, each time.
	budget->call_ns = session->has_cost ? session->cost.in_ns + session->cost.out_ns +
						  2 * session->cost.wait_ns
					    : typical.event_ns;
	budget->reckoned_ns = budget->now_ns = budget->start_ns = tp_clock_monotonic_ns();
	budget->next_ns = budget->start_ns + FIRST_MS * TP_BUDGET_MS;
	budget->probe_gap_ns = TP_BUDGET_DECIDE_GAP_MS * TP_BUDGET_MS;
	budget->probe_ns = budget->start_ns + budget->probe_gap_ns;
	budget->random =
	    budget->start_ns ^ tp_budget_process(budget) << 32 ^ UINT64_C(0x9e3779b97f4a7c15);
	tp_budget_plan_window(budget, 0);
	budget->begin_cpu_ns = budget->cpu_ns = tp_budget_cpu_now(budget);
}

static void *run(void *argument)
{
	struct tp_budget *budget = argument;
	pthread_setname_np(pthread_self(), "teeperf-budget");
	if (!await(budget))
		return NULL;
	begin(budget);
	while (!tp_budget_is_ended(budget) && !budget->result.stopped.code) {
		tp_doorbell_wait(&budget->worker.bell, LOOK_MS);
		budget->now_ns = tp_clock_monotonic_ns();
		if (budget->now_ns >= budget->window_ns && may_probe(budget))
			tp_budget_probe(budget);
		else if (budget->now_ns >= budget->next_ns || is_alarmed(budget))
			reckon_and_choose(budget);
	}
	return NULL;
}

// ---- its begin and end

static void finish(struct tp_budget *budget)
{
	struct tp_budget_result *result = &budget->result;
	double calls = 0;
	double nameless = 0;
	const uint64_t end_cpu_ns = tp_budget_cpu_now(budget);
	if (budget->start_ns) {
		tp_budget_take(budget);
		// What came behind the last reckoning, too.
		if (tp_clock_monotonic_ns() - budget->start_ns >= TP_BUDGET_SECOND &&
		    end_cpu_ns > budget->cpu_ns) {
			const double cost = budget->period_calls * budget->call_ns;
			budget->all_cost_ns += cost;
			budget->all_running_ns +=
			    tp_budget_running_ns((double)(end_cpu_ns - budget->cpu_ns), cost);
		}
	}
	result->functions = budget->count;
	for (uint32_t i = 0; i < budget->count; i++) {
		const struct tp_budget_member *member = &budget->members[i];
		calls += member->all_calls;
		if (budget->functions[i].fixed) {
			result->nameless++;
			nameless += member->all_calls;
		}
		if (!member->switched)
			continue;
		uint32_t at = TP_BUDGET_DEAREST;
		for (; at && result->dearest[at - 1].share < member->dearest; at--)
			if (at < TP_BUDGET_DEAREST)
				result->dearest[at] = result->dearest[at - 1];
		if (at == TP_BUDGET_DEAREST)
			continue;
		snprintf(result->dearest[at].name, sizeof(result->dearest[at].name), "%s",
		    member->symbol->name);
		result->dearest[at].share = member->dearest;
	}
	const double cpu = (double)(end_cpu_ns - budget->begin_cpu_ns);
	if (nameless > 0)
		result->nameless_share =
		    nameless * budget->call_ns / tp_budget_running_ns(cpu, calls * budget->call_ns);
	if (budget->all_running_ns > 0)
		result->others_share = budget->all_others_ns / budget->all_running_ns;
	struct tp_budget_facts *facts = &budget->session->budget;
	*facts = (struct tp_budget_facts){.share = result->refused.code ? 0 : budget->share,
	    .overhead =
		budget->all_running_ns > 0 ? budget->all_cost_ns / budget->all_running_ns : -1,
	    .switched = result->switched};
}

static void release(struct tp_budget *budget)
{
	tp_learn_release(&budget->learn);
	tp_names_release(&budget->names);
	free(budget->taken);
	free(budget->functions);
	free(budget->members);
	free(budget->list);
}

static int prepare(void *context, struct tp_err *err)
{
	struct tp_budget *budget = context;
	const bool learns = tp_learn_init(&budget->learn);
	budget->taken = calloc(TP_LEARN_FUNCTIONS, sizeof(*budget->taken));
	budget->functions = calloc(TP_LEARN_FUNCTIONS, sizeof(*budget->functions));
	budget->members = calloc(TP_LEARN_FUNCTIONS, sizeof(*budget->members));
	if (learns && budget->taken && budget->functions && budget->members)
		return 0;
	release(budget);
	return tp_err_memory(err, NULL);
}

static int start(void *context, struct tp_session *session, struct tp_err *err)
{
	struct tp_budget *budget = context;
	budget->session = session;
	return tp_worker_start(&budget->worker, run, budget, "the budget's thread", err);
}

static void stop(void *context)
{
	struct tp_budget *budget = context;
	tp_worker_stop(&budget->worker);
	finish(budget);
}

static void see(void *context, const struct teeperf_chunk *chunk)
{
	struct tp_budget *budget = context;
	tp_learn_see(&budget->learn, chunk);
}

static void forget(void *context)
{
	release(context);
}

void tp_budget_init(struct tp_budget *budget, double share)
{
	*budget = (struct tp_budget){
	    .share = share, .guide = {prepare, start, see, stop, forget, budget}};
}
