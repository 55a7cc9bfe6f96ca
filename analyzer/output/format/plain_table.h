/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table in memory whose columns are only known when it is made, and files of it. (Tables of a
 * trace are relations, see relation.h.) A value that is not known is an empty field, or NULL.
 */
#ifndef TP_PLAIN_TABLE_H
#define TP_PLAIN_TABLE_H

#include "common/buf.h"
#include "common/err.h"

#include <stdint.h>

enum tp_plain_type { TP_PLAIN_TEXT, TP_PLAIN_INTEGER, TP_PLAIN_REAL };

struct tp_plain_column {
	const char *name;
	enum tp_plain_type type;
};

struct tp_plain_value {
	bool known;
	double number;    /* of an integer: below 2^53 */
	const char *text; /* of a text */
};

struct tp_plain_table {
	const char *name; /* letters and _ */
	const struct tp_plain_column *columns;
	uint32_t column_count;
	const struct tp_plain_value *values; /* row by row */
	uint64_t row_count;
};

/* "3", "0.1", "1e+300": as few digits as give the same number again. Returns text. */
char *tp_plain_number(char text[32], double number);
void tp_plain_csv(const struct tp_plain_table *table, struct tp_buf *out);
/* The file NAME.parquet in DIRECTORY. 0 or a negative tp_error. */
int tp_plain_parquet(const struct tp_plain_table *table, const char *directory, struct tp_err *err);

#endif
