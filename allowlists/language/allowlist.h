/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Allowlists: which functions to instrument, and how. One parser and matcher for the pass and the
 * CLI.
 *
 * A list is lines of `KIND:GLOB` or `KIND:GLOB=CATEGORY`, a superset of Clang's SpecialCaseList v2;
 * docs/allowlists.md is its manual:
 *
 *   fun:   linkage (mangled) name          src:      source file of the function
 *   name:  demangled name                  mainfile: source file that is compiled
 *   where: predicates on the facts about  mod:      program or library that it ends up in
 *          the function: where:instrs<20,loops=0=skip
 *   default: takes a category, for what no line matches
 *   fun:X@src:Y  both must match
 *
 * Globs: * ? [set] [^set] {a,b} and backslash; they match whole names. `#` starts a comment line.
 * The decision: forbid if any forbid line matches, else the LAST matching line (of the files in the
 * order given), else the default (skip, unless a default: line says otherwise).
 */
#ifndef TP_ALLOWLIST_H
#define TP_ALLOWLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"

enum tp_category {
	TP_CATEGORY_ALLOW = 0, /* instrument (a line without a category) */
	TP_CATEGORY_SKIP,
	TP_CATEGORY_FORCE,  /* instrument, and keep the function from being inlined away */
	TP_CATEGORY_FORBID, /* never instrument; beats every other line */
	TP_CATEGORY_COUNT,  /* count calls, without times */
	TP_CATEGORY_SAMPLE, /* count calls, record one of N with times */
};

/* N of sample/N; a plain `sample` is TP_SAMPLE_DEFAULT. */
#define TP_SAMPLE_DEFAULT 64
#define TP_SAMPLE_MAX UINT32_C(1000000)

/* What where: looks at: facts of the function as it is instrumented, after optimisation. */
struct tp_facts {
	uint64_t instrs; /* LLVM instructions, debug intrinsics aside */
	uint64_t blocks;
	uint64_t loops;
	uint64_t depth;      /* of the deepest loop */
	uint64_t calls;      /* direct and indirect call sites, intrinsics aside */
	const char *linkage; /* "external", "internal", "linkonce_odr", ...: LLVM's words */
};

/* The function in question. Strings may be NULL: then no line of that kind matches. */
struct tp_subject {
	const char *function;  /* linkage name */
	const char *demangled; /* only looked at if tp_allowlist_needs(list, TP_NEEDS_NAMES) */
	/* If it is a copy that the compiler made, or has been renamed: the same of what it was. */
	const char *origin;
	const char *origin_demangled;
	const char *source;
	const char *main_file;
	const char *module;           /* its path or last component */
	const struct tp_facts *facts; /* NULL: not known, so no where: line matches */
};

struct tp_verdict {
	enum tp_category category;
	uint32_t sample;  /* N of sample/N, else 1 */
	uint32_t line;    /* the line that decided, 0: the default */
	const char *file; /* its file; lives as long as the list */
};

struct tp_allowlist;

/*
 * Read the lists in COUNT FILES, in this order (load), or in TEXT of SIZE bytes, named FILE in
 * errors (parse). 0 and *list, to be freed with tp_allowlist_free; or a negative tp_error with *err
 * naming file, line and column.
 */
int tp_allowlist_load(
    struct tp_allowlist **list, const char *const *files, uint32_t count, struct tp_err *err);
int tp_allowlist_parse(struct tp_allowlist **list, const char *text, size_t size, const char *file,
    struct tp_err *err);
void tp_allowlist_free(struct tp_allowlist *list);

/* What the list's lines look at, so that callers need not find it out for nothing. */
enum tp_needs {
	TP_NEEDS_NAMES = 1,  /* name: */
	TP_NEEDS_FACTS = 2,  /* where: */
	TP_NEEDS_MODULE = 4, /* mod: */
};
bool tp_allowlist_needs(const struct tp_allowlist *list, enum tp_needs what);

struct tp_verdict tp_allowlist_match(
    const struct tp_allowlist *list, const struct tp_subject *subject);

/* The verdict for functions that no line matches; .line and .file as in a verdict. */
struct tp_verdict tp_allowlist_default(const struct tp_allowlist *list);

/* A line of a list that can match functions. Strings live as long as the list. */
struct tp_allowlist_line {
	const char *file;
	uint32_t line;
	uint32_t column;   /* of the glob */
	const char *text;  /* the whole line, without blanks around it */
	const char *exact; /* the linkage name if the line is fun: without a glob, else NULL */
	bool names_only;   /* it looks at function names only: fun: or name: */
	enum tp_category category;
	uint32_t sample;
};

/* The lines, in the order in which they count: lines[0] first. */
uint32_t tp_allowlist_line_count(const struct tp_allowlist *list);
struct tp_allowlist_line tp_allowlist_line(const struct tp_allowlist *list, uint32_t index);

/*
 * Call `found` with the index of each line that matches, in ascending order, not only of the one
 * that decides. For check and explain; slower than tp_allowlist_match.
 */
void tp_allowlist_matches(const struct tp_allowlist *list, const struct tp_subject *subject,
    void (*found)(void *context, uint32_t index), void *context);

/*
 * Doubtful lines that do not make the lists useless, in the order of files and lines: each warning
 * names file, line and column, and lives as long as the list. At most TP_ALLOWLIST_WARNINGS_MAX.
 */
enum { TP_ALLOWLIST_WARNINGS_MAX = 64 };
uint32_t tp_allowlist_warning_count(const struct tp_allowlist *list);
const struct tp_err *tp_allowlist_warning(const struct tp_allowlist *list, uint32_t index);

/* "allow", "skip", ... "sample" without its number. */
const char *tp_category_name(enum tp_category category);
/* The category as a list spells it: "allow", "sample/64", ... */
void tp_category_add(struct tp_buf *buf, enum tp_category category, uint32_t sample);

#endif
