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

int tp_span_shown(struct tp_span span)
{
	return (int)(span.size < TP_SPAN_SHOWN_MAX ? span.size : TP_SPAN_SHOWN_MAX);
}
