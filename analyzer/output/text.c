// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of output: quoted strings, tables.
#include "text.h"

#include "common/clean.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Width that the elastic column keeps; below it, other columns are left out.
#define ELASTIC_LEAST 40
// Width of the elastic column where nothing is cut. A longer cell moves the cells behind it, in its
// row only.
#define ELASTIC_MOST 80

// A spreadsheet takes what begins so for a formula; with an apostrophe in front it shows the text
// as it is.
static void add_guard(struct tp_buf *buf, const char *text)
{
	char *end;
	if (!*text || !strchr("=+-@", *text))
		return;
	strtod(text, &end);
	if (end == text || *end) // a number is harmless
		tp_buf_add_char(buf, '\'');
}

void tp_text_add_csv(struct tp_buf *buf, const char *text)
{
	const bool quoted = strpbrk(text, ",\"\n") != NULL;
	if (quoted)
		tp_buf_add_char(buf, '"');
	add_guard(buf, text);
	for (const char *end; *text; text = end) {
		end = text + strcspn(text, "\"\n");
		tp_buf_add_clean_part(buf, text, (size_t)(end - text));
		if (*end)
			tp_buf_add_string(buf, *end++ == '"' ? "\"\"" : "\n");
	}
	if (quoted)
		tp_buf_add_char(buf, '"');
}

void tp_text_add_tsv(struct tp_buf *buf, const char *text)
{
	static const char special[] = "\t\n\r\\";
	add_guard(buf, text);
	for (const char *end; *text; text = end) {
		end = text + strcspn(text, special);
		tp_buf_add_clean_part(buf, text, (size_t)(end - text));
		if (!*end)
			break;
		tp_buf_add_char(buf, '\\');
		tp_buf_add_char(buf, "tnr\\"[strcspn(special, (const char[]){*end, '\0'})]);
		end++;
	}
}

void tp_text_add_xml(struct tp_buf *buf, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		const size_t size = tp_clean_character(at);
		if (*at == '<')
			tp_buf_add_string(buf, "&lt;");
		else if (*at == '>')
			tp_buf_add_string(buf, "&gt;");
		else if (*at == '&')
			tp_buf_add_string(buf, "&amp;");
		else if (*at == '"')
			tp_buf_add_string(buf, "&quot;");
		else if (size == 0 || tp_clean_unfit(at, size))
			tp_buf_add_string(buf, "?");
		else
			tp_buf_add(buf, at, size);
		at += size ? size : 1;
	}
}

char *tp_text_percent(char text[TP_TEXT_NUMBER], double share)
{
	const double value = share * 100;
	if (value > 0 && value < 0.001)
		snprintf(text, TP_TEXT_NUMBER, "<0.001%%");
	else
		snprintf(text, TP_TEXT_NUMBER, value < 9.95 ? "%.2g%%" : "%.0f%%", value);
	return text;
}

uint32_t tp_text_width(const char *text)
{
	return tp_count_characters(text, SIZE_MAX);
}

// How many bytes of the LENGTH at TEXT go on a line of WIDTH columns: up to a blank, or up to the
// first one if no word fits.
static size_t take_line(const char *text, size_t length, uint32_t width)
{
	size_t taken = 0;
	uint32_t columns = 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == ' ' && (columns <= width || !taken))
			taken = i;
		columns += tp_begins_character(text[i]);
		if (columns > width && taken)
			return taken;
	}
	return columns <= width || !taken ? length : taken;
}

void tp_text_add_wrapped(struct tp_buf *buf, const char *text, uint32_t width, uint32_t indent)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		uint32_t before = 0;
		for (;;) {
			const size_t taken = width > before + indent
						 ? take_line(text, length, width - before)
						 : length;
			tp_buf_addf(buf, "%*s%.*s\n", (int)before, "", (int)taken, text);
			text += taken;
			length -= taken;
			if (!length)
				break;
			before = indent;
			text++;
			length--;
		}
		text += *text == '\n';
	}
}

void tp_table_init(struct tp_table *table, const char *alignment, uint32_t elastic)
{
	*table = (struct tp_table){
	    .alignment = alignment,
	    .columns = (uint32_t)strlen(alignment),
	    .elastic = elastic,
	};
	tp_buf_init(&table->cells);
}

