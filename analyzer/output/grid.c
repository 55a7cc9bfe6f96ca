// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a view as a table, CSV or JSON.
#include "grid.h"

#include "analyzer/output/text.h"
#include "common/short_name.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Beyond this, indentation says nothing more to the eye: the depth does.
#define INDENT_MAX 64

static bool in_table(const struct tp_grid *grid, const struct tp_column *column)
{
	return column->title && !(column->timed && grid->analysis->timeless);
}

// Whether people read names of functions in it, for which a terminal has little room.
static bool shows_short_names(const struct tp_grid *grid, const struct tp_column *column)
{
	return grid->options->width && !grid->options->full_names && column->title &&
	       (!strcmp(column->title, "function") || !strcmp(column->title, "ended by"));
}

static void begin_table(struct tp_grid *grid)
{
	uint32_t shown = 0;
	uint32_t elastic = 0;
	for (uint32_t i = 0; i < grid->count; i++) {
		if (!in_table(grid, &grid->columns[i]))
			continue;
		assert(shown < TP_TABLE_COLUMNS);
		if (grid->columns[i].elastic)
			elastic = shown;
		grid->ranks[shown] = grid->columns[i].rank;
		grid->alignment[shown++] = grid->columns[i].alignment;
	}
	grid->alignment[shown] = '\0';
	tp_table_init(&grid->table, grid->alignment, elastic);
	grid->table.ranks = grid->ranks;
	grid->table.width = grid->options->width;
	grid->table.color = grid->options->color;
	for (uint32_t i = 0; i < grid->count; i++)
		if (in_table(grid, &grid->columns[i]))
			tp_table_add(&grid->table, grid->columns[i].title);
}

void tp_grid_init(struct tp_grid *grid, const struct tp_analysis *analysis,
    const struct tp_view_options *options, const struct tp_column *columns, const char *list,
    const struct tp_grid_members *members, struct tp_buf *out)
{
	const char *before = "";
	*grid = (struct tp_grid){
	    .analysis = analysis,
	    .options = options,
	    .columns = columns,
	    .out = out,
	    .left_out = "more: --limit 0 shows all",
	};
	while (columns[grid->count].title || columns[grid->count].key)
		grid->count++;
	switch (options->format) {
	case TP_FORMAT_TABLE:
		begin_table(grid);
		break;
	case TP_FORMAT_CSV:
		for (uint32_t i = 0; i < grid->count; i++)
			if (columns[i].key) {
				tp_buf_addf(out, "%s%s", before, columns[i].key);
				before = ",";
			}
		tp_buf_add_char(out, '\n');
		break;
	case TP_FORMAT_JSON:
		tp_json_init(&grid->json, out, TP_JSON_COMPACT);
		tp_json_object(&grid->json, NULL);
		if (members)
			members->add(&grid->json, members->context);
		else
			tp_view_add_json(&grid->json, analysis);
		tp_json_array(&grid->json, list);
		break;
	}
}

// Go to the next cell, and say whether this format has it.
static bool next(struct tp_grid *grid)
{
	const uint32_t at = grid->at++;
	const struct tp_column *column = &grid->columns[at];
	const enum tp_format format = grid->options->format;
	if (format == TP_FORMAT_TABLE)
		return in_table(grid, column);
	if (at == 0 && format == TP_FORMAT_JSON) {
		tp_json_line(&grid->json, 0);
		tp_json_object(&grid->json, NULL);
	}
	if (!column->key)
		return false;
	if (format == TP_FORMAT_JSON) {
		tp_json_value(&grid->json, column->key);
		return true;
	}
	bool first = true;
	for (uint32_t i = 0; i < at; i++)
		first &= !grid->columns[i].key;
	if (!first)
		tp_buf_add_char(grid->out, ',');
	return true;
}

