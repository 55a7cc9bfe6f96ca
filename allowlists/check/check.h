/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mistakes in an allowlist for a program: lines that match nothing, or only functions that do not
 * exist any more, and anything else that would surprise its author.
 */
#ifndef TP_LIST_CHECK_H
#define TP_LIST_CHECK_H

#include "use.h"

enum tp_finding_kind {
	TP_FINDING_NO_MATCH = 0, /* the line matches no function */
	TP_FINDING_INLINED,      /* ... only functions that were inlined away */
	TP_FINDING_REMOVED,      /* ... only functions that are gone without a trace */
	TP_FINDING_PARTLY,       /* ... functions that were inlined elsewhere, too */
	TP_FINDING_AMBIGUOUS,    /* one name, several functions */
	TP_FINDING_SHADOWED,     /* other lines decide about every function that it matches */
	TP_FINDING_SUSPICIOUS,   /* its glob is one, but looks like something else */
	TP_FINDING_EMPTY,        /* of the whole list: nothing is instrumented */
	TP_FINDING_BUDGET,       /* of the whole list: it costs more than it may */
	TP_FINDING_KIND_COUNT,
};

enum tp_severity {
	TP_SEVERITY_NOTE = 0, /* good to know; no reason to fail */
	TP_SEVERITY_WARNING,
	TP_SEVERITY_ERROR,
};

struct tp_finding {
	enum tp_finding_kind kind;
	enum tp_severity severity;
	uint32_t line;             /* index of the list's line, or TP_LINE_NONE for the list */
	const char *what;          /* a sentence */
	const char *remedy;        /* what to do, or NULL */
	const uint32_t *functions; /* the first of those concerned */
	uint32_t function_count;
	uint32_t all; /* how many are concerned */
};

struct tp_list_check_options {
	bool lenient[TP_FINDING_KIND_COUNT]; /* kinds not to look for */
	/*
	 * Whether a file is a list for any program, of which most lines match nothing; may be NULL.
	 */
	bool (*is_general)(const char *file);
};

struct tp_list_check {
	struct tp_finding *findings; /* in the order of the lines, those of the whole list last */
	uint32_t count;
	uint32_t capacity;
	uint32_t counts[TP_SEVERITY_ERROR + 1];
	struct tp_arena arena;
};

/*
 * Check the list of USE, which must outlive CHECK. 0 or TP_ERR_MEMORY. Release it in any case.
 * An inventory without functions limits it to what the lines alone show.
 */
int tp_list_check_init(struct tp_list_check *check, const struct tp_list_use *use,
    const struct tp_list_check_options *options, struct tp_err *err);
void tp_list_check_release(struct tp_list_check *check);

/*
 * Add a finding about the whole list; WHAT and REMEDY (may be NULL) are copied. 0 or TP_ERR_MEMORY.
 */
int tp_list_check_add(struct tp_list_check *check, enum tp_finding_kind kind,
    enum tp_severity severity, const char *what, const char *remedy, struct tp_err *err);

/* "no-match", "inlined", ...: the kind in messages and options. */
const char *tp_finding_kind_name(enum tp_finding_kind kind);
/* "note", "warning", "error". */
const char *tp_severity_name(enum tp_severity severity);

/* ---- what a person who wrote a line may have meant ---- */

/*
 * What the line, which matches nothing, was probably meant to be: another kind, another spelling, a
 * name that is nearly the same. One sentence for people is added to HINT; nothing if there is no
 * idea. Looks at all functions several times.
 */
void tp_list_hint(struct tp_buf *hint, const struct tp_list_use *use, uint32_t line);

/*
 * A glob that is valid but suspicious: part of a demangled name that means something else in a
 * glob. Adds the problem to WHAT and the correction to HINT; false if the glob is fine.
 */
bool tp_list_suspicious(
    struct tp_buf *what, struct tp_buf *hint, const struct tp_allowlist_line *line);

/* The function whose linkage or demangled name is nearly WORD; NULL if there is none. */
const struct tp_inventory_function *tp_list_nearest(
    const struct tp_inventory *inventory, const char *word);

#endif
