// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "transitions": calls across the border of a TEE, how long they took, how many were
// short, how soon one followed the other, and what these numbers suggest.
#include "analyzer/profile/calls.h"
#include "analyzer/output/grid.h"
#include "analyzer/profile/pattern.h"
#include "common/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The limits for short calls: N. Weichbrodt, P.-L. Aublin, R. Kapitza, "sgx-perf: A Performance
 * Analysis Tool for Intel SGX Enclaves", Middleware 2018, distinguishes calls below 1, 5 and 10 us,
 * since a crossing itself takes a few microseconds. It advises to batch short calls that follow
 * each other, and to avoid others.
 */
#define SHORT_NS 10000
#define VERY_SHORT_NS 1000
// Fewer calls, or a smaller part of them, are no reason for advice.
#define ADVICE_CALLS 100
#define ADVICE_SHARE 0.5

// Names of gates: Intel's SDK and what it generates by convention, Open Enclave, GlobalPlatform's
// interfaces.
static const char *const usual[] = {
    "ecall_*",
    "ocall_*",
    "sgx_ecall*",
    "sgx_ocall*",
    "oe_call_*",
    "oe_ecall*",
    "oe_ocall*",
    "oe_*_ocall",
    "oe_*_ecall",
    "TEEC_InvokeCommand",
    "TEE_InvokeTACommand",
    "TA_InvokeCommandEntryPoint",
    "TA_OpenSessionEntryPoint",
};

struct gate {
	uint32_t function;
	uint64_t calls;
	uint64_t total;
	uint64_t very_short;
	uint64_t shorts;
	uint64_t successive; // that began soon after the one before had ended, in the same thread
	uint64_t min;
	uint64_t max;
	struct tp_histogram times;
	uint64_t last_end; // in the current thread
	bool has_last;
};

struct transitions {
	const struct tp_analysis *analysis;
	const bool *marks; // gates by their names
	bool by_module;
	bool by_side;       // of a joined trace, whose modules say where they are
	struct gate *gates; // of each function, then only those with calls
	uint32_t count;
	uint32_t thread; // whose calls come
	uint64_t short_ticks;
	uint64_t very_short_ticks;
};

// Whether the function is one of the TEE's.
static bool is_inside(const struct tp_analysis *analysis, uint32_t function)
{
	return tp_analysis_is_inside(analysis, &analysis->functions[function].symbol);
}

// Whether the call of this node crosses the border.
static bool crosses(const struct transitions *transitions, uint32_t node)
{
	const struct tp_analysis *analysis = transitions->analysis;
	const struct tp_thread_result *thread = &analysis->threads[transitions->thread];
	if (node >= thread->profile.node_count || !thread->profile.nodes[node].function)
		return false;
	const struct tp_node *own = &thread->profile.nodes[node];
	const uint32_t function = thread->functions[own->function];
	if (!transitions->marks[function] || (!transitions->by_module && !transitions->by_side))
		return transitions->marks[function];
	const struct tp_node *node_of_caller = &thread->profile.nodes[own->parent];
	if (!node_of_caller->function)
		return false;
	const uint32_t caller = thread->functions[node_of_caller->function];
	if (transitions->by_side)
		return is_inside(analysis, caller) != is_inside(analysis, function);
	return analysis->functions[caller].symbol.place !=
	       analysis->functions[function].symbol.place;
}

static void on_call(void *context, const struct tp_call *call)
{
	struct transitions *transitions = context;
	if (!crosses(transitions, call->node))
		return;
	const struct tp_thread_result *thread =
	    &transitions->analysis->threads[transitions->thread];
	struct gate *gate =
	    &transitions->gates[thread->functions[thread->profile.nodes[call->node].function]];
	const uint64_t time = call->duration;
	gate->calls++;
	gate->total += time;
	gate->shorts += time < transitions->short_ticks;
	gate->very_short += time < transitions->very_short_ticks;
	gate->min = time < gate->min ? time : gate->min;
	gate->max = time > gate->max ? time : gate->max;
	// A recursive call ends before the one around it.
	gate->successive += gate->has_last && call->start >= gate->last_end &&
			    call->start - gate->last_end < transitions->short_ticks;
	gate->last_end = call->end;
	gate->has_last = true;
	tp_histogram_add(&gate->times, time, NULL);
}

