// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of output: numbers with units, quoted strings, tables.
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX 16

char *tp_text_ns(char text[TP_TEXT_NUMBER], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	if (ns < 1000) {
		snprintf(text, TP_TEXT_NUMBER, "%" PRIu64 " ns", ns);
		return text;
	}
	double value = (double)ns;
	int unit = 0;
	// 999.95 would be printed as 1000.0: it belongs to the next unit.
	while (value >= 999.95 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, TP_TEXT_NUMBER, "%.*f %s",
	    value < 9.9995   ? 3
	    : value < 99.995 ? 2
			     : 1,
	    value, units[unit]);
	return text;
}

char *tp_text_count(char text[TP_TEXT_NUMBER], uint64_t count)
{
	char digits[TP_TEXT_NUMBER];
	const int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = text;
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

void tp_text_add_csv(struct tp_buf *buf, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		tp_buf_add_string(buf, text);
		return;
	}
	tp_buf_add_char(buf, '"');
	for (; *text; text++) {
		if (*text == '"')
			tp_buf_add_char(buf, '"');
		tp_buf_add_char(buf, *text);
	}
	tp_buf_add_char(buf, '"');
}

// Bytes of the well-formed UTF-8 sequence at TEXT, 0 if there is none.
static size_t utf8_size(const unsigned char *text)
{
	const unsigned char c = text[0];
	const size_t size = c < 0x80   ? 1
			    : c < 0xc2 ? 0
			    : c < 0xe0 ? 2
			    : c < 0xf0 ? 3
			    : c < 0xf5 ? 4
				       : 0;
	for (size_t i = 1; i < size; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) ||
	    (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f))
		return 0;
	return size;
}

void tp_text_add_json(struct tp_buf *buf, const char *text)
{
	tp_buf_add_char(buf, '"');
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		const size_t size = utf8_size(at);
		if (*at == '"' || *at == '\\')
			tp_buf_addf(buf, "\\%c", *at);
		else if (size == 0)
			tp_buf_add_string(buf, "\\ufffd");
		else if (*at < 0x20)
			tp_buf_addf(buf, "\\u%04x", *at);
		else
			tp_buf_add(buf, at, size);
		at += size ? size : 1;
	}
	tp_buf_add_char(buf, '"');
}

void tp_text_add_xml(struct tp_buf *buf, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		const size_t size = utf8_size(at);
		if (*at == '<')
			tp_buf_add_string(buf, "&lt;");
		else if (*at == '>')
			tp_buf_add_string(buf, "&gt;");
		else if (*at == '&')
			tp_buf_add_string(buf, "&amp;");
		else if (*at == '"')
			tp_buf_add_string(buf, "&quot;");
		else if (size == 0 || *at < 0x20)
			tp_buf_add_string(buf, "?");
		else
			tp_buf_add(buf, at, size);
		at += size ? size : 1;
	}
}

uint32_t tp_text_width(const char *text)
{
	uint32_t width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
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
	tp_buf_add(&table->cells, text, strlen(text) + 1);
	table->cell_count++;
}

static void pad(struct tp_buf *out, uint32_t count)
{
	while (count--)
		tp_buf_add_char(out, ' ');
}

// Add TEXT, cut to WIDTH columns with a mark at the end.
static void add_cut(struct tp_buf *out, const char *text, uint32_t width)
{
	if (tp_text_width(text) <= width) {
		tp_buf_add_string(out, text);
		return;
	}
	uint32_t left = width - 1;
	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) != 0x80 && left-- == 0)
			break;
		tp_buf_add_char(out, *text);
	}
	tp_buf_add_string(out, "…");
}

// Cells may be empty: leave no blanks at the end of the line.
static void end_row(struct tp_buf *out)
{
	while (out->size && out->data[out->size - 1] == ' ')
		out->size--;
	tp_buf_add_char(out, '\n');
}

void tp_table_render(const struct tp_table *table, struct tp_buf *out)
{
	uint32_t widths[COLUMNS_MAX] = {0};
	if (table->cells.failed)
		out->failed = true;
	if (table->cells.failed || table->columns > COLUMNS_MAX)
		return;
	const char *cell = table->cells.data;
	for (uint32_t i = 0; i < table->cell_count; i++, cell += strlen(cell) + 1) {
		const uint32_t width = tp_text_width(cell);
		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
	uint32_t sum = 2 * (table->columns - 1);
	for (uint32_t i = 0; i < table->columns; i++)
		sum += widths[i];
	if (table->width && sum > table->width) {
		const uint32_t more = sum - table->width;
		uint32_t *width = &widths[table->elastic];
		// At least this much stays readable; the terminal wraps the rest.
		*width = *width > more + 16 ? *width - more : *width < 16 ? *width : 16;
	}
	cell = table->cells.data;
	for (uint32_t i = 0; i < table->cell_count; i++, cell += strlen(cell) + 1) {
		const uint32_t column = i % table->columns;
		const uint32_t own = tp_text_width(cell);
		const uint32_t room = own < widths[column] ? widths[column] - own : 0;
		const bool last = column + 1 == table->columns;
		const bool bold = table->color && i < table->columns && own;
		if (table->alignment[column] == 'r')
			pad(out, room);
		if (bold)
			tp_buf_add_string(out, "\033[1m");
		add_cut(out, cell, widths[column]);
		if (bold)
			tp_buf_add_string(out, "\033[0m");
		if (table->alignment[column] == 'l' && !last)
			pad(out, room);
		if (last)
			end_row(out);
		else
			tp_buf_add_string(out, "  ");
	}
}
