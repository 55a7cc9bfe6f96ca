// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as a Parquet file of a fleet: each column of each row group is read or refused, and
// nothing that was not promised comes out.
// Runs: 1 of 2.
#include "analyzer/output/format/parquet_read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t read_bytes;

static void check(const struct tp_parquet_reader *reader, uint32_t group, uint32_t column)
{
	struct tp_parquet_values values;
	struct tp_err err = {0};
	const int code = tp_parquet_values_read(&values, reader, group, column, &err);
	if (code && (err.code != code || !err.what[0]))
		abort();
	const bool is_text = reader->columns[column].type == TP_PARQUET_TEXT;
	for (uint64_t i = 0; !code && i < values.count; i++) {
		if (values.present && !values.present[i])
			continue;
		if (is_text && (values.numbers[i] < 0 || values.numbers[i] >= values.text_count))
			abort();
		// That it ends within its memory is for the sanitizer to say.
		if (is_text)
			read_bytes += strlen(values.texts[values.numbers[i]]);
	}
	tp_parquet_values_release(&values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_parquet_reader reader;
	struct tp_err err = {0};
	const int code = tp_parquet_reader_from_memory(&reader, "fuzz", data, size, &err);
	if (code && (err.code != code || !err.what[0]))
		abort();
	for (uint32_t group = 0; !code && group < reader.group_count && group < 4; group++)
		for (uint32_t column = 0; column < reader.column_count && column < 64; column++)
			check(&reader, group, column);
	tp_parquet_reader_close(&reader);
	return 0;
}
