// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables as CSV and Parquet; analyzer/query/save_tables.c has SQLite.
#include "plain_table.h"

#include "analyzer/output/format/parquet.h"
#include "analyzer/output/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *tp_plain_number(char text[32], double number)
{
	snprintf(text, 32, "%.15g", number);
	if (strtod(text, NULL) != number)
		snprintf(text, 32, "%.17g", number);
	return text;
}

void tp_plain_csv(const struct tp_plain_table *table, struct tp_buf *out)
{
	char text[32];
	for (uint32_t i = 0; i < table->column_count; i++) {
		tp_buf_add_string(out, i ? "," : "");
		tp_text_add_csv(out, table->columns[i].name);
	}
	tp_buf_add_char(out, '\n');
	const struct tp_plain_value *value = table->values;
	for (uint64_t row = 0; row < table->row_count; row++) {
		for (uint32_t i = 0; i < table->column_count; i++, value++) {
			tp_buf_add_string(out, i ? "," : "");
			if (!value->known)
				continue;
			if (table->columns[i].type == TP_PLAIN_TEXT)
				tp_text_add_csv(out, value->text);
			else
				tp_buf_add_string(out, tp_plain_number(text, value->number));
		}
		tp_buf_add_char(out, '\n');
	}
}

int tp_plain_parquet(const struct tp_plain_table *table, const char *directory, struct tp_err *err)
{
	static const enum tp_parquet_type types[] = {
	    [TP_PLAIN_TEXT] = TP_PARQUET_TEXT,
	    [TP_PLAIN_INTEGER] = TP_PARQUET_INT64,
	    [TP_PLAIN_REAL] = TP_PARQUET_DOUBLE,
	};
	char name[128];
	struct tp_parquet parquet;
	struct tp_parquet_column *columns = calloc(table->column_count + 1, sizeof(*columns));
	if (!columns)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < table->column_count; i++)
		columns[i] = (struct tp_parquet_column){
		    .name = table->columns[i].name,
		    .type = types[table->columns[i].type],
		    .optional = true,
		};
	snprintf(name, sizeof(name), "%s.parquet", table->name);
	int code = tp_parquet_open(&parquet, directory, name, columns, NULL, err);
	const struct tp_plain_value *value = table->values;
	for (uint64_t row = 0; !code && row < table->row_count; row++)
		for (uint32_t i = 0; i < table->column_count; i++, value++)
			if (!value->known)
				tp_parquet_add_missing(&parquet);
			else if (table->columns[i].type == TP_PLAIN_TEXT)
				tp_parquet_add_text(&parquet, value->text);
			else if (table->columns[i].type == TP_PLAIN_INTEGER)
				tp_parquet_add(&parquet, (int64_t)value->number);
			else
				tp_parquet_add_real(&parquet, value->number);
	struct tp_err close_err;
	const int closed = tp_parquet_close(&parquet, &close_err);
	if (!code && closed)
		*err = close_err;
	free(columns);
	return code ? code : closed;
}
