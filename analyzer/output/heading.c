// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands above each view: what was recorded, how well, and what limits the meaning of the
// numbers.
#include "analyzer/output/completeness.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <math.h>
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
	return trace->has_clock ? teeperf_clock_name(trace->clock.kind) : "unknown";
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
			    tp_text_percent(part, analysis->starvation.clock_share));
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

static char *cost(char text[TP_TEXT_NUMBER], uint64_t ps)
{
	if (ps >= 1000000)
		return tp_text_ns(text, ps / 1000);
	snprintf(text, TP_TEXT_NUMBER, "%.3g ns", (double)ps / 1000);
	return text;
}

// When the costs were measured, unless it was in the recording itself.
static void add_cost_age(const struct tp_compensation *compensation, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const uint64_t most_s = UINT64_MAX / 1000000000;
	if (!compensation->kept)
		return;
	if (!compensation->age_s || compensation->age_s > most_s)
		tp_buf_add_string(out, ", as measured by an earlier recording");
	else
		tp_buf_addf(out, ", as measured %s before",
		    tp_text_ns(text, compensation->age_s * 1000000000));
}

static void add_compensation(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_compensation *compensation = &analysis->compensation;
	char text[TP_TEXT_NUMBER];
	char in[TP_TEXT_NUMBER];
	char all[TP_TEXT_NUMBER];
	if (!compensation->known)
		return;
	cost(in, compensation->in_ps);
	cost(all, compensation->in_ps + compensation->out_ps);
	if (!compensation->applied) {
		tp_buf_addf(out,
		    "times      as recorded: recording a call costs about %s, %s of it in the call "
		    "itself",
		    all, in);
		add_cost_age(compensation, out);
		tp_buf_add_char(out, '\n');
		return;
	}
	tp_buf_addf(out,
	    "times      without the cost of recording, about %s a call, %s of it in the call "
	    "itself",
	    all, in);
	add_cost_age(compensation, out);
	if (compensation->wait_ps && compensation->period_ns) {
		cost(all, (uint64_t)((double)compensation->wait_ps * TP_COMPENSATION_WAIT_SHOWS));
		tp_buf_addf(out, ", and %s for each wait for the clock", all);
	}
	tp_buf_addf(out, ": %s in all", tp_view_time(analysis, text, compensation->taken));
	if (compensation->missing)
		tp_buf_addf(out, " (%s more than the times of some functions)",
		    tp_view_time(analysis, text, compensation->missing));
	tp_buf_add_string(out, "; --raw shows times as recorded\n");
	if (compensation->bounded && tp_starvation_hides(&analysis->starvation))
		tp_buf_addf(out,
		    "uncertain  by an unknown amount: the clock stood still for %s of the run\n",
		    tp_text_percent(all, analysis->starvation.clock_share));
	if (!tp_analysis_tells_uncertainty(analysis))
		return;
	cost(in, compensation->in_off_ps);
	cost(all, compensation->out_off_ps);
	tp_buf_addf(out,
	    "uncertain  self times, because the processor overlaps some of that cost with other "
	    "work: by about %s a call and %s for each call made%s%s%s\n",
	    in, all,
	    !compensation->period_ns ? ""
	    : compensation->wait_ps  ? ", by the clock's period, and by waits for it"
				     : ", and by the clock's period",
	    analysis->starvation.clock_gaps > 0 ? "; by when the clock stood still" : "",
	    analysis->starvation.delays > 0 && !analysis->starvation.told
		? "; by waits for a processor"
		: "");
}

// For how long the program had a processor; nothing if it is not known.
static void add_processor(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_starvation *starvation = &analysis->starvation;
	char text[TP_TEXT_NUMBER];
	if (!starvation->has_cpu)
		return;
	tp_buf_addf(out, "processor  ran for %s", tp_text_ns(text, starvation->cpu_ns));
	if (starvation->has_delay) {
		tp_buf_addf(out, ", %s of the time that it could run",
		    tp_text_percent(text, 1 - starvation->delay_share));
		tp_buf_addf(out, "; waited %s for one", tp_text_ns(text, starvation->delay_ns));
	}
	tp_buf_add_char(out, '\n');
}

// Of a trace of a host and its TEE.
static void add_joined(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char calls[32];
	if (tp_tracefile_host(trace, "joined_calls", calls, sizeof(calls)))
		tp_buf_addf(out, "joined     %s calls of the host into the TEE\n", calls);
}

