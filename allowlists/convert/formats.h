/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the readers and writers of other tools' lists share, and all of them. */
#ifndef TP_LIST_FORMATS_H
#define TP_LIST_FORMATS_H

#include "common/arena.h"
#include "convert.h"
#include "text.h"

/* Warn of LINE of the input. */
void tp_list_warn(const struct tp_list_input *input, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Add lines of the input, without the blanks around them. */
void tp_list_add_lines(struct tp_buf *out, struct tp_span text);

/*
 * ---- reading: rules are gathered first, since the other tool's precedence often asks for another
 * order ----
 */

/* One pattern of the other tool. */
struct tp_import_entry {
	struct tp_span pattern;
	uint32_t line;
	uint32_t group;         /* what the format sorts by */
	struct tp_span comment; /* lines above it in the input; may be empty */
	/* Of lists that Clang reads, PREFIX:PATTERN=CATEGORY: */
	struct tp_span prefix;
	struct tp_span category; /* or empty */
	bool used;               /* it has become a line */
};

struct tp_import {
	const struct tp_list_input *input;
	struct tp_lines lines;
	struct tp_buf *out;
	struct tp_err *err;
	struct tp_import_entry *entries;
	uint32_t count;
	uint32_t capacity;
	struct tp_span comment; /* gathered for the next entry */
	struct tp_arena arena;  /* patterns and globs that are made of the input */
};

/* The next line that is neither empty nor a comment, which is kept for the next entry. */
bool tp_import_line(struct tp_import *import, struct tp_span *line);
/* Keep a pattern of the current line. 0 or TP_ERR_MEMORY. */
int tp_import_add(struct tp_import *import, struct tp_span pattern, uint32_t group);
/* Fail at a place in the current line. */
int tp_import_syntax(const struct tp_import *import, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Warn of LINE and keep TEXT, all or part of it, as a comment. */
void tp_import_lost(struct tp_import *import, uint32_t line, struct tp_span text,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What has been written to *GLOB, for as long as the import; releases that. */
struct tp_span tp_import_keep(struct tp_import *import, struct tp_buf *glob);

/* Write KIND:GLOB=CATEGORY. The glob is ours. */
void tp_import_rule(
    struct tp_import *import, const char *kind, struct tp_span glob, enum tp_category category);
/* Write KIND:GLOB@AND_KIND:AND_GLOB=CATEGORY. */
void tp_import_rule_and(struct tp_import *import, const char *kind, struct tp_span glob,
    const char *and_kind, struct tp_span and_glob, enum tp_category category);

int tp_import_profile_list(struct tp_import *import);
int tp_import_sancov(struct tp_import *import);
int tp_import_sancov_ignore(struct tp_import *import);
int tp_import_xray(struct tp_import *import);

/*
 * ---- writing: our rules, each to be instrumented or not, and the pairs that the other tool
 * decides differently ----
 */

struct tp_export_rule {
	struct tp_line_parts parts;
	bool allow;             /* instrument it */
	uint32_t line;          /* 0: the default */
	struct tp_span text;    /* the whole line */
	struct tp_span comment; /* lines above it; may be empty */
};

struct tp_export {
	const struct tp_list_writer *writer;
	const struct tp_list_input *input;
	struct tp_buf *out;
	struct tp_err *err;
	bool allow; /* what no line matches */
	/* In the order in which they count, the last most: forbid lines are behind all others. */
	struct tp_export_rule *rules;
	uint32_t count;
	uint32_t room;
};

/* How a list for another tool is written. */
struct tp_list_writer {
	const char *tool;
	const char *heading; /* the first lines, or "" */
	/* Why this rule cannot be said, or NULL. Such a one becomes a comment, with a warning. */
	const char *(*cannot)(const struct tp_export_rule *rule);
	void (*write)(struct tp_export *export);
};

/*
 * Warn of pairs of which the later rule decides here and the earlier one there, for functions that
 * both match. earlier_wins tells what the other tool does of two that say different things.
 */
void tp_export_check_order(struct tp_export *export,
    bool (*earlier_wins)(const struct tp_export_rule *earlier, const struct tp_export_rule *later));

/*
 * Files are compared here without a leading "./", elsewhere as they are: whether the glob of RULE,
 * from which *glob takes away its own, is to be written with "./" in front, too.
 */
bool tp_export_needs_dot(const struct tp_export_rule *rule, struct tp_span *glob);

/* For `cannot`: of patterns that begin with "fun:" or "src:" only; a reason for all other lines. */
const char *tp_export_needs_linkage_names(const struct tp_export_rule *rule);

bool tp_export_is(const struct tp_export_rule *rule, const char *prefix);

extern const struct tp_list_writer tp_export_profile_list;
extern const struct tp_list_writer tp_export_sancov;
extern const struct tp_list_writer tp_export_sancov_ignore;
extern const struct tp_list_writer tp_export_xray;

#endif
