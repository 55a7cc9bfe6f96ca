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
/* Cut *rest up to the first C off and return it; all of it, *rest then empty, if there is no C. */
struct tp_span tp_span_cut(struct tp_span *rest, char c);

#endif
