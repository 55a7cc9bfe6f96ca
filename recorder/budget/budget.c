// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions are switched off and on while a recording runs, so that their events cost what they may.
//
// One file above 600 lines: reckoning, choosing and probing change the same few figures of each function.
#define _GNU_SOURCE
#include "budget.h"

#include "allowlists/choose/cost.h"
#include "common/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

// Parts of the budget: what is chosen, and what is spent on probing.
#define CHOSEN_PART 0.75
#define PROBE_PART 0.1
// By how much the gap between two windows is longer or shorter.
#define JITTER 0.25
// So much of the budget in one period is too much.
#define TOO_MUCH 0.95
// ... and so much so soon that it is not waited for the end of a period, from so many ms of cost on.
#define ALARM 2
#define ALARM_MS 1
// What was spent too much is saved again in so many seconds of running time, but so much is always left.
#define DEBT_SECONDS 5
#define LEAST_PART 0.05
// Half a chunk of records is a call for each two of them.
#define CALLS_OF_CHUNK 4092.0
// What is left of the processor time when reckoned costs are taken off is at least this part of it.
#define RUNNING_LEAST 0.1

enum {
	LOOK_MS = 5,
	PATIENCE_LOOKS = 200, // until the program's processor time is seen
	FIRST_MS = 20,
	SETTLE_MS = 30,
	EARLY_MS = 100, // between two reckonings, in the first seconds ...
	LATE_MS = 250,  // ... and then
	EARLY_SECONDS = 5,
	PATIENCE_MS = 10, // until a program that has not looked is sent a signal
	// A window, in which functions are on that are off, is this long, and the next one comes after a gap of so much, which
	// grows with the time so far, and of this for each function, as changing each one's gate takes a while.
	WINDOW_LEAST_US = 200,
	WINDOW_MOST_US = 50000,
	WINDOW_LOOK_US = 100, // how often is looked whether it is over
	WINDOW_GAP_MS = 150,
	WINDOW_GAP_MOST_MS = 30000,
	WINDOWS_EACH = 40, // of the time so far, the gap is at least one in so many
	WINDOW_GAP_FUNCTION_US = 50,
	WINDOW_DEAR = 4, // it ends early only if it costs so many times what it may
	// Whether functions come back is decided with the sums of all windows since it was decided last, so often:
	PROBE_GAP_MS = 1000, // at first, up to ...
	PROBE_GAP_MOST_MS = 30000,
	BACK_MS = 10000, // who is switched off again so soon after it came back is held ...
	HOLD_MS = 4000,  // ... for so long, and twice as long each time, up to
	HOLD_MOST_MS = 240000,
	// Each selection is kept in the trace. From here on nothing is probed, and a few more are for what must be.
	SELECTIONS_MOST = 20000,
	SELECTIONS_SPARE = 1000,
	REST_MOST_S = 3600,
};

// What is known of a function beside what is chosen by.
struct tp_budget_member {
	double all_calls;
	double calls; // since the last reckoning
	double ticks;
	double window_calls; // in the windows since it was decided who comes back
	double window_ticks;
	const struct tp_elf_symbol *symbol; // NULL: none
	const struct tp_elf_symbol *aliases;
	uint32_t alias_count;
	bool known;       // its rate is
	bool switched;    // off, at least once
	double dearest;   // share of running time that it cost then
	uint64_t back_ns; // when it came back last
	uint64_t hold_ns;
	uint64_t held_until_ns;
};

static bool is_ended(const struct tp_budget *budget)
{
	return tp_load_relaxed(&budget->worker.stop);
}

static const struct teeperf_log_header *header_of(const struct tp_budget *budget)
{
	return budget->session->region.header;
}

static const struct tp_session_options *options_of(const struct tp_budget *budget)
{
	return &budget->session->options;
}

// As this machine counts, which may not be what the log says.
static uint64_t process_of(const struct tp_budget *budget)
{
	return options_of(budget)->late ? (uint64_t)options_of(budget)->watch
					: tp_load_relaxed(&header_of(budget)->pid);
}

