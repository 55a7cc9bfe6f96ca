/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A run of a fleet: what an analysed trace is in it. The keys of its functions and paths
 * (docs/fleet.md), the groups of its threads, its name and place; and its rows in each table, which
 * go straight into files.
 */
#ifndef TP_FLEET_RUN_H
#define TP_FLEET_RUN_H

#include "fleet/durations.h"
#include "fleet/tables.h"
#include "analyzer/profile/paths.h"
#include "analyzer/profile/system.h"

enum { TP_FLEET_RUN_ID = 40, TP_FLEET_DAY = 16 };

/* What whoever adds it says of a run. */
struct tp_fleet_said {
	const char *git_revision;  /* NULL: nothing */
	const char *host;          /* NULL: what the trace says */
	const char *const *labels; /* "KEY=VALUE": label_count */
	uint32_t label_count;
	bool calls; /* with single calls */
};

/* Threads of names that differ in their numbers only. */
struct tp_thread_group {
	char name[40];
};

struct tp_fleet_run {
	const struct tp_analysis *analysis;
	const struct tp_fleet_said *said;
	char id[TP_FLEET_RUN_ID];
	char day[TP_FLEET_DAY];
	bool timed; /* times are nanoseconds, and known */
	struct tp_paths paths;
	struct tp_system_items system;
	struct tp_durations durations;
	uint32_t *path_slots; /* of each path: its histogram there */
	int64_t *fn_keys;     /* of the analysis' functions */
	uint32_t *functions;  /* their numbers, by key */
	int64_t *path_keys;   /* of the paths; path 0: 0 */
	uint32_t *recursions; /* callers on it with the same key */
	uint32_t *by_key;     /* the paths but path 0, by key: paths.count - 1 */
	struct tp_thread_group *groups;
	uint32_t group_count;
	uint32_t *group_of; /* of each thread of the analysis */
	/* Rows that were written so far. */
	uint64_t rows[TP_FLEET_TABLES];
};

/*
 * pre: tp_fleet_run_name. The analysis and what was said must outlive it. 0 or a negative tp_error;
 * release it in any case.
 */
int tp_fleet_run_init(struct tp_fleet_run *run, const struct tp_analysis *analysis,
    const struct tp_fleet_said *said, struct tp_err *err);
void tp_fleet_run_release(struct tp_fleet_run *run);
/* Set its id and day alone: what the file's bytes say. 0 or a negative tp_error. */
int tp_fleet_run_name(
    struct tp_fleet_run *run, const struct tp_analysis *analysis, struct tp_err *err);

/* Whether it has a file of this table. */
bool tp_fleet_run_has(const struct tp_fleet_run *run, enum tp_fleet_table_id id);
/*
 * Write its rows of a table to NAME in DIRECTORY. TP_FLEET_RUNS comes last, as it has sums of the
 * others. 0 or a negative tp_error.
 */
int tp_fleet_run_write(struct tp_fleet_run *run, enum tp_fleet_table_id id, const char *directory,
    const char *name, struct tp_err *err);

/* ---- pieces of it, for tests and the rooms' other files */

/*
 * Go on with the hash of a path, at first TEEPERF_HASH_START, by a function that it calls; the key
 * is its bits.
 */
uint64_t tp_fleet_path_hash(uint64_t caller, int64_t fn_key);
/* NAME with '#' for each number in it. */
void tp_fleet_group_name(char group[40], const char *name);
/* The labels as a JSON object of texts. */
void tp_fleet_labels(struct tp_buf *out, const struct tp_fleet_said *said);
/*
 * Whether LABELS, such an object, has a label of each key among the COUNT that are WANTED,
 * "KEY=VALUE" each.
 */
bool tp_fleet_fits_labels(const char *labels, const char *const *wanted, uint32_t count);
/* Whether two labels are of one key. */
bool tp_fleet_same_label(const char *one, const char *other);
/* The row of runs. */
void tp_fleet_run_facts(struct tp_fleet_run *run, struct tp_parquet *out);
/* Ticks as the column has them: missing if not KNOWN. */
static inline void tp_fleet_put_time(
    const struct tp_fleet_run *run, struct tp_parquet *out, bool known, uint64_t ticks)
{
	known = known && run->timed;
	tp_fleet_put_if(out, known, known ? tp_timebase_ns(&run->analysis->time, ticks) : 0);
}

#endif
