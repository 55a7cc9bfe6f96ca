/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A fleet in the server: its runs, sets of runs that a request chooses, and the sums of a set.
 *
 * A fleet may be larger than memory: 1,000 runs with 100,000 paths each are gigabytes. Only the
 * table `runs` stays in memory. For the sums of a set, one pass reads the needed columns of the
 * files of its days and programs, and skips a row group after the column `run_id` if no row of it
 * belongs to the set. The sums need memory for the set's different functions and paths, not for its
 * runs: a path's parent is read only from runs with a path that no earlier run had. The sums of the
 * sets that were requested last stay, up to a limit, by the hash of the ids of their runs: runs
 * never change, so the sums do not go stale. One request works at a time, so all share the limit.
 */
#ifndef TP_SERVE_STORE_H
#define TP_SERVE_STORE_H

#include "fleet/folder.h"
#include "analyzer/output/format/parquet_read.h"
#include "common/arena.h"
#include "common/index.h"

#include <stdatomic.h>

enum {
	TP_SERVE_PATHS_MAX = 8 << 20,    /* different paths of a set, or functions */
	TP_SERVE_BUCKETS_MAX = 16 << 20, /* of the histograms of a set */
	TP_SERVE_RUNS_MAX = 1 << 20,     /* of a fleet */
	TP_SERVE_TEXTS_MAX = 1 << 29,    /* bytes of a fleet's runs, and of a set's functions */
};
#define TP_SERVE_NONE UINT32_MAX

/* Sums of what files say stay at the highest number rather than begin again at 0. */
static inline void tp_serve_add(uint64_t *sum, uint64_t number)
{
	*sum = number > UINT64_MAX - *sum ? UINT64_MAX : *sum + number;
}

/* A number that a table may not have. */
struct tp_serve_number {
	bool known;
	int64_t value;
};

struct tp_serve_run {
	const char *run_id;
	const char *day; /* of the folder */
	const char *program;
	const char *host;
	const char *build_id;
	const char *git_revision;
	const char *labels; /* JSON, if it is what it says */
	const char *trace;
	const char *command;
	const char *unit;
	struct tp_serve_number start_unix_ns;
	struct tp_serve_number duration_ns;
	struct tp_serve_number processor_ns;
	struct tp_serve_number processor_delay_ns;
	struct tp_serve_number self_ns;
	struct tp_serve_number cost_ns;
	struct tp_serve_number events;
	struct tp_serve_number calls;
	struct tp_serve_number threads;
	struct tp_serve_number missing_events;
	struct tp_serve_number complete;
};

/* The runs of the fleet, the first that began first. */
struct tp_serve_runs {
	struct tp_serve_run *items;
	uint32_t count;
	uint32_t room;
	struct tp_index by_id;
	struct tp_arena texts;
	uint64_t text_bytes;
};

/* Runs of a set, as indices, ascending. */
struct tp_serve_set {
	uint32_t *items;
	uint32_t count;
	uint64_t hash[2]; /* of their ids */
};

struct tp_serve_mean {
	uint64_t n;
	double mean;
	double spread;
};

struct tp_serve_function {
	int64_t key;
	const char *name;
	const char *module;
	const char *file;
	int64_t line;
	uint64_t runs;
	uint64_t calls;
	uint64_t timed_calls;
	uint64_t self_ns;
	uint64_t cpu_ns; /* self_cpu_ns, or self_ns where that is not known */
	uint64_t inclusive_ns;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	/*
	 * Of the runs' self times a timed call: how many, mean, sum of squared differences from it;
	 * and the same of processor time, of those that know it.
	 */
	struct tp_serve_mean wall;
	struct tp_serve_mean cpu;
	/* Its first bucket in tp_serve_sums.buckets, and behind the last. */
	uint32_t bucket_from;
	uint32_t bucket_to;
};

struct tp_serve_path {
	int64_t key;
	int64_t parent_key;
	int64_t function_key;
	uint32_t parent; /* index; TP_SERVE_NONE: it is outermost */
	int32_t depth;   /* 0: no row of paths has it */
	int32_t recursion;
	uint64_t calls;
	uint64_t self_ns;
	uint64_t min_ns; /* UINT64_MAX: not known */
	uint64_t max_ns;
};

