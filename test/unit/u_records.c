// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of a chunk, one by one, are what docs/format.md says, in proper chunks and in any
// others: each word belongs to one record, none is read behind the chunk's end.
#include <setjmp.h>
#include <stdarg.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/chunks/records.h"

static uint64_t word(uint32_t tagged, uint32_t value)
{
	return (uint64_t)tagged << 32 | value;
}

static void a_proper_chunk(void **state)
{
	(void)state;
	const uint64_t words[] = {
	    word(0x401000, 5),
	    word(TEEPERF_CONTROL_SYNC, 8),
	    word(0x401001, 6),
	    word(0x401002, 0),
	    word(0x401003, 7),
	    word(TEEPERF_CONTROL_SYNC, 9), // a position, whatever it looks like
	    word(TEEPERF_CONTROL_COUNTS, 2),
	    word(0x401000, 1),
	    word(TEEPERF_CONTROL_COUNTS, 99),
	    3,
	    4,
	    word(TEEPERF_CONTROL_PHASE_BEGIN, 10),
	    word(TEEPERF_CONTROL_TEXT, 0x6c6c6143),
	    word(TEEPERF_CONTROL_CALL_OUT, 11),
	    word(TEEPERF_CONTROL_PAD, 0),
	    word(TEEPERF_CONTROL_LOST, 12),
	    word(TEEPERF_NAME_FIRST - 1, 13),
	    0,
	};
	const uint64_t first = UINT64_C(7) << 32;
	const uint64_t next = UINT64_C(8) << 32;
	static const struct {
		uint32_t at, more;
		enum tp_record_form form;
		bool timed, first; // ... with the chunk's own upper half
	} expected[] = {
	    {0, 0, TP_RECORD_ENTER, true, true},
	    {1, 0, TP_RECORD_HIGH, false, false},
	    {2, 0, TP_RECORD_EXIT, true, false},
	    {3, 0, TP_RECORD_UNTIMED, false, false},
	    {4, 1, TP_RECORD_RESYNC, true, false},
	    {6, 4, TP_RECORD_PAIRS, false, false},
	    {11, 0, TP_RECORD_NAMED, true, false},
	    {12, 0, TP_RECORD_NUMBER, false, false},
	    {13, 0, TP_RECORD_BORDER, true, false},
	    {14, 0, TP_RECORD_NOTHING, false, false},
	    {15, 0, TP_RECORD_NUMBER, false, false},
	    {16, 0, TP_RECORD_UNKNOWN, false, false},
	    {17, 0, TP_RECORD_NOTHING, false, false},
	};
	struct tp_record_cursor at =
	    tp_records_begin(words, sizeof(words) / sizeof(words[0]), first | 1234);
	struct tp_record record;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_true(tp_record_next(&at, &record));
		assert_int_equal(record.at, expected[i].at);
		assert_int_equal(record.form, expected[i].form);
		assert_int_equal(record.more_count, expected[i].more);
		assert_ptr_equal(record.more, words + record.at + 1);
		assert_int_equal(record.timed, expected[i].timed);
		assert_int_equal(word(record.tagged, record.value), words[record.at]);
		assert_int_equal(tp_record_names(&record), expected[i].form <= TP_RECORD_RESYNC);
		assert_false(record.cut);
		if (record.timed)
			assert_int_equal(
			    record.time, (expected[i].first ? first : next) + record.value);
	}
	assert_false(tp_record_next(&at, &record));
	assert_false(tp_record_next(&at, &record));
}

static void the_end_cuts_records(void **state)
{
	(void)state;
	const uint64_t words[] = {word(TEEPERF_CONTROL_COUNTS, 2), 1, 2, 3, 4, word(0x401003, 1)};
	for (uint32_t count = 0; count < 6; count++) {
		struct tp_record_cursor at = tp_records_begin(words, count, 0);
		struct tp_record record;
		assert_int_equal(tp_record_next(&at, &record), count > 0);
		assert_true(!count || record.cut == (count < 5));
		assert_true(!count || record.more_count == (count < 5 ? count - 1 : 4));
		assert_false(tp_record_next(&at, &record));
	}
	struct tp_record_cursor at = tp_records_begin(words + 5, 1, 0);
	struct tp_record record;
	assert_true(tp_record_next(&at, &record));
	assert_true(record.form == TP_RECORD_RESYNC && record.cut && !record.more_count);
	assert_false(tp_record_next(&at, &record));
}

