/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Texts of lists, whoever's they are: lines, their parts, and globs that are written anew. */
#ifndef TP_LIST_TEXT_H
#define TP_LIST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "allowlists/language/allowlist.h"
#include "allowlists/language/span.h"

/* 0, or TP_ERR_SYNTAX with *err naming the first byte that no text file has. */
int tp_text_check(const char *text, size_t size, const char *file, struct tp_err *err);

void tp_buf_add_span(struct tp_buf *buf, struct tp_span span);

enum tp_line_kind {
	TP_LINE_EMPTY,
	TP_LINE_COMMENT,
	TP_LINE_SECTION,
	TP_LINE_DEFAULT,
	TP_LINE_RULE,
};

enum { TP_LINE_MORE_MAX = 7 };

struct tp_line_part {
	const char *prefix; /* "fun", "name", "src", "mainfile", "mod" or "where" */
	struct tp_span glob;
};

struct tp_line_parts {
	enum tp_line_kind kind;
	const char *prefix; /* of a rule's first part; NULL of a line that is another tool's and
	                       skipped, or has no prefix */
	struct tp_span glob;
	struct tp_line_part more[TP_LINE_MORE_MAX]; /* parts behind the first */
	uint32_t more_count;
	bool has_category; /* it is written */
	enum tp_category category;
	uint32_t sample;
};

/* pre: the list that LINE, without blanks around it, is from has been parsed without an error. */
struct tp_line_parts tp_line_split(struct tp_span line);

/* Whether a section's lines are TeePerf's; LINE is its header. */
bool tp_line_is_ours(struct tp_span line);

/* A byte that stands for itself in a glob. */
void tp_glob_add_byte(struct tp_buf *out, unsigned char byte);
/*
 * The bytes of TEXT, each for itself, in our globs; '?', which is any byte, for those that no line
 * of text can have (common/clean.h).
 */
void tp_glob_add_literal(struct tp_buf *out, struct tp_span text);

#endif
