// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is written where a thread goes over the border of a TEE, and the numbers by which both sides know a crossing.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/lib/play_host.h"

static uint64_t at; // the next word in chunk 0

static void expect_word(uint64_t low, uint64_t control)
{
	assert_int_equal(words_of(0)[at++], low | control << 32);
}

static void begin(void)
{
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->border = 1;
	header->counter = 1;
	serve(0);
	event(0x401000);
	at = 1;
}

static void test_numbers(void **state)
{
	(void)state;
	begin();
	header->counter = 5;
	__teeperf_border(TEEPERF_CONTROL_CALL_OUT, 0x7ffe1000);
	expect_word(5, TEEPERF_CONTROL_CALL_OUT);
	expect_word(1, TEEPERF_CONTROL_CROSSING);
	// The other side would be another runtime: this one has the same table, too.
	__teeperf_border(TEEPERF_CONTROL_CALL_IN, 0x7ffe1000);
	expect_word(5, TEEPERF_CONTROL_CALL_IN);
	expect_word(1, TEEPERF_CONTROL_CROSSING);
	// It was taken.
	for (int i = 0; i < TEEPERF_CROSSINGS; i++)
		assert_int_equal(header->crossings[i], 0);
	header->counter = 6;
	__teeperf_border(TEEPERF_CONTROL_CALL_IN, 0x7ffe1000);
	expect_word(6, TEEPERF_CONTROL_CALL_IN);
	__teeperf_border(TEEPERF_CONTROL_RETURN_OUT, 0);
	expect_word(6, TEEPERF_CONTROL_RETURN_OUT);
	// Without a handle there is no number; a return has none.
	__teeperf_border(TEEPERF_CONTROL_CALL_OUT, 0);
	expect_word(6, TEEPERF_CONTROL_CALL_OUT);
	__teeperf_border(TEEPERF_CONTROL_RETURN_IN, 0x7ffe1000);
	expect_word(6, TEEPERF_CONTROL_RETURN_IN);
	// The number alone, of a call that has begun; and what is no border.
	__teeperf_border(TEEPERF_CONTROL_CALL_OUT, 3);
	expect_word(6, TEEPERF_CONTROL_CALL_OUT);
	expect_word(2, TEEPERF_CONTROL_CROSSING);
	__teeperf_border(TEEPERF_CONTROL_CROSSING, 3);
	expect_word(2, TEEPERF_CONTROL_CROSSING);
	__teeperf_border(TEEPERF_CONTROL_CROSSING, 3);
	__teeperf_border(0, 3);
	__teeperf_border(TEEPERF_CONTROL_CROSSING + 1, 3);
	assert_int_equal(words_of(0)[at], 0);
}

// Calls in progress have places of their own; where there is none left, one is not known, and none is another's.
static void test_many(void **state)
{
	(void)state;
	enum { MANY = 1000 };
	begin();
	int known = 0;
	for (uint64_t i = 1; i <= MANY; i++) {
		__teeperf_border(TEEPERF_CONTROL_CALL_OUT, i * 64);
		at += 2;
	}
	for (uint64_t i = 1; i <= MANY; i++) {
		__teeperf_border(TEEPERF_CONTROL_CALL_IN, i * 64);
		at++;
		const uint64_t word = words_of(0)[at];
		if (!word)
			continue;
		assert_int_equal(word, i | UINT64_C(13) << 32);
		known++;
		at++;
	}
	assert_in_range(known, TEEPERF_CROSSINGS / 2, TEEPERF_CROSSINGS);
	// 16 at a time, again and again, are all known.
	for (uint64_t round = 0; round < 50; round++) {
		for (uint64_t i = 1; i <= 16; i++)
			__teeperf_border(TEEPERF_CONTROL_CALL_OUT, 0x7ff000000000 + i * 0x801000);
		at += 32;
		for (uint64_t i = 1; i <= 16; i++) {
			__teeperf_border(TEEPERF_CONTROL_CALL_IN, 0x7ff000000000 + i * 0x801000);
			at++;
			expect_word(MANY + round * 16 + i, TEEPERF_CONTROL_CROSSING);
		}
	}
}

// A hostile host's table is of numbers, and nothing comes of them but numbers.
static void test_garbage(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < TEEPERF_CROSSINGS; i++)
		header->crossings[i] = UINT64_MAX;
	__teeperf_border(TEEPERF_CONTROL_CALL_IN, 0x1000);
	expect_word(1, TEEPERF_CONTROL_CALL_IN);
	__teeperf_border(TEEPERF_CONTROL_CALL_OUT, 0x1000);
	expect_word(1, TEEPERF_CONTROL_CALL_OUT);
	expect_word(1, TEEPERF_CONTROL_CROSSING);
	__teeperf_border(TEEPERF_CONTROL_CALL_IN, 0x1000);
	expect_word(1, TEEPERF_CONTROL_CALL_IN);
	expect_word(1, TEEPERF_CONTROL_CROSSING);
}

// Off, or with one side alone: nothing is written.
static void test_off(void **state)
{
	(void)state;
	begin();
	header->border = 0;
	__teeperf_border(TEEPERF_CONTROL_CALL_OUT, 0x1000);
	assert_int_equal(words_of(0)[at], 0);
	header->border = 1;
	__teeperf_switch(0);
	__teeperf_border(TEEPERF_CONTROL_CALL_OUT, 0x1000);
	assert_int_equal(words_of(0)[at], 0);
	__teeperf_switch(1);
	__teeperf_border(TEEPERF_CONTROL_CALL_OUT, 0);
	expect_word(1, TEEPERF_CONTROL_CALL_OUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_numbers), TEST(test_many), TEST(test_garbage), TEST(test_off)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