// After "duration   " or another comma.
static void add_duration(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	const struct teeperf_trace_end *end = &analysis->trace->end;
	if (analysis->time.known || end->end_ns > end->start_ns)
		tp_buf_add_string(out, tp_text_ns(text, duration));
	else if (!analysis->timeless)
		tp_buf_addf(out, "%s ticks", tp_text_count(text, duration));
	else
		tp_buf_add_string(out, "unknown");
}

void tp_view_add_facts(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	add_command(analysis->trace, out);
	tp_buf_add_string(out, "duration   ");
	add_duration(analysis, out);
	tp_buf_addf(out, "\nthreads    %" PRIu32 "\n", analysis->thread_count);
	tp_buf_addf(out, "events     %s, ", tp_text_count(text, analysis->counts.events));
	tp_completeness_add_text(analysis, out);
	tp_buf_add_char(out, '\n');
	add_clock(analysis, out);
	add_processor(analysis, out);
	add_compensation(analysis, out);
	add_log(analysis->trace, out);
	add_joined(analysis->trace, out);
}

void tp_view_add_health(const struct tp_analysis *analysis, struct tp_buf *out)
{
	if (is_soft(analysis->trace))
		add_clock(analysis, out);
}

void tp_view_add_header(const struct tp_analysis *analysis, bool only_trouble, struct tp_buf *out)
{
	if (!only_trouble)
		tp_view_add_facts(analysis, out);
	struct tp_notes notes;
	tp_notes_init(&notes, analysis);
	// CSV and JSON say it of each function, by a number or by none.
	while (only_trouble && notes.count &&
	       (notes.items[notes.count - 1].kind == &tp_note_kinds[TP_NOTE_ID_UNSURE] ||
		   (notes.items[notes.count - 1].kind == &tp_note_kinds[TP_NOTE_ID_NO_WAITS] &&
		       !analysis->options.time)))
		notes.count--;
	tp_notes_add_text(&notes, out);
	tp_notes_release(&notes);
	if (!only_trouble)
		tp_buf_add_string(out,
		    "note       functions that are not instrumented are part of their caller's "
		    "self time\n\n");
}

// One line: the first words of the command, if it is long.
static void add_short_command(const struct tp_tracefile *trace, uint32_t width, struct tp_buf *out)
{
	struct tp_buf line;
	tp_buf_init(&line);
	add_command(trace, &line);
	if (tp_text_width(line.data) <= width + 1) {
		tp_buf_add_string(out, line.data);
	} else {
		struct tp_buf lines;
		tp_buf_init(&lines);
		const char *ellipsis = tp_text_ellipsis();
		tp_text_add_wrapped(&lines, line.data, width - 1 - tp_text_width(ellipsis), 0);
		tp_buf_addf(out, "%.*s %s\n", (int)strcspn(lines.data, "\n"), lines.data, ellipsis);
		out->failed |= lines.failed;
		tp_buf_release(&lines);
	}
	out->failed |= line.failed;
	tp_buf_release(&line);
}

// Three lines, and the notes.
static void add_short_facts(const struct tp_analysis *analysis, uint32_t width, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	struct tp_buf lines;
	struct tp_notes notes;
	tp_buf_init(&lines);
	tp_notes_init(&notes, analysis);
	add_short_command(analysis->trace, width, out);
	tp_buf_add_string(&lines, "recorded   ");
	add_duration(analysis, &lines);
	tp_buf_addf(&lines, ", %" PRIu32 " thread%s, %s events, ", analysis->thread_count,
	    tp_plural(analysis->thread_count), tp_text_count(text, analysis->counts.events));
	tp_completeness_add_text(analysis, &lines);
	uint32_t hidden = 0;
	for (uint32_t i = 0; i < notes.count; i++)
		hidden += notes.items[i].kind->severity != TP_NOTE_WRONG;
	tp_buf_addf(&lines, "\nclock      %s", clock_name(analysis->trace));
	if (hidden)
		tp_buf_addf(&lines, "; %" PRIu32 " note%s on the limits of these numbers: see -v",
		    hidden, tp_plural(hidden));
	tp_buf_add_char(&lines, '\n');
	for (uint32_t i = 0; i < notes.count; i++)
		if (notes.items[i].kind->severity == TP_NOTE_WRONG)
			tp_buf_addf(
			    &lines, "%-10s %s\n", notes.items[i].kind->title, notes.items[i].text);
	tp_buf_add_char(&lines, '\n');
	tp_text_add_wrapped(out, lines.data, width, 11);
	out->failed |= notes.failed | lines.failed;
	tp_notes_release(&notes);
	tp_buf_release(&lines);
}

