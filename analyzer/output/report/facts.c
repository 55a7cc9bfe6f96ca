// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block "facts" of a report: what its numbers belong to.
#include "analyzer/output/completeness.h"
#include "analyzer/output/relation/relation.h"
#include "analyzer/output/report/report.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"
#include "common/array.h"
#include "common/index.h"
#include "common/short_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HISTOGRAMS_MAX 3000

static void texts_add(const struct tp_texts *texts, const char *name, struct tp_buf *out)
{
	tp_buf_addf(out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < texts->count; i++) {
		if (i)
			tp_buf_add_char(out, ',');
		tp_json_quote(out, texts->items[i]);
	}
	tp_buf_add_char(out, ']');
}

// Of the recording if it is there, else of the baseline.
static const struct tp_symbol *symbol_of(const struct tp_report *report, uint32_t function)
{
	const struct tp_report_function *it = &report->tree.functions[function];
	return it->here != UINT32_MAX ? &report->analysis->functions[it->here].symbol
				      : &report->options->base->functions[it->there].symbol;
}

static bool is_inside(const struct tp_report *report, uint32_t function)
{
	return tp_analysis_is_inside(report->tree.functions[function].here != UINT32_MAX
					 ? report->analysis
					 : report->options->base,
	    symbol_of(report, function));
}

static bool is_joined(const struct tp_report *report)
{
	return tp_analysis_is_joined(report->analysis) ||
	       (report->options->base && tp_analysis_is_joined(report->options->base));
}

// ---- columns of numbers

// Unknown numbers are 0, or null in columns that distinguish it from 0; such columns are left out
// if no number is known.
static void add_numbers(
    const struct tp_report *report, uint8_t column, bool base, struct tp_buf *out)
{
	const struct tp_relation *relation = &tp_relation_functions;
	struct tp_relation_data data = {
	    .analysis = base ? report->options->base : report->analysis,
	    .scaled = true,
	};
	const bool tells = relation->columns[column].missing != 0;
	bool known = !tells;
	struct tp_buf numbers;
	tp_buf_init(&numbers);
	for (uint32_t i = 0; i < report->tree.function_count; i++) {
		const struct tp_report_function *it = &report->tree.functions[i];
		const uint32_t at = base ? it->there : it->here;
		const struct tp_cell cell =
		    at == UINT32_MAX
			? (struct tp_cell){.type = TP_CELL_NULL}
			: relation->value(&data, tp_relation_row(relation, &data, at), column);
		known |= cell.type != TP_CELL_NULL;
		if (!cell.type && tells)
			tp_buf_addf(&numbers, "%snull", i ? "," : "");
		else
			tp_buf_addf(
			    &numbers, "%s%" PRIu64, i ? "," : "", cell.type ? cell.count : 0);
	}
	if (known) {
		tp_buf_addf(out, ",\"%s%s\":[", base ? "base_" : "", relation->columns[column].key);
		tp_buf_add(out, numbers.data, numbers.size);
		tp_buf_add_char(out, ']');
	}
	out->failed |= numbers.failed;
	tp_buf_release(&numbers);
}

// ---- histograms

// The calls that a function needs for its histogram to be there.
static uint64_t least_calls(const struct tp_analysis *analysis)
{
	uint64_t least = 1;
	if (analysis->function_count <= HISTOGRAMS_MAX)
		return least;
	uint64_t *calls = malloc(analysis->function_count * sizeof(*calls));
	if (!calls)
		return UINT64_MAX;
	for (uint32_t i = 0; i < analysis->function_count; i++)
		calls[i] = tp_function_timed(&analysis->functions[i]);
	qsort(calls, analysis->function_count, sizeof(*calls), tp_compare_u64_descending);
	least = calls[HISTOGRAMS_MAX - 1] + 1;
	free(calls);
	return least;
}

// Each as bin, count, bin, count, ...; returns the highest bin.
static uint32_t add_histograms(struct tp_report *report, struct tp_buf *out)
{
	const struct tp_analysis *analysis = report->analysis;
	const uint64_t least = least_calls(analysis);
	uint32_t highest = 0;
	tp_buf_add_string(out, ",\"histogram\":[");
	for (uint32_t i = 0; i < report->tree.function_count; i++) {
		const uint32_t here = report->tree.functions[i].here;
		tp_buf_add_string(out, i ? ",[" : "[");
		const struct tp_function *function =
		    here == UINT32_MAX ? NULL : &analysis->functions[here];
		if (function && !analysis->timeless && tp_function_timed(function) >= least) {
			const char *comma = "";
			const struct tp_histogram *times = &function->times;
			for (uint32_t j = 0; j < tp_histogram_size(times); j++) {
				const uint32_t count = tp_histogram_at(times, j);
				if (!count)
					continue;
				const uint32_t bin = tp_histogram_first(times) + j;
				tp_buf_addf(out, "%s%" PRIu32 ",%" PRIu32, comma, bin, count);
				comma = ",";
				highest = bin > highest ? bin : highest;
			}
		} else if (function && !analysis->timeless && tp_function_timed(function)) {
			report->histograms_left++;
		}
		tp_buf_add_char(out, ']');
	}
	tp_buf_add_char(out, ']');
	return highest;
}

