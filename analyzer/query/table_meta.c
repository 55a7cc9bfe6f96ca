// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "meta": facts about the trace, as text.
#define _GNU_SOURCE
#include "analyzer/query/trace_data.h"

#include "analyzer/output/completeness.h"
#include "common/array.h"
#include "common/buf.h"
#include "common/clean.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tp_relation_column columns[] = {
    {"key", "what", .type = TP_TYPE_TEXT},
    {"value", "as text; CAST(value AS INTEGER) computes with it", .type = TP_TYPE_TEXT},
};

static void add(struct tp_trace_data *data, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(struct tp_trace_data *data, const char *key, const char *format, ...)
{
	if (!TP_GROW(data->meta, data->meta_capacity, data->meta_count + UINT64_C(1))) {
		data->meta_failed = true;
		return;
	}
	struct tp_meta_row *row = &data->meta[data->meta_count++];
	*row = (struct tp_meta_row){.key = strdup(key)};
	va_list args;
	va_start(args, format);
	if (vasprintf(&row->value, format, args) < 0)
		row->value = NULL;
	va_end(args);
	if (!row->key || !row->value) {
		data->meta_failed = true;
		return;
	}
	tp_clean(row->key, strlen(row->key));
	tp_clean(row->value, strlen(row->value));
}

static void add_number(struct tp_trace_data *data, const char *key, uint64_t number)
{
	add(data, key, "%" PRIu64, number);
}

static void add_program(struct tp_trace_data *data)
{
	const struct tp_tracefile *trace = data->analysis->trace;
	struct tp_buf text;
	tp_buf_init(&text);
	add(data, "trace", "%s", trace->source.name);
	add(data, "program", "%s", tp_tracefile_program(trace));
	for (size_t i = 0; trace->arguments && trace->arguments[i]; i++)
		tp_buf_addf(&text, "%s%s", i ? " " : "", trace->arguments[i]);
	add(data, "command", "%s", text.data);
	tp_buf_release(&text);
	if (trace->directory)
		add(data, "directory", "%s", trace->directory);
	add_number(data, "created_unix_ns", trace->header.created_unix_ns);
	if (trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_CODE)
		add_number(data, "exit_code", trace->end.exit_value);
	if (trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_SIGNAL)
		add_number(data, "exit_signal", trace->end.exit_value);
}

static void add_clock(struct tp_trace_data *data)
{
	const struct tp_analysis *analysis = data->analysis;
	const struct tp_tracefile *trace = analysis->trace;
	add(data, "clock", "%s",
	    trace->has_clock ? teeperf_clock_name(trace->clock.kind) : "unknown");
	add(data, "unit", "%s",
	    analysis->timeless     ? "none"
	    : analysis->time.known ? "ns"
				   : "ticks");
	// clock_ns nanoseconds are clock_ticks ticks.
	add_number(data, "clock_ns", analysis->time.ns);
	add_number(data, "clock_ticks", analysis->time.ticks);
	if (trace->clock.max_gap_ns)
		add_number(data, "clock_max_gap_ns", trace->clock.max_gap_ns);
	if (trace->clock.starved_ns)
		add_number(data, "clock_starved_ns", trace->clock.starved_ns);
	if (analysis->starvation.has_cpu)
		add_number(data, "processor_ns", analysis->starvation.cpu_ns);
	if (analysis->starvation.has_delay) {
		add_number(data, "processor_delay_ns", analysis->starvation.delay_ns);
		add(data, "processor_share", "%.6f", 1 - analysis->starvation.delay_share);
	}
	add_number(data, "duration_ns", tp_analysis_duration_ns(analysis));
	add_number(data, "recorded_ns", tp_analysis_recorded_ns(analysis));
	add(data, "time", "%s", tp_time_name(analysis->options.time));
	add(data, "times", "%s", analysis->compensation.applied ? "compensated" : "recorded");
	if (analysis->compensation.known) {
		add_number(data, "cost_in_ps", analysis->compensation.in_ps);
		add_number(data, "cost_out_ps", analysis->compensation.out_ps);
		add_number(data, "cost_untimed_ps", analysis->compensation.untimed_ps);
		if (analysis->compensation.kept)
			add_number(data, "cost_age_s", analysis->compensation.age_s);
	}
	if (analysis->compensation.bounded) {
		add_number(data, "cost_in_off_ps", analysis->compensation.in_off_ps);
		add_number(data, "cost_out_off_ps", analysis->compensation.out_off_ps);
	}
	if (analysis->compensation.known && analysis->compensation.wait_ps)
		add_number(data, "cost_wait_ps", analysis->compensation.wait_ps);
	if (analysis->compensation.applied) {
		add_number(data, "cost_taken_ns",
		    tp_timebase_ns(&analysis->time, analysis->compensation.taken));
		add_number(data, "cost_missing_ns",
		    tp_timebase_ns(&analysis->time, analysis->compensation.missing));
	}
}

// A number that is not known has no row.
static void add_completeness(struct tp_trace_data *data)
{
	const struct tp_analysis *analysis = data->analysis;
	struct tp_buf text;
	uint64_t most;
	tp_buf_init(&text);
	tp_completeness_add_text(analysis, &text);
	add(data, "completeness", "%s", text.data ? text.data : "");
	tp_buf_release(&text);
	add_number(data, "complete", tp_analysis_is_complete(analysis));
	add_number(data, "missing_events", tp_analysis_missing(analysis));
	if (tp_analysis_missing_at_most(analysis, &most))
		add_number(data, "missing_events_at_most", most);
	add_number(data, "missing_chunks", analysis->trace->lacks.chunks);
	add_number(data, "missing_counted_calls", analysis->trace->lacks.calls);
}

static void add_counts(struct tp_trace_data *data)
{
	const struct tp_analysis *analysis = data->analysis;
	const struct tp_stack_counts *counts = &analysis->counts;
	add_number(data, "threads", analysis->thread_count);
	add_number(data, "functions", analysis->function_count);
	add_number(data, "events", counts->events);
	add_number(data, "calls", data->calls.count);
	add_number(data, "counted_calls", counts->counted);
	add_number(data, "lost_events", analysis->lost);
	add_completeness(data);
	add_number(data, "cut_calls", counts->cut);
	add_number(data, "open_calls", counts->open);
	add_number(data, "unmatched_exits", counts->unmatched_exits);
	add_number(data, "unmatched_enters", counts->unmatched_enters);
	add_number(data, "backwards_times", counts->backwards);
	add_number(data, "damage", analysis->trace->problems.count + analysis->damage.count);
	add_number(data, "filtered", analysis->filtered || analysis->ranged || analysis->least);
}

static void add_host(struct tp_trace_data *data)
{
	const char *line = data->analysis->trace->host;
	while (line && *line && !data->meta_failed) {
		const char *end = strchrnul(line, '\n');
		const char *equals = memchr(line, '=', (size_t)(end - line));
		char key[128];
		if (equals) {
			snprintf(key, sizeof(key), "host.%.*s",
			    (int)(equals - line < 100 ? equals - line : 100), line);
			add(data, key, "%.*s", (int)(end - equals > 4096 ? 4096 : end - equals - 1),
			    equals + 1);
		}
		line = *end ? end + 1 : end;
	}
}

void tp_trace_data_add_meta(struct tp_trace_data *data)
{
	add_program(data);
	add_clock(data);
	add_counts(data);
	add_host(data);
}

static const struct tp_trace_data *data_of(const struct tp_relation_data *data)
{
	return (const struct tp_trace_data *)(const void *)data;
}

static struct tp_rows rows(const struct tp_relation_data *data)
{
	return (struct tp_rows){
	    data_of(data)->meta, data_of(data)->meta_count, sizeof(*data_of(data)->meta)};
}

static struct tp_cell value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_meta_row *meta = row;
	(void)data;
	return tp_cell_text(column ? meta->value : meta->key);
}

const struct tp_relation tp_relation_meta = {
    .name = "meta",
    .summary = "facts about the trace: program, clock, losses, cost of recording, host",
    .columns = columns,
    .count = sizeof(columns) / sizeof(columns[0]),
    .forms = TP_FORM_SQL,
    .reason =
	"views have these facts in their heading, and JSON has them as members next to the rows",
    .rows = rows,
    .value = value,
};
