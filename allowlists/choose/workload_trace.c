// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of a program's functions from a trace, and what its events cost taken off.
#include "common/array.h"
#include "allowlists/choose/workload.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

// Among this many calls, the shortest one is a call that does nothing.
#define MANY_CALLS 1000
// About half of what a pair costs lies between its two looks at the clock; never more than ...
#define IN_PART 0.5
#define IN_PART_MAX 0.75
// No run is believed to have been less than this part of what was measured.
#define TIME_PART_MIN 0.05
// Recording that was switched on for less of the time says nothing of all processor time.
#define RECORDED_MIN 0.99

static int no_memory(const struct tp_analysis *analysis, struct tp_err *err)
{
	return tp_err_memory(err, analysis->trace->source.name);
}

static double to_ns(const struct tp_analysis *analysis, uint64_t ticks)
{
	return (double)ticks * (double)analysis->time.ns / (double)analysis->time.ticks;
}

static bool has_hard_clock(const struct tp_analysis *analysis)
{
	const uint32_t kind = analysis->trace->clock.kind;
	return analysis->trace->has_clock && kind != TEEPERF_CLOCK_NONE &&
	       !TEEPERF_CLOCK_IS_SOFT(kind);
}

static const char *copy_text(struct tp_workload *workload, const char *text)
{
	const char *copy = tp_arena_copy(&workload->arena, text, strlen(text));
	return copy ? copy : "";
}

// The workload's function for one of the trace, with its names; NONE: no memory.
static uint32_t add_function(struct tp_workload *workload, const struct tp_symbol *symbol)
{
	const bool nameless = !symbol->raw[0];
	const uint32_t at = tp_workload_add(workload, nameless ? symbol->name : symbol->raw);
	if (at == NONE)
		return NONE;
	struct tp_workload_function *function = &workload->functions[at];
	function->nameless = nameless;
	if (!function->definitions++) {
		if (strcmp(symbol->name, function->name) != 0)
			function->demangled = copy_text(workload, symbol->name);
		function->file = copy_text(workload, symbol->file);
		function->line = symbol->line;
	}
	return at;
}

static void add_times(struct tp_workload *workload, const struct tp_analysis *analysis,
    struct tp_workload_function *function, const struct tp_function *from)
{
	const uint64_t timed = tp_function_timed(from);
	if (!timed)
		return;
	const double min_ns = to_ns(analysis, from->min);
	if (!function->timed || min_ns < function->min_ns)
		function->min_ns = min_ns;
	function->timed += timed;
	// Sampled in one module, and with events in another: as if it were sampled everywhere.
	if (from->sampled)
		function->scale = (double)from->calls / (double)timed;
	function->raw_self_ns += to_ns(analysis, from->self);
	function->quality = TP_QUALITY_EVENTS;
	workload->pairs += timed;
}

static struct tp_workload_thread *add_thread(struct tp_workload *workload)
{
	const size_t size =
	    ((size_t)workload->thread_time_count + 1) * sizeof(*workload->thread_times);
	struct tp_workload_thread *threads = realloc(workload->thread_times, size);
	if (!threads)
		return NULL;
	workload->thread_times = threads;
	return &threads[workload->thread_time_count++];
}

static void add_off(
    const struct tp_analysis *analysis, const struct tp_off *off, struct tp_workload_node *node)
{
	node->delayed_ns = to_ns(analysis, off->preempted);
	node->off_ns = to_ns(analysis, off->blocked) + node->delayed_ns;
}

