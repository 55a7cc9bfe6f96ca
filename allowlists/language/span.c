// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of texts.
#include "span.h"

#include <string.h>

struct tp_span tp_span_of(const char *text)
{
	return (struct tp_span){text, strlen(text)};
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct tp_span tp_span_trim(struct tp_span span)
{
	while (span.size && is_blank(span.text[0])) {
		span.text++;
		span.size--;
	}
	while (span.size && is_blank(span.text[span.size - 1]))
		span.size--;
	return span;
}

bool tp_span_is(struct tp_span span, const char *text)
{
	return span.size == strlen(text) && memcmp(span.text, text, span.size) == 0;
}

bool tp_span_is_one_of(struct tp_span span, const char *const *words)
{
	while (*words && !tp_span_is(span, *words))
		words++;
	return *words != NULL;
}

bool tp_span_starts(struct tp_span span, const char *prefix)
{
	const size_t size = strlen(prefix);
	return span.size >= size && memcmp(span.text, prefix, size) == 0;
}

struct tp_span tp_span_cut(struct tp_span *rest, char c)
{
	const char *at = rest->size ? memchr(rest->text, c, rest->size) : NULL;
	const size_t size = at ? (size_t)(at - rest->text) : rest->size;
	const struct tp_span first = {rest->text, size};
	const size_t taken = size + (at != NULL);
	rest->text += taken;
	rest->size -= taken;
	return first;
}

struct tp_span tp_span_between(const char *start, const char *end)
{
	return tp_span_trim((struct tp_span){start, (size_t)(end - start)});
}

bool tp_span_is_word(struct tp_span span)
{
	for (size_t i = 0; i < span.size; i++) {
		const char c = span.text[i];
		const char lower = (char)(c | 0x20);
		if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '_' &&
		    c != '-')
			return false;
	}
	return span.size != 0;
}

bool tp_span_is_escaped(struct tp_span span, size_t at)
{
	size_t backslashes = 0;
	while (backslashes < at && span.text[at - backslashes - 1] == '\\')
		backslashes++;
	return backslashes % 2 != 0;
}

const char *tp_span_find_control(struct tp_span span)
{
	for (size_t i = 0; i < span.size; i++) {
		const unsigned char byte = (unsigned char)span.text[i];
		if ((byte < ' ' && byte != '\t') || byte == 0x7f)
			return span.text + i;
	}
	return NULL;
}

int tp_span_shown(struct tp_span span)
{
	return span.size < 40 ? (int)span.size : 40;
}

void tp_lines_init(struct tp_lines *lines, const char *text, size_t size)
{
	*lines = (struct tp_lines){.at = text, .end = size ? text + size : text};
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		lines->at += 3; // a byte order mark
}

bool tp_lines_next(struct tp_lines *lines, struct tp_span *line)
{
	if (lines->at == lines->end)
		return false;
	const char *start = lines->at;
	const char *newline = memchr(start, '\n', (size_t)(lines->end - start));
	const char *stop = newline ? newline : lines->end;
	lines->at = newline ? newline + 1 : lines->end;
	lines->number++;
	if (stop > start && stop[-1] == '\r')
		stop--;
	lines->whole = (struct tp_span){start, (size_t)(stop - start)};
	*line = tp_span_trim(lines->whole);
	return true;
}
