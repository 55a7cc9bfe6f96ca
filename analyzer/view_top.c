// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "top": one row for each function, all threads summed.
#include "analyzer/text.h"
#include "analyzer/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLES 9
#define FUNCTION_COLUMN 7

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

static char *share(char text[TP_TEXT_NUMBER], uint64_t part, uint64_t all)
{
	snprintf(text, TP_TEXT_NUMBER, "%.1f%%", all ? (double)part * 100 / (double)all : 0.0);
	return text;
}

static void add_row(
    struct tp_table *table, const struct tp_analysis *analysis, const struct tp_function *function)
{
	char text[TP_TEXT_NUMBER];
	char place[1024] = "";
	tp_table_add(table, tp_text_count(text, function->calls));
	tp_table_add(table, tp_view_time(analysis, text, function->self));
	tp_table_add(table, share(text, function->self, analysis->self));
	tp_table_add(table, tp_view_time(analysis, text, function->inclusive));
	const uint64_t calls = function->calls ? function->calls : 1;
	tp_table_add(table, tp_view_time(analysis, text, function->total / calls));
	tp_table_add(table, tp_view_time(analysis, text, function->calls ? function->min : 0));
	tp_table_add(table, tp_view_time(analysis, text, function->max));
	tp_table_add(table, function->symbol.name);
	if (function->symbol.file[0])
		snprintf(place, sizeof(place), "%s:%" PRIu64, short_file(function->symbol.file),
		    function->symbol.line);
	tp_table_add(table, place);
}

static void render_table(const struct tp_analysis *analysis, const struct tp_view_options *options,
    const struct tp_function *const *rows, uint32_t count, struct tp_buf *out)
{
	static const char *const titles[TITLES] = {
	    "calls", "self", "share", "inclusive", "mean", "min", "max", "function", "source"};
	char text[TP_TEXT_NUMBER];
	struct tp_table table;
	tp_table_init(&table, "rrrrrrrll", FUNCTION_COLUMN);
	table.width = options->width;
	table.color = options->color;
	for (int i = 0; i < TITLES; i++)
		tp_table_add(&table, titles[i]);
	uint64_t calls = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++)
		calls += analysis->functions[i].calls;
	for (uint32_t i = 0; i < count; i++)
		add_row(&table, analysis, rows[i]);
	tp_table_add(&table, tp_text_count(text, calls));
	tp_table_add(&table, tp_view_time(analysis, text, analysis->self));
	tp_table_add(&table, share(text, analysis->self, analysis->self));
	for (int i = 3; i < FUNCTION_COLUMN; i++)
		tp_table_add(&table, "");
	char total[64];
	snprintf(total, sizeof(total), "total of %" PRIu32 " functions", analysis->function_count);
	tp_table_add(&table, total);
	tp_table_add(&table, "");
	tp_table_render(&table, out);
	tp_table_release(&table);
	if (count < analysis->function_count)
		tp_buf_addf(out, "(%" PRIu32 " more: --limit 0 shows all)\n",
		    analysis->function_count - count);
}

static void add_fields(
    const struct tp_analysis *analysis, const struct tp_function *function, uint64_t fields[4])
{
	const struct tp_timebase *time = &analysis->time;
	fields[0] = tp_timebase_ns(time, function->self);
	fields[1] = tp_timebase_ns(time, function->inclusive);
	fields[2] = function->calls ? tp_timebase_ns(time, function->min) : 0;
	fields[3] = tp_timebase_ns(time, function->max);
}

static void render_csv(const struct tp_analysis *analysis, const struct tp_function *const *rows,
    uint32_t count, struct tp_buf *out)
{
	tp_buf_add_string(out,
	    "function,calls,self_ns,inclusive_ns,min_ns,max_ns,module,file,line,linkage,address\n");
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_function *function = rows[i];
		uint64_t ns[4];
		add_fields(analysis, function, ns);
		tp_text_add_csv(out, function->symbol.name);
		tp_buf_addf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
		    function->calls, ns[0], ns[1], ns[2], ns[3]);
		tp_text_add_csv(out, function->symbol.module);
		tp_buf_add_char(out, ',');
		tp_text_add_csv(out, function->symbol.file);
		tp_buf_addf(out, ",%" PRIu64 ",", function->symbol.line);
		tp_text_add_csv(out, function->symbol.linkage);
		tp_buf_addf(out, ",0x%" PRIx64 "\n", function->symbol.address);
	}
}

static void render_json(const struct tp_analysis *analysis, const struct tp_function *const *rows,
    uint32_t count, struct tp_buf *out)
{
	tp_buf_add_char(out, '{');
	tp_view_add_json_header(analysis, out);
	tp_buf_add_string(out, "\"functions\":[");
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_function *function = rows[i];
		uint64_t ns[4];
		add_fields(analysis, function, ns);
		tp_buf_add_string(out, i ? ",\n{\"function\":" : "\n{\"function\":");
		tp_text_add_json(out, function->symbol.name);
		tp_buf_addf(out,
		    ",\"calls\":%" PRIu64 ",\"self_ns\":%" PRIu64 ",\"inclusive_ns\":%" PRIu64
		    ",\"min_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64 ",\"module\":",
		    function->calls, ns[0], ns[1], ns[2], ns[3]);
		tp_text_add_json(out, function->symbol.module);
		tp_buf_add_string(out, ",\"file\":");
		tp_text_add_json(out, function->symbol.file);
		tp_buf_addf(out, ",\"line\":%" PRIu64 ",\"linkage\":", function->symbol.line);
		tp_text_add_json(out, function->symbol.linkage);
		tp_buf_addf(out, ",\"address\":\"0x%" PRIx64 "\"}", function->symbol.address);
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
	sort_key = options->sort;
	qsort(rows, count, sizeof(*rows), compare);
	if (options->limit && options->limit < count)
		count = (uint32_t)options->limit;
	switch (options->format) {
	case TP_FORMAT_TABLE:
		render_table(analysis, options, rows, count, out);
		break;
	case TP_FORMAT_CSV:
		render_csv(analysis, rows, count, out);
		break;
	case TP_FORMAT_JSON:
		render_json(analysis, rows, count, out);
		break;
	}
	free(rows);
	return 0;
}

const struct tp_view tp_view_top = {
    .name = "top",
    .summary = "one row for each function, all threads summed",
    .render = render,
};
