/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace in memory, through all that analyses and shows it: what comes out is sound, and adds up.
 */
#ifndef TP_CHECK_TRACE_H
#define TP_CHECK_TRACE_H

#include "analyzer/profile/analysis.h"
#include "analyzer/profile/calls.h"
#include "analyzer/output/format/export.h"
#include "analyzer/output/report/report.h"
#include "analyzer/output/view.h"
#include "analyzer/trace/marks.h"
#include "analyzer/whatif/predict.h"
#include "test/fuzz/check_exports.h"

#include <stdlib.h>
#include <string.h>

// Own times of all call paths of a thread are those of all its functions, and each call has a path.
static inline void check_sums(const struct tp_analysis *analysis)
{
	uint64_t self = 0;
	uint64_t functions_self = 0;
	uint64_t calls = 0;
	uint64_t functions_calls = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		for (uint32_t j = 1; j < profile->node_count; j++) {
			const struct tp_node *node = &profile->nodes[j];
			self += node->self;
			calls += node->calls;
			if (node->calls && (node->min > node->max || node->self > node->inclusive))
				abort();
		}
	}
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_function *function = &analysis->functions[i];
		functions_self += function->self;
		functions_calls += function->calls - function->counted;
		if (!function->symbol.name || !function->symbol.name[0])
			abort();
	}
	if (self != functions_self || self != analysis->self)
		abort();
	// Of a sampled function only some calls have a path.
	if (!analysis->sampled_count && calls != functions_calls)
		abort();
}

static inline void check_view(enum tp_format format, const struct tp_buf *out)
{
	check_text(out->data, out->size);
	if (format == TP_FORMAT_JSON)
		check_json(out->data);
	else if (format == TP_FORMAT_CSV)
		check_csv(out->data);
}

static inline void check_export(const char *name, const struct tp_buf *out)
{
	if (!strcmp(name, "folded"))
		check_folded(out->data);
	else if (!strcmp(name, "csv"))
		check_csv(out->data);
	else if (!strcmp(name, "flamegraph"))
		check_xml(out->data);
	else if (!strcmp(name, "chrome") || !strcmp(name, "firefox") || !strcmp(name, "speedscope"))
		check_json(out->data);
	else if (!strcmp(name, "pprof"))
		check_pprof(out->data, out->size);
	else if (!strcmp(name, "callgrind"))
		check_callgrind(out->data);
	else if (!strcmp(name, "perfdata"))
		check_perfdata(out->data, out->size);
}

// Flame graphs that are inverted, and that are compared, here with itself.
static inline void check_flames(
    const struct tp_analysis *analysis, const struct tp_export *export, struct tp_buf *out)
{
	const struct tp_export_options options[] = {
	    {.inverted = true, .icicle = true, .least_pixels = 0.01},
	    {.baseline = analysis},
	    {.baseline = analysis, .weight = TP_WEIGHT_CALLS},
	};
	struct tp_err err;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		tp_buf_reset(out);
		if (tp_export_render(export, analysis, &options[i], out, &err) == 0)
			check_xml(out->data);
	}
}

// A report, of little or of all, compared with itself or not: its names open no element.
static inline void check_report(const struct tp_analysis *analysis, size_t size, struct tp_buf *out)
{
	const struct tp_report_options options = {
	    .paths = size % 16 < 8 ? 5 : 100000,
	    .calls = size % 32 < 16 ? 3 : 1000,
	    .base = size % 64 < 32 ? analysis : NULL,
	};
	struct tp_err err;
	tp_buf_reset(out);
	if (tp_report_render(analysis, &options, out, &err))
		return;
	uint32_t scripts = 0;
	for (const char *at = out->data; (at = strstr(at, "<script")); at++)
		scripts++;
	// Facts, paths, threads and the viewer; time, begun, heat, slowest, waits, lanes,
	// transitions, contention, meters, marks.
	if (out->failed || scripts < 4 || scripts > 14 || strlen(out->data) != out->size)
		abort();
}

static inline void count_call(void *context, const struct tp_call *call)
{
	uint64_t *calls = context;
	calls[0]++;
	if (call->end < call->start || call->id <= call->parent || !call->node)
		abort();
}

// Calls one by one are as many as the paths have.
static inline void check_calls(const struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		uint64_t calls = 0;
		uint64_t sum = 0;
		struct tp_call_sink sink = {.context = &calls, .leave = count_call};
		struct tp_err err;
		for (uint32_t j = 0; j < profile->node_count; j++)
			sum += profile->nodes[j].calls;
		if (tp_calls_each(analysis, i, &sink, &err) == 0 && calls != sum)
			abort();
	}
}

// Predictions are times, whatever threads are said to have waited for.
static inline void check_predictions(
    const struct tp_analysis *analysis, size_t choice, struct tp_buf *out)
{
	const struct tp_predict_options options = {
	    .view = {.format = (enum tp_format)(choice % 3), .limit = choice % 6},
	    .callees = choice % 4 < 2,
	    .processors = choice % 8 < 4 ? 0 : 1,
	    .speedups = {0.2, 1, -0.5},
	    .speedup_count = choice % 4,
	};
	struct tp_predictions predictions;
	struct tp_err err;
	tp_buf_reset(out);
	if (tp_predict(&predictions, analysis, &options, &err) == 0) {
		for (uint64_t i = 0; i < predictions.count; i++)
			if (!(predictions.items[i].time >= 0) ||
			    !(predictions.items[i].running >= 0))
				abort();
		if (tp_predictions_show(&predictions, analysis, &options, out, &err) == 0)
			check_view(options.view.format, out);
	}
	tp_predictions_release(&predictions);
}

