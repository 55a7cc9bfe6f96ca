// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands above each view: what was recorded, how well, and what limits the meaning of the numbers.
#include "analyzer/completeness.h"
#include "analyzer/heading_compensation.h"
#include "analyzer/heading_rings.h"
#include "analyzer/heading_starvation.h"
#include "analyzer/heading_unsure.h"
#include "analyzer/text.h"
#include "analyzer/heading_joined.h"
#include "analyzer/view.h"

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

// What `record --only` left out.
static void add_only(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char all[TP_TEXT_NUMBER];
	char left_out[TP_TEXT_NUMBER];
	if (tp_tracefile_host(trace, "functions", all, sizeof(all)) &&
	    tp_tracefile_host(trace, "functions_left_out", left_out, sizeof(left_out)))
		tp_buf_addf(out, "left out   %s of %s instrumented functions, by 'record --only'\n",
		    left_out, all);
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

// How often recording was switched off while the program ran; *at_first: it began switched off.
static uint32_t count_switches(const struct tp_tracefile *trace, bool *at_first)
{
	*at_first = trace->gaps.count && trace->gaps.items[0].from == 0;
	return trace->gaps.count - *at_first;
}

static void add_switches(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	char all[TP_TEXT_NUMBER];
	bool at_first;
	const uint32_t count = count_switches(analysis->trace, &at_first);
	if (!count && !at_first)
		return;
	const uint64_t recorded = tp_analysis_recorded_ns(analysis);
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	tp_buf_add_string(out, "recorded   ");
	if (analysis->time.known && !analysis->timeless)
		tp_buf_addf(
		    out, "%s of %s: ", tp_text_ns(text, recorded), tp_text_ns(all, duration));
	else if (!analysis->timeless)
		tp_buf_addf(out, "%s of %s ticks: ", tp_text_count(text, recorded),
		    tp_text_count(all, duration));
	tp_buf_add_string(out, at_first ? "off at first" : "");
	if (count)
		tp_buf_addf(out, "%sswitched off %s time%s", at_first ? ", " : "",
		    tp_text_count(text, count), count == 1 ? "" : "s");
	tp_buf_add_string(out,
	    analysis->timeless
		? "; without a clock nothing tells which calls were running then, so that call paths "
		  "may be wrong\n"
		: "; times and shares are of what was recorded\n");
}

// Processes of which nothing is in the trace.
static void add_left_out_processes(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	if (trace->has_end && trace->end.forked)
		tp_buf_addf(out, "forked     %s child%s not recorded: see 'record --follow-fork'\n",
		    tp_text_count(text, trace->end.forked),
		    trace->end.forked == 1 ? " was" : "ren were");
	if (trace->has_end && trace->end.refused)
		tp_buf_addf(out, "refused    %s more instrumented process%s not recorded\n",
		    tp_text_count(text, trace->end.refused),
		    trace->end.refused == 1 ? " was" : "es were");
}

static void add_missed(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	char count[TP_TEXT_NUMBER];
	if (tp_tracefile_host(trace, "switches_missed", text, sizeof(text)))
		tp_buf_addf(out,
		    "missed     %s switches came too fast to be noted: near them calls may have the "
		    "wrong callers, and all of that time counts as recorded\n",
		    tp_text_count(count, strtoull(text, NULL, 10)));
}

// How a trace ends whose recorder was killed.
static void add_recovered(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	char count[TP_TEXT_NUMBER];
	if (!tp_tracefile_host(trace, "recovered", text, sizeof(text)))
		return;
	tp_buf_addf(out,
	    "recovered  the recorder was killed; %s chunks were added from its log%s\n",
	    tp_text_count(count, strtoull(text, NULL, 10)),
	    is_soft(trace) ? ", and the clock stood still from then on" : "");
}

static void add_gone(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	if (tp_tracefile_host(trace, "log_gone_bytes", text, sizeof(text)))
		tp_buf_addf(out,
		    "gone       %llu KiB of the log went away during the recording, with what was in "
		    "there: the program cut its file short, or memory ran out\n",
		    strtoull(text, NULL, 10) / 1024);
}

static const char *why_empty(const struct tp_tracefile *trace)
{
	char text[4];
	if (trace->lacks.chunks)
		return "all that was recorded is missing";
	if (trace->has_end && trace->end.attach == TEEPERF_ATTACH_NONE)
		return "the program is not built with 'teeperf cc', or nothing in it was chosen";
	if (!trace->gaps.count && tp_tracefile_host(trace, "on_start", text, sizeof(text)) &&
	    strcmp(text, "off") == 0)
		return "recording was never switched on: see teeperf-ctl(1)";
	return "no function that is instrumented was called";
}

// A range that is behind the end, most likely: how long the recording is.
static void add_empty_range(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const struct tp_tracefile *trace = analysis->trace;
	const struct teeperf_trace_end *end = &trace->end;
	tp_buf_add_string(out, "empty      no call begins or ends in this range of times: the ");
	if (trace->has_end && end->end_ns > end->start_ns) {
		tp_buf_addf(
		    out, "recording lasted %s\n", tp_text_ns(text, end->end_ns - end->start_ns));
		return;
	}
	uint64_t last = 0;
	for (uint64_t i = 0; i < trace->chunk_count; i++)
		if (trace->chunks[i].first_time > last)
			last = trace->chunks[i].first_time;
	tp_buf_addf(out, "recording lasted at least %s\n",
	    tp_view_time(analysis, text, last > analysis->origin ? last - analysis->origin : 0));
}

// Stacks that the program switched to.
static void add_contexts(const struct tp_stack_counts *counts, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	if (counts->contexts)
		tp_buf_addf(out,
		    "contexts   %s stacks beside the threads' own: what ran on them begins there, and "
		    "not below the call that switched to them\n",
		    tp_text_count(text, counts->contexts));
	if (counts->left)
		tp_buf_addf(out,
		    "left       %s stacks were not come back to: their calls count up to there\n",
		    tp_text_count(text, counts->left));
	if (counts->moved > counts->apart)
		tp_buf_addf(out,
		    "moved      %s times a stack went on in another thread: its calls go on there, "
		    "and each thread has the time for which they ran in it\n",
		    tp_text_count(text, counts->moved - counts->apart));
	if (counts->apart)
		tp_buf_addf(out,
		    "moved      %s times a stack went on in another thread: call paths begin anew "
		    "there\n",
		    tp_text_count(text, counts->apart));
}

static void add_patterns(struct tp_buf *out, const char *const *patterns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		tp_buf_addf(out, "%s'%s'", i ? ", " : "", patterns[i]);
}

// That these are not the numbers of the whole trace, and of which part they are.
static void add_limits(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const uint64_t origin = analysis->origin;
	if (analysis->one_thread && analysis->thread_count)
		tp_buf_addf(out, "only       thread %" PRIu32 ", by --thread\n",
		    analysis->threads[0].thread->number);
	if (analysis->ranged) {
		const uint64_t from = analysis->from > origin ? analysis->from - origin : 0;
		tp_buf_addf(out, "only       from %s", tp_view_time(analysis, text, from));
		if (analysis->to != UINT64_MAX)
			tp_buf_addf(
			    out, " to %s", tp_view_time(analysis, text, analysis->to - origin));
		tp_buf_add_string(out,
		    " since the first record, by --time-range: of calls that ran on before or after, "
		    "the part in between\n");
	}
	if (analysis->least)
		tp_buf_addf(out,
		    "only       calls of %s and more, by --min-time: shorter ones are part of their "
		    "callers\n",
		    tp_view_time(analysis, text, analysis->least));
	if (analysis->depth)
		tp_buf_addf(out,
		    "only       calls down to depth %" PRIu64
		    ", by --depth: deeper ones are part of their callers\n",
		    analysis->depth);
	if (analysis->focus_count) {
		tp_buf_add_string(out, "only       paths through ");
		add_patterns(out, analysis->focus, analysis->focus_count);
		tp_buf_add_string(out, ", by --focus\n");
	}
	if (analysis->ignore_count) {
		tp_buf_add_string(out, "only       paths without ");
		add_patterns(out, analysis->ignore, analysis->ignore_count);
		tp_buf_add_string(out, ", by --ignore\n");
	}
}

static void add_trouble(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const struct tp_tracefile *trace = analysis->trace;
	const struct tp_stack_counts *counts = &analysis->counts;
	const struct {
		uint64_t count;
		const char *title;
		const char *what;
	} oddities[] = {
	    {counts->cut, "cut",
		"calls were running when recording was switched off: they count up "
		"to there"},
	    {counts->early, "began",
		"exits are of calls that began before recording was switched on: they are left out"},
	    {counts->forked, "began",
		"exits are of calls that began before the process was forked: they are in its "
		"parent's trace"},
	    {counts->overwritten, "began",
		"exits are of calls that began in what was overwritten: they are left out"},
	    {counts->dropped, "dropped", "records of the time when recording was switched off"},
	    {counts->unmatched_enters, "unmatched", "calls without an exit"},
	    {counts->unmatched_exits, "unmatched", "exits without a call"},
	    {counts->unknown_resyncs, "unmatched", "resyncs to an unknown call"},
	    {counts->backwards, "unmatched", "times that run backwards"},
	    {counts->holes, "unmatched", "words that were never written"},
	    {counts->reserved, "unmatched", "control records of an unknown kind"},
	};
	if (!counts->events && !counts->counted && analysis->ranged)
		add_empty_range(analysis, out);
	else if (!counts->events && !counts->counted)
		tp_buf_addf(out, "empty      %s\n", why_empty(trace));
	add_limits(analysis, out);
	add_switches(analysis, out);
	tp_heading_add_rings(analysis, out);
	add_missed(trace, out);
	add_recovered(trace, out);
	add_left_out_processes(trace, out);
	add_gone(trace, out);
	tp_heading_add_apart(trace, out);
	if (analysis->timeless)
		tp_buf_add_string(
		    out, "times      none, as there was no clock: calls and call paths only\n");
	add_only(trace, out);
	if (analysis->counted_count)
		tp_buf_addf(out,
		    "counted    %" PRIu32
		    " function%s without times: their time is part of their caller's\n",
		    analysis->counted_count, analysis->counted_count == 1 ? "" : "s");
	if (analysis->sampled_count)
		tp_buf_addf(out,
		    "sampled    %" PRIu32
		    " function%s with times of some calls: ~ marks what was scaled up; the other calls are "
		    "part of their callers' self time\n",
		    analysis->sampled_count, analysis->sampled_count == 1 ? "" : "s");
	if (analysis->left_out_count)
		tp_buf_addf(out,
		    "counted    %" PRIu32
		    " function%s left out: calls that were only counted have no call paths and no times to "
		    "choose by\n",
		    analysis->left_out_count, analysis->left_out_count == 1 ? "" : "s");
	if (analysis->unscaled_count)
		tp_buf_addf(out,
		    "sampled    %" PRIu32
		    " function%s with the recorded calls only: in a range of times they cannot be scaled up, "
		    "so that calls and times are too low\n",
		    analysis->unscaled_count, analysis->unscaled_count == 1 ? "" : "s");
	add_contexts(counts, out);
	if (analysis->lost)
		tp_buf_addf(out, "lost       %s events: times and counts are too low\n",
		    tp_text_count(text, analysis->lost));
	tp_completeness_add_line(analysis, out);
	for (size_t i = 0; i < sizeof(oddities) / sizeof(oddities[0]); i++)
		if (oddities[i].count)
			tp_buf_addf(out, "%-10s %s %s\n", oddities[i].title,
			    tp_text_count(text, oddities[i].count), oddities[i].what);
	if (counts->open && analysis->timeless)
		tp_buf_addf(
		    out, "open       %s calls had not ended\n", tp_text_count(text, counts->open));
	else if (counts->open)
		tp_buf_addf(out,
		    "open       %s calls had not ended: they count up to the last event\n",
		    tp_text_count(text, counts->open));
	if (!analysis->time.known && !analysis->timeless)
		tp_buf_add_string(out, "unit       ticks: the rate of the clock is not known\n");
	tp_heading_add_starved(analysis, out);
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
	add_trouble(analysis, out);
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
		tp_text_add_json(out, patterns[i]);
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
		tp_text_add_json(out, text);
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
	const uint32_t switches = count_switches(trace, &at_first);
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	tp_buf_add_string(out, "\"program\":");
	tp_text_add_json(out, tp_tracefile_program(trace));
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
	tp_buf_add_char(out, ',');
}
