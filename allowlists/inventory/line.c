// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fields, options and escapes of one line of an inventory's text.
#include "line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tp_inventory_line_split(struct tp_inventory_line *line, char *text)
{
	line->count = 0;
	while (text && line->count < TP_INVENTORY_FIELDS) {
		line->fields[line->count++] = text;
		text = strchr(text, '\t');
		if (text)
			*text++ = '\0';
	}
}

int tp_inventory_line_fail(struct tp_inventory_line *line, int code, const char *format, ...)
{
	char what[384];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return tp_err_set_line(line->err, code, line->file, line->number, 1, "%s", what);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

// Replace the escapes in place; false for one that is none.
static bool unescape(char *text)
{
	const char *from = strchr(text, '\\');
	if (!from)
		return true;
	char *to = text + (from - text);
	while (*from) {
		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		const char kind = from[1];
		if (kind == '\\' || kind == 't' || kind == 'n') {
			*to++ = (char)(kind == 't' ? '\t' : kind == 'n' ? '\n' : '\\');
			from += 2;
			continue;
		}
		const int high = kind == 'x' ? hex_digit(from[2]) : -1;
		const int low = high >= 0 ? hex_digit(from[3]) : -1;
		if (low < 0 || !(high | low))
			return false;
		*to++ = (char)(high << 4 | low);
		from += 4;
	}
	*to = '\0';
	return true;
}

bool tp_inventory_line_parse(const char *text, uint64_t *value)
{
	if (!*text)
		return false;
	uint64_t sum = 0;
	for (; *text; text++) {
		const unsigned digit = (unsigned)(*text - '0');
		if (digit > 9 || sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return true;
}

// The value behind KEY= in one of the fields from FIRST on, or NULL.
char *tp_inventory_line_option(
    const struct tp_inventory_line *line, uint32_t first, const char *key)
{
	const size_t length = strlen(key);
	for (uint32_t i = first; i < line->count; i++)
		if (!strncmp(line->fields[i], key, length) && line->fields[i][length] == '=')
			return line->fields[i] + length + 1;
	return NULL;
}

// *text is the string behind KEY=, or stays as it is without one.
int tp_inventory_line_string(
    struct tp_inventory_line *line, uint32_t first, const char *key, const char **text)
{
	char *value = tp_inventory_line_option(line, first, key);
	if (!value)
		return 0;
	*text = value;
	return unescape(value) ? 0
			       : tp_inventory_line_fail(line, TP_ERR_FORMAT,
				     "a bad escape in '%s': \\\\, \\t, "
				     "\\n and \\xHH are known",
				     key);
}

int tp_inventory_line_number(
    struct tp_inventory_line *line, uint32_t first, const char *key, uint64_t max, uint64_t *number)
{
	const char *value = tp_inventory_line_option(line, first, key);
	if (!value || (tp_inventory_line_parse(value, number) && *number <= max))
		return 0;
	return tp_inventory_line_fail(
	    line, TP_ERR_FORMAT, "'%s' of '%.64s' is no number, or too large", key, value);
}

// The fields that a line must have, besides its kind, each a string.
int tp_inventory_line_need(struct tp_inventory_line *line, uint32_t count, const char *what)
{
	if (line->count <= count)
		return tp_inventory_line_fail(
		    line, TP_ERR_FORMAT, "a line '%s' needs %s", line->fields[0], what);
	for (uint32_t i = 1; i <= count; i++)
		if (!unescape(line->fields[i]))
			return tp_inventory_line_fail(line, TP_ERR_FORMAT,
			    "a bad escape in '%.64s': \\\\, \\t, "
			    "\\n and \\xHH are known",
			    line->fields[i]);
	return 0;
}
