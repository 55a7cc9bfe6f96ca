// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, analysed: replays the threads in parallel, sums up and names.
#include "analysis.h"

#include "analyzer/profile/analysis_steps.h"
#include "analyzer/profile/estimates.h"
#include "common/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Ticks in all that are some call's own.
static uint64_t own_times(const struct tp_analysis *analysis)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		for (uint32_t j = 0; j < profile->node_count; j++)
			sum += profile->nodes[j].self;
	}
	return sum;
}

static void add_counts(struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		struct tp_thread_result *thread = &analysis->threads[i];
		const struct tp_stack_counts *counts = &thread->counts;
		tp_stack_counts_add(&analysis->counts, counts);
		analysis->compensation.taken += thread->taken;
		analysis->compensation.missing += thread->missing;
		// The thread table knows of losses that no record could be written about.
		analysis->lost +=
		    thread->thread->lost > counts->lost ? thread->thread->lost : counts->lost;
		if (counts->bad_counts)
			tp_problems_add_at(&analysis->damage, TP_ERR_FORMAT,
			    analysis->trace->source.name, thread->bad_counts_offset,
			    "the chunk counts more functions than it or a record can hold; the "
			    "rest of it is not used (thread %" PRIu32 " has %" PRIu64
			    " such records)",
			    thread->thread->number, counts->bad_counts);
		if (thread->code)
			tp_problems_add_at(&analysis->damage, thread->code, thread->err.file,
			    thread->err.offset, "%s", thread->err.what);
	}
	if (analysis->compensation.taken && !own_times(analysis))
		tp_problems_add(&analysis->notes, TP_ERR_LIMIT, analysis->trace->source.name,
		    "every call took less time than recording it cost, so no time is left: "
		    "--raw shows times as recorded");
	if (analysis->trace->has_end)
		analysis->lost += analysis->trace->end.lost_overflow;
}

static int select_threads(struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_analysis_options *options = &analysis->options;
	const struct tp_tracefile *trace = analysis->trace;
	analysis->threads =
	    calloc(trace->thread_count ? trace->thread_count : 1, sizeof(*analysis->threads));
	if (!analysis->threads)
		return tp_err_set(err, TP_ERR_MEMORY, trace->source.name,
		    "out of memory while replaying %u threads", trace->thread_count);
	for (uint32_t i = 0; i < trace->thread_count; i++)
		if (!options->one_thread || trace->threads[i].number == options->thread)
			analysis->threads[analysis->thread_count++].thread = &trace->threads[i];
	if (options->one_thread && !analysis->thread_count)
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "unknown thread %u; --view threads lists them", options->thread);
	return 0;
}

static int name_functions(struct tp_analysis *analysis, struct tp_err *err)
{
	const uint32_t count = analysis->function_count;
	struct tp_symbol *symbols = calloc(count + (size_t)1, sizeof(*symbols));
	struct tp_symbol_key *keys = calloc(count + (size_t)1, sizeof(*keys));
	int code = TP_ERR_MEMORY;
	if (!symbols || !keys) {
		tp_err_set(err, code, analysis->trace->source.name,
		    "out of memory while naming %u functions", count);
		goto out;
	}
	for (uint32_t i = 0; i < count; i++)
		keys[i] = analysis->functions[i].key;
	code = tp_symbols_resolve(analysis->trace, &analysis->options.symbols, keys, count, symbols,
	    &analysis->arena, &analysis->notes, err);
	for (uint32_t i = 0; !code && i < count; i++)
		analysis->functions[i].symbol = symbols[i];
out:
	free(symbols);
	free(keys);
	return code;
}

/*
 * The range between marks that was asked for, as nanoseconds since the first record: whole ones,
 * with the very tick of each mark in them or at their end, so that the same numbers choose the
 * same.
 */
