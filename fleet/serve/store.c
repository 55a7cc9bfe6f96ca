// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runs of a fleet, read again when their files have changed, and sets of them.
#include "store.h"

#include "common/hash.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#define TP_SERVE_SQL(name, text) const char tp_serve_sql_##name[] = text;
#include "serve_sql.inc"

// Of a fleet's runs and of sums: a table that says more is damaged, or of too many runs.
#define DATABASE_MAX (UINT64_C(3) << 30)

// ---- statements

static int fail(const struct tp_serve_store *store, struct tp_err *err)
{
	const int code = sqlite3_errcode(store->query->db);
	return code == SQLITE_NOMEM       ? tp_err_memory(err, NULL)
	       : code == SQLITE_INTERRUPT ? tp_err_set(err, TP_ERR_LIMIT, NULL, "interrupted")
	       : code == SQLITE_FULL
		   ? tp_err_set(err, TP_ERR_LIMIT, NULL,
			 "these runs need more than %d GiB of memory: choose fewer, or remove old "
			 "ones with 'teeperf fleet expire'",
			 (int)(DATABASE_MAX >> 30))
		   : tp_err_set(
			 err, TP_ERR_LIMIT, NULL, "SQLite: %s", sqlite3_errmsg(store->query->db));
}

sqlite3_stmt *tp_serve_prepare(
    struct tp_serve_store *store, const char *sql, const char **tail, struct tp_err *err)
{
	sqlite3_stmt *statement = NULL;
	if (sqlite3_prepare_v2(store->query->db, sql, -1, &statement, tail))
		fail(store, err);
	return statement;
}

int tp_serve_step(struct tp_serve_store *store, sqlite3_stmt *statement, struct tp_err *err)
{
	const int code = sqlite3_step(statement);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : fail(store, err);
}

int tp_serve_run(
    struct tp_serve_store *store, int64_t *number, struct tp_err *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *sql = sqlite3_vmprintf(format, args);
	va_end(args);
	int code = sql ? 0 : tp_err_memory(err, NULL);
	for (const char *at = sql; !code && *at;) {
		sqlite3_stmt *statement = NULL;
		code = sqlite3_prepare_v2(store->query->db, at, -1, &statement, &at)
			   ? fail(store, err)
			   : 0;
		const int found = statement ? tp_serve_step(store, statement, err) : 0;
		if (number)
			*number = found > 0 ? sqlite3_column_int64(statement, 0) : 0;
		code = found < 0 ? found : code;
		sqlite3_finalize(statement);
	}
	sqlite3_free(sql);
	return code;
}

// ---- runs

static int add_state(uint64_t *state, const char *folder, int depth, struct tp_err *err)
{
	static const char *const prefixes[] = {"day=", "program=", "run="};
	struct tp_fleet_names names;
	struct stat status;
	char path[TP_FLEET_PATH];
	int code = tp_fleet_names_read(&names, folder, prefixes[depth], err);
	for (uint32_t i = 0; !code && i < names.count; i++) {
		*state = tp_hash_string(*state, names.items[i]);
		code = tp_fleet_path(path, err, "%s/%s", folder, names.items[i]);
		if (!code && depth < 2)
			code = add_state(state, path, depth + 1, err);
		else if (!code && stat(path, &status) == 0)
			*state = tp_hash_bytes(*state, &status.st_mtim, sizeof(status.st_mtim));
	}
	tp_fleet_names_release(&names);
	return code;
}

int tp_serve_store_refresh(struct tp_serve_store *store, struct tp_err *err)
{
	char folder[TP_FLEET_PATH];
	uint64_t state = TEEPERF_HASH_START;
	int code = tp_fleet_path(folder, err, "%s/runs", store->tables.directory);
	if (!code)
		code = add_state(&state, folder, 0, err);
	if (code || state == store->runs_state)
		return code;
	code = tp_fleet_tables_read(&store->tables, TP_FLEET_RUNS, err);
	// A run that is there twice is damage: it counts once.
	if (!code)
		code = tp_serve_run(store, NULL, err,
		    "DELETE FROM runs WHERE rowid NOT IN (SELECT min(rowid) FROM runs GROUP BY "
		    "run_id)");
	if (!code)
		store->runs_state = state;
	return code;
}

