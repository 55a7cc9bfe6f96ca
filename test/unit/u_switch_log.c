// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Switches gathered from a log that keeps only the last ones: missing switches never hide records.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "recorder/drain/drain.h"

#define OFF(time) ((uint64_t)(time) << 1)
#define ON(time) ((uint64_t)(time) << 1 | 1)

static struct teeperf_log_header header;
static struct tp_switch_log switch_log;
static uint64_t now;

static void begin(bool on)
{
	memset(&header, 0, sizeof(header));
	tp_switch_log_init(&switch_log, on);
	now = 100;
}

// The program switches, which always is to the other side.
static void play(bool start_on, uint32_t switches)
{
	for (uint32_t i = 0; i < switches; i++) {
		const uint64_t count = header.switch_count++;
		header.switches[count % TEEPERF_SWITCHES] =
		    now++ << 1 | (count % 2 == 0 ? !start_on : start_on);
	}
}

static uint64_t word(size_t index)
{
	uint64_t value;
	assert_true(index < switch_log.words.size / sizeof(value));
	memcpy(&value, switch_log.words.data + index * sizeof(value), sizeof(value));
	return value;
}

// What analysis demands: sides alternate, the first one is not what it began with, times grow.
static void check_alternates(bool start_on)
{
	bool on = start_on;
	uint64_t last = 0;
	for (size_t i = 0; i < switch_log.words.size / 8; i++) {
		assert_int_equal(word(i) & 1, !on);
		assert_true(word(i) >> 1 >= last);
		on = word(i) & 1;
		last = word(i) >> 1;
	}
}

static void complete(void **state)
{
	(void)state;
	for (int on = 0; on < 2; on++) {
		begin(on);
		assert_false(tp_switch_log_follow(&switch_log, &header));
		for (uint32_t n = 1; n < TEEPERF_SWITCHES; n += 21) {
			play(on, n);
			assert_true(tp_switch_log_follow(&switch_log, &header));
			assert_false(tp_switch_log_follow(&switch_log, &header));
		}
		assert_int_equal(switch_log.words.size / 8, header.switch_count);
		assert_int_equal(switch_log.missed, 0);
		for (size_t i = 0; i < header.switch_count; i++)
			assert_int_equal(word(i) >> 1, 100 + i);
		check_alternates(on);
		tp_switch_log_release(&switch_log);
	}
}

static void too_fast(void **state)
{
	(void)state;
	for (int on = 0; on < 2; on++) {
		for (uint32_t before = 0; before < 3; before++) {
			for (uint32_t n = TEEPERF_SWITCHES; n < TEEPERF_SWITCHES + 4; n++) {
				begin(on);
				play(on, before);
				tp_switch_log_follow(&switch_log, &header);
				play(on, n);
				assert_true(tp_switch_log_follow(&switch_log, &header));
				play(on, 3);
				assert_true(tp_switch_log_follow(&switch_log, &header));
				check_alternates(on);
				assert_true(switch_log.missed > 0 &&
					    switch_log.missed <= n - TEEPERF_SWITCHES + 3);
				// Whatever is missing, it ends on the right side, at the right
				// time.
				assert_int_equal(word(switch_log.words.size / 8 - 1),
				    header.switches[(header.switch_count - 1) % TEEPERF_SWITCHES]);
				tp_switch_log_release(&switch_log);
			}
		}
	}
}

// Between the known switches before and after, recording counts as switched on.
static void missing_is_on(void **state)
{
	(void)state;
	begin(true);
	play(true, 1);
	tp_switch_log_follow(&switch_log, &header);
	play(true, TEEPERF_SWITCHES + 10);
	tp_switch_log_follow(&switch_log, &header);
	assert_int_equal(word(0), OFF(100));
	assert_int_equal(word(1), ON(100));
	assert_int_equal(word(2) & 1, 0);
	assert_true(word(2) >> 1 > 110);
	tp_switch_log_release(&switch_log);
	begin(false);
	play(false, 3 * TEEPERF_SWITCHES);
	tp_switch_log_follow(&switch_log, &header);
	assert_int_equal(word(0), ON(0));
	assert_int_equal(word(1) & 1, 0);
	tp_switch_log_release(&switch_log);
}

// A program that switches all the time fills no memory.
static void too_many(void **state)
{
	(void)state;
	begin(true);
	for (uint32_t i = 0; i <= TP_SWITCHES_MAX / 101 + 5; i++) {
		play(true, 101);
		tp_switch_log_follow(&switch_log, &header);
	}
	assert_true(switch_log.words.size / 8 <= TP_SWITCHES_MAX + 1);
	assert_true(switch_log.missed > 0);
	assert_int_equal(word(switch_log.words.size / 8 - 1) & 1, 1);
	check_alternates(true);
	tp_switch_log_release(&switch_log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(complete),
	    cmocka_unit_test(too_fast),
	    cmocka_unit_test(missing_is_on),
	    cmocka_unit_test(too_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
