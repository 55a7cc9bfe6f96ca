/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The experiments that a plan has, the order of their runs, and what stands in place of
 * placeholders.
 */
#ifndef TP_GRID_H
#define TP_GRID_H

#include "common/buf.h"
#include "experiment/plan.h"

enum { TP_GRID_CELLS_MOST = 100000, TP_GRID_RUNS_MOST = 1000000, TP_GRID_BUILDS_MOST = 64 };

/* One experiment. */
struct tp_grid_cell {
	const struct tp_task *task;
	const struct tp_variant *variant;
	const char **values; /* for each of plan->columns; NULL: it has no such factor */
	const char *name;    /* of its folder; no other cell has it */
	const char *skipped; /* why it cannot be run here; NULL: it can */
	uint64_t key;        /* of all that decides the measurement; set by the session */
};

enum tp_run_kind { TP_RUN_MEASURED, TP_RUN_WARM_UP, TP_RUN_DEEP_TRACE };

struct tp_run {
	uint32_t cell;
	uint32_t iteration; /* from 1 on; 0: none of the measured ones */
	enum tp_run_kind kind;
};

/* Names and values live in the plan's arena. */
struct tp_grid {
	struct tp_plan *plan;
	struct tp_grid_cell *cells;
	uint32_t cell_count;
	struct tp_run *runs; /* in their order, without those that warm up */
	uint32_t run_count;
};

/*
 * 0; TP_ERR_SYNTAX: a placeholder is unknown, or there are too many cells or runs; TP_ERR_MEMORY.
 * Release it in any case.
 */
int tp_grid_make(struct tp_grid *grid, struct tp_plan *plan, struct tp_err *err);
void tp_grid_release(struct tp_grid *grid);
/*
 * Set the runs: each round has every cell once, in an order of its own, so that what drifts meets
 * all cells alike. The deep traces come last.
 */
int tp_grid_order(struct tp_grid *grid, uint64_t seed, struct tp_err *err);

/*
 * What placeholders become. Folders that are NULL stay as they are written, for keys and for
 * showing.
 */
struct tp_expansion {
	const struct tp_plan *plan;
	const struct tp_grid_cell *cell;
	const char *output_directory; /* where this run puts its files */
	const char *build_directory;
	const char *cell_directory;
	uint32_t iteration;
};

/*
 * Add TEXT with its placeholders replaced. 0, TP_ERR_SYNTAX at the place of TEXT. Memory:
 * out->failed.
 */
int tp_expand(const struct tp_expansion *expansion, const struct tp_plan_text *text,
    struct tp_buf *out, struct tp_err *err);

/* The value that the cell has of the factor NAME, or NULL. */
const char *tp_grid_value(
    const struct tp_plan *plan, const struct tp_grid_cell *cell, const char *name);

/* Random numbers that are the same everywhere (SplitMix64, Steele, Lea and Flood 2014). */
struct tp_random {
	uint64_t state;
};
uint64_t tp_random_next(struct tp_random *random);
/* From 0 to BELOW - 1, each alike. pre: BELOW > 0. */
uint64_t tp_random_below(struct tp_random *random, uint64_t below);

#endif
