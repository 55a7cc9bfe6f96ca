/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An inventory before anything has been compiled: libclang reads the sources that a
 * compile_commands.json lists. It has the names of functions and where they are, and a rough size;
 * docs/from-source.md says what it has not.
 */
#ifndef TP_FROM_SOURCE_H
#define TP_FROM_SOURCE_H

#include "inventory.h"

/* What was found, and what could not be named. Each is of files times functions: what a header
 * defines counts once for each file that includes it. */
struct tp_from_source_counts {
	uint64_t files;     /* compile commands */
	uint64_t lost;      /* of them, those that could not be read at all */
	uint64_t erroneous; /* of them, those with errors: functions may be missing */
	uint64_t functions; /* that have a name */
	uint64_t templates; /* function templates, and members of class templates */
	uint64_t lambdas;
	uint64_t implied; /* members that the compiler writes: = default */
	uint64_t system;  /* in system headers, left out */
};

struct tp_from_source_options {
	struct tp_from_source_counts *counts; /* filled if not NULL */
	/* Told of each file that is lost or erroneous; may be NULL. */
	void (*warn)(void *context, const char *file, const char *text);
	void *context;
};

/*
 * Read the sources that COMMANDS lists, a compile_commands.json or the folder that it is in, with the newest libclang. Each file
 * is read in a process of its own: one that crashes libclang is lost and warned about. 0;
 * TP_ERR_NOT_FOUND without a libclang or a compile_commands.json; or another tp_error. Release the
 * inventory in any case. pre: the caller has no other threads or children.
 */
int tp_inventory_from_source(struct tp_inventory *inventory, const char *commands,
    const struct tp_from_source_options *options, struct tp_err *err);

#endif