// The call paths of one thread. FUNCTIONS: the workload's, for each function of the analysis.
static bool add_paths(struct tp_workload *workload, const struct tp_analysis *analysis,
    const struct tp_thread_result *thread, const uint32_t *functions)
{
	const struct tp_profile *profile = &thread->profile;
	if (profile->node_count < 2)
		return true;
	struct tp_workload_thread *times = add_thread(workload);
	const uint64_t nodes = (uint64_t)workload->node_count + profile->node_count - 1;
	if (!times || !TP_GROW(workload->nodes, workload->node_capacity, nodes))
		return false;
	// Node 0, the thread, is left out: node i becomes first + i - 1.
	const uint32_t first = workload->node_count;
	*times = (struct tp_workload_thread){
	    .first_node = first,
	    .node_count = profile->node_count - 1,
	    .first_ns = (double)tp_analysis_at_ns(analysis, thread->first),
	    .last_ns = (double)tp_analysis_at_ns(analysis, thread->last),
	    .cpu_ns = thread->thread->has_cpu ? (double)thread->thread->cpu_ns : 0,
	    .delay_ns = thread->thread->has_delay ? (double)thread->thread->delay_ns : 0,
	    .tells = profile->parts_of && !analysis->trace->sched.lost,
	};
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct tp_node *node = &profile->nodes[i];
		const uint32_t at = first + i - 1;
		const uint32_t parent = node->parent ? first + node->parent - 1 : at;
		workload->nodes[at] = (struct tp_workload_node){
		    .function = functions[thread->functions[node->function]],
		    .parent = parent,
		    .calls = node->calls,
		    .self_ns = to_ns(analysis, node->self),
		};
		if (profile->parts_of) {
			const struct tp_off off = tp_profile_parts(profile, i).self_off;
			add_off(analysis, &off, &workload->nodes[at]);
		}
		times->pairs += node->calls;
		times->raw_ns += workload->nodes[at].self_ns;
		if (parent == at)
			continue;
		workload->nodes[parent].child_calls += node->calls;
		workload->functions[workload->nodes[parent].function].child_calls += node->calls;
	}
	workload->node_count += profile->node_count - 1;
	return true;
}

double tp_workload_cpu_ns(const struct tp_analysis *analysis)
{
	const struct teeperf_trace_cpu *cpu = &analysis->trace->cpu;
	const double duration_ns = (double)tp_analysis_duration_ns(analysis);
	const double recorded_ns = (double)tp_analysis_recorded_ns(analysis);
	if (!(cpu->flags & (TEEPERF_CPU_EXACT | TEEPERF_CPU_AT_LEAST)) || analysis->ranged ||
	    recorded_ns < duration_ns * RECORDED_MIN)
		return 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		if (analysis->threads[i].thread->overwritten)
			return 0;
	return (double)cpu->cpu_ns;
}

int tp_workload_add_trace(struct tp_workload *workload, const struct tp_analysis *analysis,
    bool times, struct tp_err *err)
{
	uint32_t *functions = malloc(((size_t)analysis->function_count + 1) * sizeof(*functions));
	int code = no_memory(analysis, err);
	if (!functions)
		goto out;
	// Exact calls replace those that another trace had.
	for (uint32_t i = 0; i < workload->function_count; i++) {
		workload->functions[i].calls = 0;
		workload->functions[i].definitions = 0;
	}
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_function *from = &analysis->functions[i];
		functions[i] = add_function(workload, &from->symbol);
		if (functions[i] == NONE)
			goto out;
		struct tp_workload_function *function = &workload->functions[functions[i]];
		function->calls += from->calls;
		if (times)
			add_times(workload, analysis, function, from);
	}
	uint32_t threads = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		threads += thread->counts.events || thread->calls.count;
		if (times && !add_paths(workload, analysis, thread, functions))
			goto out;
	}
	workload->threads = threads;
	if (times || workload->measured_ns <= 0) {
		workload->measured_ns = (double)tp_analysis_recorded_ns(analysis);
		workload->hard_clock = has_hard_clock(analysis);
		workload->cpu_ns = tp_workload_cpu_ns(analysis);
	}
	code = 0;
out:
	free(functions);
	return code;
}

