// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of views and exports, and what views share.
#include "view.h"

#include "analyzer/text.h"

#include <inttypes.h>
#include <string.h>

#define TP_VIEW(view) extern const struct tp_view view;
#include "views.inc"
#undef TP_VIEW
#define TP_EXPORT(export) extern const struct tp_export export;
#include "exports.inc"
#undef TP_EXPORT

static const struct tp_view *const views[] = {
#define TP_VIEW(view) &view,
#include "views.inc"
#undef TP_VIEW
    NULL,
};

static const struct tp_export *const exports[] = {
#define TP_EXPORT(export) &export,
#include "exports.inc"
#undef TP_EXPORT
    NULL,
};

const struct tp_view *const *tp_views(void)
{
	return views;
}

const struct tp_export *const *tp_exports(void)
{
	return exports;
}

const struct tp_view *tp_view_find(const char *name)
{
	for (size_t i = 0; views[i]; i++)
		if (strcmp(views[i]->name, name) == 0)
			return views[i];
	return NULL;
}

const struct tp_export *tp_export_find(const char *name)
{
	for (size_t i = 0; exports[i]; i++)
		if (strcmp(exports[i]->name, name) == 0)
			return exports[i];
	return NULL;
}

char *tp_view_time(const struct tp_analysis *analysis, char *text, uint64_t ticks)
{
	if (analysis->time.known)
		return tp_text_ns(text, tp_timebase_ns(&analysis->time, ticks));
	return tp_text_count(text, ticks);
}

const char *tp_view_thread_name(const struct tp_thread *thread)
{
	return thread->name[0] ? thread->name : "thread";
}

int tp_view_compare(enum tp_sort sort, const struct tp_function *a, const struct tp_function *b)
{
	uint64_t x = 0;
	uint64_t y = 0;
	switch (sort) {
	case TP_SORT_SELF:
		x = a->self;
		y = b->self;
		break;
	case TP_SORT_INCLUSIVE:
		x = a->inclusive;
		y = b->inclusive;
		break;
	case TP_SORT_CALLS:
		x = a->calls;
		y = b->calls;
		break;
	case TP_SORT_MEAN:
		x = a->calls ? a->total / a->calls : 0;
		y = b->calls ? b->total / b->calls : 0;
		break;
	case TP_SORT_MIN:
		x = a->min;
		y = b->min;
		break;
	case TP_SORT_MAX:
		x = a->max;
		y = b->max;
		break;
	case TP_SORT_NAME:
		break;
	}
	if (x != y)
		return x > y ? -1 : 1;
	const int order = strcmp(a->symbol.name, b->symbol.name);
	if (order)
		return order;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void add_command(const struct tp_tracefile *trace, struct tp_buf *out)
{
	tp_buf_add_string(out, "program    ");
	const size_t start = out->size;
	for (size_t i = 0; trace->arguments && trace->arguments[i]; i++)
		tp_buf_addf(out, "%s%s", i ? " " : "", trace->arguments[i]);
	if (out->size == start)
		tp_buf_add_string(out, "unknown");
	for (size_t i = start; i < out->size; i++)
		if ((unsigned char)out->data[i] < 0x20 || out->data[i] == 0x7f)
			out->data[i] = '?';
	if (trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_CODE && trace->end.exit_value)
		tp_buf_addf(out, " (exit code %" PRIu32 ")", trace->end.exit_value);
	else if (trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_SIGNAL)
		tp_buf_addf(out, " (killed by signal %" PRIu32 ")", trace->end.exit_value);
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
	else
		tp_buf_addf(out, "duration   %s ticks\n", tp_text_count(text, duration));
	tp_buf_addf(out, "threads    %" PRIu32 "\n", analysis->thread_count);
	tp_buf_addf(out, "events     %s\n", tp_text_count(text, analysis->counts.events));
	tp_buf_addf(out, "clock      %s", tp_timebase_clock_name(analysis->trace->clock.kind));
	if (analysis->time.known)
		tp_buf_addf(out, ", %.6g MHz",
		    (double)analysis->time.ticks * 1000 / (double)analysis->time.ns);
	if (analysis->trace->clock.max_gap_ns)
		tp_buf_addf(
		    out, ", longest gap %s", tp_text_ns(text, analysis->trace->clock.max_gap_ns));
	tp_buf_add_char(out, '\n');
}

static void add_trouble(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const struct tp_tracefile *trace = analysis->trace;
	const struct tp_stack_counts *counts = &analysis->counts;
	const struct {
		uint64_t count;
		const char *what;
	} oddities[] = {
	    {counts->unmatched_enters, "calls without an exit"},
	    {counts->unmatched_exits, "exits without a call"},
	    {counts->unknown_resyncs, "resyncs to an unknown call"},
	    {counts->backwards, "times that run backwards"},
	    {counts->holes, "words that were never written"},
	    {counts->reserved, "control records of an unknown kind"},
	};
	if (!counts->events)
		tp_buf_addf(out, "empty      %s\n",
		    trace->has_end && trace->end.attach == TEEPERF_ATTACH_NONE
			? "the program is not built with 'teeperf cc', or nothing in it was chosen"
			: "no function that is instrumented was called");
	if (analysis->lost)
		tp_buf_addf(out, "lost       %s events: times and counts are too low\n",
		    tp_text_count(text, analysis->lost));
	for (size_t i = 0; i < sizeof(oddities) / sizeof(oddities[0]); i++)
		if (oddities[i].count)
			tp_buf_addf(out, "unmatched  %s %s\n",
			    tp_text_count(text, oddities[i].count), oddities[i].what);
	if (counts->open)
		tp_buf_addf(out,
		    "open       %s calls had not ended: they count up to the last event\n",
		    tp_text_count(text, counts->open));
	if (!analysis->time.known)
		tp_buf_add_string(out, "unit       ticks: the rate of the clock is not known\n");
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

void tp_view_add_json_header(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_tracefile *trace = analysis->trace;
	const struct tp_stack_counts *counts = &analysis->counts;
	tp_buf_add_string(out, "\"program\":");
	tp_text_add_json(out, tp_tracefile_program(trace));
	tp_buf_addf(out,
	    ",\"unit\":\"%s\",\"clock\":\"%s\",\"duration_ns\":%" PRIu64
	    ",\"threads_count\":%" PRIu32 ",\"events\":%" PRIu64 ",\"lost\":%" PRIu64
	    ",\"unmatched_enters\":%" PRIu64 ",\"unmatched_exits\":%" PRIu64
	    ",\"unknown_resyncs\":%" PRIu64 ",\"open\":%" PRIu64 ",\"backwards\":%" PRIu64
	    ",\"holes\":%" PRIu64 ",\"chunks\":%" PRIu64 ",\"chunk_draws\":%" PRIu64
	    ",\"problems\":%" PRIu64 ",",
	    analysis->time.known ? "ns" : "ticks", tp_timebase_clock_name(trace->clock.kind),
	    tp_analysis_duration_ns(analysis), analysis->thread_count, counts->events,
	    analysis->lost, counts->unmatched_enters, counts->unmatched_exits,
	    counts->unknown_resyncs, counts->open, counts->backwards, counts->holes,
	    trace->chunk_count, trace->end.chunk_draws,
	    trace->problems.count + analysis->damage.count);
}
