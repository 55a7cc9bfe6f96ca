/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An allowlist against an inventory: which functions each line matches, what became of them, and
 * which line decides about each function. What check, explain and diff work on.
 */
#ifndef TP_LIST_USE_H
#define TP_LIST_USE_H

#include "allowlists/language/allowlist.h"
#include "common/json.h"
#include "allowlists/inventory/inventory.h"
#include "allowlists/choose/cost.h"
#include "allowlists/choose/workload.h"

/* Stands for no line: the default decides. */
#define TP_LINE_NONE UINT32_MAX

/* What became of a function, as far as a line of a list is concerned. */
enum tp_fate {
	TP_FATE_THERE = 0, /* it is a function of its own, or nothing has been compiled yet */
	TP_FATE_PARTLY,    /* it is, and was inlined elsewhere as well */
	TP_FATE_INLINED,
	TP_FATE_REMOVED,
	TP_FATE_COUNT,
};

/* Of the functions that a line matches, this number of each fate is remembered for messages. */
enum { TP_LINE_EXAMPLES = 4 };

struct tp_line_use {
	uint32_t fates[TP_FATE_COUNT];                      /* functions that the line matches */
	uint32_t examples[TP_FATE_COUNT][TP_LINE_EXAMPLES]; /* the first of each; see fates */
	uint32_t matched;                                   /* all of them */
	uint32_t named;     /* ... that have the name in the line itself, copies of them aside */
	uint32_t decided;   /* ... that it decides about */
	uint32_t beaten_by; /* the line that decided about the first one that it does not */
	bool contradicted;  /* a line that decided instead of it says something else */
};

struct tp_list_use {
	const struct tp_allowlist *list;
	const struct tp_inventory *inventory;
	struct tp_line_use *lines; /* by index of the list's lines */
	uint32_t line_count;
	struct tp_verdict *verdicts; /* by index of the inventory's functions */
	uint32_t *deciders;          /* index of the line that decided, or TP_LINE_NONE */
	struct tp_arena arena;
};

/*
 * Ask the list about every function; both must outlive it. 0 or TP_ERR_MEMORY. Release it in any
 * case.
 */
int tp_list_use_init(struct tp_list_use *use, const struct tp_allowlist *list,
    const struct tp_inventory *inventory, struct tp_err *err);
void tp_list_use_release(struct tp_list_use *use);

/*
 * Whether the line is fun: without a glob, and the function has this name: it is no copy of such a
 * one.
 */
bool tp_line_names(
    const struct tp_allowlist_line *line, const struct tp_inventory_function *function);

enum tp_fate tp_fate_of(const struct tp_inventory_function *function);

/* Whether a function of this category is instrumented in some way. */
bool tp_category_instruments(enum tp_category category);

/* A category as a list spells it, as member KEY of a JSON object. */
void tp_list_add_category_json(
    struct tp_json *json, const char *key, enum tp_category category, uint32_t sample);

/* "FILE:LINE", or "the default". */
void tp_list_add_place(struct tp_buf *buf, const struct tp_verdict *verdict);

/*
 * Who holds copies of FUNCTION: "'bar' (3 times), 'baz' and 2 more", at most LIMIT of them by name.
 * Nothing if that is not known.
 */
void tp_list_add_into(struct tp_buf *buf, const struct tp_inventory *inventory,
    const struct tp_inventory_function *function, uint32_t limit);

struct tp_list_cost {
	uint64_t calls;     /* of functions that are instrumented in some way */
	double events;      /* calls that are recorded with times, as far as is known before */
	uint64_t counted;   /* calls that are only counted */
	double overhead_ns; /* that recording takes */
	double log_bytes;
	double named_ns;   /* self time of functions with events */
	double sampled_ns; /* self time of functions of which calls are sampled */
	double all_ns;     /* self time of all functions */
	double time_ns;    /* of the run without events; 0: unknown */
};

/*
 * Add up what each function of the workload costs at the level that the list gives it. The
 * workload's functions must have their inventory entries (tp_workload_add_inventory).
 */
void tp_list_cost(struct tp_list_cost *sum, const struct tp_list_use *use,
    const struct tp_workload *workload, const struct tp_cost *cost);

/* Calls of FUNCTION in the workload, 0 if it has none. */
uint64_t tp_list_calls(
    const struct tp_workload *workload, const struct tp_inventory_function *function);

enum tp_change_kind {
	TP_CHANGE_ADDED = 0, /* only the second list instruments it */
	TP_CHANGE_REMOVED,   /* only the first one does */
	TP_CHANGE_LEVEL,     /* both do, differently */
	TP_CHANGE_KIND_COUNT,
};

struct tp_change {
	enum tp_change_kind kind;
	uint32_t function; /* index in the inventory */
	/* False: it was inlined or removed, and neither list forces it to stay. */
	bool effective;
	uint64_t calls;  /* of the workload; 0 without one */
	double delta_ns; /* what the second list costs more */
};

struct tp_list_diff {
	struct tp_change *changes; /* by |delta_ns| descending, then in the inventory's order */
	uint32_t count;
	uint32_t effective[TP_CHANGE_KIND_COUNT]; /* how many of each kind */
	uint32_t without_effect;
};

/*
 * Compare A and B, of the same inventory; WORKLOAD and COST may be NULL. 0 or TP_ERR_MEMORY.
 * Release it in any case.
 */
int tp_list_diff_init(struct tp_list_diff *diff, const struct tp_list_use *a,
    const struct tp_list_use *b, const struct tp_workload *workload, const struct tp_cost *cost,
    struct tp_err *err);
void tp_list_diff_release(struct tp_list_diff *diff);

/* "added", "removed", "changed". */
const char *tp_change_kind_name(enum tp_change_kind kind);

#endif
