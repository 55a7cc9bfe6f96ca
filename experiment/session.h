/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A session: what of an experiment has no result yet is run, one run at a time. */
#ifndef TP_EXPERIMENT_SESSION_H
#define TP_EXPERIMENT_SESSION_H

#include <limits.h>

#include "experiment/grid.h"
#include "experiment/run.h"

struct tp_experiment_options {
	const char *plan;
	const char *output; /* in place of the plan's output_directory; NULL: that one */
	bool has_seed;
	uint64_t seed;
	bool replace; /* results that were made with other settings are removed, and made again */
	bool retry;   /* runs that failed are run again */
	const char *teeperf; /* path of this program */
};

/* Messages while it runs. */
struct tp_experiment_watch {
	void *context;
	/* Before a run: the Nth of COUNT that are left. ARGV is the command. */
	void (*begins)(void *context, const struct tp_grid_cell *cell, const struct tp_run *run,
	    uint32_t n, uint32_t count, char *const *argv);
	void (*ends)(void *context, const struct tp_run *run, const struct tp_measured *measured);
	/* Something is made: "building variant 'x'". */
	void (*makes)(void *context, const char *what);
};

struct tp_experiment {
	struct tp_experiment_options options;
	struct tp_plan plan;
	struct tp_grid grid;
	char output[PATH_MAX / 2]; /* absolute */
	uint64_t seed;
	bool seed_is_new;
	int lock;          /* -1: not held */
	uint32_t done;     /* runs that had a result before */
	uint32_t made;     /* in this session */
	uint32_t not_done; /* of these, failed or timed out, now or before */
	uint32_t skipped;  /* cells that cannot run here */
	uint32_t left;     /* runs without a result */
};

/*
 * Read the plan, make the grid, and find the folder of results, which need not be there. Nothing is
 * written. 0 or a negative tp_error. Close it in any case.
 */
int tp_experiment_open(struct tp_experiment *experiment,
    const struct tp_experiment_options *options, struct tp_err *err);
/* Make the folder, take its lock and order the runs. TP_ERR_LIMIT: another session has it. */
int tp_experiment_begin(struct tp_experiment *experiment, struct tp_err *err);
/*
 * Build what variants need, and run what has no result. TP_ERR_LIMIT: there are results that were
 * made with other settings. A signal: TP_ERR_SYSTEM, and tp_signals_caught().
 */
int tp_experiment_run(
    struct tp_experiment *experiment, const struct tp_experiment_watch *watch, struct tp_err *err);
void tp_experiment_close(struct tp_experiment *experiment);

/* The folder of a run below the output, or of warm-up. */
int tp_experiment_folder(const struct tp_experiment *experiment, const struct tp_run *run,
    char path[PATH_MAX], struct tp_err *err);

/* ---- commands (cmdline.c) */

/* A command line, all in its arena. */
struct tp_cmdline {
	struct tp_arena arena;
	char **argv;
	char **variables; /* "NAME=value", NULL at the end */
	const char *cwd;
	const char *program; /* the measured program, perhaps inside of argv */
};

/* Where a line's placeholders lead. All NULL: they stay as they are, for keys and for showing. */
struct tp_cmdline_place {
	const struct tp_experiment *experiment;
	const struct tp_grid_cell *cell;
	const struct tp_run *run;
	const char *folder; /* of the run */
};

enum tp_cmdline_what {
	TP_CMDLINE_PROGRAM,
	TP_CMDLINE_PRE_RUN,
	TP_CMDLINE_POST_RUN,
	TP_CMDLINE_BUILD
};

/* Make it; argv is NULL where the task has no such step. Release it in any case. */
int tp_cmdline_make(struct tp_cmdline *line, const struct tp_cmdline_place *place,
    enum tp_cmdline_what what, struct tp_err *err);
void tp_cmdline_release(struct tp_cmdline *line);

/* Where the program of a run puts its files: a folder below that of the run. */
void tp_cmdline_output_directory(const struct tp_cmdline_place *place, char path[PATH_MAX]);
void tp_cmdline_build_directory(
    const struct tp_experiment *experiment, const struct tp_variant *variant, char path[PATH_MAX]);
void tp_cmdline_cell_directory(
    const struct tp_experiment *experiment, const struct tp_grid_cell *cell, char path[PATH_MAX]);

/* ---- Gramine (gramine.c) */

/* Why there are no programs under Gramine of this KIND here; NULL: there are. */
const char *tp_gramine_missing(enum tp_variant_kind kind);
/* Make the manifest of CELL. */
int tp_gramine_make(
    const struct tp_experiment *experiment, const struct tp_grid_cell *cell, struct tp_err *err);
/* ---- collectors (collect.c) */

/* Those that a run of the cell is measured with, in a static array that NULL ends. */
const struct tp_collector *const *tp_collectors(const struct tp_experiment *experiment,
    const struct tp_grid_cell *cell, const struct tp_run *run, const char *folder);
/* Add the results that only the files of the run show: traces, output of perf, energy of disks. */
void tp_collect_rest(const struct tp_experiment *experiment, const struct tp_grid_cell *cell,
    const struct tp_run *run, const char *folder, struct tp_measured *to);
/* ---- folders (folder.c) */

/* Make it and those above it. */
int tp_folder_make(const char *path, struct tp_err *err);
/* Remove it and all that is in it; links are not followed. */
int tp_folder_remove(const char *path, struct tp_err *err);

#endif
