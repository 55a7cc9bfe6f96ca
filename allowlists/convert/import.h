/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the readers of other tools' lists share: rules that are gathered first, since the other tool's
 * precedence often asks for another order, and then written.
 */
#ifndef TP_LIST_IMPORT_H
#define TP_LIST_IMPORT_H

#include "common/arena.h"
#include "convert.h"
#include "text.h"

/* One pattern of the other tool. */
struct tp_import_entry {
	struct tp_span pattern;
	uint32_t line;
	uint32_t group;         /* what the format sorts by */
	struct tp_span comment; /* lines above it in the input; may be empty */
};

struct tp_import {
	const struct tp_list_input *input;
	struct tp_lines lines;
	struct tp_buf *out;
	const struct tp_list_warner *warner;
	struct tp_err *err;
	struct tp_import_entry *entries;
	uint32_t count;
	uint32_t capacity;
	struct tp_span comment; /* gathered for the next entry */
};

void tp_import_init(struct tp_import *import, const struct tp_list_input *input, struct tp_buf *out,
    const struct tp_list_warner *warner, struct tp_err *err);
void tp_import_release(struct tp_import *import);

/* The next line that is neither empty nor a comment, which is kept for the next entry. */
bool tp_import_line(struct tp_import *import, struct tp_span *line);
/* Keep a pattern of the current line. 0 or TP_ERR_MEMORY. */
int tp_import_add(struct tp_import *import, struct tp_span pattern, uint32_t group);
/* Write the comment lines above an entry. */
void tp_import_comment(struct tp_import *import, struct tp_span comment);
/* Fail at a place in the current line. */
int tp_import_syntax(const struct tp_import *import, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Warn of LINE and keep TEXT, all or part of it, as a comment. */
void tp_import_lost(struct tp_import *import, uint32_t line, struct tp_span text,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Warn only. */
void tp_import_warn(const struct tp_import *import, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Write KIND:GLOB=CATEGORY, or KIND:GLOB@AND_KIND:AND_GLOB=CATEGORY if and_kind is not NULL. The globs
 * are ours.
 */
void tp_import_rule(struct tp_import *import, const char *kind, struct tp_span glob,
    const char *and_kind, struct tp_span and_glob, enum tp_category category);

#endif