struct tp_serve_bucket {
	uint32_t function;
	int32_t bucket;
	int64_t value_ns;
	uint64_t calls;
};

/* Sums of a set. Only the requested ones are there. */
struct tp_serve_sums {
	struct tp_serve_sums *next; /* in the store: the one that was used last is first */
	uint64_t hash[2];
	uint64_t secret; /* of the indices: keys come from files */
	uint32_t runs;
	bool has_functions;
	bool has_paths;
	bool has_buckets;
	bool used; /* by the request at hand */
	struct tp_serve_function *functions;
	uint32_t function_count;
	uint32_t function_room;
	struct tp_index functions_by_key;
	struct tp_arena texts;
	uint64_t text_bytes;
	/* A parent is before its children. */
	struct tp_serve_path *paths;
	uint32_t path_count;
	uint32_t path_room;
	uint32_t next_path; /* behind the one that was looked for last */
	struct tp_index paths_by_key;
	uint64_t lost_paths;             /* whose callers no file has: they are outermost */
	struct tp_serve_bucket *buckets; /* by function, then by bucket */
	uint32_t bucket_count;
	uint32_t bucket_room;
	struct tp_index buckets_by_key;
};

struct tp_serve_store {
	const char *directory;
	uint64_t memory_limit; /* bytes of the sums that stay */
	atomic_bool stop;      /* what reads is to end */
	struct tp_serve_runs runs;
	bool has_runs;
	uint64_t runs_state; /* of the files that the runs are from */
	uint64_t generation; /* how often the runs have changed */
	struct tp_serve_sums *sums;
	/* What was done, for tests and for those who wonder. */
	uint64_t files_read;
	uint64_t groups_read;
};

/* ---- store.c */

void tp_serve_store_init(
    struct tp_serve_store *store, const char *directory, uint64_t memory_limit);
void tp_serve_store_release(struct tp_serve_store *store);

/*
 * A copy of TEXT in TEXTS, whose size BYTES counts. NULL: no memory, or more than
 * TP_SERVE_TEXTS_MAX, as ERR says.
 */
const char *tp_serve_copy(
    struct tp_arena *texts, uint64_t *bytes, const char *text, struct tp_err *err);

/*
 * Read the runs, if other files have them than before. 0 or a negative tp_error: those of before
 * are still there.
 */
int tp_serve_store_refresh(struct tp_serve_store *store, struct tp_err *err);

/* ---- runs.c */

/* The run RUN_ID, or TP_SERVE_NONE. */
uint32_t tp_serve_runs_find(const struct tp_serve_runs *runs, const char *run_id);

/*
 * How a set is chosen: the runs that fit all criteria (of several values of one any), then RUN adds
 * and NOT takes away. Without a criterion all fit, or none if there is a RUN.
 */
enum tp_serve_criterion {
	TP_SERVE_PROGRAM,
	TP_SERVE_BUILD, /* build ID or git revision */
	TP_SERVE_DAY,   /* 2026-11-26, or 2026-11-01..2026-11-26 */
	TP_SERVE_HOST,
	TP_SERVE_LABEL, /* KEY=VALUE */
	TP_SERVE_RUN,
	TP_SERVE_NOT,
	TP_SERVE_CRITERIA,
};
extern const char *const tp_serve_criteria[TP_SERVE_CRITERIA];

struct tp_serve_wish {
	enum tp_serve_criterion criterion;
	const char *value;
};

/*
 * 0; TP_ERR_NOT_FOUND: no run of a RUN or NOT; TP_ERR_SYNTAX; TP_ERR_MEMORY. Release it in any
 * case.
 */
int tp_serve_set_choose(struct tp_serve_set *set, const struct tp_serve_runs *runs,
    const struct tp_serve_wish *wishes, uint32_t count, struct tp_err *err);
void tp_serve_set_release(struct tp_serve_set *set);

