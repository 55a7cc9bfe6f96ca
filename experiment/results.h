/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All results that are there, added up, and the files that are made of them. */
#ifndef TP_RESULTS_H
#define TP_RESULTS_H

#include "analyzer/output/format/plain_table.h"
#include "experiment/session.h"

struct tp_result {
	const struct tp_run *run;
	struct tp_measured measured;
};

/* A figure that some run has. */
struct tp_figure {
	const char *name;
	const char *unit;
	const char *column; /* name with the unit, as in a table: "wall_time_s" */
};

/* A figure of a cell, of the runs that are done. */
struct tp_summary {
	uint32_t cell;
	uint32_t figure;
	uint32_t count; /* of runs that have it, at least 1 */
	double median;
	bool has_interval;
	double low; /* of the median */
	double high;
	double min;
	double max;
	double *values; /* count of them, ascending */
};

/* Something that limits figures, and of how many runs. */
struct tp_result_note {
	const char *text;
	const struct tp_grid_cell *cell; /* the first one */
	uint32_t runs;                   /* 0: of a cell, not of its runs */
	uint32_t cells;
};

struct tp_results {
	const struct tp_experiment *experiment;
	struct tp_result *items; /* in the order of their runs; deep traces are among them */
	uint32_t count;
	struct tp_figure *figures; /* in the order in which they appear */
	uint32_t figure_count;
	uint32_t figure_room;
	struct tp_summary *summaries; /* by cell, then by figure */
	uint32_t summary_count;
	uint32_t summary_room;
	struct tp_result_note *notes;
	uint32_t note_count;
	uint32_t note_room;
	uint32_t bad[TP_RUN_STATUSES]; /* runs by their status */
	struct tp_arena arena;
};

/* Read all. 0 or TP_ERR_MEMORY. Release it in any case. */
int tp_results_read(
    struct tp_results *results, const struct tp_experiment *experiment, struct tp_err *err);
void tp_results_release(struct tp_results *results);

/*
 * Write runs, measurements and summary as CSV, SQLite and Parquet, and the page, into the folder of
 * the experiment.
 */
int tp_results_write(const struct tp_results *results, struct tp_err *err);

/* The page (page.c). */
int tp_results_page(const struct tp_results *results, struct tp_buf *out, struct tp_err *err);

/* Parts of the page, which embed.py makes of page/. */
extern const char tp_experiment_script[];
extern const char tp_experiment_script_hash[];
extern const char tp_experiment_style[];
extern const char tp_experiment_style_hash[];
extern const char tp_experiment_before[];
extern const char tp_experiment_behind[];

#endif