static int count_calls(struct transitions *transitions, struct tp_err *err)
{
	const struct tp_analysis *analysis = transitions->analysis;
	struct tp_call_sink sink = {.context = transitions, .leave = on_call};
	transitions->gates =
	    calloc((size_t)analysis->function_count + 1, sizeof(*transitions->gates));
	if (!transitions->gates)
		return tp_err_set(err, TP_ERR_MEMORY, analysis->trace->source.name,
		    "out of memory while reading %" PRIu32 " functions", analysis->function_count);
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		transitions->gates[i].function = i;
		transitions->gates[i].min = UINT64_MAX;
	}
	transitions->count = analysis->function_count;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		transitions->thread = i;
		for (uint32_t j = 0; j < transitions->count; j++)
			transitions->gates[j].has_last = false;
		// What there is of a damaged thread counts.
		if (tp_calls_each(analysis, i, &sink, err) == TP_ERR_MEMORY)
			return TP_ERR_MEMORY;
	}
	return 0;
}

// Mark the functions that match one of the patterns. 0, TP_ERR_SYNTAX.
static int mark(const struct tp_analysis *analysis, const char *const *patterns, uint32_t count,
    bool *marks, struct tp_err *err)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tp_pattern pattern;
		const int code = tp_pattern_init(&pattern, patterns[i], err);
		for (uint32_t j = 0; !code && j < analysis->function_count; j++)
			marks[j] |= tp_pattern_matches(&pattern, &analysis->functions[j].symbol);
		tp_pattern_release(&pattern);
		if (code)
			return code;
	}
	return 0;
}

// Which functions are gates. MARKS are those of --function.
static int choose(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool by_side, bool *marks, struct tp_err *err)
{
	if (options->by_module || by_side || (options->function && !options->border_count))
		return 0;
	bool *gates = calloc((size_t)analysis->function_count + 1, sizeof(*gates));
	if (!gates)
		return tp_err_memory(err, analysis->trace->source.name);
	const int code = options->border_count
			     ? mark(analysis, options->borders, options->border_count, gates, err)
			     : mark(analysis, usual, sizeof(usual) / sizeof(usual[0]), gates, err);
	bool found = false;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		marks[i] = marks[i] && gates[i];
		found |= marks[i];
	}
	free(gates);
	if (code || found)
		return code;
	return tp_err_set(err, TP_ERR_NOT_FOUND, analysis->trace->source.name,
	    "no function has a usual name of a TEE's gate (ecall_*, ocall_*, TEEC_InvokeCommand "
	    "...): name yours with --border PATTERN, or use --module-border for calls between "
	    "modules");
}

static int compare(const void *a, const void *b)
{
	const struct gate *x = a;
	const struct gate *y = b;
	const int order = TP_COMPARE(y->calls, x->calls);
	return order ? order : TP_COMPARE(x->function, y->function);
}

static void add_advice(struct tp_grid *grid, const struct gate *gate)
{
	const double least = (double)gate->calls * ADVICE_SHARE;
	const bool enough = gate->calls >= ADVICE_CALLS && grid->analysis->time.known;
	const bool successive = enough && (double)gate->successive >= least;
	const bool is_short = enough && (double)gate->shorts >= least;
	const double still = grid->analysis->starvation.clock_share;
	if (enough && still >= TP_STARVATION_COARSE) {
		char text[96];
		char part[TP_TEXT_NUMBER];
		snprintf(text, sizeof(text), "none: the clock stood still for %s of the run",
		    tp_text_percent(part, still));
		tp_grid_text(grid, text);
		return;
	}
	if (successive && is_short)
		tp_grid_text(grid, "short and in a row: batch them, or make them switchless");
	else if (is_short)
		tp_grid_text(
		    grid, "short: make them switchless, or do the work on the caller's side");
	else if (successive)
		tp_grid_text(grid, "in a row: pass more in each");
	else
		tp_grid_text(grid, "");
}

