// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands above each view: what was recorded, how well, and what limits the meaning of the numbers.
#include "analyzer/output/completeness.h"
#include "analyzer/output/heading_compensation.h"
#include "analyzer/output/heading_rings.h"
#include "analyzer/output/heading_starvation.h"
#include "analyzer/output/heading_unsure.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/text.h"
#include "analyzer/output/heading_joined.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_command(const struct tp_tracefile *trace, struct tp_buf *out)
{
	tp_buf_add_string(out, "program    ");
	const size_t start = out->size;
	for (size_t i = 0; trace->arguments && trace->arguments[i]; i++)
		tp_buf_addf(out, "%s%s", i ? " " : "", trace->arguments[i]);
	if (out->size == start)
		tp_buf_add_string(out, "unknown");
	if (trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_CODE && trace->end.exit_value)
		tp_buf_addf(out, " (exit code %" PRIu32 ")", trace->end.exit_value);
	else if (trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_SIGNAL)
		tp_buf_addf(out, " (killed by signal %" PRIu32 ")", trace->end.exit_value);
	tp_buf_add_char(out, '\n');
}

static const char *clock_name(const struct tp_tracefile *trace)
{
	return trace->has_clock ? tp_timebase_clock_name(trace->clock.kind) : "unknown";
}

static bool is_soft(const struct tp_tracefile *trace)
{
	return trace->has_clock && TEEPERF_CLOCK_IS_SOFT(trace->clock.kind);
}

// Whether the recorder lived to say how the clock did.
static bool has_health(const struct tp_tracefile *trace)
{
	return is_soft(trace) && (trace->clock.stores || trace->clock.max_gap_ns);
}

static void add_clock(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	char part[TP_TEXT_NUMBER];
	const struct teeperf_trace_clock *clock = &analysis->trace->clock;
	tp_buf_addf(out, "clock      %s", clock_name(analysis->trace));
	if (analysis->time.known)
		tp_buf_addf(out, ", %.6g MHz",
		    (double)analysis->time.ticks * 1000 / (double)analysis->time.ns);
	if (is_soft(analysis->trace)) {
		if (clock->period_ns)
			tp_buf_addf(out, ", stored every %s", tp_text_ns(text, clock->period_ns));
		else
			tp_buf_add_string(out, ", stored without a pause");
		if (has_health(analysis->trace))
			tp_buf_addf(out, ", longest gap %s, starved %s of the run",
			    tp_text_ns(text, clock->max_gap_ns),
			    tp_heading_percent(part, analysis->starvation.clock_share));
		else
			tp_buf_add_string(out, ", health unknown");
	}
	tp_buf_add_char(out, '\n');
}

// The size of the log, 0 if unknown.
static uint64_t log_bytes(const struct tp_tracefile *trace)
{
	char text[TP_TEXT_NUMBER];
	if (trace->has_end && trace->end.log_bytes)
		return trace->end.log_bytes;
	return tp_tracefile_host(trace, "log_bytes", text, sizeof(text)) ? strtoull(text, NULL, 10)
									 : 0;
}

// What the recorder chose.
static void add_log(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const uint64_t bytes = log_bytes(trace);
	const char *before = "log        ";
	if (bytes) {
		tp_buf_addf(out, "%s%.4g MiB", before, (double)bytes / (1024 * 1024));
		before = ", ";
	}
	if (tp_tracefile_host(trace, "drain", text, sizeof(text))) {
		tp_buf_addf(out, "%sdrain %s", before, text);
		before = ", ";
	}
	if (tp_tracefile_host(trace, "cores", text, sizeof(text))) {
		tp_buf_addf(out, "%son %s processors", before, text);
		before = ", ";
	}
	if (before[0] == ',')
		tp_buf_add_char(out, '\n');
}

static void add_facts(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	add_command(analysis->trace, out);
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	const struct teeperf_trace_end *end = &analysis->trace->end;
	if (analysis->time.known || end->end_ns > end->start_ns)
		tp_buf_addf(out, "duration   %s\n", tp_text_ns(text, duration));
	else if (!analysis->timeless)
		tp_buf_addf(out, "duration   %s ticks\n", tp_text_count(text, duration));
	else
		tp_buf_add_string(out, "duration   unknown\n");
	tp_buf_addf(out, "threads    %" PRIu32 "\n", analysis->thread_count);
	tp_buf_addf(out, "events     %s, ", tp_text_count(text, analysis->counts.events));
	tp_completeness_add_text(analysis, out);
	tp_buf_add_char(out, '\n');
	add_clock(analysis, out);
	tp_heading_add_processor(analysis, out);
	tp_heading_add_compensation(analysis, out);
	tp_heading_add_unsure(analysis, out);
	add_log(analysis->trace, out);
	tp_heading_add_joined(analysis->trace, out);
}

void tp_view_add_health(const struct tp_analysis *analysis, struct tp_buf *out)
{
	if (is_soft(analysis->trace))
		add_clock(analysis, out);
}

void tp_view_add_header(const struct tp_analysis *analysis, bool only_trouble, struct tp_buf *out)
{
	if (!only_trouble)
		add_facts(analysis, out);
	struct tp_notes notes;
	tp_notes_init(&notes, analysis);
	tp_notes_add_text(&notes, out);
	tp_notes_release(&notes);
	if (!only_trouble)
		tp_buf_add_string(out,
		    "note       functions that are not instrumented are part of their caller's self "
		    "time\n\n");
}

