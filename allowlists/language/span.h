/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Parts of a text, and its lines: what lists are cut into. */
#ifndef TP_SPAN_H
#define TP_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not terminated. */
struct tp_span {
	const char *text;
	size_t size;
};

struct tp_span tp_span_of(const char *text);
/* Without blanks around it. */
struct tp_span tp_span_trim(struct tp_span span);
bool tp_span_is(struct tp_span span, const char *text);
/* WORDS end with NULL. */
bool tp_span_is_one_of(struct tp_span span, const char *const *words);
bool tp_span_starts(struct tp_span span, const char *prefix);
/* Between two places, without blanks around it. */
struct tp_span tp_span_between(const char *start, const char *end);
/* Cut *rest up to the first C off and return it; all of it, *rest then empty, if there is no C. */
struct tp_span tp_span_cut(struct tp_span *rest, char c);

/* Whether it is one or more letters, digits, '_' and '-'. */
bool tp_span_is_word(struct tp_span span);
/* Whether the byte AT is behind an odd number of backslashes. */
bool tp_span_is_escaped(struct tp_span span, size_t at);
/* Its first byte that no text file has, or NULL. */
const char *tp_span_find_control(struct tp_span span);

/* For "%.*s" in an error: no more bytes of the input than are quoted. */
int tp_span_shown(struct tp_span span);

/* A text that is read line by line. */
struct tp_lines {
	const char *at;
	const char *end;
	struct tp_span whole; /* the line that was read last, with the blanks around it */
	uint32_t number;      /* its number, from 1 */
};

void tp_lines_init(struct tp_lines *lines, const char *text, size_t size);
/* The next line without blanks around it and without its end; false behind the last. */
bool tp_lines_next(struct tp_lines *lines, struct tp_span *line);

#endif