// The cell is complete.
static void done(struct tp_grid *grid)
{
	if (grid->at < grid->count)
		return;
	grid->at = 0;
	grid->rows++;
	if (grid->options->format == TP_FORMAT_CSV)
		tp_buf_add_char(grid->out, '\n');
	else if (grid->options->format == TP_FORMAT_JSON)
		tp_json_end(&grid->json);
}

void tp_grid_indented(struct tp_grid *grid, const char *text, uint32_t depth)
{
	if (!next(grid)) {
		done(grid);
		return;
	}
	if (grid->options->format == TP_FORMAT_CSV) {
		tp_text_add_csv(grid->out, text);
	} else if (grid->options->format == TP_FORMAT_JSON) {
		tp_json_quote(grid->out, text);
	} else {
		struct tp_buf *cells = &grid->table.cells;
		const uint32_t levels = depth > INDENT_MAX ? INDENT_MAX - 1 : depth ? depth - 1 : 0;
		tp_buf_addf(cells, "%*s", (int)(2 * levels), "");
		if (depth > INDENT_MAX)
			tp_buf_addf(cells, "[%" PRIu32 "] ", depth);
		if (shows_short_names(grid, &grid->columns[grid->at - 1])) {
			struct tp_buf name;
			struct tp_buf shown;
			tp_buf_init(&name);
			tp_buf_init(&shown);
			tp_short_name_add(&name, text);
			tp_text_add_ellipses(&shown, name.data);
			tp_table_add(&grid->table, shown.data);
			cells->failed |= name.failed | shown.failed;
			tp_buf_release(&name);
			tp_buf_release(&shown);
		} else {
			tp_table_add(&grid->table, text);
		}
	}
	done(grid);
}

void tp_grid_text(struct tp_grid *grid, const char *text)
{
	tp_grid_indented(grid, text, 1);
}

void tp_grid_plain(struct tp_grid *grid, const char *table, const char *other)
{
	if (next(grid)) {
		if (grid->options->format == TP_FORMAT_TABLE)
			tp_table_add(&grid->table, table);
		else
			tp_buf_add_string(grid->out, other);
	}
	done(grid);
}

static const char *unknown(const struct tp_grid *grid)
{
	return grid->options->format == TP_FORMAT_JSON ? "null" : "";
}

void tp_grid_count(struct tp_grid *grid, uint64_t count)
{
	char table[TP_TEXT_NUMBER];
	char other[TP_TEXT_NUMBER];
	snprintf(other, sizeof(other), "%" PRIu64, count);
	tp_grid_plain(grid, tp_text_count(table, count), other);
}

void tp_grid_number(struct tp_grid *grid, uint64_t number)
{
	char text[TP_TEXT_NUMBER];
	snprintf(text, sizeof(text), "%" PRIu64, number);
	tp_grid_plain(grid, text, text);
}

void tp_grid_blank(struct tp_grid *grid)
{
	tp_grid_plain(grid, "", unknown(grid));
}

void tp_grid_time(struct tp_grid *grid, bool known, uint64_t ticks)
{
	char table[TP_TEXT_NUMBER];
	char other[TP_TEXT_NUMBER];
	if (!known || grid->analysis->timeless) {
		tp_grid_blank(grid);
		return;
	}
	snprintf(other, sizeof(other), "%" PRIu64, tp_timebase_ns(&grid->analysis->time, ticks));
	tp_grid_plain(grid, tp_view_time(grid->analysis, table, ticks), other);
}

void tp_grid_ns(struct tp_grid *grid, bool known, double ns, bool sign)
{
	char number[TP_TEXT_NUMBER];
	char table[TP_TEXT_NUMBER + 1];
	char other[TP_TEXT_NUMBER];
	if (!known || grid->analysis->timeless) {
		tp_grid_blank(grid);
		return;
	}
	const uint64_t size = fabs(ns) < 1.8e19 ? (uint64_t)(fabs(ns) + 0.5) : UINT64_MAX;
	if (grid->analysis->time.known)
		tp_text_ns(number, size);
	else
		tp_text_count(number, size);
	snprintf(table, sizeof(table), "%s%s", !size ? "" : ns < 0 ? "-" : sign ? "+" : "", number);
	snprintf(other, sizeof(other), "%.0f", fabs(ns) < 0.5 ? 0.0 : ns);
	tp_grid_plain(grid, table, other);
}