int tp_serve_store_init(
    struct tp_serve_store *store, const char *directory, uint64_t memory_limit, struct tp_err *err)
{
	const struct tp_query_options options = {0};
	const struct tp_fleet_chosen all = {0};
	*store = (struct tp_serve_store){.memory_limit = memory_limit};
	int code = tp_query_open(&store->query, &options, err);
	if (!code)
		code = tp_fleet_tables_add(&store->tables, directory, &all, store->query, err);
	// Columns of runs are read that these name. Later statements are not seen by the tables.
	for (const char *at = tp_serve_sql_runs; !code && *at;) {
		sqlite3_stmt *statement = tp_serve_prepare(store, at, &at, err);
		code = statement || !*at ? 0 : err->code; // behind the last one is nothing
		sqlite3_finalize(statement);
	}
	if (store->query)
		tp_query_set_source(store->query, NULL);
	if (!code)
		code = tp_serve_run(store, NULL, err, "PRAGMA max_page_count = %lld; %s",
		    (long long)(DATABASE_MAX / 4096), tp_serve_sql_schema);
	return code;
}

void tp_serve_store_stop(struct tp_serve_store *store)
{
	atomic_store(&store->stop, true);
	tp_query_interrupt(store->query);
}

void tp_serve_store_release(struct tp_serve_store *store)
{
	tp_query_close(store->query);
	tp_fleet_tables_release(&store->tables);
}

// ---- sets

static bool is_day(const char *text, size_t size)
{
	return size == 10 && strspn(text, "0123456789-") >= 10 && text[4] == '-' && text[7] == '-';
}

static int add_wish(struct tp_serve_store *store, sqlite3_stmt *insert, int side,
    const struct tp_serve_wish *wish, struct tp_err *err)
{
	const char *value = wish->value;
	const char *dots = strstr(value, "..");
	const size_t size = dots ? (size_t)(dots - value) : strlen(value);
	if (strcmp(wish->criterion, "day") == 0 &&
	    (!is_day(value, size) || (dots && !is_day(dots + 2, strlen(dots + 2)))))
		return tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "'%s' is not a day such as 2026-11-26, or two with '..' between them", value);
	if (strcmp(wish->criterion, "label") == 0 && !strchr(value, '='))
		return tp_err_set(err, TP_ERR_SYNTAX, NULL, "'%s' is not a label KEY=VALUE", value);
	sqlite3_bind_int(insert, 1, side);
	sqlite3_bind_text(insert, 2, wish->criterion, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 3, value, -1, SQLITE_STATIC);
	const int code = tp_serve_step(store, insert, err);
	sqlite3_reset(insert);
	return code;
}

// Whether each run that is named is there.
static int check_runs(struct tp_serve_store *store, int side, struct tp_err *err)
{
	sqlite3_stmt *ask = tp_serve_prepare(store,
	    "SELECT value FROM wishes WHERE side = ? AND criterion IN ('run', 'not') AND value NOT "
	    "IN (SELECT run_id FROM runs)",
	    NULL, err);
	sqlite3_bind_int(ask, 1, side);
	int code = ask ? tp_serve_step(store, ask, err) : err->code;
	if (code > 0)
		code =
		    tp_err_set(err, TP_ERR_NOT_FOUND, NULL, "unknown run '%s': it may have expired",
			(const char *)sqlite3_column_text(ask, 0));
	sqlite3_finalize(ask);
	return code;
}

int tp_serve_choose(struct tp_serve_store *store, int side, const struct tp_serve_wish *wishes,
    uint32_t count, uint64_t hash[2], struct tp_err *err)
{
	int code = tp_serve_run(store, NULL, err,
	    "DELETE FROM wishes WHERE side = %d; DELETE FROM chosen WHERE side = %d", side, side);
	sqlite3_stmt *insert =
	    code ? NULL : tp_serve_prepare(store, "INSERT INTO wishes VALUES(?, ?, ?)", NULL, err);
	sqlite3_stmt *choose =
	    insert ? tp_serve_prepare(store, tp_serve_sql_choose, NULL, err) : NULL;
	sqlite3_stmt *ask = choose ? tp_serve_prepare(store,
					 "SELECT run_id FROM runs WHERE rowid IN (SELECT run FROM "
					 "chosen WHERE side = ?) ORDER BY start_unix_ns, run_id",
					 NULL, err)
				   : NULL;
	code = ask ? 0 : err->code;
	for (uint32_t i = 0; !code && i < count; i++)
		code = add_wish(store, insert, side, &wishes[i], err);
	if (!code)
		code = check_runs(store, side, err);
	sqlite3_bind_int(choose, 1, side);
	if (!code)
		code = tp_serve_step(store, choose, err);
	sqlite3_bind_int(ask, 1, side);
	hash[0] = TEEPERF_HASH_START;
	hash[1] = ~TEEPERF_HASH_START;
	while (!code && (code = tp_serve_step(store, ask, err)) > 0) {
		code = 0;
		for (int i = 0; i < 2; i++)
			hash[i] =
			    tp_hash_string(hash[i], (const char *)sqlite3_column_text(ask, 0));
	}
	sqlite3_finalize(insert);
	sqlite3_finalize(choose);
	sqlite3_finalize(ask);
	return code;
}
