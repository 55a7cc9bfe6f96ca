/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The texts that globs are compared with: each of them may match. They are parts of the given text,
 * which may be NULL (no readings) and must live as long.
 */
#ifndef TP_ALLOWLIST_READING_H
#define TP_ALLOWLIST_READING_H

#include <stdbool.h>

#include "rule_index.h"

enum { TP_READINGS_MAX = 16 };

struct tp_readings {
	struct tp_reading items[TP_READINGS_MAX];
	uint32_t count;
};

/*
 * The linkage name, and without each suffix that compilers give to copies: foo.llvm.1.part.0. The
 * same of `origin`, of which it is a copy by whatever name.
 */
void tp_readings_of_function(
    struct tp_readings *readings, const char *function, const char *origin);
/*
 * The demangled name, without its parameters, without the type that it begins with if it is of a
 * function made from a template, and without the mark of a copy; the same of `origin`.
 */
void tp_readings_of_name(struct tp_readings *readings, const char *demangled, const char *origin);
/*
 * Whether a name is that of the very function which was `origin`, as link-time optimisation renames
 * internal functions: origin.llvm.123, origin.4. Copies have other suffixes.
 */
bool tp_name_is_renamed(const char *name, const char *origin);
/* The path without leading "./". */
void tp_readings_of_file(struct tp_readings *readings, const char *file);
/* The path, and its last component. */
void tp_readings_of_module(struct tp_readings *readings, const char *module);

#endif
