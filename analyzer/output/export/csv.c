// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "csv": one row for each call, as in the table calls of SQL, with names.
#include "analyzer/output/format/digits.h"
#include "analyzer/output/format/export.h"
#include "analyzer/output/relation/relation.h"
#include "analyzer/output/text.h"

#include <stdlib.h>
#include <string.h>

// Bytes of a cell that is put together with others, and its comma; longer ones go out alone.
enum { CELL_MOST = 32 };

// Names of the functions, each quoted once.
struct names {
	struct tp_buf text; // NUL-ended
	size_t *starts;
};

static bool quote_names(struct names *names, const struct tp_analysis *analysis)
{
	tp_buf_init(&names->text);
	names->starts = calloc((size_t)analysis->function_count + 1, sizeof(*names->starts));
	for (uint32_t i = 0; names->starts && i < analysis->function_count; i++) {
		names->starts[i] = names->text.size;
		tp_text_add_csv(&names->text, analysis->functions[i].symbol.name);
		tp_buf_add_char(&names->text, '\0');
	}
	return names->starts && !names->text.failed;
}

/*
 * The last columns of a row, which say what its times SELF and INCLUSIVE (ns) are made up of: most
 * calls have a processor all the time, and of a thread that does not tell there is nothing.
 */
static char *add_parts(char *at, struct tp_relation_data *data, const struct tp_call_row *row,
    uint64_t self, uint64_t inclusive)
{
	static const char unknown[TP_PART_COUNT] = ",,,,,,";
	if (!row->thread->off)
		return (char *)memcpy(at, unknown, sizeof(unknown)) + sizeof(unknown);
	if (!row->call.off.blocked && !row->call.off.preempted) {
		*at++ = ',';
		at = (char *)memcpy(tp_digits(at, self), ",0,0,", 5) + 5;
		return (char *)memcpy(tp_digits(at, inclusive), ",0,0", 4) + 4;
	}
	for (uint32_t i = 0; i < TP_PART_COUNT; i++) {
		*at++ = ',';
		at = tp_digits(at, tp_relation_calls.value(data, row, TP_CALLS_PARTS + i).count);
	}
	return at;
}

// The calls of a thread; COLUMNS of them are in the row, before the parts of its times; texts as
// NAMES have them.
static void add_calls(struct tp_relation_data *data, const struct tp_stored_thread *stored,
    const struct tp_thread *thread, const struct names *names, const uint8_t *columns,
    uint32_t count, struct tp_buf *out)
{
	struct tp_call_row row = {.stored = stored, .thread = thread};
	struct tp_buf name;
	char line[CELL_MOST * TP_RELATION_COLUMNS + 1];
	tp_buf_init(&name);
	tp_text_add_csv(&name, thread->name);
	for (uint64_t i = 0; i < stored->rows && !out->failed; i++) {
		char *at = line;
		uint64_t self = 0;
		uint64_t inclusive = 0;
		tp_call_row_get(&row, data->paths, i);
		for (uint32_t j = 0; j < count; j++) {
			if (j)
				*at++ = ',';
			const char *text = NULL;
			if (columns[j] == TP_CALLS_FUNCTION) {
				text = row.call.path
					   ? names->text.data + names->starts[row.path->function]
					   : "";
			} else if (columns[j] == TP_CALLS_NAME) {
				text = name.data;
			} else {
				const struct tp_cell cell =
				    tp_relation_calls.value(data, &row, columns[j]);
				if (cell.type == TP_CELL_TEXT)
					text = cell.text;
				else if (cell.type)
					at = tp_digits(at, cell.count);
				if (columns[j] == TP_CALLS_INCLUSIVE)
					inclusive = cell.count;
				if (columns[j] == TP_CALLS_SELF)
					self = cell.count;
			}
			const size_t size = text ? strlen(text) : 0;
			if (size >= CELL_MOST - 1) {
				tp_buf_add(out, line, (size_t)(at - line));
				tp_buf_add(out, text, size);
				at = line;
			} else if (size) {
				at = (char *)memcpy(at, text, size) + size;
			}
		}
		at = add_parts(at, data, &row, self, inclusive);
		*at++ = '\n';
		tp_buf_add(out, line, (size_t)(at - line));
	}
	tp_buf_release(&name);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_paths paths;
	struct tp_call_store store = {0};
	struct names names = {0};
	struct tp_relation_data data = {.analysis = analysis, .paths = &paths};
	uint8_t columns[TP_RELATION_COLUMNS];
	const uint32_t count = tp_relation_list(&tp_relation_calls, TP_FORM_CSV, columns);
	(void)options;
	int code = tp_paths_init(&paths, analysis, err);
	if (!code)
		code = tp_call_store_init(&store, analysis, &paths, err);
	if (!quote_names(&names, analysis) && !code)
		code = tp_err_memory(err, NULL);
	for (uint32_t i = 0; !code && i < count; i++)
		tp_buf_addf(out, "%s%c", tp_relation_calls.columns[columns[i]].key,
		    i + 1 < count ? ',' : '\n');
	for (uint32_t i = 0; !code && i < analysis->thread_count; i++) {
		code = tp_call_store_load(&store, i, err);
		if (!code)
			add_calls(&data, &store.threads[i], analysis->threads[i].thread, &names,
			    columns, count - TP_PART_COUNT, out);
		tp_call_store_forget(&store, i);
	}
	free(names.starts);
	tp_buf_release(&names.text);
	tp_call_store_release(&store);
	tp_paths_release(&paths);
	return code;
}

const struct tp_export tp_export_csv = {
    .name = "csv",
    .summary = "one row for each call, with the columns of SQL's table calls, and names",
    .tables = true,
    .render = render,
};