static int find_marks(struct tp_analysis *analysis, struct tp_err *err)
{
	struct tp_analysis_options *options = &analysis->options;
	const struct tp_timebase *time = &analysis->time;
	struct tp_marks marks;
	uint64_t from = 0;
	uint64_t to = UINT64_MAX;
	int code = tp_marks_read(&marks, analysis->trace, NULL, err);
	if (!code)
		code = tp_marks_range(
		    &marks, options->marks, analysis->trace->source.name, &from, &to, err);
	tp_marks_release(&marks);
	if (code)
		return code;
	// A mark from outside may be before the first record.
	from = from > analysis->origin ? from - analysis->origin : 0;
	options->from_ns = tp_timebase_ns(time, from);
	while (options->from_ns && tp_timebase_ticks(time, options->from_ns) > from)
		options->from_ns--;
	options->to_ns = 0;
	if (to == UINT64_MAX)
		return 0;
	if (to <= analysis->origin)
		return tp_err_set(err, TP_ERR_NOT_FOUND, analysis->trace->source.name,
		    "--time-range: the range 'mark:%s' ends before the first record",
		    options->marks);
	to -= analysis->origin;
	options->to_ns = tp_timebase_ns(time, to);
	while (options->to_ns < UINT64_MAX && tp_timebase_ticks(time, options->to_ns) < to)
		options->to_ns++;
	return 0;
}

// The origin of times, and the range of those that were asked for.
static int set_range(struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_analysis_options *options = &analysis->options;
	const struct tp_tracefile *trace = analysis->trace;
	analysis->origin = UINT64_MAX;
	for (uint32_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].chunk_count &&
		    trace->threads[i].chunks[0].first_time < analysis->origin)
			analysis->origin = trace->threads[i].chunks[0].first_time;
	if (analysis->origin == UINT64_MAX)
		analysis->origin = 0;
	analysis->to = UINT64_MAX;
	if (analysis->timeless &&
	    (options->from_ns || options->to_ns || options->least_ns || options->marks))
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "recorded without a clock, so there are no times to select by");
	const int code = options->marks ? find_marks(analysis, err) : 0;
	if (code)
		return code;
	if (options->from_ns || options->to_ns) {
		analysis->from = tp_add_capped(
		    analysis->origin, tp_timebase_ticks(&analysis->time, options->from_ns));
		if (options->to_ns)
			analysis->to = tp_add_capped(
			    analysis->origin, tp_timebase_ticks(&analysis->time, options->to_ns));
		// 0 is the start of all; a range from there on is without what was open before.
		analysis->ranged = true;
	}
	if (options->since && !analysis->ranged) {
		analysis->from = options->since;
		analysis->ranged = true;
	}
	analysis->least = tp_timebase_ticks(&analysis->time, options->least_ns);
	return 0;
}

int tp_analysis_marks(
    const struct tp_analysis *analysis, struct tp_marks *marks, struct tp_err *err)
{
	const struct tp_tracefile *trace = analysis->trace;
	// A range ends early, or its first records were replayed with another range; and kept
	// results may come from an earlier pass.
	const bool whole = !analysis->ranged && !analysis->options.kept;
	bool *wanted = calloc(trace->thread_count + (size_t)1, sizeof(*wanted));
	*marks = (struct tp_marks){0};
	if (!wanted)
		return tp_err_memory(err, trace->source.name);
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *result = &analysis->threads[i];
		wanted[result->thread - trace->threads] =
		    !whole || result->code || result->counts.marks || result->counts.phase_ends;
	}
	const int code = tp_marks_read(marks, trace, wanted, err);
	free(wanted);
	return code;
}

int tp_analysis_check_parts(const struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_tracefile *trace = analysis->trace;
	const struct tp_thread *unknown = NULL;
	uint32_t known = 0;
	char why[160];
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		known += thread->off != NULL;
		if (thread->chunk_count && !thread->off && !unknown)
			unknown = thread;
	}
	if (known && !unknown)
		return 0;
	tp_analysis_why_no_parts(trace, why, sizeof(why));
	if (!known)
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "has wall time only, not running and waiting times: %s", why);
	return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
	    "has no running and waiting times for thread %" PRIu32
	    ": select another one with --thread",
	    unknown->number);
}

void tp_analysis_why_no_parts(const struct tp_tracefile *trace, char *why, size_t size)
{
	char value[160];
	const bool asked = tp_tracefile_host(trace, "sched", value, sizeof(value));
	char ids[16] = "";
	tp_tracefile_host(trace, "ids", ids, sizeof(ids));
	if (!strcmp(ids, "virtual") && trace->sched.thread_count)
		snprintf(why, size,
		    trace->sched.lost
			? "some switches of the host's threads were lost, and the others do not "
			  "identify its threads"
			: "its thread numbers are not the host's, and the times of several host "
			  "threads match");
	else if (ids[0] && (!asked || trace->sched.any))
		snprintf(why, size, "its thread numbers are not the host's");
	else if (!asked)
		snprintf(why, size, "%s",
		    trace->sched.any
			? "its clock has no time in common with the host's"
			: "it was recorded without them, as with 'record --sched off'");
	else if (strcmp(value, "perf") != 0)
		snprintf(why, size, "%s", value);
	else
		snprintf(why, size, "%s",
		    trace->sched.thread_count ? "the kernel reported none of them"
					      : "the kernel reported none of its threads");
}