void tp_table_release(struct tp_table *table)
{
	tp_buf_release(&table->cells);
}

void tp_table_add(struct tp_table *table, const char *text)
{
	tp_buf_add_clean(&table->cells, text);
	tp_buf_add_char(&table->cells, '\0');
	table->cell_count++;
}

void tp_table_add_titles(struct tp_table *table, const char *const *titles)
{
	for (uint32_t i = 0; i < table->columns; i++)
		tp_table_add(table, titles[i]);
}

static void pad(struct tp_buf *out, uint32_t count)
{
	while (count--)
		tp_buf_add_char(out, ' ');
}

static const char usual_ellipsis[] = "…";
static const char *ellipsis = usual_ellipsis;

void tp_text_use_ascii(bool ascii)
{
	ellipsis = ascii ? ".." : usual_ellipsis;
}

const char *tp_text_ellipsis(void)
{
	return ellipsis;
}

void tp_text_add_ellipses(struct tp_buf *out, const char *text)
{
	for (const char *at; (at = strstr(text, usual_ellipsis));) {
		tp_buf_add(out, text, (size_t)(at - text));
		tp_buf_add_string(out, ellipsis);
		text = at + sizeof(usual_ellipsis) - 1;
	}
	tp_buf_add_string(out, text);
}

// Add TEXT, cut to WIDTH columns with a mark in the middle: both ends of a long name say what it
// is.
static void add_cut(struct tp_buf *out, const char *text, uint32_t width)
{
	const uint32_t all = tp_text_width(text);
	if (all <= width) {
		tp_buf_add_string(out, text);
		return;
	}
	const uint32_t mark = tp_text_width(ellipsis);
	const uint32_t room = width > mark ? width - mark : 0;
	const uint32_t head = room / 2;
	const uint32_t tail = all - (room - head); // where it begins
	uint32_t at = 0;                           // letters so far
	for (; *text; text++) {
		const bool begins = tp_begins_character(*text);
		if (begins && at == head)
			tp_buf_add_string(out, ellipsis);
		at += begins;
		if (at <= head || at > tail)
			tp_buf_add_char(out, *text);
	}
}

// Cells may be empty: leave no blanks at the end of the line.
static void end_row(struct tp_buf *out)
{
	while (out->size && out->data[out->size - 1] == ' ')
		out->size--;
	tp_buf_add_char(out, '\n');
}

// The title of column COLUMN; titles are the first row.
static const char *title_of(const struct tp_table *table, uint32_t column)
{
	const char *cell = table->cells.data;
	while (column--)
		cell += strlen(cell) + 1;
	return cell;
}

int tp_table_choose(struct tp_table *table, const char *list, struct tp_err *err)
{
	if (!list || table->cells.failed)
		return 0;
	for (const char *at = list;; at++) {
		const size_t length = strcspn(at, ",");
		uint32_t i = 0;
		while (i < table->columns && (strlen(title_of(table, i)) != length ||
						 memcmp(title_of(table, i), at, length) != 0))
			i++;
		if (i == table->columns || table->chosen == TP_TABLE_COLUMNS) {
			struct tp_buf titles;
			tp_buf_init(&titles);
			for (i = 0; i < table->columns; i++)
				tp_buf_addf(&titles, "%s%s", i ? ", " : "", title_of(table, i));
			tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
			    "--columns: '%.*s' is not a column of this table, or one too many: %s",
			    (int)length, at, titles.data);
			tp_buf_release(&titles);
			return TP_ERR_NOT_FOUND;
		}
		table->order[table->chosen++] = (uint8_t)i;
		at += length;
		if (!*at)
			return 0;
	}
}