// What a call with its events takes that does nothing, as its own clock reads show it.
static double estimate_in(const struct tp_workload *workload, double event_ns)
{
	double least = event_ns;
	for (uint32_t i = 0; i < workload->function_count; i++) {
		const struct tp_workload_function *function = &workload->functions[i];
		if (function->timed >= MANY_CALLS && function->min_ns < least)
			least = function->min_ns;
	}
	// More than that, and no function is called often that does nothing.
	return workload->hard_clock && least <= IN_PART_MAX * event_ns ? least : IN_PART * event_ns;
}

static double less(double raw, double cost)
{
	return raw > cost ? raw - cost : 0;
}

// What events cost, off the paths' own times.
static void compensate_paths(struct tp_workload *workload, double in_ns, double out_ns)
{
	for (uint32_t i = 0; i < workload->node_count; i++) {
		struct tp_workload_node *node = &workload->nodes[i];
		node->self_ns = less(node->self_ns,
		    (double)node->calls * in_ns + (double)node->child_calls * out_ns);
	}
}

// Of a sampled function most calls are part of its callers' own time, where BORROWED says how much.
static void lend(struct tp_workload *workload, double *borrowed)
{
	// Children come behind their parents, which so have been seen when they lend.
	for (uint32_t i = 0; i < workload->node_count; i++) {
		struct tp_workload_node *node = &workload->nodes[i];
		const double more = node->self_ns * (workload->functions[node->function].scale - 1);
		node->self_ns += more;
		if (node->parent == i || more <= 0)
			continue;
		struct tp_workload_node *parent = &workload->nodes[node->parent];
		parent->self_ns = less(parent->self_ns, more);
		borrowed[parent->function] += more;
	}
}

// The paths of a function make up its time; where one was cut at 0, the others make up for it.
static void scale_paths(struct tp_workload *workload, double *sums)
{
	for (uint32_t i = 0; i < workload->node_count; i++)
		sums[workload->nodes[i].function] += workload->nodes[i].self_ns;
	for (uint32_t i = 0; i < workload->node_count; i++) {
		struct tp_workload_node *node = &workload->nodes[i];
		if (sums[node->function] > 0)
			node->self_ns *=
			    workload->functions[node->function].self_ns / sums[node->function];
	}
}

int tp_workload_compensate(struct tp_workload *workload, struct tp_cost *cost, bool *believed)
{
	const uint32_t count = workload->function_count;
	double *sums = calloc(4 * ((size_t)count + 1), sizeof(*sums));
	if (!sums)
		return TP_ERR_MEMORY;
	double *borrowed = sums + count;
	double *kept = borrowed + count;
	double *sure = kept + count;
	int code = TP_ERR_MEMORY;
	double event_ns = cost->event_ns;
	const bool by_cpu = workload->cpu_ns > 0;
	const double run_ns = tp_workload_run_ns(workload);
	const double events_ns =
	    by_cpu ? (double)workload->pairs * event_ns : tp_workload_events_ns(workload, event_ns);
	if (events_ns < 0)
		goto out;
	const double least = run_ns * TIME_PART_MIN;
	workload->time_ns = less(run_ns, events_ns);
	*believed = workload->time_ns >= least;
	if (!*believed) {
		workload->time_ns = least;
		event_ns *= (run_ns - least) / events_ns;
	}
	double in_ns = cost->event_in_ns;
	if (in_ns <= 0)
		cost->event_in_ns = in_ns = estimate_in(workload, event_ns);
	const double out_ns = less(event_ns, in_ns);
	compensate_paths(workload, in_ns, out_ns);
	code = tp_workload_take_waiting(workload, kept, sure);
	if (code)
		goto out;
	lend(workload, borrowed);
	for (uint32_t i = 0; i < count; i++) {
		struct tp_workload_function *function = &workload->functions[i];
		const double own = less(function->raw_self_ns,
		    (double)function->timed * in_ns + (double)function->child_calls * out_ns);
		const double all = less(own * kept[i] * function->scale, borrowed[i]);
		function->self_ns = all;
		function->sure_ns = kept[i] > 0 ? all * sure[i] / kept[i] : 0;
	}
	scale_paths(workload, sums);
	code = 0;
out:
	free(sums);
	return code;
}
