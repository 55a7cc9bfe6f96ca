/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What SQL is made of, for the files of this room. Its tables are relations
 * (analyzer/output/relation/relation.h) with what only SQL asks for: the schema, the virtual
 * tables, the help and the export to SQLite are made from them. A column of a virtual table is one
 * of the relation, in its order, or behind them an old name of one, hidden.
 */
#ifndef TP_SQL_H
#define TP_SQL_H

#include "analyzer/query/trace_data.h"

#include <sqlite3.h>

struct tp_query {
	sqlite3 *db;
	struct tp_trace_data **traces;
	uint32_t trace_count;
	uint64_t memory_limit;
	uint64_t step_limit;
	uint64_t steps;
	atomic_bool give_up;
	const struct tp_query_source *source; /* or NULL */
	bool locked;           /* the statement is a user's: see authorizer in query.c */
	bool reads_recorded;   /* a statement has named a time as recorded */
	bool reads_tid;        /* a statement has named tid where it was the trace's number */
	const char *preparing; /* the statement that is prepared, or NULL */
	char having[8][64];    /* columns that its HAVING names */
	uint32_t having_count;
	/* one of them, of a statement whose result has another one of this name; or empty */
	char shadowed[64];
	char denied[256]; /* what it did not allow, or empty */
};

struct tp_sql_cursor;

/* A virtual table's functions; those that are the same for all of them are in sql_table.c. */
struct tp_sql_module {
	sqlite3_module base; /* TP_SQL_MODULE */
	size_t cursor_size;
	void (*release)(struct tp_sql_cursor *cursor); /* NULL: nothing to do */
};

struct tp_sql_table {
	const struct tp_relation *relation;
	/* What an export indexes: lists of columns, NULL at the end; may be NULL. */
	const char *const *indexes;
	/* Make what it needs; NULL: nothing. 0 or a negative tp_error. */
	int (*prepare)(struct tp_trace_data *data, struct tp_err *err);
	/* Of a relation that is a stream; NULL: that of arrays. */
	const struct tp_sql_module *module;
};

/* Ended by one without a relation. */
extern const struct tp_sql_table tp_sql_tables[];
extern const struct tp_sql_module tp_sql_array_module;
extern const struct tp_sql_module tp_sql_calls_module;
extern const struct tp_sql_module tp_sql_events_module;

/* A view over the tables: another program's names for their columns. */
struct tp_sql_view {
	const char *name;
	const char *summary;
	const char *sql;
};
/* Ended by one without a name. */
extern const struct tp_sql_view tp_sql_views[];

/* What a virtual table begins with. */
struct tp_sql_vtab {
	sqlite3_vtab base;
	struct tp_trace_data *data;
	const struct tp_sql_table *table;
	/* Of the relation; old names are behind its columns. */
	uint8_t columns[2 * TP_RELATION_COLUMNS];
};
static inline const struct tp_sql_vtab *tp_sql_vtab(const sqlite3_vtab *base)
{
	return (const struct tp_sql_vtab *)(const void *)base;
}

/*
 * What a cursor begins with: xFilter and xNext set the row at hand, of the relation; NULL at the
 * end.
 */
struct tp_sql_cursor {
	sqlite3_vtab_cursor base;
	const void *row;
	int64_t id;
};
static inline struct tp_trace_data *tp_sql_data(const sqlite3_vtab_cursor *base)
{
	return tp_sql_vtab(base->pVtab)->data;
}

int tp_sql_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
    sqlite3_vtab **out, char **message);
int tp_sql_disconnect(sqlite3_vtab *base);
int tp_sql_open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out);
int tp_sql_close_cursor(sqlite3_vtab_cursor *base);
int tp_sql_at_end(sqlite3_vtab_cursor *base);
int tp_sql_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int tp_sql_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id);
#define TP_SQL_MODULE                                                                              \
	.xCreate = tp_sql_connect, .xConnect = tp_sql_connect, .xDisconnect = tp_sql_disconnect,   \
	.xDestroy = tp_sql_disconnect, .xOpen = tp_sql_open_cursor, .xClose = tp_sql_close_cursor, \
	.xEof = tp_sql_at_end, .xColumn = tp_sql_column, .xRowid = tp_sql_row_id

/* Report ERR, of CODE, as the error of a virtual table. Returns an SQLite code. */
int tp_sql_fail(sqlite3_vtab *base, int code, const struct tp_err *err);
/* INTEGER or TEXT. */
static inline const char *tp_sql_type(const struct tp_relation_column *column)
{
	return column->type == TP_TYPE_TEXT ? "TEXT" : "INTEGER";
}
static inline int64_t tp_sql_clamp(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}
/*
 * The least (FROM) or greatest whole number that a value which is compared with a number may be;
 * false if it sets no bound.
 */
bool tp_sql_bound(sqlite3_value *value, bool from, int64_t *bound);
/* Run what FORMAT says, as sqlite3_mprintf takes it, without a result. 0 or an SQLite code. */
int tp_sql_run(struct tp_query *query, const char *format, ...);
/* sql_functions.c: pctl, ns, ... 0 or an SQLite code. */
int tp_sql_add_functions(struct tp_query *query);

/* What a statement of SQL does, by its words: so that a refusal names what the user wrote. */
struct tp_sql_verb {
	/* in capitals, of CREATE and its like with the kind of object: "CREATE VIEW"; or empty */
	char name[32];
	int offset;  /* where in the statement it stands; -1: there is none that SQLite knows */
	bool writes; /* it would change something, or begin or end a transaction */
};

/*
 * The verb of the first statement in SQL. Of EXPLAIN it is that of the statement which is
 * explained, of WITH that of the statement behind.
 */
void tp_sql_verb_find(struct tp_sql_verb *verb, const char *sql);
/*
 * Whether the HAVING of the first statement in SQL has NAME by itself, quoted or not: not in a
 * function's arguments or a SELECT of its own, and not as one of a table.
 */
bool tp_sql_having_names(const char *sql, const char *name);
/* A letter, digit or _, or a part of any other letter. */
bool tp_sql_is_word(char c);

#endif
