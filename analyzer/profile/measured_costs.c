// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What recording a function's calls has cost, by the times that its callers take with it and
// without.
#include "measured_costs.h"

#include "analyzer/profile/analysis_steps.h"
#include "analyzer/profile/calls.h"
#include "common/array.h"
#include "common/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <teeperf/abi.h>

// Windows next to one without a function that it is compared with, on each side, and how far away
// these may be.
#define NEIGHBOURS 3
#define REACH 16
// Of the whole cost, by which the part inside of a call may be more or less than the constants say:
// where the cost was above 5 ns, shares from 0.3 to 0.67 were seen
// (docs/decisions/0040-measured-costs.md).
#define SPLIT_OFF 0.2
// Maximum number of samples: 128 MiB.
#define SAMPLES_MAX (1U << 22)

// Calls of one function in one window, or of one function by another; in whole calls of the caller.
struct sample {
	uint32_t caller;
	uint32_t callee; // NONE: the caller's own
	uint32_t window;
	uint32_t unused;
	uint64_t calls;
	double self; // ticks, recursive calls of the callee included
};
#define NONE UINT32_MAX

// Calls that have ended, whose caller has not.
struct pending {
	uint32_t depth;
	uint32_t function;
	uint64_t start; // of the first of them
	uint64_t calls;
	double self;
};

struct gather {
	const struct tp_analysis *analysis;
	const struct tp_thread_result *thread;
	struct tp_call_sink sink;
	struct pending *pending;
	uint32_t pending_count;
	uint32_t pending_room;
	uint32_t window;
	struct sample *samples;
	uint32_t count;
	uint32_t room;
	struct tp_index index; // of the samples of this window
	uint32_t first;        // its first sample
	bool no_memory;
};

static uint32_t hash_sample(const void *context, uint32_t number)
{
	const struct gather *gather = context;
	const struct sample *sample = &gather->samples[gather->first + number - 1];
	return tp_hash_pair(sample->caller, sample->callee);
}

// A new window: the samples so far stay as they are.
static void begin_window(struct gather *gather, uint32_t window)
{
	gather->window = window;
	gather->first = gather->count;
	tp_index_release(&gather->index);
	gather->index = (struct tp_index){0};
}

static void add_sample(
    struct gather *gather, uint32_t caller, uint32_t callee, uint64_t calls, double self)
{
	const uint32_t used = gather->count - gather->first;
	if (gather->no_memory || gather->count >= SAMPLES_MAX)
		return;
	if (!TP_GROW(gather->samples, gather->room, gather->count + UINT64_C(1)) ||
	    !tp_index_reserve(&gather->index, used, hash_sample, gather)) {
		gather->no_memory = true;
		return;
	}
	uint32_t *slot = tp_index_first(&gather->index, tp_hash_pair(caller, callee));
	struct sample *sample;
	while (*slot) {
		sample = &gather->samples[gather->first + *slot - 1];
		if (sample->caller == caller && sample->callee == callee)
			break;
		slot = tp_index_next(&gather->index, slot);
	}
	if (!*slot) {
		*slot = used + 1;
		gather->samples[gather->count++] =
		    (struct sample){.caller = caller, .callee = callee, .window = gather->window};
	}
	sample = &gather->samples[gather->first + *slot - 1];
	sample->calls += calls;
	sample->self += self;
}

// For who called it: with its own calls of itself it is one.
static void keep(struct gather *gather, uint32_t depth, uint32_t function, uint64_t start,
    uint64_t calls, double self)
{
	for (uint32_t i = gather->pending_count; i && gather->pending[i - 1].depth == depth; i--)
		if (gather->pending[i - 1].function == function) {
			gather->pending[i - 1].calls += calls;
			gather->pending[i - 1].self += self;
			return;
		}
	if (!TP_GROW(gather->pending, gather->pending_room, gather->pending_count + UINT64_C(1))) {
		gather->no_memory = true;
		return;
	}
	gather->pending[gather->pending_count++] =
	    (struct pending){depth, function, start, calls, self};
}

// A call in which the selection did not change counts. Window number N begins with selection N - 1;
// the first one with the trace.
static bool is_whole(struct gather *gather, const struct tp_call *call)
{
	const struct tp_selections *selections = &gather->analysis->trace->selections;
	if (call->how != TP_CALL_RETURNED || call->away)
		return false;
	uint32_t window = gather->window;
	while (window < selections->count && selections->times[window] <= call->end)
		window++;
	if (window != gather->window)
		begin_window(gather, window);
	return window && call->start > selections->times[window - 1];
}