// A larger number is wrong even where the words are there.
static void there_are_most_pairs(void **state)
{
	(void)state;
	enum { WORDS = 3 * TEEPERF_COUNTS_MAX };
	static const uint32_t numbers[] = {
	    TEEPERF_COUNTS_MAX, TEEPERF_COUNTS_MAX + 1, UINT32_C(1) << 31, UINT32_MAX};
	static uint64_t words[WORDS];
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		words[0] = word(TEEPERF_CONTROL_COUNTS, numbers[i]);
		struct tp_record_cursor at = tp_records_begin(words, WORDS, 0);
		struct tp_record record;
		assert_true(tp_record_next(&at, &record));
		assert_int_equal(record.cut, i > 0);
		assert_int_equal(record.more_count, i ? WORDS - 1 : 2 * TEEPERF_COUNTS_MAX);
		assert_int_equal(tp_record_next(&at, &record), i == 0);
	}
}

// Each control record of log.h has its row, and no number has two.
static void all_control_records_are_known(void **state)
{
	(void)state;
	uint32_t rows = 0;
#define TP_CONTROL(name, form, word, kind)                                             \
	assert_int_equal(tp_record_form_of(TEEPERF_CONTROL_##name), TP_RECORD_##form); \
	rows++;
#include "common/chunks/records.def"
	for (uint32_t i = 0; i < TEEPERF_NAME_FIRST; i++)
		assert_int_equal(tp_record_form_of(i) == TP_RECORD_UNKNOWN, i >= rows);
	assert_int_equal(tp_record_form_of(TEEPERF_NAME_FIRST), TP_RECORD_ENTER);
	assert_int_equal(tp_record_form_of(UINT32_MAX), TP_RECORD_RESYNC);
}

// ---- any words, against the grammar as it is written in docs/format.md

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static uint64_t any_word(void)
{
	switch (pick(8)) {
	case 0:
		return word(pick(24), pick(6));
	case 1:
		return word(TEEPERF_CONTROL_COUNTS, pick(4) ? pick(5) : UINT32_MAX - pick(5));
	case 2:
		return word(0x401003, pick(100));
	case 3:
		return seed * seed;
	default:
		return word(0x401000 + pick(4), pick(100));
	}
}

static void any_words(void **state)
{
	(void)state;
	enum { WORDS = 40 };
	for (uint32_t round = 0; round < 20000; round++) {
		seed = round;
		// Allocated, so that a sanitizer sees each word behind them.
		const uint32_t count = pick(WORDS);
		uint64_t *words = malloc(count * sizeof(*words) + !count);
		assert_non_null(words);
		for (uint32_t i = 0; i < count; i++)
			words[i] = any_word();
		const uint64_t first_time = seed * seed;
		struct tp_record_cursor at = tp_records_begin(words, count, first_time);
		struct tp_record record = {0};
		uint32_t upper = (uint32_t)(first_time >> 32);
		uint32_t i = 0;
		while (i < count) {
			const uint32_t tagged = (uint32_t)(words[i] >> 32);
			const uint32_t low = (uint32_t)words[i];
			uint64_t size = 1;
			if (tagged >= TEEPERF_NAME_FIRST && tagged % 4 == 3)
				size = 2;
			else if (tagged == TEEPERF_CONTROL_COUNTS)
				size = 1 + 2 * (uint64_t)low;
			else if (tagged == TEEPERF_CONTROL_SYNC)
				upper = low;
			assert_true(tp_record_next(&at, &record));
			assert_int_equal(record.at, i);
			assert_int_equal(record.cut, size > count - i);
			size = record.cut ? count - i : size;
			assert_int_equal(record.more_count, size - 1);
			if (record.timed)
				assert_int_equal(record.time, word(upper, low));
			i += (uint32_t)size;
		}
		assert_false(tp_record_next(&at, &record));
		free(words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_proper_chunk),
	    cmocka_unit_test(the_end_cuts_records),
	    cmocka_unit_test(there_are_most_pairs),
	    cmocka_unit_test(all_control_records_are_known),
	    cmocka_unit_test(any_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
