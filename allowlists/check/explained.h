/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The facts about one function: its callers, the lines of a list that match it, and its figures in
 * a profile; and the search for it.
 */
#ifndef TP_EXPLAINED_H
#define TP_EXPLAINED_H

#include "allowlists/choose/cost.h"
#include "allowlists/check/use.h"
#include "allowlists/choose/workload.h"
#include "allowlists/inventory/inventory.h"

struct tp_explained {
	const struct tp_inventory *inventory;
	const struct tp_inventory_function *function;
	uint32_t *callers; /* indices in the inventory of those that call it directly */
	uint32_t caller_count;
	const struct tp_allowlist *list; /* NULL: none was given */
	struct tp_verdict verdict;
	uint32_t decider;    /* index of the list's line, or TP_LINE_NONE */
	uint32_t *overrides; /* the other lines that match, the last one first */
	uint32_t override_count;
	const struct tp_workload_function
	    *measured; /* NULL: there is no profile, or it is not in it */
};

/*
 * Gather the facts about the FUNCTION with this index. LIST and WORKLOAD may be NULL. 0 or
 * TP_ERR_MEMORY. Release it in any case.
 */
int tp_explained_init(struct tp_explained *explained, const struct tp_inventory *inventory,
    uint32_t function, const struct tp_allowlist *list, const struct tp_workload *workload,
    struct tp_err *err);
void tp_explained_release(struct tp_explained *explained);

/* A level that the function could have, and what that tells. */
struct tp_explained_level {
	const char *name; /* as in a list */
	enum tp_category category;
	uint32_t sample;
	const char *what;
};
enum { TP_EXPLAINED_LEVELS = 3 };
extern const struct tp_explained_level tp_explained_levels[TP_EXPLAINED_LEVELS];

/* How the functions were found: the first of these ways that finds any. */
enum tp_found_by {
	TP_FOUND_LINKAGE = 0, /* linkage name */
	TP_FOUND_NAME,        /* demangled name, with its parameters or without */
	TP_FOUND_GLOB,        /* a glob that matches either */
	TP_FOUND_PART,        /* part of the demangled or linkage name */
	TP_FOUND_NOTHING,
};

struct tp_found {
	enum tp_found_by by;
	uint32_t *functions; /* indices in the inventory, ascending */
	uint32_t count;
};

/* Look for what WORD means. 0 or TP_ERR_MEMORY. Release it in any case. */
int tp_function_find(struct tp_found *found, const struct tp_inventory *inventory, const char *word,
    struct tp_err *err);
void tp_found_release(struct tp_found *found);

#endif
