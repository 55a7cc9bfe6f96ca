// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The copy of a ring that is being written has whole records only.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "recorder/drain/drain.h"

static uint64_t record(uint64_t time, uint64_t name)
{
	return time | name << 32;
}

static void a_record_is_whole_or_left_out(void **state)
{
	(void)state;
	const uint64_t words[] = {
	    record(1, 0x401000), // enter
	    record(2, 0x401003), // resync
	    64,                  // its position
	    0,                   // never written
	    record(7, TEEPERF_CONTROL_LOST),
	    record(2, TEEPERF_CONTROL_COUNTS),
	    0x401000,
	    record(3, 0x401003), // a count, whatever it looks like
	    0,
	    0,
	    record(4, 0x401001),
	};
	static const uint32_t whole[] = {0, 1, 1, 3, 4, 5, 5, 5, 5, 5, 10, 11};
	for (uint32_t count = 0; count < sizeof(whole) / sizeof(whole[0]); count++)
		assert_int_equal(tp_rings_whole(words, count), whole[count]);
}

static void a_count_of_pairs_may_be_anything(void **state)
{
	(void)state;
	const uint64_t words[] = {
	    record(1, 0x401000), record(UINT32_MAX, TEEPERF_CONTROL_COUNTS), 0, 0};
	assert_int_equal(tp_rings_whole(words, 4), 1);
}

// The name was not there when its place was copied, but the record was; what came behind it is not
// taken.
static void a_mark_has_its_name(void **state)
{
	(void)state;
	enum { WORDS = TP_REGION_CHUNK_SIZE / 8 };
	static uint64_t from[WORDS];
	static uint64_t to[WORDS];
	for (uint32_t i = 8; i < WORDS; i++)
		from[i] = record(i, TEEPERF_CONTROL_TEXT);
	from[8] = record(1, 0x401000);
	from[9] = record(2, TEEPERF_CONTROL_PHASE_BEGIN);
	from[12] = record(3, 0x401000);
	for (uint32_t known = 8; known < 13; known++) {
		memset(to, 0, sizeof(to));
		memcpy(to, from, known * 8);
		tp_rings_complete_mark(from, to);
		const uint64_t used = known < 10 ? known : 12;
		assert_int_equal(tp_drain_find_used(to), used * 8);
		assert_memory_equal(to, from, used * 8);
	}
	// Up to the end of the chunk, and no further.
	from[WORDS - 2] = to[WORDS - 2] = record(4, TEEPERF_CONTROL_MARK);
	tp_rings_complete_mark(from, to);
	assert_int_equal(to[WORDS - 1], from[WORDS - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_record_is_whole_or_left_out),
	    cmocka_unit_test(a_count_of_pairs_may_be_anything),
	    cmocka_unit_test(a_mark_has_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
