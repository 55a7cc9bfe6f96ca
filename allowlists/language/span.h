/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A part of a text: what lists are cut into.
 */
#ifndef TP_SPAN_H
#define TP_SPAN_H

#include <stdbool.h>
#include <stddef.h>

/* Not terminated. */
struct tp_span {
	const char *text;
	size_t size;
};

struct tp_span tp_span_of(const char *text);
/* Without blanks around it. */
struct tp_span tp_span_trim(struct tp_span span);
bool tp_span_is(struct tp_span span, const char *text);
bool tp_span_starts(struct tp_span span, const char *prefix);
/* Between two places, without blanks around it. */
struct tp_span tp_span_between(const char *start, const char *end);
/* Cut *rest up to the first C off and return it; all of it, *rest then empty, if there is no C. */
struct tp_span tp_span_cut(struct tp_span *rest, char c);

/* Bytes of the input that an error quotes. */
enum { TP_SPAN_SHOWN_MAX = 40 };
/* For "%.*s". */
int tp_span_shown(struct tp_span span);

#endif
