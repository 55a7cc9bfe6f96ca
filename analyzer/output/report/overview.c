// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report's text: what was recorded, how well, and what was left out; and a table for browsers
// that run no scripts.
#define _GNU_SOURCE
#include "analyzer/output/completeness.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/report/report.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOSCRIPT_ROWS 50

static void add_tile(
    struct tp_buf *out, const char *mood, const char *title, const char *text, const char *more)
{
	tp_buf_addf(out, "<div class=\"%s\" title=\"", mood);
	tp_text_add_xml(out, more);
	tp_buf_addf(out, "\"><dt>%s</dt><dd>", title);
	tp_text_add_xml(out, text);
	tp_buf_add_string(out, "</dd><dd class=\"sub\">");
	tp_text_add_xml(out, more);
	tp_buf_add_string(out, "</dd></div>\n");
}

// A time as the viewer writes it.
static char *nice(char text[TP_TEXT_NUMBER])
{
	char *us = strstr(text, " us");
	if (us)
		memcpy(us, " \xc2\xb5s", sizeof(" \xc2\xb5s"));
	return text;
}

static char *nice_time(
    const struct tp_analysis *analysis, char text[TP_TEXT_NUMBER], uint64_t ticks)
{
	return nice(tp_view_time(analysis, text, ticks));
}

static void add_clock_tile(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_tracefile *trace = analysis->trace;
	const struct teeperf_trace_clock *clock = &trace->clock;
	const char *name = trace->has_clock ? teeperf_clock_name(clock->kind) : "unknown";
	char text[96];
	if (analysis->timeless) {
		add_tile(out, "", "Clock", "none", "there are calls, but no times");
		return;
	}
	if (!analysis->time.known) {
		add_tile(out, "bad", "Clock", name, "its rate is unknown: times are ticks");
		return;
	}
	const double rate = (double)analysis->time.ticks * 1000 / (double)analysis->time.ns;
	if (!trace->has_clock || !TEEPERF_CLOCK_IS_SOFT(clock->kind)) {
		snprintf(text, sizeof(text), "good: hardware, %.6g MHz", rate);
		add_tile(out, "good", "Clock", name, text);
		return;
	}
	if (!clock->stores && !clock->max_gap_ns) {
		add_tile(out, "bad", "Clock", name, "its health is unknown");
		return;
	}
	const double share = analysis->starvation.clock_share;
	char part[TP_TEXT_NUMBER];
	snprintf(text, sizeof(text), "%s: stood still for %s of the run",
	    share >= TP_STARVATION_COARSE ? "coarse" : "good", tp_text_percent(part, share));
	add_tile(out, share >= TP_STARVATION_COARSE ? "bad" : "good", "Clock", name, text);
}

// Only if it is known: inside TEEs and in older traces it is not.
static void add_processor_tile(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_starvation *starvation = &analysis->starvation;
	char part[TP_TEXT_NUMBER];
	char number[TP_TEXT_NUMBER];
	char more[96];
	if (!starvation->has_delay)
		return;
	snprintf(more, sizeof(more), "of the time that it could run; waited %s",
	    nice(tp_text_ns(number, starvation->delay_ns)));
	add_tile(out, tp_starvation_is_news(starvation) ? "bad" : "", "Had a processor",
	    tp_text_percent(part, 1 - starvation->delay_share), more);
}

static void add_loss_tile(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER + 16];
	char more[96];
	char number[TP_TEXT_NUMBER];
	const uint64_t damage = analysis->trace->problems.count + analysis->damage.count;
	const uint64_t known = tp_analysis_missing(analysis);
	if (known) {
		uint64_t most;
		const bool exact = tp_analysis_missing_at_most(analysis, &most) && most == known;
		snprintf(text, sizeof(text), "%s%s %s", exact ? "" : "≥ ",
		    tp_text_count(number, known), known > analysis->lost ? "missing" : "lost");
		char part[TP_TEXT_NUMBER];
		snprintf(more, sizeof(more), "%s of all events: calls are missing",
		    tp_text_percent(
			part, (double)known / ((double)known + (double)analysis->counts.events)));
		add_tile(out, "bad", "Losses", text, more);
	} else if (tp_analysis_lacks(analysis)) {
		struct tp_buf lacks;
		tp_buf_init(&lacks);
		tp_completeness_add_text(analysis, &lacks);
		add_tile(out, "bad", "Losses", damage && !known ? "damaged" : "incomplete",
		    lacks.data ? lacks.data : "");
		tp_buf_release(&lacks);
	} else {
		add_tile(out, "good", "Losses", "none",
		    analysis->filtered || analysis->ranged
			? "every call of the requested part is here"
			: "every recorded call is here");
	}
}