static void end_call(void *context, const struct tp_call *call)
{
	struct gather *gather = context;
	const struct tp_node *node = &gather->thread->profile.nodes[call->node];
	const uint32_t function = gather->thread->functions[node->function];
	const uint64_t off = call->self_off.blocked + call->self_off.preempted;
	const double self = call->self > off ? (double)(call->self - off) : 0;
	uint64_t calls = 1;
	double own = self;
	while (gather->pending_count &&
	       gather->pending[gather->pending_count - 1].depth > call->depth + 1)
		gather->pending_count--;
	const uint32_t end = gather->pending_count;
	uint32_t first = end;
	// What began before is of another stack of the thread.
	for (; first && gather->pending[first - 1].depth == call->depth + 1 &&
	       gather->pending[first - 1].start >= call->start;
	     first--)
		if (gather->pending[first - 1].function == function) {
			calls += gather->pending[first - 1].calls;
			own += gather->pending[first - 1].self;
		}
	// Of what calls itself nobody knows how often it would have been called.
	if (is_whole(gather, call) && calls == 1) {
		add_sample(gather, function, NONE, 1, self);
		for (uint32_t i = first; i < end; i++)
			add_sample(gather, function, gather->pending[i].function,
			    gather->pending[i].calls, gather->pending[i].self);
	}
	gather->pending_count = first;
	keep(gather, call->depth, function, call->start, calls, own);
}

static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = a;
	const struct sample *y = b;
	// The callers' own come first.
	if (x->caller != y->caller)
		return TP_COMPARE(x->caller, y->caller);
	if (x->callee != y->callee)
		return TP_COMPARE(x->callee + 1, y->callee + 1);
	return TP_COMPARE(x->window, y->window);
}

// Those of several threads in one window are one.
static void merge(struct gather *gather)
{
	uint32_t kept = 0;
	if (!gather->count)
		return;
	qsort(gather->samples, gather->count, sizeof(*gather->samples), compare_samples);
	for (uint32_t i = 1; i < gather->count; i++) {
		struct sample *last = &gather->samples[kept];
		const struct sample *sample = &gather->samples[i];
		if (compare_samples(last, sample) != 0) {
			gather->samples[++kept] = *sample;
			continue;
		}
		last->calls += sample->calls;
		last->self += sample->self;
	}
	gather->count = kept + 1;
}

// ---- from samples to costs

struct span {
	const struct sample *items;
	uint32_t count;
};

// Samples with the caller and callee of the first one.
static struct span take_span(const struct gather *gather, uint32_t at)
{
	struct span span = {&gather->samples[at], 1};
	while (at + span.count < gather->count &&
	       span.items[span.count].caller == span.items->caller &&
	       span.items[span.count].callee == span.items->callee)
		span.count++;
	return span;
}

static bool is_recorded(const struct tp_analysis *analysis, uint32_t function, uint32_t window)
{
	const struct tp_selected *selected = analysis->functions[function].selected;
	return !selected ||
	       tp_selected_at(selected, analysis->trace->selections.times[window - 1] + 1);
}

// Whether all that CALLER calls, but for BUT, was recorded in the window: else their time is the
// caller's.
static bool are_recorded(
    const struct gather *gather, uint32_t caller, uint32_t but, uint32_t window)
{
	const struct sample *samples = gather->samples;
	uint32_t at = TP_LOWER_BOUND(0U, gather->count, i, samples[i].caller < caller);
	while (at < gather->count && samples[at].caller == caller) {
		const struct span span = take_span(gather, at);
		const uint32_t callee = span.items->callee;
		if (callee != NONE && callee != but && callee != caller &&
		    !is_recorded(gather->analysis, callee, window))
			return false;
		at += span.count;
	}
	return true;
}

static const struct sample *find_window(struct span span, uint32_t window)
{
	const uint32_t at = TP_LOWER_BOUND(0U, span.count, i, span.items[i].window < window);
	return at < span.count && span.items[at].window == window ? &span.items[at] : NULL;
}

struct differences {
	double *items;
	uint32_t count;
	uint32_t room;
	bool no_memory;
};

// The windows around number AT of OWN in which CALLEE was recorded: their calls and times are
// added.
static void add_neighbours(const struct gather *gather, struct span own, struct span pair,
    uint32_t at, int step, struct sample *sum, double *calls)
{
	const uint32_t callee = pair.items->callee;
	uint32_t found = 0;
	for (uint32_t i = at + (uint32_t)step; i < own.count && found < NEIGHBOURS;
	     i += (uint32_t)step) {
		const struct sample *sample = &own.items[i];
		const uint32_t window = own.items[at].window;
		const uint32_t apart =
		    sample->window > window ? sample->window - window : window - sample->window;
		if (apart > REACH)
			return;
		if (!is_recorded(gather->analysis, callee, sample->window) ||
		    !are_recorded(gather, sample->caller, callee, sample->window) ||
		    !are_recorded(gather, callee, sample->caller, sample->window))
			continue;
		const struct sample *with = find_window(pair, sample->window);
		sum->calls += sample->calls;
		sum->self += sample->self + (with ? with->self : 0);
		*calls += with ? (double)with->calls : 0;
		found++;
	}
}