static void add_row(struct tp_grid *grid, const struct gate *gate)
{
	const struct tp_symbol *symbol = &grid->analysis->functions[gate->function].symbol;
	static const double parts[] = {0.5, 0.99};
	tp_grid_count(grid, gate->calls);
	tp_grid_time(grid, true, gate->total);
	tp_grid_mean(grid, gate->total, gate->calls);
	for (int i = 0; i < 2; i++)
		tp_grid_time(grid, true,
		    tp_histogram_percentile(&gate->times, parts[i], gate->min, gate->max));
	tp_grid_time(grid, true, gate->max);
	const uint64_t parts_of[] = {gate->very_short, gate->shorts, gate->successive};
	for (int i = 0; i < 3; i++)
		if (grid->analysis->time.known)
			tp_grid_share(grid, parts_of[i], gate->calls);
		else
			tp_grid_blank(grid);
	tp_grid_text(grid, symbol->name);
	tp_grid_text(grid, symbol->module);
	add_advice(grid, gate);
}

static int show(struct transitions *transitions, const struct tp_view_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	static const struct tp_column columns[] = {
	    {"calls", "calls", 'r', 0, false, false},
	    {"time", "total_ns", 'r', 0, false, false},
	    {"mean", "mean_ns", 'r', 1, false, false},
	    {"p50", "p50_ns", 'r', 5, false, false},
	    {"p99", "p99_ns", 'r', 4, false, false},
	    {NULL, "max_ns", 'r', 0, false, false},
	    {"<1us", "below_1us", 'r', 6, false, false},
	    {"<10us", "below_10us", 'r', 2, false, false},
	    {"in a row", "successive", 'r', 3, false, false},
	    {"function", "function", 'l', 0, false, true},
	    {NULL, "module", 'l', 0, false, false},
	    {"advice", "advice", 'l', 7, false, false},
	    {0},
	};
	struct tp_grid grid;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < transitions->count; i++) {
		const struct gate gate = transitions->gates[i];
		transitions->gates[i].times = (struct tp_histogram){0};
		if (gate.calls)
			transitions->gates[kept++] = gate;
	}
	transitions->count = kept;
	if (kept)
		qsort(transitions->gates, kept, sizeof(*transitions->gates), compare);
	tp_grid_init(&grid, transitions->analysis, options, columns, "transitions", NULL, out);
	for (uint32_t i = 0; i < kept; i++)
		if (!tp_grid_skips(&grid))
			add_row(&grid, &transitions->gates[i]);
	return tp_grid_end(&grid, 0, err);
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	struct transitions transitions = {
	    .analysis = analysis,
	    .marks = marks,
	    .by_module = options->by_module,
	    .by_side =
		!options->by_module && !options->border_count && tp_analysis_is_joined(analysis),
	    .short_ticks = tp_timebase_ticks(&analysis->time, SHORT_NS),
	    .very_short_ticks = tp_timebase_ticks(&analysis->time, VERY_SHORT_NS),
	};
	int code = choose(analysis, options, transitions.by_side, marks, err);
	if (!code)
		code = count_calls(&transitions, err);
	if (!code)
		code = show(&transitions, options, out, err);
	for (uint32_t i = 0; i < transitions.count; i++)
		tp_histogram_release(&transitions.gates[i].times);
	free(transitions.gates);
	return code;
}

const struct tp_view tp_view_transitions = {
    .name = "transitions",
    .summary = "calls across the border of a TEE, and possible savings",
    .of = TP_VIEW_OF_ANY,
    .timeline = true,
    .records = true,
    .render = render,
};
