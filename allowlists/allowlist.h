/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Allowlists: which functions to instrument. One parser and matcher for the pass and the CLI.
 *
 * A list is lines of `KIND:GLOB` or `KIND:GLOB=CATEGORY`, a subset of Clang's SpecialCaseList v2:
 *
 *   fun:   linkage (mangled) name          src:  source file of the function, as the compiler names it
 *   name:  demangled name                  default: takes a category, for what no line matches
 *
 * Globs: * ? [set] [^set] {a,b} and backslash; they match whole names. `#` starts a comment line.
 * The decision: forbid if any forbid line matches, else the LAST matching line, else the default
 * (skip, unless a default: line says otherwise).
 */
#ifndef TP_ALLOWLIST_H
#define TP_ALLOWLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Facts of the function as it is instrumented, after optimisation. */
struct tp_facts {
	uint64_t instrs; /* LLVM instructions, debug intrinsics aside */
	uint64_t blocks;
	uint64_t loops;
	uint64_t depth;      /* of the deepest loop */
	uint64_t calls;      /* direct and indirect call sites, intrinsics aside */
	const char *linkage; /* "external", "internal", "linkonce_odr", ...: LLVM's words */
};

/* What is asked about. Strings may be NULL: then no line of that kind matches. */
struct tp_subject {
	const char *function;  /* linkage name */
	const char *demangled; /* only looked at if tp_allowlist_has_names() */
	const char *source;
};

struct tp_verdict {
	enum tp_category category;
	uint32_t sample;  /* N of sample/N, else 1 */
	uint32_t line;    /* the line that decided, 0: the default */
	const char *file; /* its file; lives as long as the list */
};

struct tp_allowlist;

/*
 * Read the list in FILE (load) or in TEXT of SIZE bytes, named FILE in errors (parse). 0 and *list,
 * to be freed with tp_allowlist_free; or a negative tp_error with *err naming file, line and column.
 */
int tp_allowlist_load(struct tp_allowlist **list, const char *file, struct tp_err *err);
int tp_allowlist_parse(struct tp_allowlist **list, const char *text, size_t size, const char *file,
    struct tp_err *err);
void tp_allowlist_free(struct tp_allowlist *list);

/* Whether any line is of kind name:, so that callers need not demangle for nothing. */
bool tp_allowlist_has_names(const struct tp_allowlist *list);

struct tp_verdict tp_allowlist_match(
    const struct tp_allowlist *list, const struct tp_subject *subject);

/* "allow", "skip", ... */
const char *tp_category_name(enum tp_category category);

#endif
