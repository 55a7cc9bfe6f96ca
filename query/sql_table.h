/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tables of SQL: one file query/table_NAME.c each, with a descriptor that the schema, the virtual
 * table, the help and the export to SQLite are all made from.
 */
#ifndef TP_SQL_TABLE_H
#define TP_SQL_TABLE_H

#include "query/trace_data.h"

#include <sqlite3.h>

struct tp_column {
	const char *name;
	const char *type; /* INTEGER, TEXT, REAL */
	const char *help; /* with its unit */
	bool hidden;      /* not in SELECT * nor in exports */
};

#define TP_COLUMNS_MAX 24

struct tp_sql_table {
	const char *name;
	const char *summary;
	const struct tp_column *columns; /* ended by one without a name */
	/* What an export indexes: lists of columns, NULL at the end; may be NULL. */
	const char *const *indexes;
	/* Make what it needs; NULL: nothing. 0 or a negative tp_error. */
	int (*prepare)(struct tp_trace_data *data, struct tp_err *err);
	/* Rows, for the planner before prepare and exactly after it. */
	uint64_t (*rows)(const struct tp_trace_data *data);
	/* The value of a column: one sqlite3_result_ function, or none for NULL. */
	void (*value)(
	    const struct tp_trace_data *data, uint64_t row, int column, sqlite3_context *context);
	/* If not NULL: the value of column 0, which never falls from row to row. */
	int64_t (*key)(const struct tp_trace_data *data, uint64_t row);
	bool key_is_unique;
	/* A virtual table of its own instead of all this but the columns. */
	const sqlite3_module *module;
};

/* NULL at the end. */
extern const struct tp_sql_table *const tp_sql_tables[];

/* What a virtual table begins with. */
struct tp_sql_vtab {
	sqlite3_vtab base;
	struct tp_trace_data *data;
	const struct tp_sql_table *table;
};

/* xConnect and xDisconnect for all of them: arguments are the index of the trace and of the table. */
int tp_sql_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
    sqlite3_vtab **out, char **message);
int tp_sql_disconnect(sqlite3_vtab *base);
/* For xOpen: a cursor of SIZE bytes, zeros; it begins with an sqlite3_vtab_cursor. sqlite3_free it. */
int tp_sql_open_cursor(size_t size, sqlite3_vtab_cursor **out);
/* The module of a file with these functions. */
#define TP_SQL_MODULE                                                                            \
	{                                                                                        \
		.xCreate = tp_sql_connect, .xConnect = tp_sql_connect, .xBestIndex = best_index, \
		.xDisconnect = tp_sql_disconnect, .xDestroy = tp_sql_disconnect,                 \
		.xOpen = open_cursor, .xClose = close_cursor, .xFilter = filter,                 \
		.xNext = next_row, .xEof = at_end, .xColumn = column, .xRowid = row_id,          \
	}
/* Report ERR, of CODE, as the error of a virtual table. Returns an SQLite code. */
int tp_sql_fail(sqlite3_vtab *base, int code, const struct tp_err *err);
/* What such a table declares: "CREATE TABLE x(...)". NULL: no memory; sqlite3_free it. */
char *tp_sql_declaration(const struct tp_sql_table *table);
/* The module of tables that have none of their own. */
extern const sqlite3_module tp_sql_plain_module;

/* Results: ticks as nanoseconds; NULL without a clock, or if not KNOWN. */
void tp_sql_result_ns(
    sqlite3_context *context, const struct tp_trace_data *data, bool known, uint64_t ticks);
/* Ticks as they are; NULL without a clock. */
void tp_sql_result_ticks(
    sqlite3_context *context, const struct tp_trace_data *data, uint64_t ticks);
/* Nanoseconds since the first record. */
void tp_sql_result_at(sqlite3_context *context, const struct tp_trace_data *data, uint64_t ticks);
/* A number, at most INT64_MAX. */
void tp_sql_result_number(sqlite3_context *context, uint64_t number);
/* Text that outlives the statement; NULL if it is empty. */
void tp_sql_result_text(sqlite3_context *context, const char *text);
int64_t tp_sql_clamp(uint64_t number);

#endif