static void add_tiles(const struct tp_report *report, struct tp_buf *out)
{
	const struct tp_analysis *analysis = report->analysis;
	char text[TP_TEXT_NUMBER];
	char more[96];
	char number[TP_TEXT_NUMBER];
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	tp_buf_add_string(out, "<dl class=\"tiles\">\n");
	add_tile(out, "", "Duration",
	    analysis->time.known || (analysis->timeless && duration)
		? nice(tp_text_ns(text, duration))
	    : analysis->timeless ? "unknown"
				 : tp_text_count(text, duration),
	    analysis->timeless               ? "times of calls are unknown"
	    : analysis->compensation.applied ? "times are without the cost of recording"
					     : "times are as recorded");
	snprintf(
	    more, sizeof(more), "%s functions", tp_text_count(number, analysis->function_count));
	add_tile(out, "", "Threads", tp_text_count(text, analysis->thread_count), more);
	snprintf(more, sizeof(more), "%s call paths",
	    tp_text_count(number, report->paths.count ? report->paths.count - 1 : 0));
	add_tile(out, "", "Events", tp_text_count(text, analysis->counts.events), more);
	add_loss_tile(analysis, out);
	add_clock_tile(analysis, out);
	add_processor_tile(analysis, out);
	tp_buf_add_string(out, "</dl>\n");
}

// ---- what the report leaves out

static void add_note(struct tp_buf *out, const char *title, const char *text)
{
	tp_buf_add_string(out, "<dt>");
	tp_text_add_xml(out, title);
	tp_buf_add_string(out, "</dt><dd>");
	tp_text_add_xml(out, text);
	tp_buf_add_string(out, "</dd>\n");
}

