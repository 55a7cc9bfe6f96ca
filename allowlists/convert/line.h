/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The parts of a line of an allowlist that has been found to load, for what writes lists anew.
 */
#ifndef TP_LIST_LINE_H
#define TP_LIST_LINE_H

#include "allowlists/language/allowlist.h"
#include "text.h"

enum tp_line_kind {
	TP_LINE_EMPTY,
	TP_LINE_COMMENT,
	TP_LINE_SECTION,
	TP_LINE_DEFAULT,
	TP_LINE_RULE,
};

enum { TP_LINE_MORE_MAX = 6 };

struct tp_line_part {
	const char *prefix; /* "fun", "name", "src", "mainfile", "mod" or "where" */
	struct tp_span glob;
};

struct tp_line_parts {
	enum tp_line_kind kind;
	const char *prefix; /* of a rule's first part; NULL of a line that is another tool's and
	                       skipped, or has no prefix */
	struct tp_span glob;
	const char *and_prefix; /* of its second part, or NULL */
	struct tp_span and_glob;
	struct tp_line_part more[TP_LINE_MORE_MAX]; /* parts behind the second */
	uint32_t more_count;
	bool has_category; /* it is written */
	enum tp_category category;
	uint32_t sample;
};

/* pre: the list that LINE, without blanks around it, is from has been parsed without an error. */
struct tp_line_parts tp_line_split(struct tp_span line);

/* Whether a section's lines are TeePerf's; LINE is its header. */
bool tp_line_is_ours(struct tp_span line);

/* Append "=CATEGORY", with N of sample/N. */
void tp_line_add_category(struct tp_buf *out, const struct tp_line_parts *parts);

#endif
