// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "top": one row for each function, all threads summed.
#include "analyzer/text.h"
#include "analyzer/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Columns of the table before the function: calls, and then what needs a clock.
#define TIMES 10

// The column that is there if it is known how far off self times may be.
#define UNCERTAINTY 1

static _Thread_local enum tp_sort sort_key; // for qsort, which passes nothing on

static int compare(const void *a, const void *b)
{
	return tp_view_compare(
	    sort_key, *(const struct tp_function *const *)a, *(const struct tp_function *const *)b);
}

static const char *short_file(const char *file)
{
	const char *slash = strrchr(file, '/');
	return slash ? slash + 1 : file;
}

// A time of all calls; of a sampled function an estimate.
static void add_scaled(struct tp_table *table, const struct tp_analysis *analysis,
    const struct tp_function *function, uint64_t ticks)
{
	char text[TP_TEXT_NUMBER];
	char marked[TP_TEXT_NUMBER + 1];
	tp_view_time(analysis, text, tp_function_scaled(function, ticks));
	snprintf(marked, sizeof(marked), "%s%s", function->sampled ? "~" : "", text);
	tp_table_add(table, marked);
}

static bool has_uncertainty(const struct tp_analysis *analysis)
{
	uint64_t ticks;
	for (uint32_t i = 0; i < analysis->function_count; i++)
		if (tp_function_uncertainty(analysis, &analysis->functions[i], &ticks))
			return true;
	return false;
}

// In parts of the self time; more than all of it says no more than that.
static void add_uncertainty(
    struct tp_table *table, const struct tp_analysis *analysis, const struct tp_function *function)
{
	char text[TP_TEXT_NUMBER] = "";
	uint64_t ticks;
	if (tp_function_uncertainty(analysis, function, &ticks)) {
		if (ticks > function->self)
			snprintf(text, sizeof(text), ">100%%");
		else
			tp_view_share(text, ticks, function->self);
	}
	tp_table_add(table, text);
}

static void add_times(struct tp_table *table, const struct tp_analysis *analysis,
    const struct tp_function *function, bool uncertainty)
{
	char text[TP_TEXT_NUMBER];
	const uint64_t timed = tp_function_timed(function);
	if (!timed) {
		for (int i = uncertainty ? 0 : 1; i < TIMES; i++)
			tp_table_add(table, "");
		return;
	}
	add_scaled(table, analysis, function, function->self);
	if (uncertainty)
		add_uncertainty(table, analysis, function);
	tp_table_add(table, tp_view_share(text, tp_function_scaled(function, function->self),
				analysis->scaled_self));
	add_scaled(table, analysis, function, function->inclusive);
	tp_table_add(table, tp_view_mean(analysis, text, function->total, timed));
	tp_table_add(table, tp_view_time(analysis, text, function->min));
	for (uint32_t i = 0; i < 3; i++)
		tp_table_add(table, tp_view_time(analysis, text, function->percentiles[i]));
	tp_table_add(table, tp_view_time(analysis, text, function->max));
}

static void add_row(struct tp_table *table, const struct tp_analysis *analysis,
    const struct tp_function *function, bool uncertainty)
{
	char text[TP_TEXT_NUMBER];
	char place[1024] = "";
	tp_table_add(table, tp_text_count(text, function->calls));
	if (!analysis->timeless)
		add_times(table, analysis, function, uncertainty);
	tp_table_add(table, function->symbol.name);
	if (function->symbol.file[0])
		snprintf(place, sizeof(place), "%s:%" PRIu64, short_file(function->symbol.file),
		    function->symbol.line);
	tp_table_add(table, place);
}

static void add_total(struct tp_table *table, const struct tp_analysis *analysis, bool uncertainty)
{
	char text[TP_TEXT_NUMBER];
	char total[64];
	uint64_t calls = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++)
		calls += analysis->functions[i].calls;
	tp_table_add(table, tp_text_count(text, calls));
	if (!analysis->timeless) {
		tp_table_add(table, tp_view_time(analysis, text, analysis->self));
		if (uncertainty)
			tp_table_add(table, "");
		tp_table_add(table, tp_view_share(text, analysis->self, analysis->self));
		for (int i = 3; i < TIMES; i++)
			tp_table_add(table, "");
	}
	snprintf(total, sizeof(total), "total of %" PRIu32 " functions", analysis->function_count);
	tp_table_add(table, total);
	tp_table_add(table, "");
}

static int render_table(const struct tp_analysis *analysis, const struct tp_view_options *options,
    const struct tp_function *const *rows, uint32_t count, struct tp_buf *out, struct tp_err *err)
{
	static const char *const titles[TIMES] = {
	    "self", "+/-", "share", "inclusive", "mean", "min", "p50", "p90", "p99", "max"};
	// What is left out first where there is no room for all.
	static const uint8_t all_ranks[] = {0, 0, 3, 2, 1, 0, 8, 7, 9, 4, 5, 0, 6};
	static const uint8_t ranks[] = {0, 0, 2, 1, 0, 7, 6, 8, 3, 4, 0, 5};
	static const uint8_t timeless_ranks[] = {0, 0, 1};
	const bool uncertainty = !analysis->timeless && has_uncertainty(analysis);
	struct tp_table table;
	if (analysis->timeless)
		tp_table_init(&table, "rll", 1);
	else if (uncertainty)
		tp_table_init(&table, "rrrrrrrrrrrll", 1 + TIMES);
	else
		tp_table_init(&table, "rrrrrrrrrrll", TIMES);
	table.ranks = analysis->timeless ? timeless_ranks : uncertainty ? all_ranks : ranks;
	table.width = options->width;
	table.color = options->color;
	tp_table_add(&table, "calls");
	for (int i = 0; i < TIMES && !analysis->timeless; i++)
		if (i != UNCERTAINTY || uncertainty)
			tp_table_add(&table, titles[i]);
	tp_table_add(&table, "function");
	tp_table_add(&table, "source");
	const int code = tp_table_choose(&table, options->columns, err);
	for (uint32_t i = 0; !code && i < count; i++)
		add_row(&table, analysis, rows[i], uncertainty);
	if (!code) {
		add_total(&table, analysis, uncertainty);
		tp_table_render(&table, out);
	}
	tp_table_release(&table);
	if (!code && count < analysis->function_count)
		tp_buf_addf(out, "(%" PRIu32 " more: --limit 0 shows all)\n",
		    analysis->function_count - count);
	return code;
}

