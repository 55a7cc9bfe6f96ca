// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of a query on standard output.
#include "query.h"

#include "analyzer/output/text.h"
#include "common/clean.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_WAITING 1000 // of a table, before it is decided how wide its columns are
#define WIDTH_MAX 80      // of a column that is not the last one

void tp_query_printer_init(struct tp_query_printer *printer, enum tp_query_format format)
{
	*printer = (struct tp_query_printer){.format = format};
	tp_buf_init(&printer->names);
	tp_buf_init(&printer->out);
	tp_buf_init(&printer->cells);
}

void tp_query_printer_release(struct tp_query_printer *printer)
{
	tp_buf_release(&printer->names);
	tp_buf_release(&printer->out);
	tp_buf_release(&printer->cells);
	free(printer->widths);
	free(printer->right);
	printer->widths = NULL;
	printer->right = NULL;
}

// Only the first failure is reported: the later ones follow from it.
static void fail(struct tp_query_printer *printer, int error)
{
	if (printer->failed)
		return;
	printer->failed = true;
	printer->error = error;
}

static void flush(struct tp_query_printer *printer)
{
	if (printer->out.failed || printer->cells.failed || printer->names.failed)
		fail(printer, 0);
	if (!printer->failed && printer->out.size &&
	    fwrite(printer->out.data, 1, printer->out.size, stdout) != printer->out.size)
		fail(printer, errno);
	tp_buf_reset(&printer->out);
}

// ---- values

static void add_real(struct tp_buf *out, double real, bool json)
{
	if (isfinite(real))
		tp_buf_addf(out, "%.15g", real);
	else
		tp_buf_add_string(out, json       ? "null"
				       : real > 0 ? "inf"
				       : real < 0 ? "-inf"
						  : "nan");
}

static void add_hex(struct tp_buf *out, const struct tp_value *value)
{
	for (uint64_t i = 0; i < value->size; i++)
		tp_buf_addf(out, "%02x", (unsigned char)value->text[i]);
}

// As text without any quoting; NULL is nothing.
static void add_plain(struct tp_buf *out, const struct tp_value *value)
{
	switch (value->type) {
	case TP_VALUE_NULL:
		break;
	case TP_VALUE_INTEGER:
		tp_buf_addf(out, "%" PRId64, value->integer);
		break;
	case TP_VALUE_REAL:
		add_real(out, value->real, false);
		break;
	case TP_VALUE_TEXT:
		tp_buf_add_string(out, value->text);
		break;
	case TP_VALUE_BLOB:
		add_hex(out, value);
		break;
	}
}

static void add_json(struct tp_buf *out, const struct tp_value *value)
{
	switch (value->type) {
	case TP_VALUE_NULL:
		tp_buf_add_string(out, "null");
		break;
	case TP_VALUE_REAL:
		add_real(out, value->real, true);
		break;
	case TP_VALUE_TEXT:
		tp_json_quote(out, value->text);
		break;
	case TP_VALUE_BLOB:
		tp_buf_add_char(out, '"');
		add_hex(out, value);
		tp_buf_add_char(out, '"');
		break;
	default:
		add_plain(out, value);
	}
}

// ---- tables

static void add_padded(struct tp_query_printer *printer, const char *text, uint32_t column)
{
	struct tp_buf *out = &printer->out;
	const bool last = column + 1 == printer->columns;
	const uint32_t width = tp_text_width(text);
	const uint32_t pad = width < printer->widths[column] ? printer->widths[column] - width : 0;
	tp_buf_add_string(out, column ? "  " : "");
	if (printer->right[column])
		tp_buf_addf(out, "%*s%s", (int)pad, "", text);
	else
		tp_buf_addf(out, "%s%*s", text, last ? 0 : (int)pad, "");
	if (last)
		tp_buf_add_char(out, '\n');
}

// A row of CELLS, one behind the other. Returns what follows.
static const char *add_cells(struct tp_query_printer *printer, const char *cells)
{
	for (uint32_t i = 0; i < printer->columns; i++, cells += strlen(cells) + 1)
		add_padded(printer, cells, i);
	return cells;
}

// Make columns as wide as the CELLS of a row. Returns what follows.
static const char *widen(struct tp_query_printer *printer, const char *cells)
{
	for (uint32_t i = 0; i < printer->columns; i++, cells += strlen(cells) + 1) {
		const uint32_t width = tp_text_width(cells);
		if (width > printer->widths[i])
			printer->widths[i] = width < WIDTH_MAX ? width : WIDTH_MAX;
	}
	return cells;
}

// Decide how wide the columns are, and print what has waited.
static void print_waiting(struct tp_query_printer *printer)
{
	if (printer->printed_titles || printer->cells.failed || printer->names.failed)
		return;
	const char *cell = printer->cells.data;
	for (uint64_t i = 0; i < printer->waiting; i++)
		cell = widen(printer, cell);
	widen(printer, printer->names.data);
	add_cells(printer, printer->names.data);
	cell = printer->cells.data;
	for (uint64_t i = 0; i < printer->waiting; i++)
		cell = add_cells(printer, cell);
	tp_buf_reset(&printer->cells);
	printer->waiting = 0;
	printer->printed_titles = true;
}