// By how much the caller's calls, with the callee's own time in them, are longer where those are
// recorded; of each call of the callee, for each window where they are not.
static void compare_windows(
    const struct gather *gather, struct span own, struct span pair, struct differences *differences)
{
	const uint32_t caller = pair.items->caller;
	const uint32_t callee = pair.items->callee;
	for (uint32_t i = 0; i < own.count; i++) {
		const struct sample *without = &own.items[i];
		if (is_recorded(gather->analysis, callee, without->window) ||
		    !are_recorded(gather, caller, callee, without->window) ||
		    !are_recorded(gather, callee, caller, without->window))
			continue;
		struct sample with = {0};
		double calls = 0;
		add_neighbours(gather, own, pair, i, -1, &with, &calls);
		add_neighbours(gather, own, pair, i, 1, &with, &calls);
		if (!with.calls || !(calls > 0))
			continue;
		if (!TP_GROW(
			differences->items, differences->room, differences->count + UINT64_C(1))) {
			differences->no_memory = true;
			return;
		}
		differences->items[differences->count++] =
		    (with.self / (double)with.calls - without->self / (double)without->calls) /
		    (calls / (double)with.calls);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	return TP_COMPARE(*(const double *)a, *(const double *)b);
}

bool tp_measured_costs_median(double *d, size_t count, double *median, double *off)
{
	// How many at either end may lie beyond it: as often as a coin that is tossed COUNT times
	// falls so seldom on one side.
	double chance = exp2(-(double)count);
	double sum = chance;
	size_t beyond = 0;
	if (count > 1000) {
		beyond = (size_t)(((double)count - 1.96 * sqrt((double)count)) / 2);
	} else {
		for (; sum * 2 <= 0.05; beyond++) {
			chance *= (double)(count - beyond) / (double)(beyond + 1);
			sum += chance;
		}
	}
	if (!beyond)
		return false;
	qsort(d, count, sizeof(*d), compare_doubles);
	*median = (d[(count - 1) / 2] + d[count / 2]) / 2;
	*off = fmax(*median - d[beyond - 1], d[count - beyond] - *median);
	return true;
}

// In both parts: a function has only one of them in its own time, and its caller the other.
static bool is_better(const struct tp_measured_cost *cost, const struct tp_compensation *constant)
{
	return cost->in_off_ps < (double)constant->in_off_ps &&
	       cost->out_off_ps < (double)constant->out_off_ps;
}

// The cost of function number INDEX by its differences. False: it is known no better than by the
// constants.
static bool judge(const struct tp_analysis *analysis, uint32_t index,
    struct differences *differences, struct tp_measured_cost *cost)
{
	const struct tp_compensation *constant = &analysis->compensation;
	const struct tp_function *function = &analysis->functions[index];
	const char *name = function->symbol.raw;
	double ticks;
	double off;
	if (!*name ||
	    !tp_measured_costs_median(differences->items, differences->count, &ticks, &off))
		return false;
	const double ps = 1000 / tp_timebase_real_ticks(&analysis->time, 1);
	const double share = (double)constant->in_ps / (double)(constant->in_ps + constant->out_ps);
	const double known = fmax(0, ticks * ps);
	const double split = known * SPLIT_OFF;
	*cost = (struct tp_measured_cost){
	    .hash = teeperf_name_hash(name, strlen(name)),
	    .in_ps = known * share,
	    .out_ps = known * (1 - share),
	    .in_off_ps = off * ps * share + split + (double)constant->in_ps / 10,
	    .out_off_ps = off * ps * (1 - share) + split + (double)constant->out_ps / 10,
	};
	return is_better(cost, constant);
}

static int compare_costs(const void *a, const void *b)
{
	const struct tp_measured_cost *x = a;
	const struct tp_measured_cost *y = b;
	return TP_COMPARE(x->hash, y->hash);
}

// Functions of one name are left out together, and one of them may not stand for the others.
static void drop_namesakes(struct tp_measured_costs *costs)
{
	uint32_t kept = 0;
	qsort(costs->items, costs->count, sizeof(*costs->items), compare_costs);
	for (uint32_t i = 0; i < costs->count;) {
		uint32_t next = i + 1;
		while (next < costs->count && costs->items[next].hash == costs->items[i].hash)
			next++;
		if (next == i + 1)
			costs->items[kept++] = costs->items[i];
		i = next;
	}
	costs->count = kept;
}

static int measure(struct tp_measured_costs *costs, const struct gather *gather)
{
	const struct tp_analysis *analysis = gather->analysis;
	struct differences *differences =
	    calloc(analysis->function_count + (size_t)1, sizeof(*differences));
	int code = 0;
	costs->items = calloc(analysis->function_count + (size_t)1, sizeof(*costs->items));
	if (!differences || !costs->items)
		code = TP_ERR_MEMORY;
	struct span own = {0};
	for (uint32_t at = 0; !code && at < gather->count;) {
		const struct span span = take_span(gather, at);
		at += span.count;
		if (span.items->callee == NONE)
			own = span;
		else if (own.count && own.items->caller == span.items->caller) {
			struct differences *of = &differences[span.items->callee];
			compare_windows(gather, own, span, of);
			code = of->no_memory ? TP_ERR_MEMORY : 0;
		}
	}
	for (uint32_t i = 0; differences && i < analysis->function_count; i++) {
		if (!code && judge(analysis, i, &differences[i], &costs->items[costs->count]))
			costs->count++;
		free(differences[i].items);
	}
	free(differences);
	if (!code)
		drop_namesakes(costs);
	return code;
}

static int gather_calls(struct gather *gather, struct tp_err *err)
{
	const struct tp_analysis *analysis = gather->analysis;
	int code = 0;
	for (uint32_t i = 0; !code && i < analysis->thread_count; i++) {
		if (analysis->threads[i].code)
			continue;
		gather->thread = &analysis->threads[i];
		gather->pending_count = 0;
		begin_window(gather, 0);
		code = tp_calls_each(analysis, i, &gather->sink, err);
		if (!code && gather->no_memory)
			code = tp_err_memory(err, analysis->trace->source.name);
	}
	return code;
}

int tp_measured_costs_init(
    struct tp_measured_costs *costs, const struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_tracefile *trace = analysis->trace;
	char value[8];
	*costs = (struct tp_measured_costs){0};
	const bool calibrated = tp_tracefile_host(trace, "calibrate", value, sizeof(value));
	if (calibrated && !trace->selections.count)
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "was recorded with '--calibrate', but no function was ever left out: the "
		    "program ended too soon, or its runtime is older");
	if (calibrated && trace->has_clock && TEEPERF_CLOCK_IS_SOFT(trace->clock.kind))
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "has a soft clock, for which calls wait for different times: calibrate with "
		    "'--clock tsc'");
	if (!calibrated)
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "lacks the recording cost of each function: record it with '--calibrate'");
	if (!analysis->compensation.bounded)
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "lacks the recording cost of a call, needed for comparison");
	struct gather gather = {.analysis = analysis};
	gather.sink = (struct tp_call_sink){.context = &gather, .leave = end_call};
	int code = gather_calls(&gather, err);
	if (!code) {
		merge(&gather);
		code = measure(costs, &gather);
		if (code)
			tp_err_memory(err, trace->source.name);
	}
	tp_index_release(&gather.index);
	free(gather.pending);
	free(gather.samples);
	return code;
}