/*
 * Which records count depends on the functions' names, if not all of them were always recorded
 * (SELECTS); and so does what each costs. Both are known before the replay by the names alone.
 */
static int prepare(struct tp_analysis *analysis, bool selects, bool costs, struct tp_err *err)
{
	const struct tp_problems notes = analysis->notes;
	int code = tp_functions_named(analysis, err);
	if (!code)
		code = name_functions(analysis, err);
	if (!code && selects)
		code = tp_functions_select(analysis, err);
	if (code)
		return code;
	bool failed = (selects && !tp_selected_names_init(analysis)) ||
		      (costs && !tp_measured_names_init(analysis));
	if (!failed && selects)
		analysis->estimates = tp_estimates_new(analysis, &failed);
	free(analysis->functions);
	analysis->functions = NULL;
	analysis->function_count = 0;
	analysis->notes = notes;
	return failed ? tp_err_memory(err, analysis->trace->source.name) : 0;
}

int tp_analysis_init(struct tp_analysis *analysis, const struct tp_tracefile *trace,
    const struct tp_analysis_options *options, struct tp_err *err)
{
	*analysis = (struct tp_analysis){
	    .trace = trace,
	    .options = *options,
	    .timeless = trace->has_clock && trace->clock.kind == TEEPERF_CLOCK_NONE,
	};
	tp_arena_init(&analysis->arena);
	tp_timebase_init(&analysis->time, &trace->clock, trace->points);
	int code = select_threads(analysis, err);
	if (!code)
		code = options->time ? tp_analysis_check_parts(analysis, err) : 0;
	if (!code)
		code = set_range(analysis, err);
	if (code)
		return code;
	tp_compensation_init(&analysis->compensation, trace, &analysis->time, &analysis->notes);
	analysis->compensation.applied =
	    options->compensate && analysis->compensation.known && !analysis->compensation.absurd;
	const bool selects = trace->selections.count && !analysis->timeless;
	const bool costs = analysis->compensation.applied && options->costs;
	code = selects || costs ? prepare(analysis, selects, costs, err) : 0;
	if (!code)
		code = tp_replay_all(analysis, err);
	if (!code && !tp_functions_list(analysis))
		code = tp_err_memory(err, trace->source.name);
	if (!code)
		code = name_functions(analysis, err);
	if (!code && selects)
		code = tp_functions_select(analysis, err);
	if (!code && costs)
		tp_functions_measure(analysis);
	if (!code)
		code = tp_filter_apply(analysis, err);
	if (code)
		return code;
	tp_starvation_init(&analysis->starvation, trace, &analysis->time,
	    tp_analysis_duration_ns(analysis),
	    options->one_thread ? analysis->threads[0].thread : NULL);
	tp_functions_add(analysis);
	add_counts(analysis);
	const bool estimated = tp_estimates_make(analysis);
	tp_estimates_release(analysis->estimates);
	analysis->estimates = NULL;
	return estimated ? 0 : tp_err_memory(err, trace->source.name);
}

void tp_analysis_release(struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		tp_profile_release(&analysis->threads[i].profile);
		tp_call_counts_release(&analysis->threads[i].calls);
		free(analysis->threads[i].functions);
		free(analysis->threads[i].open);
	}
	for (uint32_t i = 0; i < analysis->function_count; i++)
		tp_histogram_release(&analysis->functions[i].times);
	tp_estimates_release(analysis->estimates);
	free(analysis->threads);
	free(analysis->functions);
	tp_arena_release(&analysis->arena);
	memset(analysis, 0, sizeof(*analysis));
}

// Ticks of the first and the last timed event; false: there is none.
static bool find_span(const struct tp_analysis *analysis, uint64_t *first, uint64_t *last)
{
	*first = UINT64_MAX;
	*last = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		if (thread->first < *first)
			*first = thread->first;
		if (thread->last > *last)
			*last = thread->last;
	}
	return *last >= *first;
}

