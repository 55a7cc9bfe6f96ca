/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reading one text: what parse.c (lines and sections) and rule.c (what one line
 * says) share.
 */
#ifndef TP_ALLOWLIST_PARSER_H
#define TP_ALLOWLIST_PARSER_H

#include "list.h"
#include "span.h"

/* Whose lines these are. */
enum tp_section {
	TP_SECTION_OURS,    /* what is wrong stops the reading */
	TP_SECTION_PROFILE, /* Clang's profile lists: the same, but unknown things are skipped */
	TP_SECTION_XRAY_ALWAYS, /* XRay's attribute lists */
	TP_SECTION_XRAY_NEVER,
	TP_SECTION_FOREIGN, /* not read */
};

struct tp_parser {
	struct tp_allowlist *list;
	const char *file;
	struct tp_err *err;
	struct tp_span whole; /* the line that is being read, as it stands in the file */
	uint32_t line;
	enum tp_section section;
	bool names_us;    /* the file has a section that is ours by name */
	bool warned_bare; /* of a line without a prefix */
};

/* An error or a warning at AT, which is in the line. The error's code is returned. */
int tp_parser_error(struct tp_parser *parser, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tp_parser_warn(struct tp_parser *parser, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int tp_parser_no_memory(struct tp_parser *parser);
/* The error of a glob, which begins at TEXT, by the STATUS of tp_globs_compile. */
int tp_parser_glob_error(
    struct tp_parser *parser, int status, const char *text, const struct tp_glob_error *error);

/* The category of this word (`sample` and `sample/N` too); false if it is none. */
bool tp_category_find(struct tp_span word, enum tp_category *category, uint32_t *sample);

/* The kind that TEXT, up to a colon, names; false if it is none of ours. */
bool tp_rule_kind_find(struct tp_span text, enum tp_rule_kind *kind);
/* The word that it is written with. */
const char *tp_rule_kind_name(enum tp_rule_kind kind);
/* The start of the last part in REST, behind its "@KIND:", and *kind; NULL: there is only one. */
const char *tp_rule_last_part(struct tp_span rest, enum tp_rule_kind *kind);
/* The last '=', behind which a category may stand; NULL without one, or if it is escaped. */
const char *tp_rule_last_equals(struct tp_span rest);

/*
 * Add the line whose first part is KIND and REST: GLOB, perhaps @KIND:GLOB, perhaps =CATEGORY. REVERSED: it
 * had a '!' in front.
 */
int tp_parser_add_rule(
    struct tp_parser *parser, enum tp_rule_kind kind, struct tp_span rest, bool reversed);

/* The same in one of XRay's sections: KIND is fun: or src:, and only `=arg1` may follow. */
int tp_parser_add_xray(struct tp_parser *parser, enum tp_rule_kind kind, struct tp_span rest);

/* A line without a prefix, as AFL++ reads it: a file if there is a '/' or '.' in it, or a function. */
int tp_parser_add_bare(struct tp_parser *parser, struct tp_span line);

/* ---- steps of the three above --------------------------------------------------------------- */

/* An entry for the line, whose glob begins at AT; NULL without memory. */
struct tp_entry *tp_parser_add_entry(struct tp_parser *parser, const char *at);
/* The globs of a condition that has its kind already. */
int tp_parser_add_globs(
    struct tp_parser *parser, struct tp_span text, struct tp_condition *condition);
/* What follows from the parts of a line. */
int tp_parser_finish_entry(struct tp_parser *parser, struct tp_entry *entry);

#endif