// The program's processor time so far; of one that has ended, when it was last looked at. 0: it cannot be seen.
static uint64_t cpu_now(struct tp_budget *budget)
{
	const uint64_t now = options_of(budget)->late
				 ? tp_cpu_times_of(options_of(budget)->watch)
				 : tp_cpu_times_now(&budget->session->drain.cpu);
	if (now > budget->seen_cpu_ns)
		budget->seen_cpu_ns = now;
	return budget->seen_cpu_ns;
}

static bool is_recording(const struct tp_budget *budget)
{
	return tp_switch_log_state(header_of(budget), !options_of(budget)->start_off);
}

// ---- what is learnt

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

// Take over what the drain has seen.
static void take(struct tp_budget *budget)
{
	double calls;
	const uint32_t count = tp_learn_take(&budget->learn, budget->taken, &calls);
	const uint32_t modules = budget->names.count;
	tp_names_follow(&budget->names, &budget->session->region, process_of(budget));
	for (uint32_t i = 0; modules != budget->names.count && i < budget->count; i++)
		if (budget->functions[i].fixed)
			name(budget, i);
	for (; budget->count < count; budget->count++)
		meet(budget, budget->count);
	for (uint32_t i = 0; i < count; i++) {
		struct tp_budget_member *member = &budget->members[i];
		member->all_calls += budget->taken[i].usual.calls + budget->taken[i].window.calls;
		member->calls += budget->taken[i].usual.calls;
		member->ticks += budget->taken[i].usual.ticks;
		member->window_calls += budget->taken[i].window.calls;
		member->window_ticks += budget->taken[i].window.ticks;
	}
	// The program's word, which may be a lie.
	const uint64_t lost = tp_region_lost(&budget->session->region);
	budget->period_calls +=
	    calls + (lost > budget->lost ? (double)(lost - budget->lost) / 2 : 0);
	budget->lost = lost;
}

static double running_ns(double cpu_ns, double cost_ns)
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

// The overhead of the time since the last reckoning; below 0: too little time has passed to tell.
static double reckon(struct tp_budget *budget)
{
	const uint64_t cpu_ns = cpu_now(budget);
	take(budget);
	if (cpu_ns < budget->cpu_ns + 2 * MS)
		return -1;
	const double cost = budget->period_calls * budget->call_ns;
	const double running = running_ns((double)(cpu_ns - budget->cpu_ns), cost);
	learn_rates(budget, running / 1e9);
	if (budget->now_ns - budget->start_ns >= SECOND) {
		budget->all_running_ns += running;
		budget->all_cost_ns += cost;
	}
	budget->cpu_ns = cpu_ns;
	budget->tail = tp_load_relaxed(&header_of(budget)->tail);
	budget->period_calls = 0;
	budget->reckoned_ns = budget->now_ns;
	return cost / running;
}

// ---- what is chosen

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