static void render_csv(const struct tp_analysis *analysis, const struct tp_function *const *rows,
    uint32_t count, struct tp_buf *out)
{
	tp_buf_add_string(out,
	    "function,calls,self_ns,inclusive_ns,min_ns,max_ns,module,file,line,linkage,address,"
	    "timed_calls,p50_ns,p90_ns,p99_ns,self_uncertainty_ns\n");
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_function *function = rows[i];
		const bool timed = tp_function_timed(function) != 0;
		tp_text_add_csv(out, function->symbol.name);
		tp_buf_addf(out, ",%" PRIu64, function->calls);
		tp_view_add_ns(analysis, timed, function->self, ",", "", out);
		tp_view_add_ns(analysis, timed, function->inclusive, ",", "", out);
		tp_view_add_ns(analysis, timed, function->min, ",", "", out);
		tp_view_add_ns(analysis, timed, function->max, ",", "", out);
		tp_buf_add_char(out, ',');
		tp_text_add_csv(out, function->symbol.module);
		tp_buf_add_char(out, ',');
		tp_text_add_csv(out, function->symbol.file);
		tp_buf_addf(out, ",%" PRIu64 ",", function->symbol.line);
		tp_text_add_csv(out, function->symbol.linkage);
		tp_buf_addf(out, ",0x%" PRIx64 ",%" PRIu64, function->symbol.address,
		    tp_function_timed(function));
		for (uint32_t j = 0; j < 3; j++)
			tp_view_add_ns(analysis, timed, function->percentiles[j], ",", "", out);
		uint64_t ticks;
		const bool known = tp_function_uncertainty(analysis, function, &ticks);
		tp_view_add_ns(analysis, known, ticks, ",", "", out);
		tp_buf_add_char(out, '\n');
	}
}

static void render_json(const struct tp_analysis *analysis, const struct tp_function *const *rows,
    uint32_t count, struct tp_buf *out)
{
	static const char *const keys[] = {",\"p50_ns\":", ",\"p90_ns\":", ",\"p99_ns\":"};
	tp_buf_add_char(out, '{');
	tp_view_add_json_header(analysis, out);
	tp_buf_add_string(out, "\"functions\":[");
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_function *function = rows[i];
		const bool timed = tp_function_timed(function) != 0;
		tp_buf_add_string(out, i ? ",\n{\"function\":" : "\n{\"function\":");
		tp_text_add_json(out, function->symbol.name);
		tp_buf_addf(out, ",\"calls\":%" PRIu64, function->calls);
		tp_view_add_ns(analysis, timed, function->self, ",\"self_ns\":", "null", out);
		tp_view_add_ns(
		    analysis, timed, function->inclusive, ",\"inclusive_ns\":", "null", out);
		tp_view_add_ns(analysis, timed, function->min, ",\"min_ns\":", "null", out);
		tp_view_add_ns(analysis, timed, function->max, ",\"max_ns\":", "null", out);
		tp_buf_add_string(out, ",\"module\":");
		tp_text_add_json(out, function->symbol.module);
		tp_buf_add_string(out, ",\"file\":");
		tp_text_add_json(out, function->symbol.file);
		tp_buf_addf(out, ",\"line\":%" PRIu64 ",\"linkage\":", function->symbol.line);
		tp_text_add_json(out, function->symbol.linkage);
		tp_buf_addf(out, ",\"address\":\"0x%" PRIx64 "\",\"timed_calls\":%" PRIu64,
		    function->symbol.address, tp_function_timed(function));
		for (uint32_t j = 0; j < 3; j++)
			tp_view_add_ns(
			    analysis, timed, function->percentiles[j], keys[j], "null", out);
		uint64_t ticks;
		const bool known = tp_function_uncertainty(analysis, function, &ticks);
		tp_view_add_ns(analysis, known, ticks, ",\"self_uncertainty_ns\":", "null", out);
		tp_buf_add_char(out, '}');
	}
	tp_buf_add_string(out, "\n]}\n");
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	uint32_t count = analysis->function_count;
	const struct tp_function **rows = malloc((count ? count : 1) * sizeof(*rows));
	if (!rows)
		return tp_err_set(
		    err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "no memory for %u rows", count);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = &analysis->functions[i];
	sort_key = tp_view_sort(analysis, options->sort);
	qsort(rows, count, sizeof(*rows), compare);
	if (options->limit && options->limit < count)
		count = (uint32_t)options->limit;
	int code = 0;
	switch (options->format) {
	case TP_FORMAT_TABLE:
		code = render_table(analysis, options, rows, count, out, err);
		break;
	case TP_FORMAT_CSV:
		render_csv(analysis, rows, count, out);
		break;
	case TP_FORMAT_JSON:
		render_json(analysis, rows, count, out);
		break;
	}
	free(rows);
	return code;
}

const struct tp_view tp_view_top = {
    .name = "top",
    .summary = "one row for each function, all threads summed",
    .sorted = true,
    .render = render,
};
