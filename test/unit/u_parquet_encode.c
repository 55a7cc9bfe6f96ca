// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parquet's encodings: values of any width and number are read as they were written; an example of
// the format's own document.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/output/format/parquet_encode.h"

static uint64_t state_of = 1;

static uint64_t next_random(void)
{
	state_of ^= state_of << 13;
	state_of ^= state_of >> 7;
	state_of ^= state_of << 17;
	return state_of;
}

static void assert_delta(const int64_t *numbers, uint32_t count, uint32_t size)
{
	struct tp_buf buf;
	int32_t narrow[1000];
	int64_t read[1000];
	size_t used = 0;
	for (uint32_t i = 0; i < count; i++)
		narrow[i] = (int32_t)numbers[i];
	tp_buf_init(&buf);
	tp_parquet_add_delta(
	    &buf, size == 4 ? (const void *)narrow : (const void *)numbers, size, count);
	// In a block of its own, so that a sanitizer sees reads behind its end.
	char *copy = malloc(buf.size + 1);
	memcpy(copy, buf.data, buf.size);
	assert_true(tp_parquet_read_delta(copy, buf.size, size, count, read, &used));
	assert_int_equal(used, buf.size);
	for (uint32_t i = 0; i < count; i++)
		assert_true(read[i] == (size == 4 ? narrow[i] : numbers[i]));
	// Less of it is refused.
	for (size_t cut = 0; cut < buf.size && count; cut += 1 + cut / 8) {
		char *less = malloc(cut + 1);
		memcpy(less, buf.data, cut);
		assert_false(tp_parquet_read_delta(less, cut, size, count, read, &used));
		free(less);
	}
	free(copy);
	tp_buf_release(&buf);
}

static void deltas(void **state)
{
	(void)state;
	static const uint32_t counts[] = {0, 1, 2, 32, 33, 128, 129, 130, 257, 1000};
	int64_t numbers[1000];
	for (uint32_t width = 0; width <= 64; width++)
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
			for (uint32_t i = 0; i < counts[c]; i++)
				numbers[i] = width ? (int64_t)(next_random() >> (64 - width)) : 7;
			assert_delta(numbers, counts[c], 8);
			assert_delta(numbers, counts[c], 4);
		}
	// From one end to the other, where differences go round.
	for (uint32_t i = 0; i < 300; i++)
		numbers[i] = i % 2 ? INT64_MAX : INT64_MIN;
	assert_delta(numbers, 300, 8);
	for (uint32_t i = 0; i < 300; i++)
		numbers[i] = i % 2 ? INT32_MAX : INT32_MIN;
	assert_delta(numbers, 300, 4);
}

// Encodings.md: 1, 2, 3, 4, 5 in blocks of 128 and 4 parts.
static void delta_bytes(void **state)
{
	(void)state;
	static const int64_t numbers[] = {1, 2, 3, 4, 5};
	static const uint8_t wanted[] = {128, 1, 4, 5, 2, 2, 0, 0, 0, 0};
	struct tp_buf buf;
	tp_buf_init(&buf);
	tp_parquet_add_delta(&buf, numbers, 8, 5);
	assert_int_equal(buf.size, sizeof(wanted));
	assert_memory_equal(buf.data, wanted, sizeof(wanted));
	tp_buf_release(&buf);
}

// Encodings.md: 0 to 7 of three bits are 88 c6 fa.
static void hybrid_bytes(void **state)
{
	(void)state;
	static const uint32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const uint8_t wanted[] = {3, 0x88, 0xc6, 0xfa};
	struct tp_buf buf;
	tp_buf_init(&buf);
	tp_parquet_add_hybrid(&buf, numbers, 8, 3);
	assert_int_equal(buf.size, sizeof(wanted));
	assert_memory_equal(buf.data, wanted, sizeof(wanted));
	tp_buf_release(&buf);
}

static void hybrids(void **state)
{
	(void)state;
	uint32_t numbers[1000];
	uint32_t read[1000];
	for (uint32_t width = 0; width <= 32; width++)
		for (uint32_t count = 0; count < 1000; count += 1 + count / 3)
			for (uint32_t repeat = 1; repeat < 40; repeat += 6) {
				struct tp_buf buf;
				uint32_t number = 0;
				for (uint32_t i = 0; i < count; i++) {
					if (i % repeat == 0)
						number =
						    width
							? (uint32_t)(next_random() >> (64 - width))
							: 0;
					numbers[i] = number;
				}
				tp_buf_init(&buf);
				tp_parquet_add_hybrid(&buf, numbers, count, width);
				char *copy = malloc(buf.size + 1);
				memcpy(copy, buf.data, buf.size);
				assert_true(
				    tp_parquet_read_hybrid(copy, buf.size, width, count, read));
				assert_memory_equal(read, numbers, count * sizeof(*numbers));
				free(copy);
				tp_buf_release(&buf);
			}
	assert_false(tp_parquet_read_hybrid("\2", 1, 1, 8, read));
	assert_false(tp_parquet_read_hybrid("\0\0", 2, 1, 8, read));
	assert_false(tp_parquet_read_hybrid("\x20\1", 2, 1, 8, read));
	assert_false(tp_parquet_read_hybrid("\2\1", 2, 33, 1, read));
}

static void dictionaries(void **state)
{
	(void)state;
	struct tp_parquet_dictionary dictionary;
	struct tp_buf plain;
	tp_buf_init(&plain);
	for (uint32_t i = 0; i < 100; i++) {
		const int64_t number = i % 7 * 1000;
		tp_buf_add(&plain, &number, sizeof(number));
	}
	assert_true(tp_parquet_dictionary_make(&dictionary, &plain, 8, 100));
	assert_int_equal(dictionary.count, 7);
	for (uint32_t i = 0; i < 100; i++) {
		int64_t number;
		memcpy(&number, dictionary.values.data + (size_t)dictionary.codes[i] * 8, 8);
		assert_int_equal(number, i % 7 * 1000);
	}
	tp_parquet_dictionary_release(&dictionary);
	// All different: not worth it.
	tp_buf_reset(&plain);
	for (int64_t i = 0; i < 100; i++)
		tp_buf_add(&plain, &i, sizeof(i));
	assert_false(tp_parquet_dictionary_make(&dictionary, &plain, 8, 100));
	tp_parquet_dictionary_release(&dictionary);
	tp_buf_release(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(deltas),
	    cmocka_unit_test(delta_bytes),
	    cmocka_unit_test(hybrid_bytes),
	    cmocka_unit_test(hybrids),
	    cmocka_unit_test(dictionaries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