// What the program is to record: what recording began with, less what is off. False: no memory.
static bool make_list(struct tp_budget *budget, struct tp_region_only *only)
{
	const struct tp_region *region = &budget->session->region;
	uint64_t used = 0;
	for (uint32_t i = 0; i < budget->count; i++) {
		const struct tp_budget_member *member = &budget->members[i];
		if (!budget->functions[i].on && !budget->has_window &&
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

// Wait a little while. In a window all functions are on, and a millisecond more is many events.
static void nap(struct tp_budget *budget)
{
	if (!budget->in_window) {
		tp_doorbell_wait(&budget->worker.bell, 1);
		return;
	}
	const struct timespec time = {.tv_nsec = WINDOW_LOOK_US * 1000};
	nanosleep(&time, NULL);
}

// Have the program obey, by itself if it looks within PATIENCE ms. False: it is over, or nothing can be chosen any more.
static bool apply(struct tp_budget *budget, uint64_t patience)
{
	struct tp_budget_result *result = &budget->result;
	struct tp_region_only only;
	if (result->stopped.code)
		return false;
	if (result->selections >= SELECTIONS_MOST + SELECTIONS_SPARE) {
		tp_err_set(&result->stopped, TP_ERR_LIMIT, NULL,
		    "functions were switched %u times, and each time is kept in the trace",
		    SELECTIONS_MOST + SELECTIONS_SPARE);
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
		if (is_ended(budget))
			return false;
		// A program that records looks by itself.
		if (i == patience)
			tp_session_tell(budget->session);
		nap(budget);
	}
	budget->now_ns = tp_clock_monotonic_ns();
	budget->settling = true;
	budget->next_ns = budget->now_ns + SETTLE_MS * MS;
	return true;
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
	if (!member->switched)
		budget->result.switched++;
	member->switched = true;
	member->dearest = share > member->dearest ? share : member->dearest;
	if (!member->back_ns)
		return;
	if (budget->now_ns - member->back_ns < BACK_MS * MS)
		member->hold_ns = member->hold_ns ? 2 * member->hold_ns : HOLD_MS * MS;
	else
		member->hold_ns = 0;
	if (member->hold_ns > HOLD_MOST_MS * MS)
		member->hold_ns = HOLD_MOST_MS * MS;
	member->held_until_ns = budget->now_ns + member->hold_ns;
}

// The share of running time that may be spent now: less for a while if too much was spent before.
static double allowed(const struct tp_budget *budget)
{
	const double debt_ns = budget->all_cost_ns - budget->share * budget->all_running_ns;
	const double saved = debt_ns > 0 ? debt_ns / (DEBT_SECONDS * 1e9) : 0;
	const double least = LEAST_PART * budget->share;
	return budget->share - saved > least ? budget->share - saved : least;
}

// Choose anew, and have it obeyed if something changes. WIDEN: functions may come back.
static void choose(struct tp_budget *budget, bool widen)
{
	const struct tp_budget_rule rule = {
	    .share = CHOSEN_PART * allowed(budget),
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
		apply(budget, PATIENCE_MS);
	if (changed)
		budget->probe_gap_ns = PROBE_GAP_MS * MS;
	if (changed && !widen)
		budget->probe_ns = budget->now_ns + budget->probe_gap_ns;
}

// ---- what is probed

// What the program has run between two looks, as far as it lies between two of its own times.
struct window {
	uint64_t ns;
	uint64_t cpu_ns;
	uint64_t time; // ticks
};

static struct window look(struct tp_budget *budget)
{
	return (struct window){.ns = tp_clock_monotonic_ns(),
	    .cpu_ns = cpu_now(budget),
	    .time = tp_load_relaxed(&header_of(budget)->selected_time)};
}

static double window_cpu_ns(
    const struct tp_budget *budget, const struct window *from, const struct window *to)
{
	const uint32_t clock = budget->session->clock_log.clock;
	const double wall = (double)(to->ns - from->ns);
	double cpu = (double)(to->cpu_ns - from->cpu_ns);
	const double hz =
	    clock == TEEPERF_CLOCK_SOFT_COUNT ? 0 : (double)header_of(budget)->clock_hz;
	if (hz > 0 && wall > 0)
		cpu *= (double)(to->time - from->time) / hz * 1e9 / wall;
	return cpu;
}

// That were drawn since TAIL: the program's word, which may be a lie.
static double chunks_since(const struct tp_budget *budget, uint64_t tail)
{
	const uint64_t now = tp_load_relaxed(&header_of(budget)->tail);
	return now > tail ? (double)(now - tail) : 0;
}

static double cost_since(const struct tp_budget *budget, uint64_t tail)
{
	return chunks_since(budget, tail) * CALLS_OF_CHUNK * budget->call_ns;
}

// The functions that are off, and in *overhead what their events would cost, by what is known of them, as a share of the running time.
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

// When the next window begins that comes GAP ns behind this one, more or less.
static void plan_window(struct tp_budget *budget, double gap_ns)
{
	const double so_far = (double)(budget->now_ns - budget->start_ns);
	double gap = so_far / WINDOWS_EACH;
	gap = gap > (double)(WINDOW_GAP_MS * MS) ? gap : (double)(WINDOW_GAP_MS * MS);
	const double work = budget->count * (double)WINDOW_GAP_FUNCTION_US * 1e3;
	gap = gap > work ? gap : work;
	gap = gap < (double)(WINDOW_GAP_MOST_MS * MS) ? gap : (double)(WINDOW_GAP_MOST_MS * MS);
	budget->window_gap_ns = gap;
	gap = gap > gap_ns ? gap : gap_ns;
	gap = gap < REST_MOST_S * 1e9 ? gap : REST_MOST_S * 1e9;
	budget->window_ns =
	    budget->now_ns + (uint64_t)(gap * (1 + JITTER * (2 * random_part(budget) - 1)));
}

/*
 * Functions come back whose rates in the windows allow it. What came in the last chunk of each thread may be missing yet. A window
 * that costs nothing shows that its functions are cheap, also if no chunk became full in it.
 */
static void decide(struct tp_budget *budget)
{
	double calls = 0;
	if (!(budget->window_cpu_ns > 0))
		return;
	take(budget);
	for (uint32_t i = 0; i < budget->count; i++)
		calls += budget->members[i].window_calls;
	const double seconds = running_ns(budget->window_cpu_ns, calls * budget->call_ns) / 1e9;
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
	choose(budget, true);
	budget->probe_gap_ns += budget->probe_gap_ns / 2;
	if (budget->probe_gap_ns > PROBE_GAP_MOST_MS * MS)
		budget->probe_gap_ns = PROBE_GAP_MOST_MS * MS;
	budget->probe_ns = budget->now_ns + budget->probe_gap_ns;
}

/*
 * Switch on all functions that are off, for a moment that costs a small part of the budget: so it is known what they would cost
 * now, and the trace has a sample of them. Neither when it begins nor how long it lasts depends on what the program does in it, or
 * windows would be longer where little is called.
 */
static void probe(struct tp_budget *budget)
{
	const double spare = PROBE_PART * budget->share;
	double overhead;
	if (!count_off(budget, &overhead))
		return;
	take(budget);
	const double part = overhead / (1 + overhead);
	const double may_ns = spare * budget->window_gap_ns;
	double length_ns = part > 0 ? may_ns / part : WINDOW_MOST_US * 1e3;
	length_ns = length_ns < WINDOW_MOST_US * 1e3 ? length_ns : WINDOW_MOST_US * 1e3;
	length_ns = length_ns > WINDOW_LEAST_US * 1e3 ? length_ns : WINDOW_LEAST_US * 1e3;
	const double most_ns =
	    WINDOW_DEAR * (may_ns > part * length_ns ? may_ns : part * length_ns);
	budget->in_window = true;
	budget->has_window = true;
	bool done = apply(budget, 0);
	const uint64_t tail = tp_load_relaxed(&header_of(budget)->tail);
	const struct window from = look(budget);
	tp_learn_set_window(&budget->learn, from.time, UINT64_MAX);
	while (done && (double)(tp_clock_monotonic_ns() - from.ns) < length_ns &&
	       cost_since(budget, tail) < most_ns && !is_ended(budget))
		nap(budget);
	budget->has_window = false;
	done = done && apply(budget, 0);
	budget->in_window = false;
	const struct window to = look(budget);
	tp_learn_set_window(&budget->learn, from.time, to.time);
	if (!done)
		return;
	tp_session_note_window(budget->session);
	budget->window_cpu_ns += window_cpu_ns(budget, &from, &to);
	// By what windows before this one have cost: else those in which much is called would stand for longer times.
	const double before =
	    budget->window_cost_ns > 0 ? budget->window_cost_ns : part * (double)(to.ns - from.ns);
	budget->window_cost_ns = (3 * before + cost_since(budget, tail)) / 4;
	plan_window(budget, before / spare);
}

// ---- when

// Whether so much was recorded that waiting any longer would cost too much.
static bool is_alarmed(const struct tp_budget *budget)
{
	const double cost = cost_since(budget, budget->tail);
	const double passed = (double)(budget->now_ns - budget->reckoned_ns);
	return cost > ALARM_MS * (double)MS && cost > ALARM * budget->share * passed;
}

static void reckon_and_choose(struct tp_budget *budget)
{
	const bool early = budget->now_ns - budget->start_ns < EARLY_SECONDS * SECOND;
	budget->next_ns = budget->now_ns + (early ? EARLY_MS : LATE_MS) * MS;
	const double overhead = reckon(budget);
	const bool settling = budget->settling;
	if (overhead < 0)
		return;
	budget->settling = false;
	if (settling)
		budget->next_ns = budget->now_ns + (EARLY_MS - SETTLE_MS) * MS;
	if (settling || !is_recording(budget))
		return;
	if (overhead > TOO_MUCH * allowed(budget))
		choose(budget, false);
	else if (budget->now_ns >= budget->probe_ns)
		decide(budget);
}

// Whatever the program does: if windows waited until what it does is cheap, they would be no sample of what is dear.
static bool may_probe(const struct tp_budget *budget)
{
	return is_recording(budget) && budget->result.selections < SELECTIONS_MOST;
}

// Wait for the program. False: it is over, or this one cannot be chosen for.
static bool await(struct tp_budget *budget)
{
	struct tp_budget_result *result = &budget->result;
	while (tp_load32_acquire(&header_of(budget)->attach) != TEEPERF_ATTACH_DONE) {
		if (is_ended(budget))
			return false;
		tp_doorbell_wait(&budget->worker.bell, LOOK_MS);
	}
	const char *why = tp_session_no_selection(budget->session);
	uint64_t cpu_ns = 0;
	for (int i = 0; !why && !cpu_ns && i < PATIENCE_LOOKS && !is_ended(budget); i++) {
		cpu_ns = cpu_now(budget);
		if (!cpu_ns)
			tp_doorbell_wait(&budget->worker.bell, LOOK_MS);
	}
	if (!why && !cpu_ns)
		why = "the processor time of the program cannot be seen from here";
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
	budget->next_ns = budget->start_ns + FIRST_MS * MS;
	budget->probe_gap_ns = PROBE_GAP_MS * MS;
	budget->probe_ns = budget->start_ns + budget->probe_gap_ns;
	budget->random = budget->start_ns ^ process_of(budget) << 32 ^ UINT64_C(0x9e3779b97f4a7c15);
	plan_window(budget, 0);
	budget->begin_cpu_ns = budget->cpu_ns = cpu_now(budget);
}

static void *run(void *argument)
{
	struct tp_budget *budget = argument;
	pthread_setname_np(pthread_self(), "teeperf-budget");
	if (!await(budget))
		return NULL;
	begin(budget);
	while (!is_ended(budget) && !budget->result.stopped.code) {
		tp_doorbell_wait(&budget->worker.bell, LOOK_MS);
		budget->now_ns = tp_clock_monotonic_ns();
		if (budget->now_ns >= budget->window_ns && may_probe(budget))
			probe(budget);
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
	const uint64_t end_cpu_ns = cpu_now(budget);
	if (budget->start_ns) {
		take(budget);
		// What came behind the last reckoning, too.
		if (tp_clock_monotonic_ns() - budget->start_ns >= SECOND &&
		    end_cpu_ns > budget->cpu_ns) {
			const double cost = budget->period_calls * budget->call_ns;
			budget->all_cost_ns += cost;
			budget->all_running_ns +=
			    running_ns((double)(end_cpu_ns - budget->cpu_ns), cost);
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
		    nameless * budget->call_ns / running_ns(cpu, calls * budget->call_ns);
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