uint64_t tp_analysis_last(const struct tp_analysis *analysis)
{
	uint64_t first;
	uint64_t last;
	return find_span(analysis, &first, &last) ? last : 0;
}

struct tp_off tp_thread_off(const struct tp_thread_result *thread)
{
	uint32_t at = 0;
	if (!thread->thread->off || thread->first == UINT64_MAX)
		return (struct tp_off){0};
	return tp_off_between(thread->thread->off, &at, thread->first, thread->last);
}

uint64_t tp_analysis_at_ns(const struct tp_analysis *analysis, uint64_t ticks)
{
	return ticks > analysis->origin ? tp_timebase_ns(&analysis->time, ticks - analysis->origin)
					: 0;
}

uint64_t tp_analysis_duration_ns(const struct tp_analysis *analysis)
{
	const struct teeperf_trace_end *end = &analysis->trace->end;
	if (!analysis->ranged && analysis->trace->has_end && end->end_ns > end->start_ns)
		return end->end_ns - end->start_ns;
	uint64_t first;
	uint64_t last;
	return find_span(analysis, &first, &last) ? tp_timebase_ns(&analysis->time, last - first)
						  : 0;
}

double tp_analysis_selected_share(
    const struct tp_analysis *analysis, const struct tp_function *function)
{
	uint64_t first;
	uint64_t last;
	const struct tp_selected *selected = function->selected;
	if (!selected || !find_span(analysis, &first, &last) || first == last)
		return 1;
	uint64_t sum = 0;
	uint64_t from = first;
	for (uint32_t i = tp_selected_moves(selected, first); from < last; i++) {
		const uint64_t move = i < selected->count ? selected->moves[i] : last;
		const uint64_t to = move < last ? move : last;
		sum += selected->at_first ^ (i & 1) ? to - from : 0;
		from = to;
	}
	return (double)sum / (double)(last - first);
}

uint64_t tp_analysis_recorded_ns(const struct tp_analysis *analysis)
{
	const struct tp_timebase *time = &analysis->time;
	const struct teeperf_trace_end *end = &analysis->trace->end;
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	// The run, by the recorder's clock if that clock can also convert the times of switches.
	uint64_t first;
	uint64_t last;
	uint64_t start = end->start_ns;
	uint64_t stop = end->end_ns;
	if (analysis->ranged || !time->has_origin || stop <= start) {
		if (!find_span(analysis, &first, &last))
			return duration;
		start = tp_timebase_at(time, first);
		stop = tp_timebase_at(time, last);
	}
	uint64_t off = 0;
	for (uint32_t i = 0; i < analysis->trace->gaps.count; i++) {
		const struct tp_gap *gap = &analysis->trace->gaps.items[i];
		uint64_t from = gap->from ? tp_timebase_at(time, gap->from) : start;
		uint64_t to = gap->to != UINT64_MAX ? tp_timebase_at(time, gap->to) : stop;
		from = from > start ? from : start;
		to = to < stop ? to : stop;
		off += to > from ? to - from : 0;
	}
	return off < duration ? duration - off : 0;
}

bool tp_analysis_is_inside(const struct tp_analysis *analysis, const struct tp_symbol *symbol)
{
	const struct tp_module_map *map = &analysis->trace->map;
	return symbol->place < map->count && map->modules[symbol->place].flags & TEEPERF_MODULE_TEE;
}

bool tp_analysis_is_joined(const struct tp_analysis *analysis)
{
	const struct tp_module_map *map = &analysis->trace->map;
	bool joined = false;
	for (uint32_t i = 0; i < map->count; i++)
		joined |= (map->modules[i].flags & TEEPERF_MODULE_TEE) != 0;
	return joined;
}

const struct tp_function *tp_analysis_function(const struct tp_analysis *analysis,
    const struct tp_thread_result *thread, const struct tp_node *node)
{
	return &analysis->functions[thread->functions[node->function]];
}

uint64_t tp_analysis_overwritten(const struct tp_analysis *analysis, const struct tp_thread *thread)
{
	const uint64_t chunk_size = UINT64_C(1) << analysis->trace->header.chunk_shift;
	return thread->overwritten * ((chunk_size - sizeof(struct teeperf_chunk)) / 8);
}
