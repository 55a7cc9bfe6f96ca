/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the writers of other tools' lists share: the rules of one of ours, each to be instrumented or
 * not, and the search for pairs that the other tool would decide differently.
 */
#ifndef TP_LIST_EXPORT_H
#define TP_LIST_EXPORT_H

#include "convert.h"
#include "line.h"

struct tp_export_rule {
	struct tp_line_parts parts;
	bool allow;             /* instrument it */
	uint32_t line;          /* 0: the default */
	struct tp_span text;    /* the whole line */
	struct tp_span comment; /* lines above it; may be empty */
};

struct tp_export {
	const struct tp_list_input *input;
	struct tp_buf *out;
	const struct tp_list_warner *warner;
	struct tp_err *err;
	const char *tool; /* whose list it will be */
	bool allow;       /* what no line matches */
	/* In the order in which they count, the last most: forbid lines are behind all others. */
	struct tp_export_rule *rules;
	uint32_t count;
	uint32_t room;
};

/*
 * Read the list. What `cannot` gives a reason for is written as a comment and warned about. 0 or a
 * negative tp_error. Release it in any case.
 */
int tp_export_read(struct tp_export *export, const struct tp_list_input *input, struct tp_buf *out,
    const struct tp_list_warner *warner, struct tp_err *err, const char *tool,
    const char *(*cannot)(const struct tp_export_rule *rule));
void tp_export_release(struct tp_export *export);

/*
 * Warn of pairs of which the later rule decides here and the earlier one there, for functions that
 * both match. earlier_wins tells what the other tool does of two that say different things.
 */
void tp_export_check_order(struct tp_export *export,
    bool (*earlier_wins)(const struct tp_export_rule *earlier, const struct tp_export_rule *later));

/* The comment above a rule. */
void tp_export_comment(struct tp_export *export, const struct tp_export_rule *rule);
void tp_export_warn(const struct tp_export *export, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Write the glob of RULE, braces expanded, as lines that begin with LEAD, in fnmatch's dialect. Of a
 * demangled name without parameters also with any, as it is matched here.
 */
void tp_export_fnmatch(
    struct tp_export *export, const char *lead, const struct tp_export_rule *rule);

/*
 * Files are compared here without a leading "./", elsewhere as they are: whether the glob of RULE,
 * from which *glob takes away its own, is to be written with "./" in front, too.
 */
bool tp_export_needs_dot(const struct tp_export_rule *rule, struct tp_span *glob);

/* Of patterns that begin with "fun:" or "src:" only; a reason for all other lines. */
const char *tp_export_needs_linkage_names(const struct tp_export_rule *rule);

bool tp_export_is(const struct tp_export_rule *rule, const char *prefix);

#endif
