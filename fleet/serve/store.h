/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A fleet in the server: a database in memory with the fleet's runs and the sums of sets of runs,
 * which all answers are statements over (sql/).
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

#include "fleet/questions/questions.h"
#include "fleet/serve/web.h"
#include "analyzer/query/sql.h"

#include <stdatomic.h>

struct tp_serve_store {
	struct tp_query *query;
	struct tp_fleet_tables tables; /* of which runs is filled alone */
	uint64_t memory_limit;         /* bytes of the sums that stay */
	atomic_bool stop;              /* what reads is to end */
	uint64_t runs_state;           /* of the files that the runs are from; 0: none yet */
	uint64_t clock;                /* of requests */
};

/* ---- store.c */

/* 0 or a negative tp_error; release it in any case. */
int tp_serve_store_init(
    struct tp_serve_store *store, const char *directory, uint64_t memory_limit, struct tp_err *err);
void tp_serve_store_release(struct tp_serve_store *store);
/* End what it does, from another thread; then all answers are errors. */
void tp_serve_store_stop(struct tp_serve_store *store);
/*
 * Read the runs, if other files have them than before. 0 or a negative tp_error: those of before
 * are still there.
 */
int tp_serve_store_refresh(struct tp_serve_store *store, struct tp_err *err);

/* How a set is chosen (sql/choose.sql), as arguments and the table of wishes have it. */
struct tp_serve_wish {
	const char *criterion; /* program, build, day, host, label, run or not */
	const char *value;
};

/*
 * Have the runs that fit as the set of SIDE (0, 1) of the request, and the hash of their ids. 0;
 * TP_ERR_NOT_FOUND: no run of a `run` or `not`; TP_ERR_SYNTAX; or another one.
 */
int tp_serve_choose(struct tp_serve_store *store, int side, const struct tp_serve_wish *wishes,
    uint32_t count, uint64_t hash[2], struct tp_err *err);

/* A statement; NULL: ERR says why. TAIL may be NULL. */
sqlite3_stmt *tp_serve_prepare(
    struct tp_serve_store *store, const char *sql, const char **tail, struct tp_err *err);
/* Whether it has a row now; a negative tp_error. */
int tp_serve_step(struct tp_serve_store *store, sqlite3_stmt *statement, struct tp_err *err);
/*
 * Run FORMAT, with whole numbers as sqlite3_mprintf has them, and take the number of its first row
 * and column, 0 without one. 0 or a negative tp_error.
 */
int tp_serve_run(
    struct tp_serve_store *store, int64_t *number, struct tp_err *err, const char *format, ...);

extern const char tp_serve_sql_schema[];
extern const char tp_serve_sql_choose[];
extern const char tp_serve_sql_runs[];
extern const char tp_serve_sql_functions[];
extern const char tp_serve_sql_compare[];
extern const char tp_serve_sql_history[];
extern const char tp_serve_sql_flame[];

/* ---- sums.c */

enum tp_serve_part { TP_SERVE_FUNCTIONS = 1, TP_SERVE_PATHS = 2, TP_SERVE_BUCKETS = 4 };

/*
 * Have the sums of the set of SIDE with these parts. *ID: what they are
 * called in the database. 0 or a negative tp_error.
 */
int tp_serve_sums(struct tp_serve_store *store, int side, const uint64_t hash[2], uint32_t parts,
    int64_t *id, struct tp_err *err);
/* Have functions and buckets of the function KEY, run by run of side 0, as set 0. The same. */
int tp_serve_sums_of(struct tp_serve_store *store, int64_t key, struct tp_err *err);
/* Sums beyond the limit go, of those that were used last before USED. */
void tp_serve_sums_trim(struct tp_serve_store *store, uint64_t used);

/* Sums of what files say stay at the highest number rather than begin again at the lowest. */
static inline void tp_serve_add(int64_t *sum, int64_t number)
{
	*sum = number > INT64_MAX - *sum ? INT64_MAX : *sum + number;
}

/* ---- answers.c */

/*
 * Add the JSON that answers REQUEST, whose path is one of ours. 0; TP_ERR_SYNTAX;
 * TP_ERR_NOT_FOUND; or another one.
 */
int tp_serve_answer(struct tp_serve_store *store, const struct tp_web_request *request,
    struct tp_buf *out, struct tp_err *err);
bool tp_serve_is_path(const char *path);

#endif
