/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads the Parquet files that parquet.h writes, and no others: flat columns, one page of values
 * for each column of a row group, zstd. A file may be damaged or made up: nothing beyond its bytes
 * is read, and what a header promises is not believed.
 */
#ifndef TP_PARQUET_READ_H
#define TP_PARQUET_READ_H

#include "analyzer/output/format/parquet.h"
#include "common/arena.h"

#define TP_PARQUET_PAGE_MAX (UINT32_C(1) << 28) /* unpacked bytes of a page, at most */

struct tp_parquet_chunk {
	uint64_t offset; /* of its first page */
	uint64_t size;   /* of all its pages */
	enum tp_parquet_type type;
	uint64_t values;
};

struct tp_parquet_group {
	uint64_t rows;
	struct tp_parquet_chunk *chunks; /* of each column */
	uint32_t chunk_count;
};

struct tp_parquet_reader {
	const uint8_t *data;
	size_t size;
	struct tp_buf own;     /* the data of a file */
	char name[256];        /* for messages */
	struct tp_arena arena; /* owns the members below */
	struct tp_parquet_column *columns;
	uint32_t column_count;
	struct tp_parquet_group *groups;
	uint32_t group_count;
	struct tp_parquet_fact *facts;
	uint32_t fact_count;
	uint64_t rows;
};

/* 0; TP_ERR_FORMAT: it is no such file; TP_ERR_SYSTEM, TP_ERR_MEMORY. Close it in any case. */
int tp_parquet_reader_open(struct tp_parquet_reader *reader, const char *path, struct tp_err *err);
/* The same of bytes in memory, which must outlive it. */
int tp_parquet_reader_from_memory(struct tp_parquet_reader *reader, const char *name,
    const void *data, size_t size, struct tp_err *err);
void tp_parquet_reader_close(struct tp_parquet_reader *reader);
/* What it says of itself under KEY, or NULL. */
const char *tp_parquet_reader_fact(const struct tp_parquet_reader *reader, const char *key);
/* The number of a column, or -1. */
int tp_parquet_reader_column(const struct tp_parquet_reader *reader, const char *name);

/* The values of a column in a row group, one for each row. */
struct tp_parquet_values {
	uint64_t count;
	int64_t *numbers;   /* bits of doubles; of texts, the index in `texts`; 0 if missing */
	bool *present;      /* NULL: all are */
	const char **texts; /* NUL-terminated: text_count */
	uint32_t text_count;
	struct tp_arena arena; /* the texts */
};

/* 0 or a negative tp_error. Release it in any case. */
int tp_parquet_values_read(struct tp_parquet_values *values, const struct tp_parquet_reader *reader,
    uint32_t group, uint32_t column, struct tp_err *err);
void tp_parquet_values_release(struct tp_parquet_values *values);
/*
 * The same of the column NAME. Without such a column 0, and VALUES has none; TP_ERR_FORMAT, too: it
 * is of another type.
 */
int tp_parquet_values_read_named(struct tp_parquet_values *values,
    const struct tp_parquet_reader *reader, uint32_t group, const char *name,
    enum tp_parquet_type type, struct tp_err *err);

/* Whether ROW has a value; a column that is not there has none. */
static inline bool tp_parquet_has(const struct tp_parquet_values *values, uint64_t row)
{
	return values->numbers && (!values->present || values->present[row]);
}
/* The text of ROW, "" without one. pre: the column is of texts. */
static inline const char *tp_parquet_text(const struct tp_parquet_values *values, uint64_t row)
{
	return tp_parquet_has(values, row) ? values->texts[values->numbers[row]] : "";
}

#endif
