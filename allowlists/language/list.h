/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parsed lists, between the files of this folder: load.c owns them, parse.c and rule.c fill them,
 * match.c asks them by way of rule_index.c.
 */
#ifndef TP_ALLOWLIST_LIST_H
#define TP_ALLOWLIST_LIST_H

#include "span.h"
#include "allowlist.h"
#include "common/arena.h"
#include "glob.h"
#include "rule_index.h"

/* Larger texts are refused: it is a mistake, or not a list. */
enum { TP_ALLOWLIST_BYTES_MAX = 64 << 20 };

/* The most predicates of one line: more than there are facts to bound from both sides. */
enum { TP_WHERE_MAX = 16 };
/* Most globs that all lines may stand for, once braces are expanded. */
enum { TP_ALLOWLIST_RULES_MAX = 1 << 20 };

enum tp_rule_kind {
	TP_RULE_FUNCTION,
	TP_RULE_NAME,
	TP_RULE_SOURCE,
	TP_RULE_MAIN_FILE,
	TP_RULE_MODULE,
	TP_RULE_INDEXED_COUNT, /* those above are globs, in an index of their kind */
	TP_RULE_WHERE = TP_RULE_INDEXED_COUNT,
	TP_RULE_KIND_COUNT,
};

/* The predicates of a where: line, such as `instrs<20,loops=0`: all of them must hold. */
struct tp_where;

/* Faults of predicates. */
struct tp_where_error {
	size_t offset; /* of the byte at which it is */
	char what[200];
};

/*
 * Read SIZE bytes of TEXT. NULL if they are wrong (*error says how) or memory ran out (then
 * error->what stays empty). It lives as long as the arena.
 */
const struct tp_where *tp_where_parse(
    struct tp_arena *arena, const char *text, size_t size, struct tp_where_error *error);

bool tp_where_holds(const struct tp_where *where, const struct tp_facts *facts);

/* One part of a line: KIND:GLOB or where:PREDICATES. */
struct tp_condition {
	enum tp_rule_kind kind;
	struct tp_globs globs;
	const struct tp_where *where; /* if kind is TP_RULE_WHERE */
	struct tp_condition *next;    /* must match, too */
};

/* Who decides when several lines match. */
enum tp_party {
	TP_PARTY_ORDINARY,
	/*
	 * Lines of XRay's sections, weakest first. The strongest that matches speaks for all of
	 * them.
	 */
	TP_PARTY_XRAY_NEVER_FUNCTION,
	TP_PARTY_XRAY_ALWAYS_FUNCTION,
	TP_PARTY_XRAY_NEVER_SOURCE,
	TP_PARTY_XRAY_ALWAYS_SOURCE,
};

struct tp_entry {
	struct tp_allowlist_line line;
	struct tp_condition first; /* the one that is in an index, unless it is where: */
	uint32_t part_count;
	enum tp_party party;
	bool any_name; /* fun: matches linkage names, demangled ones do as well */
};

struct tp_allowlist {
	struct tp_arena arena; /* texts and conditions */
	struct tp_entry *entries;
	uint32_t entry_count;
	uint32_t entry_capacity;
	struct tp_rule_index ordinary[TP_RULE_INDEXED_COUNT];
	struct tp_rule_index xray[TP_RULE_INDEXED_COUNT];
	uint32_t *wheres; /* indexes of entries that are where: alone, ascending */
	uint32_t where_count;
	uint32_t glob_count; /* in first conditions */
	unsigned int needs;  /* enum tp_needs */
	struct tp_verdict by_default;
	bool chooses;    /* some line instruments something */
	bool leaves_out; /* some line, or section that is not read, does not */
	struct tp_err *warnings;
	uint32_t warning_count;
};

/* Add what TEXT of SIZE bytes says. FILE lives as long as the list. 0, or a tp_error with *err. */
int tp_allowlist_add_text(
    struct tp_allowlist *list, const char *text, size_t size, const char *file, struct tp_err *err);

/* Warn of what only all texts together show. */
void tp_allowlist_doubt(struct tp_allowlist *list);

/* Build the indexes once all lines are there. 0 or TP_ERR_MEMORY. */
int tp_allowlist_build(struct tp_allowlist *list);

/*
 * ---- reading one text: what parse.c (lines and sections) and rule.c (what one line says) share
 * ----
 */

/* Whose lines these are. */
enum tp_section {
	TP_SECTION_OURS,    /* an error stops the reading */
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

/* The kind that TEXT, up to a colon, names; false if it is not ours. */
bool tp_rule_kind_find(struct tp_span text, enum tp_rule_kind *kind);
/* The word that it is written with. */
const char *tp_rule_kind_name(enum tp_rule_kind kind);
/* The start of the last part in REST, behind its "@KIND:", and *kind; NULL: there is only one. */
const char *tp_rule_last_part(struct tp_span rest, enum tp_rule_kind *kind);
/* The last '=', behind which a category may stand; NULL without one, or if it is escaped. */
const char *tp_rule_last_equals(struct tp_span rest);

/*
 * Add the line whose first part is KIND and REST: GLOB, perhaps @KIND:GLOB, perhaps =CATEGORY.
 * REVERSED: it had a '!' in front.
 */
int tp_parser_add_rule(
    struct tp_parser *parser, enum tp_rule_kind kind, struct tp_span rest, bool reversed);

/* The same in one of XRay's sections: KIND is fun: or src:, and only `=arg1` may follow. */
int tp_parser_add_xray(struct tp_parser *parser, enum tp_rule_kind kind, struct tp_span rest);

/*
 * A line without a prefix, as AFL++ reads it: a file if there is a '/' or '.' in it, or a function.
 */
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
