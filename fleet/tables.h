/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tables of a fleet (docs/fleet.md), each described once: the writer of files, `teeperf fleet
 * schema` and the tests go by it. They are a public format: a version may add tables, and columns
 * at the end.
 */
#ifndef TP_FLEET_TABLES_H
#define TP_FLEET_TABLES_H

#include "analyzer/output/format/parquet.h"

#define TP_FLEET_SCHEMA 2

enum { TP_FLEET_COLUMNS = 48 }; /* of a table, at most */

struct tp_fleet_column {
	const char *name;
	enum tp_parquet_type type;
	bool optional;
	enum tp_parquet_encoding encoding;
	const char *unit; /* "ns", "count", "bytes"; NULL: none */
};

struct tp_fleet_table {
	const char *name;
	const char *summary;
	const struct tp_fleet_column *columns;
	uint32_t count;
	/* Columns by which rows are sorted, in this order; NULL: the end. None is of doubles. */
	const char *sorted[4];
	bool always; /* a run has a file of it even without rows */
};

enum tp_fleet_table_id {
	TP_FLEET_FUNCTIONS = 0,
	TP_FLEET_PATHS,
	TP_FLEET_PROFILE,
	TP_FLEET_HISTOGRAMS,
	TP_FLEET_PATH_HISTOGRAMS,
	TP_FLEET_CALLS,
	TP_FLEET_WAITS,
	TP_FLEET_IO,
	TP_FLEET_RUNS,        /* the last of a run's: it is written behind the others */
	TP_FLEET_EXPERIMENTS, /* of no run: results of 'teeperf experiment' */
	TP_FLEET_TABLES,
};

extern const struct tp_fleet_table tp_fleet_tables[TP_FLEET_TABLES];

/* The number of the column NAME, which there is. */
uint32_t tp_fleet_column_number(const struct tp_fleet_table *table, const char *name);
/* "text", "int32", "int64", "real". */
const char *tp_fleet_type_name(enum tp_parquet_type type);

/* A file of a table, while it is written. */
struct tp_fleet_file {
	const struct tp_fleet_table *table;
	struct tp_parquet parquet;
	struct tp_parquet_column columns[TP_FLEET_COLUMNS + 1];
	struct tp_parquet_fact facts[8];
	char schema[16];
	struct tp_buf units;
	struct tp_buf sorted;
};

/*
 * The file NAME in DIRECTORY; rows go to file->parquet. 0 or a negative tp_error; close it in any
 * case.
 */
int tp_fleet_file_open(struct tp_fleet_file *file, const struct tp_fleet_table *table,
    const char *directory, const char *name, struct tp_err *err);
/* CODE is what went before. 0; CODE; or a negative tp_error: something is missing in the file. */
int tp_fleet_file_close(struct tp_fleet_file *file, int code, struct tp_err *err);

static inline void tp_fleet_put_if(struct tp_parquet *parquet, bool known, uint64_t value)
{
	if (known)
		tp_parquet_add(parquet, value > INT64_MAX ? INT64_MAX : (int64_t)value);
	else
		tp_parquet_add_missing(parquet);
}

static inline void tp_fleet_put(struct tp_parquet *parquet, uint64_t value)
{
	tp_fleet_put_if(parquet, true, value);
}

#endif
