/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Experiments: a plan names tasks and factors, and becomes a table of measurements.
 *
 *	plan.toml ──► toml.cpp ──► plan.c     struct tp_plan: the contents of the file, checked
 *	                             │
 *	                             ▼
 *	                           grid.c     struct tp_grid: a cell for each task, variant and
 *	                             │        combination of factor values, with a folder of its
 *	                             │        own; and the order of the runs, which the seed gives
 *	                             ▼
 *	                         session.c    runs what has no result yet: cmdline.c has the
 *	                             │        commands, run.c executes it, collect*.c measure it
 *	                             ▼
 *	        OUTPUT/CELL/ITERATION/result.tsv    written beside and renamed: a run
 *	                             │                      that has none did not happen
 *	                             ▼
 *	                         results.c    reads all of them ──► tables.c (runs, measurements,
 *	                                                       │    summary) ──► CSV, SQLite, ...
 *	                                                       └──► page.c (report.html)
 *
 * Nothing but these files goes from running to showing. So a session that was killed goes on where
 * it was, and the tables can be made again without a run.
 */
#ifndef TP_PLAN_H
#define TP_PLAN_H

#include "common/arena.h"
#include "common/buf.h"
#include "common/err.h"
#include "experiment/toml.h"

/* A text of the plan, perhaps with placeholders ({{ name }}), and where it stands. */
struct tp_plan_text {
	const char *text; /* NULL: it is not there */
	struct tp_toml_place place;
};

struct tp_plan_texts {
	struct tp_plan_text *items;
	uint32_t count;
	bool given; /* perhaps as an empty list */
};

/* A variable of the environment. */
struct tp_variable {
	const char *name;
	struct tp_plan_text value;
};

struct tp_variables {
	struct tp_variable *items;
	uint32_t count;
};

/* What changes between experiments. */
struct tp_factor {
	const char *name;
	struct tp_plan_texts values;
};

struct tp_factors {
	struct tp_factor *items;
	uint32_t count;
};

/* A program and its arguments. */
struct tp_step {
	struct tp_plan_text executable;
	struct tp_plan_texts args;
};

/* What [globals] say for all tasks, and a task for itself. */
struct tp_repeat {
	uint64_t samples;    /* measured runs of each cell */
	uint64_t warm_up;    /* runs before those that do not count */
	uint64_t timeout_ns; /* 0: none */
	bool deep_trace;     /* one more run, recorded */
};

/* How a task is run. */
enum tp_variant_kind {
	TP_VARIANT_NATIVE,
	TP_VARIANT_TEEPERF,   /* under 'teeperf record' */
	TP_VARIANT_PERF_STAT, /* under 'perf stat' */
	TP_VARIANT_GRAMINE_DIRECT,
	TP_VARIANT_GRAMINE_SGX,
	TP_VARIANT_KINDS,
};
extern const char *const tp_variant_kinds[TP_VARIANT_KINDS + 1];

struct tp_variant {
	const char *name;
	struct tp_toml_place place;
	enum tp_variant_kind kind;
	struct tp_plan_text kind_name;
	struct tp_step build;           /* made once, before the first run */
	struct tp_plan_text executable; /* in place of the task's */
	struct tp_plan_text allowlist;  /* for the build: TEEPERF_ALLOWLIST */
	struct tp_plan_texts options;   /* of 'teeperf record' or 'perf stat' */
	struct tp_variables env;
	struct tp_plan_text
	    manifest;     /* template of Gramine's manifest; without one: that of gramine.c */
	bool keep_traces; /* of each run, not only of the deep trace */
};

struct tp_task {
	const char *name;
	struct tp_toml_place place;
	struct tp_plan_text name_text;
	struct tp_step program;
	struct tp_variables env;
	struct tp_plan_text cwd;
	struct tp_step pre_run;
	struct tp_step post_run;
	struct tp_repeat repeat;
	struct tp_factors factors;    /* all that it is crossed with */
	struct tp_plan_texts storage; /* kinds of folders, under Gramine only */
	struct tp_plan_texts variant_names;
	const struct tp_variant **variants;
	uint32_t variant_count;
};

struct tp_plan {
	struct tp_arena arena;
	const char *file;   /* as it was named */
	const char *folder; /* what paths in it are relative to; absolute */
	const char *text;
	size_t size;
	struct tp_plan_text output_directory;
	struct tp_repeat repeat;
	uint64_t seed;
	bool has_seed;
	struct tp_plan_texts events; /* of perf, besides the usual ones */
	bool debug;                  /* print each command */
	bool system_events;          /* what the kernel does for each run, by BPF programs */
	bool energy;
	uint64_t energy_interval_ns;
	double disk_read_nj; /* nanojoules for each byte that is read; below 0: not given */
	double disk_write_nj;
	struct tp_factors factors; /* that tasks are crossed with unless they say otherwise */
	const char **columns;      /* names of all factors of all tasks */
	uint32_t column_count;
	struct tp_variant *variants;
	uint32_t variant_count;
	struct tp_task *tasks;
	uint32_t task_count;
};

/* The names of factors that the existing harness has, and its folders. */
#define TP_FACTOR_THREADS "num_threads"
#define TP_FACTOR_ENCLAVE "enclave_size"
#define TP_FACTOR_STORAGE "storage_type"

/*
 * Read the plan of SIZE bytes; FILE is its name. Release it in any case. 0; TP_ERR_SYNTAX at the
 * place that is wrong; TP_ERR_MEMORY.
 */
int tp_plan_parse(
    struct tp_plan *plan, const char *file, const char *text, size_t size, struct tp_err *err);
/* The same from the file. */
int tp_plan_read(struct tp_plan *plan, const char *file, struct tp_err *err);
void tp_plan_release(struct tp_plan *plan);

/* Of perf's events: what it counts by default, and the caches. */
#define TP_PLAN_USUAL_EVENTS                                                                   \
	"task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches," \
	"branch-misses,cache-references,cache-misses"
/* These and those of the plan, with commas in between, added to LIST. Returns its text. */
const char *tp_plan_events(const struct tp_plan *plan, struct tp_buf *list);

/*
 * The error that something at PLACE of the plan is wrong, with the line as an excerpt. Returns
 * TP_ERR_SYNTAX.
 */
int tp_plan_fail(const struct tp_plan *plan, struct tp_toml_place place, struct tp_err *err,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