static void add_table_row(
    struct tp_query_printer *printer, const struct tp_value *values, uint32_t count)
{
	struct tp_buf *cells = &printer->cells;
	for (uint32_t i = 0; i < count; i++) {
		const size_t start = cells->size;
		add_plain(cells, &values[i]);
		if (cells->failed)
			return;
		tp_clean(cells->data + start, cells->size - start);
		tp_buf_add_char(cells, '\0');
		if (values[i].type == TP_VALUE_TEXT || values[i].type == TP_VALUE_BLOB)
			printer->right[i] = printer->right[i] && printer->printed_titles;
	}
	if (!printer->printed_titles) {
		if (++printer->waiting == ROWS_WAITING)
			print_waiting(printer);
		return;
	}
	add_cells(printer, cells->data);
	tp_buf_reset(cells);
}

// ---- the sink

// The TEXT of a column of CSV or TSV.
static void add_separated(struct tp_query_printer *printer, const char *text, uint32_t column)
{
	const bool csv = printer->format == TP_QUERY_CSV;
	if (column)
		tp_buf_add_char(&printer->out, csv ? ',' : '\t');
	if (csv)
		tp_text_add_csv(&printer->out, text);
	else
		tp_text_add_tsv(&printer->out, text);
}

static void end_result(struct tp_query_printer *printer)
{
	if (!printer->open)
		return;
	printer->open = false;
	if (printer->format == TP_QUERY_TABLE)
		print_waiting(printer);
	else if (printer->format == TP_QUERY_JSON)
		tp_buf_add_string(&printer->out, printer->rows ? "\n]\n" : "]\n");
	flush(printer);
	// The next statement may take long.
	if (!printer->failed && fflush(stdout) != 0)
		fail(printer, errno);
}

static bool start_result(void *context, const char *const *names, uint32_t count)
{
	struct tp_query_printer *printer = context;
	end_result(printer);
	// One result is a document; of several, each is one.
	if (printer->results++ && printer->format != TP_QUERY_JSON)
		tp_buf_add_char(&printer->out, '\n');
	printer->open = true;
	printer->rows = printer->waiting = 0;
	printer->columns = count;
	printer->printed_titles = false;
	tp_buf_reset(&printer->names);
	tp_buf_reset(&printer->cells);
	free(printer->widths);
	free(printer->right);
	printer->widths = calloc((size_t)count + 1, sizeof(*printer->widths));
	printer->right = calloc((size_t)count + 1, sizeof(*printer->right));
	if (!printer->widths || !printer->right) {
		printer->open = false;
		printer->out.failed = true;
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		const size_t start = printer->names.size;
		printer->right[i] = true;
		tp_buf_add_string(&printer->names, names[i]);
		if (printer->format == TP_QUERY_TABLE)
			tp_clean(printer->names.data + start, printer->names.size - start);
		tp_buf_add_char(&printer->names, '\0');
		if (printer->format == TP_QUERY_CSV || printer->format == TP_QUERY_TSV)
			add_separated(printer, names[i], i);
	}
	if (printer->format == TP_QUERY_JSON)
		tp_buf_add_char(&printer->out, '[');
	else if (printer->format != TP_QUERY_TABLE)
		tp_buf_add_char(&printer->out, '\n');
	return true;
}

static bool add_row(void *context, const struct tp_value *values, uint32_t count)
{
	struct tp_query_printer *printer = context;
	struct tp_buf *out = &printer->out;
	switch (printer->format) {
	case TP_QUERY_TABLE:
		add_table_row(printer, values, count);
		break;
	case TP_QUERY_CSV:
	case TP_QUERY_TSV:
		for (uint32_t i = 0; i < count; i++) {
			const bool text = values[i].type == TP_VALUE_TEXT;
			add_separated(printer, text ? values[i].text : "", i);
			if (!text)
				add_plain(out, &values[i]);
		}
		tp_buf_add_char(out, '\n');
		break;
	case TP_QUERY_JSON: {
		const char *name = printer->names.data;
		tp_buf_add_string(out, printer->rows ? ",\n{" : "\n{");
		for (uint32_t i = 0; i < count; i++) {
			tp_buf_add_string(out, i ? "," : "");
			tp_json_quote(out, name);
			tp_buf_add_char(out, ':');
			add_json(out, &values[i]);
			name += strlen(name) + 1;
		}
		tp_buf_add_char(out, '}');
		break;
	}
	}
	printer->rows++;
	if (out->size > TP_BUF_DRAIN_SIZE || out->failed || printer->cells.failed)
		flush(printer);
	return !printer->failed;
}

struct tp_query_sink tp_query_printer_sink(struct tp_query_printer *printer)
{
	return (struct tp_query_sink){printer, start_result, add_row};
}

bool tp_query_printer_finish(struct tp_query_printer *printer)
{
	end_result(printer);
	flush(printer);
	if (!printer->failed && fflush(stdout) != 0)
		fail(printer, errno);
	return !printer->failed;
}