__attribute__((format(printf, 3, 4))) static void add_omission(
    struct tp_buf *out, const char *title, const char *format, ...)
{
	char text[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	add_note(out, title, text);
}

// What maps of latency and the slowest calls leave out.
static void add_single_calls(const struct tp_report *report, struct tp_buf *out)
{
	const struct tp_report_heat *heat = &report->heat;
	const struct tp_report_slowest *slowest = &report->slowest;
	char a[TP_TEXT_NUMBER];
	char b[TP_TEXT_NUMBER];
	if (heat->left)
		add_omission(out, "left out",
		    "latency over time of %s functions: only the %s with the most inclusive "
		    "time have it ('--heat-maps N' sets the number)",
		    tp_text_count(a, heat->left), tp_text_count(b, heat->count));
	if (slowest->left && slowest->most)
		add_omission(out, "left out",
		    "the slowest calls of %s functions: only the %s with the most inclusive "
		    "time have them",
		    tp_text_count(a, slowest->left), tp_text_count(b, slowest->count));
	if (slowest->part)
		add_omission(out, "left out",
		    "%s of the slowest calls of functions are not drawn with all calls inside "
		    "them: together these are more than %s ('--slowest-calls N' sets the "
		    "number), or their thread is not in the timeline, or its stacks were switched",
		    tp_text_count(a, slowest->part),
		    tp_text_count(b, report->options->slowest_calls));
	if (slowest->hidden)
		add_omission(out, "left out",
		    "%s calls inside the slowest ones are on paths that are too light or too "
		    "deep to be drawn",
		    tp_text_count(a, slowest->hidden));
}

static void add_omissions(const struct tp_report *report, struct tp_buf *out)
{
	const struct tp_analysis *analysis = report->analysis;
	const struct tp_report_time *time = &report->time;
	char a[TP_TEXT_NUMBER];
	char b[TP_TEXT_NUMBER];
	char missing[TP_TEXT_NUMBER];
	char left[TP_TEXT_NUMBER];
	if (report->tree.folded)
		add_omission(out, "left out",
		    "%s of %s call paths are too light for this report: each path merges those "
		    "below it into \"(smaller)\"; sums include them, and the table of functions "
		    "has all functions",
		    tp_text_count(a, report->tree.folded), tp_text_count(b, report->tree.all));
	if (report->thread_count < analysis->thread_count)
		add_omission(out, "left out",
		    "only the %s busiest of %s threads are in the timeline and can be selected; "
		    "sums include all",
		    tp_text_count(a, report->thread_count),
		    tp_text_count(b, analysis->thread_count));
	if (report->with_rows < report->thread_count)
		add_omission(out, "left out", "only %s of them can be selected",
		    tp_text_count(a, report->with_rows));
	if (report->histograms_left)
		add_omission(out, "left out",
		    "durations as a histogram, of the %s functions with the fewest calls",
		    tp_text_count(a, report->histograms_left));
	if (!time->buckets)
		return;
	add_omission(out, "timeline",
	    "its times are as recorded; a call is drawn from its start to its end");
	add_omission(out, "timeline",
	    "shows the innermost function in each %s; a selection starts and ends at multiples of "
	    "%s, for which self times by path are known, but not calls",
	    nice_time(analysis, a, time->width),
	    nice_time(analysis, b, time->width * (time->buckets / time->cells)));
	if (time->least)
		add_omission(out, "left out",
		    "only the %s longest calls are drawn one by one, those of %s and more; for the "
		    "others it shows the innermost function",
		    tp_text_count(a, time->longest_count), nice_time(analysis, b, time->least));
	else if (time->call_count < time->all_calls)
		add_omission(out, "left out",
		    "%s calls are not drawn one by one: they took no time, or stopped in between, "
		    "or are on paths that are too light or too deep; there it shows the innermost "
		    "function",
		    tp_text_count(a, time->all_calls - time->call_count));
	add_single_calls(report, out);
	if (time->rows_left)
		add_omission(out, "left out", "the timeline's deepest rows");
	if (report->stretches_left)
		add_omission(out, "left out",
		    "the %s shortest stretches without a processor are not drawn",
		    tp_text_count(a, report->stretches_left));
	if (report->contention_left)
		add_omission(out, "left out",
		    "which functions ran in several threads at once: there are too many calls; use "
		    "'teeperf analyze --view contention'");
	if (report->options->source_dir)
		add_omission(out, "sources",
		    "this page has %s lines of %s source files: those of recorded functions, "
		    "and a few above them; %s files were not found, %s did not fit",
		    tp_text_count(a, report->source_lines), tp_text_count(b, report->source_files),
		    tp_text_count(missing, report->sources_missing),
		    tp_text_count(left, report->sources_left));
	if (report->source_calls_left)
		add_omission(
		    out, "left out", "the source lines of some calls, because there are too many");
	if (report->meter_step > 1)
		add_omission(out, "left out",
		    "counters and energy have too many readings: means of %s of them are drawn",
		    tp_text_count(a, report->meter_step));
	if (report->event_least)
		add_omission(out, "left out",
		    "only the %s longest system events are drawn one by one, those of %s and "
		    "more; the lanes' shades show how many others began in each interval, and "
		    "how long they took",
		    tp_text_count(a, report->events_drawn), tp_text_ns(b, report->event_least));
	if (report->events_elsewhere)
		add_omission(out, "left out",
		    "%s system events are in no lane: their threads are not in the timeline, or "
		    "they were before or after it",
		    tp_text_count(a, report->events_elsewhere));
	if (time->moved_ticks)
		add_omission(out, "left out",
		    "in selections, %s of the time counts for a caller of the function that "
		    "spent it, because too many paths were busy at the same time",
		    tp_text_percent(a, time->all_ticks
					   ? (double)time->moved_ticks / (double)time->all_ticks
					   : 0.0));
}

// The lines of a heading, which are cut up: a title of up to ten letters, then its text.
static void add_lines(char *line, struct tp_buf *out)
{
	for (char *end; (end = strchr(line, '\n')); line = end + 1) {
		char title[12] = "";
		*end = '\0';
		const size_t width = strnlen(line, sizeof(title) - 1);
		memcpy(title, line, width);
		for (size_t i = width; i-- > 0 && title[i] == ' ';)
			title[i] = '\0';
		add_note(out, title, line + width);
	}
}

void tp_report_add_overview(const struct tp_report *report, struct tp_buf *out)
{
	const struct tp_analysis *analysis = report->analysis;
	struct tp_buf lines;
	struct tp_buf notes;
	tp_buf_init(&lines);
	tp_buf_init(&notes);
	tp_buf_add_string(out, "<div class=\"title\"><h1>");
	tp_text_add_xml(out, tp_tracefile_program(analysis->trace));
	tp_buf_add_string(out, "</h1><code class=\"command\">");
	for (size_t i = 0; analysis->trace->arguments && analysis->trace->arguments[i]; i++) {
		tp_buf_add_string(out, i ? " " : "");
		tp_text_add_xml(out, analysis->trace->arguments[i]);
	}
	tp_buf_add_string(out, "</code>");
	if (report->options->base) {
		tp_buf_add_string(out, "<span class=\"against\">compared with ");
		tp_text_add_xml(out, report->options->base->trace->source.name);
		tp_buf_add_string(out, "</span>");
	}
	tp_buf_add_string(out, "</div>\n");
	add_tiles(report, out);

	struct tp_notes limits;
	tp_notes_init(&limits, analysis);
	const uint32_t warnings = limits.count;
	tp_notes_release(&limits);
	tp_view_add_header(analysis, false, &lines);
	add_lines(lines.data, &notes);
	tp_buf_addf(out,
	    "<details id=\"notes\"%s><summary title=\"What these numbers mean and leave "
	    "out\">Notes",
	    warnings ? " class=\"warned\"" : "");
	if (warnings)
		tp_buf_addf(out, " \xe2\x80\x93 <b>%" PRIu32 " thing%s to know</b>", warnings,
		    tp_plural(warnings));
	tp_buf_add_string(out, "</summary><dl class=\"notes\" tabindex=\"0\">\n");
	tp_buf_add(out, notes.data, notes.size);
	add_omissions(report, out);
	tp_buf_add_string(out, "</dl></details>\n");
	out->failed |= lines.failed || notes.failed;
	tp_buf_release(&lines);
	tp_buf_release(&notes);
}

// ---- without scripts

static int compare(const void *a, const void *b, void *context)
{
	return tp_view_compare(*(const enum tp_sort *)context,
	    *(const struct tp_function *const *)a, *(const struct tp_function *const *)b);
}

static void add_cell(struct tp_buf *out, const char *text)
{
	tp_buf_add_string(out, "<td>");
	tp_text_add_xml(out, text);
	tp_buf_add_string(out, "</td>");
}

void tp_report_add_noscript(const struct tp_report *report, struct tp_buf *out)
{
	const struct tp_analysis *analysis = report->analysis;
	const uint32_t count = analysis->function_count;
	const struct tp_function **rows = malloc(((size_t)count + 1) * sizeof(*rows));
	char text[TP_TEXT_NUMBER];
	if (!rows) {
		out->failed = true;
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		rows[i] = &analysis->functions[i];
	enum tp_sort key = tp_view_sort(analysis, TP_SORT_SELF);
	qsort_r(rows, count, sizeof(*rows), compare, &key);
	tp_buf_addf(out,
	    "<noscript><p class=\"note\">This browser runs no scripts. These are the first %d of "
	    "%s "
	    "functions.</p><table class=\"functions\">\n<thead><tr><th>Function</th><th>Self</th>"
	    "<th>Inclusive</th><th>Calls</th><th>Source</th></tr></thead>\n<tbody>\n",
	    count < NOSCRIPT_ROWS ? (int)count : NOSCRIPT_ROWS, tp_text_count(text, count));
	for (uint32_t i = 0; i < count && i < NOSCRIPT_ROWS; i++) {
		const struct tp_function *function = rows[i];
		const bool timed = !analysis->timeless && tp_function_timed(function);
		char line[32] = "";
		tp_buf_add_string(out, "<tr>");
		add_cell(out, function->symbol.name);
		add_cell(out,
		    timed ? nice_time(analysis, text, tp_function_scaled(function, function->self))
			  : "");
		add_cell(out, timed ? nice_time(analysis, text,
					  tp_function_scaled(function, function->inclusive))
				    : "");
		add_cell(out, tp_text_count(text, function->calls));
		tp_buf_add_string(out, "<td>");
		tp_text_add_xml(out, function->symbol.file);
		if (function->symbol.file[0])
			snprintf(line, sizeof(line), ":%" PRIu64, function->symbol.line);
		tp_buf_addf(out, "%s</td></tr>\n", line);
	}
	tp_buf_add_string(out, "</tbody></table></noscript>\n");
	free(rows);
}
