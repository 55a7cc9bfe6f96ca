// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What headings say, in JSON.
#include "heading.h"

#include "analyzer/output/completeness.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/view.h"

#include <math.h>
#include <stdlib.h>

static void add_patterns(
    struct tp_json *json, const char *name, const char *const *patterns, uint32_t count)
{
	if (!count)
		return;
	tp_json_array(json, name);
	for (uint32_t i = 0; i < count; i++)
		tp_json_text(json, NULL, patterns[i]);
	tp_json_end(json);
}

static void add_if_any(struct tp_json *json, const char *name, uint64_t number)
{
	if (number)
		tp_json_uint(json, name, number);
}

// Which part of the trace it is; nothing if it is all of it.
static void add_limits(struct tp_json *json, const struct tp_analysis *analysis)
{
	const struct tp_timebase *time = &analysis->time;
	if (analysis->one_thread && analysis->thread_count)
		tp_json_uint(json, "only_thread", analysis->threads[0].thread->number);
	if (analysis->ranged) {
		tp_json_uint(json, "only_from_ns", tp_analysis_at_ns(analysis, analysis->from));
		tp_json_uint_if(json, "only_to_ns", analysis->to != UINT64_MAX,
		    tp_timebase_ns(time, analysis->to - analysis->origin));
	}
	if (analysis->least)
		tp_json_uint(json, "only_least_ns", tp_timebase_ns(time, analysis->least));
	add_if_any(json, "only_depth", analysis->depth);
	add_patterns(json, "only_focus", analysis->focus, analysis->focus_count);
	add_patterns(json, "without", analysis->ignore, analysis->ignore_count);
	add_if_any(json, "left_out_functions", analysis->left_out_count);
	add_if_any(json, "unscaled_functions", analysis->unscaled_count);
}

static void add_starvation(struct tp_json *json, const struct tp_starvation *starvation)
{
	tp_json_uint_if(json, "processor_ns", starvation->has_cpu, starvation->cpu_ns);
	tp_json_uint_if(json, "processor_delay_ns", starvation->has_delay, starvation->delay_ns);
	tp_json_real(
	    json, "processor_share", 6, starvation->has_delay ? 1 - starvation->delay_share : NAN);
}

static void add_cost(struct tp_json *json, const char *name, bool known, uint64_t ps)
{
	tp_json_real(json, name, 3, known ? (double)ps / 1000 : NAN);
}

static void add_compensation(struct tp_json *json, const struct tp_analysis *analysis)
{
	const struct tp_compensation *compensation = &analysis->compensation;
	const bool known = compensation->known;
	tp_json_text(json, "times", compensation->applied ? "compensated" : "recorded");
	add_cost(json, "cost_in_ns", known, compensation->in_ps);
	add_cost(json, "cost_out_ns", known, compensation->out_ps);
	add_cost(json, "cost_untimed_ns", known, compensation->untimed_ps);
	add_cost(json, "cost_in_off_ns", compensation->bounded, compensation->in_off_ps);
	add_cost(json, "cost_out_off_ns", compensation->bounded, compensation->out_off_ps);
	add_cost(json, "cost_wait_ns", known && compensation->period_ns && compensation->wait_ps,
	    compensation->wait_ps);
	tp_json_uint(json, "taken_ns", tp_timebase_ns(&analysis->time, compensation->taken));
	tp_json_uint(json, "missing_ns", tp_timebase_ns(&analysis->time, compensation->missing));
}

static void add_host(struct tp_json *json, const struct tp_tracefile *trace)
{
	char text[TP_TEXT_NUMBER];
	const uint64_t bytes = tp_heading_log_bytes(trace);
	tp_json_uint_if(json, "log_bytes", bytes, bytes);
	const bool known = tp_tracefile_host(trace, "cores", text, sizeof(text));
	tp_json_uint_if(json, "cores", known, known ? strtoull(text, NULL, 10) : 0);
	tp_json_text(
	    json, "drain", tp_tracefile_host(trace, "drain", text, sizeof(text)) ? text : NULL);
}

// Of a flight recorder.
static void add_rings(struct tp_json *json, const struct tp_analysis *analysis)
{
	uint64_t records = 0;
	uint64_t threads = 0;
	if (!analysis->trace->rings)
		return;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		records += tp_analysis_overwritten(analysis, thread);
		threads += thread->overwritten && !thread->chunk_count;
	}
	tp_json_uint(json, "overwritten_records", records);
	tp_json_uint(json, "overwritten_threads", threads);
	tp_json_uint(json, "began_in_overwritten", analysis->counts.overwritten);
}

void tp_view_add_json(struct tp_json *json, const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	const struct tp_stack_counts *counts = &analysis->counts;
	const bool health = tp_heading_has_health(trace);
	const bool timed = !analysis->timeless;
	bool at_first;
	const uint32_t switches = tp_gaps_switches(&trace->gaps, &at_first);
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	tp_json_text(json, "program", tp_tracefile_program(trace));
	tp_json_text(json, "unit", tp_view_unit(analysis));
	tp_json_text(json, "clock", tp_heading_clock_name(trace));
	tp_json_uint_if(json, "clock_period_ns", tp_heading_is_soft(trace), trace->clock.period_ns);
	tp_json_uint_if(json, "clock_max_gap_ns", health, trace->clock.max_gap_ns);
	tp_json_uint_if(json, "clock_starved_ns", health, trace->clock.starved_ns);
	add_starvation(json, &analysis->starvation);
	add_compensation(json, analysis);
	add_host(json, trace);
	tp_json_uint_if(json, "duration_ns", timed || duration, duration);
	tp_json_uint_if(json, "recorded_ns", timed, tp_analysis_recorded_ns(analysis));
	tp_json_bool(json, "off_at_first", at_first);
	tp_json_uint(json, "switched_off", switches);
	tp_json_uint(json, "cut", counts->cut);
	tp_json_uint(json, "began_before", counts->early);
	tp_json_uint(json, "dropped", counts->dropped);
	add_rings(json, analysis);
	tp_json_uint(json, "threads_count", analysis->thread_count);
	tp_json_uint(json, "events", counts->events);
	tp_json_uint(json, "counted_calls", counts->counted);
	tp_json_uint(json, "counted_functions", analysis->counted_count);
	tp_json_uint(json, "sampled_functions", analysis->sampled_count);
	tp_json_uint(json, "contexts", counts->contexts);
	tp_json_uint(json, "contexts_left", counts->left);
	tp_json_uint(json, "contexts_moved", counts->moved);
	if (counts->moved)
		tp_json_uint(json, "contexts_apart", counts->apart);
	tp_json_uint(json, "lost", analysis->lost);
	tp_completeness_add_json(json, analysis);
	tp_json_uint(json, "unmatched_enters", counts->unmatched_enters);
	tp_json_uint(json, "unmatched_exits", counts->unmatched_exits);
	tp_json_uint(json, "unknown_resyncs", counts->unknown_resyncs);
	tp_json_uint(json, "open", counts->open);
	tp_json_uint(json, "backwards", counts->backwards);
	tp_json_uint(json, "holes", counts->holes);
	tp_json_uint(json, "chunks", trace->chunk_count);
	tp_json_uint(json, "chunk_draws", trace->end.chunk_draws);
	tp_json_uint(json, "problems", trace->problems.count + analysis->damage.count);
	add_limits(json, analysis);
	struct tp_notes notes;
	tp_notes_init(&notes, analysis);
	tp_notes_add_json(&notes, json);
	tp_notes_release(&notes);
}