// Which columns are shown: those that were chosen, else all for which there is room.
static uint32_t arrange(
    const struct tp_table *table, const uint32_t *widths, uint8_t order[TP_TABLE_COLUMNS])
{
	if (table->chosen) {
		memcpy(order, table->order, table->chosen);
		return table->chosen;
	}
	uint32_t count = table->columns;
	for (uint32_t i = 0; i < count; i++)
		order[i] = (uint8_t)i;
	for (;;) {
		uint32_t sum = 0;
		uint32_t last = 0; // the one to go next
		for (uint32_t i = 0; i < count; i++) {
			const uint32_t own = widths[order[i]];
			const bool elastic = order[i] == table->elastic && own > ELASTIC_LEAST;
			sum += (elastic ? ELASTIC_LEAST : own) + (i ? 2 : 0);
			if (table->ranks && table->ranks[order[i]] >= table->ranks[order[last]])
				last = i;
		}
		if (!table->width || sum <= table->width || !table->ranks ||
		    !table->ranks[order[last]])
			return count;
		memmove(order + last, order + last + 1, count - last - 1);
		count--;
	}
}

static void add_cell(const struct tp_table *table, struct tp_buf *out, const char *cell,
    uint32_t column, uint32_t width, bool title, bool last)
{
	const uint32_t own = tp_text_width(cell);
	const uint32_t room = own < width ? width - own : 0;
	const bool bold = table->color && title && own;
	if (table->alignment[column] == 'r')
		pad(out, room);
	if (bold)
		tp_buf_add_string(out, "\033[1m");
	if (table->width)
		add_cut(out, cell, width);
	else
		tp_buf_add_string(out, cell);
	if (bold)
		tp_buf_add_string(out, "\033[0m");
	if (table->alignment[column] == 'l' && !last)
		pad(out, room);
	if (last)
		end_row(out);
	else
		tp_buf_add_string(out, "  ");
}

// The columns that are not among those that are shown, of which there are COUNT in ORDER.
static void add_left_out(
    const struct tp_table *table, const uint8_t *order, uint32_t count, struct tp_buf *out)
{
	const char *before = "(no room for ";
	for (uint32_t i = 0; i < table->columns; i++) {
		if (memchr(order, (int)i, count))
			continue;
		tp_buf_addf(out, "%s%s", before, title_of(table, i));
		before = ", ";
	}
	tp_buf_add_string(out, ": see --columns)\n");
}

void tp_table_render(const struct tp_table *table, struct tp_buf *out)
{
	uint32_t widths[TP_TABLE_COLUMNS] = {0};
	uint8_t order[TP_TABLE_COLUMNS];
	if (table->cells.failed)
		out->failed = true;
	if (table->cells.failed || table->columns > TP_TABLE_COLUMNS)
		return;
	const char *cell = table->cells.data;
	for (uint32_t i = 0; i < table->cell_count; i++, cell += strlen(cell) + 1) {
		const uint32_t width = tp_text_width(cell);
		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
	const uint32_t shown = arrange(table, widths, order);
	uint32_t sum = 2 * (shown - 1);
	for (uint32_t i = 0; i < shown; i++)
		sum += widths[order[i]];
	if (!table->width && widths[table->elastic] > ELASTIC_MOST)
		widths[table->elastic] = ELASTIC_MOST;
	if (table->width && sum > table->width) {
		const uint32_t more = sum - table->width;
		uint32_t *width = &widths[table->elastic];
		// At least this much stays readable; the terminal wraps the rest.
		*width = *width > more + 16 ? *width - more : *width < 16 ? *width : 16;
	}
	cell = table->cells.data;
	for (uint32_t row = 0; row + table->columns <= table->cell_count; row += table->columns) {
		const char *cells[TP_TABLE_COLUMNS];
		for (uint32_t i = 0; i < table->columns; i++, cell += strlen(cell) + 1)
			cells[i] = cell;
		for (uint32_t i = 0; i < shown; i++)
			add_cell(table, out, cells[order[i]], order[i], widths[order[i]], row == 0,
			    i + 1 == shown);
	}
	if (table->tells && !table->chosen && shown < table->columns)
		add_left_out(table, order, shown, out);
}

void tp_text_add_page_start(struct tp_buf *out, const char *script_hash, const char *style_hash)
{
	tp_buf_addf(out,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
	    "'%s'; style-src '%s'; base-uri 'none'; form-action 'none'; require-trusted-types-for "
	    "'script'; trusted-types 'none'\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	    script_hash, style_hash);
}