static void add_bounds(const struct tp_report *report, uint32_t highest, struct tp_buf *out)
{
	const struct tp_timebase *time = &report->analysis->time;
	tp_buf_add_string(out, ",\"bounds\":[");
	for (uint32_t i = 0; i <= highest + 1 && i < TP_HISTOGRAM_BUCKETS; i++)
		tp_buf_addf(out, "%s%.6g", i ? "," : "",
		    (double)tp_histogram_low(i) * (double)time->ns / (double)time->ticks);
	tp_buf_add_char(out, ']');
}

// ---- all of it

// The names as there is room for them; 0: the same.
static void add_short_names(const struct tp_report *report, struct tp_buf *out)
{
	struct tp_buf name;
	tp_buf_init(&name);
	tp_buf_add_string(out, "],\"short\":[");
	for (uint32_t i = 0; i < report->tree.function_count; i++) {
		tp_buf_reset(&name);
		tp_short_name_add(&name, symbol_of(report, i)->name);
		if (i)
			tp_buf_add_char(out, ',');
		if (strcmp(name.data, symbol_of(report, i)->name))
			tp_json_quote(out, name.data);
		else
			tp_buf_add_char(out, '0');
	}
	out->failed |= name.failed;
	tp_buf_release(&name);
}

static bool add_functions(struct tp_report *report, struct tp_buf *out)
{
	struct tp_texts files = {0};
	struct tp_texts modules = {0};
	const uint32_t count = report->tree.function_count;
	const bool ok = tp_texts_init(&files, count + 1) && tp_texts_init(&modules, count + 1);
	uint32_t highest = 0;
	if (ok) {
		tp_texts_number(&files, "");
		tp_texts_number(&modules, "");
		tp_buf_add_string(out, ",\"functions\":{\"name\":[");
		for (uint32_t i = 0; i < count; i++) {
			if (i)
				tp_buf_add_char(out, ',');
			tp_json_quote(out, symbol_of(report, i)->name);
		}
		add_short_names(report, out);
		tp_buf_add_string(out, "],\"file\":[");
		for (uint32_t i = 0; i < count; i++)
			tp_buf_addf(out, "%s%" PRIu32, i ? "," : "",
			    tp_texts_number(&files, symbol_of(report, i)->file));
		tp_buf_add_string(out, "],\"module\":[");
		for (uint32_t i = 0; i < count; i++)
			tp_buf_addf(out, "%s%" PRIu32, i ? "," : "",
			    tp_texts_number(&modules, symbol_of(report, i)->module));
		tp_buf_add_string(out, "],\"line\":[");
		for (uint32_t i = 0; i < count; i++)
			tp_buf_addf(out, "%s%" PRIu64, i ? "," : "", symbol_of(report, i)->line);
		tp_buf_add_char(out, ']');
		if (is_joined(report)) {
			tp_buf_add_string(out, ",\"inside\":[");
			for (uint32_t i = 0; i < count; i++)
				tp_buf_addf(out, "%s%d", i ? "," : "", is_inside(report, i));
			tp_buf_add_char(out, ']');
		}
		texts_add(&files, "files", out);
		texts_add(&modules, "modules", out);
		uint8_t list[TP_RELATION_COLUMNS];
		const uint32_t columns =
		    tp_relation_list(&tp_relation_functions, TP_FORM_REPORT, list);
		for (uint32_t i = 0; i < columns; i++)
			add_numbers(report, list[i], false, out);
		// Of the baseline calls and self times.
		for (uint32_t i = 0; i < 2 && report->options->base; i++)
			add_numbers(report, list[i], true, out);
		highest = add_histograms(report, out);
		tp_buf_add_char(out, '}');
		const uint32_t heat = tp_report_heat_highest(&report->heat);
		add_bounds(report, heat > highest ? heat : highest, out);
	}
	tp_texts_release(&files);
	tp_texts_release(&modules);
	return ok;
}

bool tp_report_add_facts(struct tp_report *report, struct tp_buf *out)
{
	const struct tp_analysis *analysis = report->analysis;
	const struct tp_report_time *time = &report->time;
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_text(&json, "program", tp_tracefile_program(analysis->trace));
	tp_json_text(&json, "unit", analysis->timeless ? "calls" : tp_view_unit(analysis));
	if (report->has_times) {
		tp_json_text(&json, "time", tp_time_name(report->options->time));
		tp_json_bool(&json, "times", true);
	}
	tp_json_uint(&json, "span", tp_timebase_ns(&analysis->time, time->width * time->buckets));
	tp_json_uint(&json, "start",
	    analysis->timeless || !time->buckets ? 0 : tp_analysis_at_ns(analysis, time->from));
	tp_completeness_add_json(&json, analysis);
	tp_json_text(&json, "no_timeline",
	    analysis->timeless ? "Recorded without a clock, so there is no timeline."
			       : "No function was called, so there is no timeline.");
	tp_json_array(&json, "threads");
	for (uint32_t i = 0; i < report->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[report->threads[i]].thread;
		char title[64];
		snprintf(title, sizeof(title), "%s %" PRIu32, tp_view_thread_name(thread),
		    thread->number);
		tp_json_object(&json, NULL);
		tp_json_text(&json, "title", title);
		tp_json_end(&json);
	}
	tp_json_end(&json);
	const bool ok = add_functions(report, out);
	tp_json_end(&json);
	return ok;
}
