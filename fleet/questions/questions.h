/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * SQL over a fleet's folder. A statement's tables are read when it is run, with the columns that it
 * names alone, into a database in memory: SQLite makes no index on virtual tables, so a join of two
 * would read the files once for each row of the other.
 */
#ifndef TP_QUESTIONS_H
#define TP_QUESTIONS_H

#include "fleet/folder.h"
#include "analyzer/query/query.h"

/*
 * Which runs a question is about: which folders are opened, and by builds and labels which rows
 * count.
 */
struct tp_fleet_chosen {
	const char *day_from; /* "2026-11-26"; NULL: all before, too */
	const char *day_to;   /* NULL: all later ones, too */
	const char *const *programs;
	uint32_t program_count;    /* 0: all */
	const char *const *builds; /* build IDs or git revisions: any of them */
	uint32_t build_count;
	const char *const *labels; /* "KEY=VALUE": of each key any of its values */
	uint32_t label_count;
};

/* Whether rows of runs say which runs are chosen, and not the names of folders alone. */
bool tp_fleet_chosen_by_row(const struct tp_fleet_chosen *chosen);
/* Whether a row with these fits builds and labels. */
bool tp_fleet_chosen_fits(const struct tp_fleet_chosen *chosen, const char *build_id,
    const char *git_revision, const char *labels);
/*
 * Add the condition on rows of runs, nothing without any: for SQLite and DuckDB, or for ClickHouse.
 */
void tp_fleet_chosen_add_sql(
    struct tp_buf *out, const struct tp_fleet_chosen *chosen, bool clickhouse);

struct tp_fleet_tables {
	const char *directory;
	struct tp_fleet_chosen chosen;
	struct tp_query *query;
	struct tp_query_source source;
	uint64_t wanted[TP_FLEET_TABLES]; /* columns, a bit each; day and program are behind them */
	uint64_t filled[TP_FLEET_TABLES];
	bool asked[TP_FLEET_TABLES]; /* a statement names it */
	bool there[TP_FLEET_TABLES]; /* its rows are in memory */
	struct tp_fleet_names runs;  /* that are chosen, if rows say which */
	bool runs_known;
};

/*
 * Have the tables of the fleet in DIRECTORY in QUERY, which has no traces. TABLES must outlive it.
 * 0 or a negative tp_error.
 */
int tp_fleet_tables_add(struct tp_fleet_tables *tables, const char *directory,
    const struct tp_fleet_chosen *chosen, struct tp_query *query, struct tp_err *err);
/*
 * Have the columns of a table that statements have named so far, anew if they are there. 0 or a
 * negative tp_error: it is as it was.
 */
int tp_fleet_tables_read(
    struct tp_fleet_tables *tables, enum tp_fleet_table_id id, struct tp_err *err);
void tp_fleet_tables_release(struct tp_fleet_tables *tables);

/* A query that comes with us: sql/NAME.sql, whose first line says what it answers. */
struct tp_fleet_question {
	const char *name;
	const char *sql;        /* for SQLite and DuckDB, with parameters $NAME */
	const char *clickhouse; /* the same, for tables of ClickHouse: {NAME:TYPE} */
};
/* Ended by one without a name. */
extern const struct tp_fleet_question tp_fleet_questions[];
/* NULL: there is no question of that name. */
const struct tp_fleet_question *tp_fleet_question_find(const char *name);
/* Names of the parameters that they have, NULL at the end: each can be NULL. */
extern const char *const tp_fleet_question_parameters[];
/* Add the statement for SQLite and DuckDB, of the runs that are chosen. 0 or TP_ERR_MEMORY. */
int tp_fleet_question_chosen(struct tp_buf *out, const struct tp_fleet_question *question,
    const struct tp_fleet_chosen *chosen, struct tp_err *err);
/*
 * Add the statement for the tables of ClickHouse in DATABASE, of the runs that are chosen, with the
 * values of PARAMETERS, and for others NULL or what the question says. 0; TP_ERR_SYNTAX: a value is
 * not what it has to be, or there is no such parameter; TP_ERR_MEMORY.
 */
int tp_fleet_question_clickhouse(struct tp_buf *out, const struct tp_fleet_question *question,
    const char *database, const struct tp_fleet_chosen *chosen,
    const struct tp_query_parameter *parameters, uint32_t count, struct tp_err *err);

#endif
