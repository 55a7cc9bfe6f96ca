/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Patterns that name functions: a glob (* ? [...]) for the whole name, demangled, with or without
 * its parameters and what it returns, or as in the symbol table; or /REGEX/, POSIX extended, for a
 * part of one of these.
 */
#ifndef TP_PATTERN_H
#define TP_PATTERN_H

#include "analyzer/profile/analysis.h"

#include <regex.h>
#include <stdbool.h>

struct tp_pattern {
	const char *text; /* the caller's */
	bool is_regex;
	regex_t regex;
};

/* TEXT must outlive the pattern. 0, or TP_ERR_SYNTAX. Release it in any case. */
int tp_pattern_init(struct tp_pattern *pattern, const char *text, struct tp_err *err);
void tp_pattern_release(struct tp_pattern *pattern);
bool tp_pattern_matches(const struct tp_pattern *pattern, const struct tp_symbol *symbol);
/* TP_ERR_NOT_FOUND: no function matches TEXT; *err offers some whose names have its plain part. */
int tp_pattern_fail(const char *text, const struct tp_analysis *analysis, struct tp_err *err);

#endif