static void add_number(struct tp_buf *out, const char *name, uint64_t number)
{
	tp_buf_addf(out, ",\"%s\":%" PRIu64, name, number);
}

static void add_optional(struct tp_buf *out, const char *name, bool known, uint64_t number)
{
	if (known)
		add_number(out, name, number);
	else
		tp_buf_addf(out, ",\"%s\":null", name);
}

static void add_json_patterns(
    struct tp_buf *out, const char *name, const char *const *patterns, uint32_t count)
{
	tp_buf_addf(out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++) {
		tp_buf_add_string(out, i ? "," : "");
		tp_json_quote(out, patterns[i]);
	}
	tp_buf_add_char(out, ']');
}

// Which part of the trace it is; nothing if it is all of it.
static void add_json_limits(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_timebase *time = &analysis->time;
	const uint64_t origin = analysis->origin;
	if (analysis->one_thread && analysis->thread_count)
		add_number(out, "only_thread", analysis->threads[0].thread->number);
	if (analysis->ranged) {
		add_number(out, "only_from_ns", tp_analysis_at_ns(analysis, analysis->from));
		add_optional(out, "only_to_ns", analysis->to != UINT64_MAX,
		    tp_timebase_ns(time, analysis->to - origin));
	}
	if (analysis->least)
		add_number(out, "only_least_ns", tp_timebase_ns(time, analysis->least));
	if (analysis->depth)
		add_number(out, "only_depth", analysis->depth);
	if (analysis->focus_count)
		add_json_patterns(out, "only_focus", analysis->focus, analysis->focus_count);
	if (analysis->ignore_count)
		add_json_patterns(out, "without", analysis->ignore, analysis->ignore_count);
	if (analysis->left_out_count)
		add_number(out, "left_out_functions", analysis->left_out_count);
	if (analysis->unscaled_count)
		add_number(out, "unscaled_functions", analysis->unscaled_count);
}

static void add_json_host(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	add_optional(out, "log_bytes", log_bytes(trace), log_bytes(trace));
	const bool known = tp_tracefile_host(trace, "cores", text, sizeof(text));
	add_optional(out, "cores", known, known ? strtoull(text, NULL, 10) : 0);
	tp_buf_add_string(out, ",\"drain\":");
	if (tp_tracefile_host(trace, "drain", text, sizeof(text)))
		tp_json_quote(out, text);
	else
		tp_buf_add_string(out, "null");
}

void tp_view_add_json_header(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_tracefile *trace = analysis->trace;
	const struct tp_stack_counts *counts = &analysis->counts;
	const bool health = has_health(trace);
	const bool timed = !analysis->timeless;
	bool at_first;
	const uint32_t switches = tp_gaps_switches(&trace->gaps, &at_first);
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	tp_buf_add_string(out, "\"program\":");
	tp_json_quote(out, tp_tracefile_program(trace));
	tp_buf_addf(
	    out, ",\"unit\":\"%s\",\"clock\":\"%s\"", tp_view_unit(analysis), clock_name(trace));
	add_optional(out, "clock_period_ns", is_soft(trace), trace->clock.period_ns);
	add_optional(out, "clock_max_gap_ns", health, trace->clock.max_gap_ns);
	add_optional(out, "clock_starved_ns", health, trace->clock.starved_ns);
	tp_heading_add_json_starvation(analysis, out);
	tp_heading_add_json_compensation(analysis, out);
	tp_heading_add_json_unsure(analysis, out);
	add_json_host(trace, out);
	add_optional(out, "duration_ns", timed || duration, duration);
	add_optional(out, "recorded_ns", timed, tp_analysis_recorded_ns(analysis));
	tp_buf_addf(out, ",\"off_at_first\":%s", at_first ? "true" : "false");
	add_number(out, "switched_off", switches);
	add_number(out, "cut", counts->cut);
	add_number(out, "began_before", counts->early);
	add_number(out, "dropped", counts->dropped);
	tp_heading_add_json_rings(analysis, out);
	add_number(out, "threads_count", analysis->thread_count);
	add_number(out, "events", counts->events);
	add_number(out, "counted_calls", counts->counted);
	add_number(out, "counted_functions", analysis->counted_count);
	add_number(out, "sampled_functions", analysis->sampled_count);
	add_number(out, "contexts", counts->contexts);
	add_number(out, "contexts_left", counts->left);
	add_number(out, "contexts_moved", counts->moved);
	if (counts->moved)
		add_number(out, "contexts_apart", counts->apart);
	add_number(out, "lost", analysis->lost);
	tp_completeness_add_json(analysis, out);
	add_number(out, "unmatched_enters", counts->unmatched_enters);
	add_number(out, "unmatched_exits", counts->unmatched_exits);
	add_number(out, "unknown_resyncs", counts->unknown_resyncs);
	add_number(out, "open", counts->open);
	add_number(out, "backwards", counts->backwards);
	add_number(out, "holes", counts->holes);
	add_number(out, "chunks", trace->chunk_count);
	add_number(out, "chunk_draws", trace->end.chunk_draws);
	add_number(out, "problems", trace->problems.count + analysis->damage.count);
	add_json_limits(analysis, out);
	tp_buf_add_string(out, ",\"notes\":");
	struct tp_notes notes;
	tp_notes_init(&notes, analysis);
	tp_notes_add_json(&notes, out);
	tp_notes_release(&notes);
	tp_buf_add_char(out, ',');
}
