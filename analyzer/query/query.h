/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * SQL over analysed traces: an SQLite connection without a file, whose tables read the traces. What
 * there is, docs/queries.md says. Nothing can be written, and no file be opened, from SQL.
 */
#ifndef TP_QUERY_H
#define TP_QUERY_H

#include "analyzer/output/format/export.h"
#include "analyzer/profile/analysis.h"
#include "common/buf.h"

struct tp_query;

struct tp_query_options {
	uint64_t memory_limit; /* of the calls of one trace, see call_store.h; 0: its default */
	uint64_t step_limit;   /* of SQLite's machine, of one statement; 0: none. For tests. */
};

/* As SQLite numbers them, but for NULL. */
enum tp_value_type {
	TP_VALUE_NULL = 0,
	TP_VALUE_INTEGER = 1,
	TP_VALUE_REAL = 2,
	TP_VALUE_TEXT = 3,
	TP_VALUE_BLOB = 4,
};

struct tp_value {
	enum tp_value_type type;
	int64_t integer;
	double real;
	const char *text; /* TEXT (NUL behind it) and BLOB, until the next row */
	uint64_t size;
};

/* Whoever takes the rows. A function returns whether it wants more. */
struct tp_query_sink {
	void *context;
	bool (*columns)(void *context, const char *const *names, uint32_t count);
	bool (*row)(void *context, const struct tp_value *values, uint32_t count);
};

/* A parameter :NAME of a statement. */
struct tp_query_parameter {
	const char *name;
	const char *value; /* bound as a number if it looks like one; NULL: as NULL */
};

/* 0 or a negative tp_error. Close it in any case; *query may be NULL then. */
int tp_query_open(
    struct tp_query **query, const struct tp_query_options *options, struct tp_err *err);
void tp_query_close(struct tp_query *query);
/*
 * Add a trace under NAME (letters, digits and _, no digit first); NULL for the first one, whose
 * tables need no name. The analysis must outlive the query.
 */
int tp_query_add(struct tp_query *query, const char *name, const struct tp_analysis *analysis,
    struct tp_err *err);
/*
 * Run the statements in SQL, one after another. 0; TP_ERR_SYNTAX with the place in SQL and an
 * excerpt, for a parameter without a value too; TP_ERR_LIMIT if interrupted; or what went wrong.
 */
int tp_query_run(struct tp_query *query, const char *sql,
    const struct tp_query_parameter *parameters, uint32_t parameter_count,
    const struct tp_query_sink *sink, struct tp_err *err);
/* End what runs: from another thread or a signal handler. */
void tp_query_interrupt(struct tp_query *query);
/* Where SQL names the parameter NAME (given without its colon); NULL: nowhere. */
const char *tp_query_find_parameter(const char *sql, const char *name);
/*
 * Whether durations as recorded (of calls), or points of time (of events), have been read beside a
 * trace whose other times are without what recording has cost.
 */
bool tp_query_mixes_times(const struct tp_query *query);
/*
 * Whether a query has read tid of calls, events or thread_paths, which was the trace's number and
 * is the system's.
 */
bool tp_query_reads_tid(const struct tp_query *query);
/*
 * A column that a HAVING has named although the result has an expression of that name: SQLite takes
 * the column, of some row of the group. NULL: none has. It lives as long as the query.
 */
const char *tp_query_shadowed(const struct tp_query *query);
/* Whether SQL ends behind a statement, so that it can be run. */
bool tp_query_is_complete(const char *sql);

/*
 * Tables that are no trace's, filled when a statement reads them. `reads` is called for each column
 * of a table that a statement names, with an empty name for a table alone; `fill` before it runs: 0
 * or a negative tp_error. The source must outlive the query.
 */
struct tp_query_source {
	void *context;
	const char *tables; /* what lists them, as "'teeperf fleet schema'" */
	void (*reads)(void *context, const char *table, const char *column);
	int (*fill)(void *context, struct tp_query *query, struct tp_err *err);
};
void tp_query_set_source(struct tp_query *query, const struct tp_query_source *source);

/*
 * What there is, as text: all tables, or the one called NAME. False: there is no table of that
 * name.
 */
bool tp_query_describe(const char *name, struct tp_buf *out);

/* Of traces that are there in SQL. */
extern const struct tp_export tp_export_sqlite;

/* A query that comes with us. */
struct tp_query_example {
	const char *name;
	const char *answers; /* a question */
	const char *sql;
};
/* Ended by one without a name. */
extern const struct tp_query_example tp_query_examples[];
/* The parameters that examples may have, NULL at the end: each can be NULL. */
extern const char *const tp_query_example_parameters[];

#endif