/* ---- scan.c */

enum { TP_SERVE_COLUMNS = 24 };

/* A row group that has rows of the set. */
struct tp_serve_rows {
	uint64_t count;
	const uint32_t *runs; /* of each row: the run's index, or TP_SERVE_NONE: not of the set */
	const struct tp_parquet_values
	    *columns;    /* as asked for; `numbers` is NULL: an old file does not have it */
	const char *day; /* of the folder */
	const char *program;
};

struct tp_serve_scan {
	enum tp_fleet_table_id table;
	const char *columns[TP_SERVE_COLUMNS]; /* NULL at the end */
	/* Only row groups with this number in the first column; NULL: all. */
	const int64_t *key;
	/* 0 or a negative tp_error, which ends it. */
	int (*take)(void *context, const struct tp_serve_rows *rows, struct tp_err *err);
	/*
	 * Called before the first row, and again if all is read anew, as files were exchanged
	 * meanwhile.
	 */
	int (*begin)(void *context, struct tp_err *err);
	void *context;
};

static inline uint64_t tp_serve_count(const struct tp_parquet_values *values, uint64_t row)
{
	return tp_parquet_has(values, row) && values->numbers[row] > 0
		   ? (uint64_t)values->numbers[row]
		   : 0;
}

/* Rows of the runs in SET; NULL: all rows, and `runs` is NULL. 0 or a negative tp_error. */
int tp_serve_store_scan(struct tp_serve_store *store, const struct tp_serve_scan *scan,
    const struct tp_serve_set *set, struct tp_err *err);

/* ---- sums.c */

enum tp_serve_part { TP_SERVE_FUNCTIONS = 1, TP_SERVE_PATHS = 2, TP_SERVE_BUCKETS = 4 };

/* The sums of a set with these parts, until tp_serve_store_done. NULL: ERR says why. */
struct tp_serve_sums *tp_serve_store_sums(struct tp_serve_store *store,
    const struct tp_serve_set *set, uint32_t parts, struct tp_err *err);
/* Sums that were given out are used no more: those beyond the limit go. */
void tp_serve_store_done(struct tp_serve_store *store);
/* The number of the function KEY, or TP_SERVE_NONE. */
uint32_t tp_serve_sums_find(const struct tp_serve_sums *sums, int64_t key);
/* The path KEY, or NULL. */
const struct tp_serve_path *tp_serve_sums_find_path(const struct tp_serve_sums *sums, int64_t key);
/* The QUANTILE of COUNT sorted buckets, as docs/fleet.md has it; -1: there are no calls. */
int64_t tp_serve_quantile(const struct tp_serve_bucket *buckets, uint32_t count, double quantile);

/* ---- compare.c */

/* A function in two sets: Welch's test as 'fleet query regressions' does it. */
struct tp_serve_pair {
	const struct tp_serve_function *a; /* NULL: it is not there */
	const struct tp_serve_function *b;
	bool cpu;    /* processor time is compared: all runs know it; else self time */
	bool tested; /* each side has five runs; else what follows is not there */
	double t;    /* NAN: nothing varies */
	double df;
	double t_needed;
	/* 1: B takes longer a call, by more than chance and LEAST; -1: less; 0: neither */
	int verdict;
};

struct tp_serve_comparison {
	struct tp_serve_pair *pairs; /* verdicts first, the greatest change of time first */
	uint32_t count;
	uint32_t tested;
};

/*
 * LEAST: the percent of A's mean by which the means differ at least. 0 or TP_ERR_MEMORY. Release it
 * in any case.
 */
int tp_serve_compare(struct tp_serve_comparison *comparison, const struct tp_serve_sums *a,
    const struct tp_serve_sums *b, double least, struct tp_err *err);
/* What of a function is compared in PAIR. */
static inline const struct tp_serve_mean *tp_serve_compared(
    const struct tp_serve_pair *pair, const struct tp_serve_function *function)
{
	return pair->cpu ? &function->cpu : &function->wall;
}
void tp_serve_comparison_release(struct tp_serve_comparison *comparison);

#endif