void tp_view_add_heading(
    const struct tp_analysis *analysis, const struct tp_view_options *options, struct tp_buf *out)
{
	if (options->width && !options->verbose) {
		add_short_facts(analysis, options->width, out);
		return;
	}
	struct tp_buf lines;
	tp_buf_init(&lines);
	tp_view_add_header(analysis, false, &lines);
	tp_text_add_wrapped(out, lines.data, options->width, 11);
	out->failed |= lines.failed;
	tp_buf_release(&lines);
}

// ---- in JSON

static void add_json_patterns(
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
static void add_json_limits(struct tp_json *json, const struct tp_analysis *analysis)
{
	const struct tp_timebase *time = &analysis->time;
	if (analysis->options.one_thread && analysis->thread_count)
		tp_json_uint(json, "only_thread", analysis->threads[0].thread->number);
	if (analysis->ranged) {
		tp_json_uint(json, "only_from_ns", tp_analysis_at_ns(analysis, analysis->from));
		tp_json_uint_if(json, "only_to_ns", analysis->to != UINT64_MAX,
		    tp_timebase_ns(time, analysis->to - analysis->origin));
	}
	if (analysis->least)
		tp_json_uint(json, "only_least_ns", tp_timebase_ns(time, analysis->least));
	if (analysis->options.time)
		tp_json_text(json, "only_time", tp_time_name(analysis->options.time));
	add_if_any(json, "only_depth", analysis->options.depth);
	add_json_patterns(
	    json, "only_focus", analysis->options.focus, analysis->options.focus_count);
	add_json_patterns(
	    json, "without", analysis->options.ignore, analysis->options.ignore_count);
	add_if_any(json, "left_out_functions", analysis->left_out_count);
	add_if_any(json, "unscaled_functions", analysis->unscaled_count);
}

static void add_json_starvation(struct tp_json *json, const struct tp_starvation *starvation)
{
	tp_json_uint_if(json, "processor_ns", starvation->has_cpu, starvation->cpu_ns);
	tp_json_uint_if(json, "processor_delay_ns", starvation->has_delay, starvation->delay_ns);
	tp_json_real(
	    json, "processor_share", 6, starvation->has_delay ? 1 - starvation->delay_share : NAN);
}

static void add_json_cost(struct tp_json *json, const char *name, bool known, uint64_t ps)
{
	tp_json_real(json, name, 3, known ? (double)ps / 1000 : NAN);
}

static void add_json_compensation(struct tp_json *json, const struct tp_analysis *analysis)
{
	const struct tp_compensation *compensation = &analysis->compensation;
	const bool known = compensation->known;
	tp_json_text(json, "times", compensation->applied ? "compensated" : "recorded");
	add_json_cost(json, "cost_in_ns", known, compensation->in_ps);
	add_json_cost(json, "cost_out_ns", known, compensation->out_ps);
	add_json_cost(json, "cost_untimed_ns", known, compensation->untimed_ps);
	add_json_cost(json, "cost_in_off_ns", compensation->bounded, compensation->in_off_ps);
	add_json_cost(json, "cost_out_off_ns", compensation->bounded, compensation->out_off_ps);
	add_json_cost(json, "cost_wait_ns",
	    known && compensation->period_ns && compensation->wait_ps, compensation->wait_ps);
	if (compensation->kept)
		tp_json_uint(json, "cost_age_s", compensation->age_s);
	tp_json_uint(json, "taken_ns", tp_timebase_ns(&analysis->time, compensation->taken));
	tp_json_uint(json, "missing_ns", tp_timebase_ns(&analysis->time, compensation->missing));
}

static void add_json_host(struct tp_json *json, const struct tp_tracefile *trace)
{
	char text[TP_TEXT_NUMBER];
	const uint64_t bytes = log_bytes(trace);
	tp_json_uint_if(json, "log_bytes", bytes, bytes);
	const bool known = tp_tracefile_host(trace, "cores", text, sizeof(text));
	tp_json_uint_if(json, "cores", known, known ? strtoull(text, NULL, 10) : 0);
	tp_json_text(
	    json, "drain", tp_tracefile_host(trace, "drain", text, sizeof(text)) ? text : NULL);
}

// Of a flight recorder: records, and threads of which nothing is left.
static void count_overwritten(
    const struct tp_analysis *analysis, uint64_t *records, uint64_t *threads)
{
	*records = *threads = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		*records += tp_analysis_overwritten(analysis, thread);
		*threads += thread->overwritten && !thread->chunk_count;
	}
}

