/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A writer of Parquet files, as little of the format as tables of numbers and names need: columns
 * of INT32, INT64, DOUBLE and text, one page of values for each column of a row group, zstd, least
 * and greatest value of each but doubles.
 * Format: https://github.com/apache/parquet-format, in particular parquet.thrift.
 */
#ifndef TP_PARQUET_H
#define TP_PARQUET_H

#include "common/out_file.h"

#include <stdbool.h>
#include <stdint.h>

#define TP_PARQUET_GROUP_ROWS 122880 /* what DuckDB works on at a time */

enum tp_parquet_type {
	TP_PARQUET_INT32 = 1,
	TP_PARQUET_INT64 = 2,
	TP_PARQUET_DOUBLE = 5,
	TP_PARQUET_TEXT = 6,
};

enum tp_parquet_encoding {
	TP_PARQUET_PLAIN = 0,
	TP_PARQUET_DELTA,      /* of whole numbers: their differences */
	TP_PARQUET_DICTIONARY, /* each different value once; where that does not pay, as above */
	/* of whole numbers: which of these takes the fewest bytes, by row group */
	TP_PARQUET_SMALLEST,
};

struct tp_parquet_column {
	const char *name; /* NULL: the end of a list */
	enum tp_parquet_type type;
	bool optional; /* values may be missing */
	enum tp_parquet_encoding encoding;
};

/* What a file says of itself. */
struct tp_parquet_fact {
	const char *key;
	const char *value;
};

/* Of a column of the row group at hand. */
struct tp_parquet_buffer {
	const struct tp_parquet_column *column;
	struct tp_buf bytes;
	int64_t min;
	int64_t max;
	struct tp_buf min_text;
	struct tp_buf max_text;
	/*
	 * Of an optional column: which values are there, as runs; the last run is not among them
	 * yet.
	 */
	struct tp_buf levels;
	bool present;
	uint32_t run;
	uint32_t missing;
	/* Of the page that was written. */
	int written; /* its encoding there, by the number of Parquet */
	uint64_t data_offset;
};

struct tp_parquet {
	struct tp_out_file file;
	struct tp_parquet_buffer *columns;
	uint32_t column_count;
	int sorted;                          /* the column whose values never fall, or -1 */
	int level;                           /* of zstd; the caller may set another */
	const struct tp_parquet_fact *facts; /* set by the caller: fact_count, until it is closed */
	uint32_t fact_count;
	uint32_t at; /* the column that the next value is of */
	uint64_t rows;
	uint32_t group_rows;
	struct tp_buf groups; /* their descriptions, as they will be in the footer */
	uint32_t group_count;
	struct tp_buf packed;
	void *compressor;
	bool failed; /* no memory */
};

/*
 * Begin the file NAME in DIRECTORY. COLUMNS must outlive it. SORTED is the name of the column that
 * rows are sorted by, or NULL. 0 or a negative tp_error; close it in any case.
 */
int tp_parquet_open(struct tp_parquet *parquet, const char *directory, const char *name,
    const struct tp_parquet_column *columns, const char *sorted, struct tp_err *err);
/* The value of the next column; the last one ends the row. Of INT32 columns the low half. */
void tp_parquet_add(struct tp_parquet *parquet, int64_t value);
void tp_parquet_add_text(struct tp_parquet *parquet, const char *text);
void tp_parquet_add_real(struct tp_parquet *parquet, double value);
/* No value; pre: the column is optional. */
void tp_parquet_add_missing(struct tp_parquet *parquet);
/* The next row begins a row group. pre: no row is begun. */
void tp_parquet_end_group(struct tp_parquet *parquet);
/* 0 or a negative tp_error: something is missing in the file. */
int tp_parquet_close(struct tp_parquet *parquet, struct tp_err *err);

#endif