// Marks are in order, and a range between two of them is one.
static inline void check_marks(const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	static const char *const ranges[] = {
	    "..unnamed", "unnamed..", "unnamed", "a..b", "#1..a#2"};
	struct tp_marks marks;
	struct tp_err err;
	uint64_t from;
	uint64_t to;
	struct tp_marks known;
	const int code = tp_marks_read(&marks, trace, NULL, &err);
	// Of threads that are known to have none it does not look at the records.
	if (tp_analysis_marks(analysis, &known, &err) == 0 && code == 0)
		for (uint64_t i = 0; i < marks.count || i < known.count; i++)
			if (known.count != marks.count || known.left_out != marks.left_out ||
			    known.items[i].time != marks.items[i].time ||
			    known.items[i].thread != marks.items[i].thread ||
			    strcmp(known.items[i].name, marks.items[i].name) != 0)
				abort();
	tp_marks_release(&known);
	if (code == 0)
		for (uint64_t i = 0; i < marks.count; i++)
			if ((i && marks.items[i - 1].time > marks.items[i].time &&
				marks.items[i].timed) ||
			    marks.items[i].end < marks.items[i].time || !marks.items[i].name[0])
				abort();
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (tp_marks_range(&marks, ranges[i], "fuzz", &from, &to, &err) == 0 && from > to)
			abort();
	tp_marks_release(&marks);
}

// The SIZE bytes at DATA, which may be anything; by CHOICE with one or another set of options.
static inline void check_trace(const uint8_t *data, size_t size, size_t choice)
{
	struct tp_tracefile trace;
	struct tp_analysis analysis = {0};
	// Every other size: both kinds of times.
	const struct tp_analysis_options options = {
	    .workers = 1,
	    .compensate = choice % 16 == 0,
	    .least_ns = choice % 5 == 1 ? 40 : 0,
	    .from_ns = choice % 7 == 1 ? 100 : 0,
	    .to_ns = choice % 7 == 1 ? 1000000 : 0,
	    .depth = choice % 11 == 1 ? 3 : 0,
	};
	struct tp_err err;
	struct tp_buf out;
	tp_buf_init(&out);
	if (tp_tracefile_from_memory(&trace, "fuzz", data, size, &err) == 0 &&
	    tp_analysis_init(&analysis, &trace, &options, &err) == 0) {
		static const char *const any[] = {"*"};
		struct tp_view_options view = {.width = 80, .borders = any};
		check_sums(&analysis);
		check_calls(&analysis);
		check_marks(&analysis);
		check_report(&analysis, choice, &out);
		if (!options.least_ns && !options.to_ns && !options.depth)
			check_predictions(&analysis, choice, &out);
		tp_buf_reset(&out);
		tp_view_add_header(&analysis, false, &out);
		check_text(out.data, out.size);
		for (size_t i = 0; tp_views()[i]; i++)
			for (int format = TP_FORMAT_TABLE; format <= TP_FORMAT_JSON; format++) {
				if (analysis.timeless && tp_views()[i]->timeline)
					continue;
				view.format = (enum tp_format)format;
				view.function = tp_views()[i]->of == TP_VIEW_OF_ALL ? NULL : "*";
				// Some views have more rows than there are paths.
				view.limit = choice % 8 ? 2000 : 0;
				view.by_caller = choice % 32 < 16;
				view.by_module = choice % 64 < 32;
				view.border_count = view.by_module ? 0 : 1;
				view.around_slowest = choice % 32 < 16 ? 0 : 3;
				tp_buf_reset(&out);
				if (tp_view_render(tp_views()[i], &analysis, &view, &out, &err) ==
				    0)
					check_view(view.format, &out);
			}
		tp_view_add_health(&analysis, &out);
		for (size_t i = 0; tp_exports()[i]; i++) {
			if (tp_exports()[i]->calls) {
				const struct tp_export_options chosen = {0};
				tp_buf_reset(&out);
				if (tp_export_render(tp_exports()[i]->calls, &analysis, &chosen,
					&out, &err) == 0)
					check_export(tp_exports()[i]->name, &out);
			}
			for (int weight = TP_WEIGHT_SELF; weight <= TP_WEIGHT_CALLS; weight++) {
				const struct tp_export_options chosen = {
				    .weight = (enum tp_weight)weight};
				tp_buf_reset(&out);
				if (!tp_export_is_directory(tp_exports()[i]) &&
				    tp_export_render(
					tp_exports()[i], &analysis, &chosen, &out, &err) == 0)
					check_export(tp_exports()[i]->name, &out);
				if (strcmp(tp_exports()[i]->name, "flamegraph") == 0)
					check_flames(&analysis, tp_exports()[i], &out);
			}
		}
	}
	tp_buf_release(&out);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
}

#endif
