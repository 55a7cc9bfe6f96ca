// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The encoding of a column that is to be the smallest: each wins where it should, no other would
// have made the file smaller, and all are read as they were written.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/output/format/parquet.h"
#include "analyzer/output/format/parquet_read.h"

enum { ROWS = 3000 };

static char folder[64];
static char path[128];

static uint64_t state_of = 1;

static uint64_t next_random(void)
{
	state_of ^= state_of << 13;
	state_of ^= state_of >> 7;
	state_of ^= state_of << 17;
	return state_of;
}

// Write NUMBERS in a file of one column, which with GAPS lacks some. Its size.
static size_t write_file(
    const int64_t *numbers, enum tp_parquet_type type, enum tp_parquet_encoding encoding, bool gaps)
{
	const struct tp_parquet_column columns[] = {
	    {"number", type, gaps, encoding}, {.name = NULL}};
	struct tp_parquet parquet;
	struct tp_err err;
	assert_int_equal(tp_parquet_open(&parquet, folder, "file", columns, NULL, &err), 0);
	for (uint32_t i = 0; i < ROWS; i++)
		if (gaps && i % 7 == 3)
			tp_parquet_add_missing(&parquet);
		else
			tp_parquet_add(&parquet, numbers[i]);
	assert_int_equal(tp_parquet_close(&parquet, &err), 0);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	const size_t size = (size_t)ftell(file);
	fclose(file);
	return size;
}

static void assert_read(const int64_t *numbers, enum tp_parquet_type type, bool gaps)
{
	struct tp_parquet_reader reader;
	struct tp_parquet_values values;
	struct tp_err err;
	assert_int_equal(tp_parquet_reader_open(&reader, path, &err), 0);
	assert_int_equal(reader.rows, ROWS);
	assert_int_equal(tp_parquet_values_read(&values, &reader, 0, 0, &err), 0);
	for (uint32_t i = 0; i < ROWS; i++) {
		const bool missing = gaps && i % 7 == 3;
		assert_true(!missing == (!values.present || values.present[i]));
		if (!missing)
			assert_true(values.numbers[i] ==
				    (type == TP_PARQUET_INT32 ? (int32_t)numbers[i] : numbers[i]));
	}
	tp_parquet_values_release(&values);
	tp_parquet_reader_close(&reader);
}

// The smallest is that of BEST, and the others are larger.
static void assert_smallest(const int64_t *numbers, int best)
{
	static const enum tp_parquet_encoding encodings[] = {
	    TP_PARQUET_PLAIN, TP_PARQUET_DELTA, TP_PARQUET_DICTIONARY};
	for (int form = 0; form < 4; form++) {
		const enum tp_parquet_type type = form & 1 ? TP_PARQUET_INT32 : TP_PARQUET_INT64;
		const bool gaps = form & 2;
		size_t sizes[3];
		for (int i = 0; i < 3; i++) {
			sizes[i] = write_file(numbers, type, encodings[i], gaps);
			assert_read(numbers, type, gaps);
		}
		const size_t size = write_file(numbers, type, TP_PARQUET_SMALLEST, gaps);
		assert_read(numbers, type, gaps);
		for (int i = 0; i < 3; i++)
			assert_true(size <= sizes[i]);
		assert_int_equal(size, sizes[best]);
	}
}

static void test_smallest(void **state)
{
	int64_t numbers[ROWS];
	(void)state;
	// Few values, and far apart; slowly rising ones; a pattern that zstd finds in plain values.
	for (uint32_t i = 0; i < ROWS; i++)
		numbers[i] = (int64_t)((next_random() % 5) * UINT64_C(0x9e3779b97f4a7c15));
	assert_smallest(numbers, 2);
	for (uint32_t i = 0; i < ROWS; i++)
		numbers[i] = 1000000 + 50 * (int64_t)i + (int64_t)(next_random() % 32);
	assert_smallest(numbers, 1);
	int64_t period[1100];
	for (uint32_t i = 0; i < 1100; i++)
		period[i] = (int64_t)next_random();
	for (uint32_t i = 0; i < ROWS; i++)
		numbers[i] = i < 1100   ? period[i]
			     : i < 2200 ? period[i - 1100]
					: (int64_t)next_random();
	assert_smallest(numbers, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_smallest)};
	snprintf(folder, sizeof(folder), "/tmp/u_parquet-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/file", folder);
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return failed;
}