void tp_grid_kernel_ns(struct tp_grid *grid, bool known, uint64_t ns)
{
	char table[TP_TEXT_NUMBER];
	char other[TP_TEXT_NUMBER];
	if (!known) {
		tp_grid_blank(grid);
		return;
	}
	snprintf(other, sizeof(other), "%" PRIu64, ns);
	tp_grid_plain(grid, tp_text_ns(table, ns), other);
}

void tp_grid_relative(struct tp_grid *grid, double relative)
{
	char table[TP_TEXT_NUMBER];
	char other[TP_TEXT_NUMBER];
	if (!isfinite(relative)) {
		tp_grid_plain(grid, "new", unknown(grid));
		return;
	}
	snprintf(table, sizeof(table), fabs(relative) < 10 ? "%+.1f%%" : "%+.0f%%", relative * 100);
	snprintf(other, sizeof(other), "%.6f", relative);
	tp_grid_plain(grid, table, other);
}

void tp_grid_mean(struct tp_grid *grid, uint64_t total, uint64_t calls)
{
	char table[TP_TEXT_NUMBER];
	char other[TP_TEXT_NUMBER];
	if (!calls || grid->analysis->timeless) {
		tp_grid_blank(grid);
		return;
	}
	// Not in ticks, which may be longer than many calls.
	const uint64_t ns = tp_timebase_ns(&grid->analysis->time, total) / calls;
	snprintf(other, sizeof(other), "%" PRIu64, ns);
	tp_grid_plain(grid,
	    grid->analysis->time.known ? tp_text_ns(table, ns) : tp_text_count(table, ns), other);
}

void tp_grid_share(struct tp_grid *grid, uint64_t part, uint64_t all)
{
	char table[TP_TEXT_NUMBER];
	char other[TP_TEXT_NUMBER];
	snprintf(other, sizeof(other), "%.6f", all ? (double)part / (double)all : 0.0);
	tp_grid_plain(grid, tp_view_share(table, part, all), other);
}

void tp_grid_real(struct tp_grid *grid, bool known, double value, int fraction)
{
	char text[TP_TEXT_NUMBER];
	if (!known) {
		tp_grid_blank(grid);
		return;
	}
	snprintf(text, sizeof(text), "%.*f", fraction, value);
	tp_grid_plain(grid, text, text);
}

void tp_grid_flush(struct tp_grid *grid, struct tp_err *err)
{
	if (grid->options->format != TP_FORMAT_TABLE)
		return;
	if (!grid->code)
		grid->code = tp_table_choose(&grid->table, grid->options->columns, err);
	if (!grid->code)
		tp_table_render(&grid->table, grid->out);
	tp_table_release(&grid->table);
	begin_table(grid);
}

int tp_grid_end(struct tp_grid *grid, int code, struct tp_err *err)
{
	assert(grid->at == 0);
	if (grid->options->format == TP_FORMAT_JSON) {
		tp_json_line(&grid->json, 0);
		tp_json_end(&grid->json);
		tp_json_uint(&grid->json, "left_out", grid->more);
		tp_json_end(&grid->json);
		tp_buf_add_char(grid->out, '\n');
	}
	if (grid->options->format != TP_FORMAT_TABLE)
		return code;
	grid->table.tells = true;
	if (!grid->rows || grid->table.cell_count > grid->table.columns)
		tp_grid_flush(grid, err);
	tp_table_release(&grid->table);
	if (!grid->code && grid->more)
		tp_buf_addf(grid->out, "(%" PRIu64 " %s)\n", grid->more, grid->left_out);
	return code ? code : grid->code;
}
