/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tables of SQL: relations (analyzer/output/relation/relation.h) with what only SQL asks for. The schema, the virtual table, the
 * help and the export to SQLite are made from them. A column of the virtual table is one of the relation, in its order, or
 * behind them an old name of one, hidden.
 */
#ifndef TP_SQL_TABLE_H
#define TP_SQL_TABLE_H

#include "analyzer/query/trace_data.h"

#include <sqlite3.h>

struct tp_sql_table {
	const struct tp_relation *relation;
	/* What an export indexes: lists of columns, NULL at the end; may be NULL. */
	const char *const *indexes;
	/* Make what it needs; NULL: nothing. 0 or a negative tp_error. */
	int (*prepare)(struct tp_trace_data *data, struct tp_err *err);
	/* A virtual table of its own, of a relation that is a stream. */
	const sqlite3_module *module;
};

/* Ended by one without a relation. */
extern const struct tp_sql_table tp_sql_tables[];
extern const sqlite3_module tp_sql_calls_module;
extern const sqlite3_module tp_sql_events_module;

/* What a virtual table begins with. */
struct tp_sql_vtab {
	sqlite3_vtab base;
	struct tp_trace_data *data;
	const struct tp_sql_table *table;
	/* Of the relation; old names are behind its columns. */
	uint8_t columns[2 * TP_RELATION_COLUMNS];
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
/* INTEGER or TEXT. */
static inline const char *tp_sql_type(const struct tp_relation_column *column)
{
	return column->type == TP_TYPE_TEXT ? "TEXT" : "INTEGER";
}
/* The module of tables that have none of their own. */
extern const sqlite3_module tp_sql_plain_module;

/* The value of a column in ROW. */
void tp_sql_result(
    sqlite3_context *context, const struct tp_sql_vtab *vtab, const void *row, int column);
int64_t tp_sql_clamp(uint64_t number);

#endif