void tp_measured_costs_release(struct tp_measured_costs *costs)
{
	free(costs->items);
	*costs = (struct tp_measured_costs){0};
}

const struct tp_measured_cost *tp_measured_costs_find(
    const struct tp_measured_costs *costs, const char *name)
{
	const uint64_t hash = *name ? teeperf_name_hash(name, strlen(name)) : 0;
	const uint32_t at = TP_LOWER_BOUND(0U, costs->count, i, costs->items[i].hash < hash);
	return *name && at < costs->count && costs->items[at].hash == hash ? &costs->items[at]
									   : NULL;
}

// ---- what an analysis does with them

bool tp_measured_names_init(struct tp_analysis *analysis)
{
	struct tp_function_cost *costs =
	    tp_arena_alloc(&analysis->arena, (analysis->function_count + 1) * sizeof(*costs));
	uint32_t count = 0;
	tp_functions_measure(analysis);
	for (uint32_t i = 0; costs && i < analysis->function_count; i++) {
		const struct tp_measured_cost *cost = analysis->functions[i].cost;
		if (cost)
			costs[count++] = (struct tp_function_cost){
			    .name = (uint32_t)analysis->functions[i].key.address,
			    .in = tp_compensation_parts(cost->in_ps, &analysis->time),
			    .out = tp_compensation_parts(cost->out_ps, &analysis->time),
			};
	}
	analysis->costs = costs;
	analysis->cost_count = count;
	return costs != NULL;
}

// The constants of this trace were measured at another time than those of the trace with the costs.
void tp_functions_measure(struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		struct tp_function *function = &analysis->functions[i];
		const struct tp_measured_cost *cost =
		    tp_measured_costs_find(analysis->options.costs, function->symbol.raw);
		function->cost = cost && is_better(cost, &analysis->compensation) ? cost : NULL;
	}
}