struct number {
	const char *name; // NULL: it is left out
	uint64_t number;
};

static void add_json_numbers(struct tp_json *json, const struct number *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i].name)
			tp_json_uint(json, numbers[i].name, numbers[i].number);
}

void tp_view_add_json(struct tp_json *json, const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	const struct tp_stack_counts *counts = &analysis->counts;
	const bool health = has_health(trace);
	const bool timed = !analysis->timeless;
	bool at_first;
	const uint32_t switches = tp_gaps_switches(&trace->gaps, &at_first);
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	tp_json_text(json, "program", tp_tracefile_program(trace));
	tp_json_text(json, "unit", tp_view_unit(analysis));
	tp_json_text(json, "clock", clock_name(trace));
	tp_json_uint_if(json, "clock_period_ns", is_soft(trace), trace->clock.period_ns);
	tp_json_uint_if(json, "clock_max_gap_ns", health, trace->clock.max_gap_ns);
	tp_json_uint_if(json, "clock_starved_ns", health, trace->clock.starved_ns);
	add_json_starvation(json, &analysis->starvation);
	add_json_compensation(json, analysis);
	add_json_host(json, trace);
	tp_json_uint_if(json, "duration_ns", timed || duration, duration);
	tp_json_uint_if(json, "recorded_ns", timed, tp_analysis_recorded_ns(analysis));
	tp_json_bool(json, "off_at_first", at_first);
	uint64_t records;
	uint64_t threads;
	count_overwritten(analysis, &records, &threads);
	const bool rings = trace->rings;
	const struct number recorded[] = {
	    {"switched_off", switches},
	    {"cut", counts->cut},
	    {"began_before", counts->early},
	    {"dropped", counts->dropped},
	    {trace->selections.count ? "selections" : NULL, trace->selections.count},
	    {trace->selections.count ? "cut_functions" : NULL, counts->left_out},
	    {trace->selections.count ? "began_dropped" : NULL, counts->came_back},
	    {trace->selections.count ? "dropped_functions" : NULL, counts->on_way},
	    {rings ? "overwritten_records" : NULL, records},
	    {rings ? "overwritten_threads" : NULL, threads},
	    {rings ? "began_in_overwritten" : NULL, counts->overwritten},
	    {"threads_count", analysis->thread_count},
	    {"events", counts->events},
	    {"counted_calls", counts->counted},
	    {"counted_functions", analysis->counted_count},
	    {"sampled_functions", analysis->sampled_count},
	    {"contexts", counts->contexts},
	    {"contexts_left", counts->left},
	    {"contexts_moved", counts->moved},
	    {counts->moved ? "contexts_apart" : NULL, counts->apart},
	    {"lost", analysis->lost},
	};
	const struct number odd[] = {
	    {"unmatched_enters", counts->unmatched_enters},
	    {"unmatched_exits", counts->unmatched_exits},
	    {"unknown_resyncs", counts->unknown_resyncs},
	    {"open", counts->open},
	    {"backwards", counts->backwards},
	    {"holes", counts->holes},
	    {"chunks", trace->chunk_count},
	    {"chunk_draws", trace->end.chunk_draws},
	    {"problems", trace->problems.count + analysis->damage.count},
	};
	add_json_numbers(json, recorded, sizeof(recorded) / sizeof(recorded[0]));
	tp_completeness_add_json(json, analysis);
	add_json_numbers(json, odd, sizeof(odd) / sizeof(odd[0]));
	add_json_limits(json, analysis);
	struct tp_notes notes;
	tp_notes_init(&notes, analysis);
	tp_notes_add_json(&notes, json);
	tp_notes_release(&notes);
}
