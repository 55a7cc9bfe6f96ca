// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a switch of stacks writes: in its thread, in another one, and where there is nothing to say.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/lib/play_host.h"

static const uint64_t name = 0x401000;
static uint64_t at; // the next word in chunk 0

static void expect_resync(uint64_t position)
{
	assert_int_equal(words_of(0)[at] >> 32, name | TEEPERF_KIND_RESYNC);
	assert_int_equal(words_of(0)[at + 1], position);
	at += 2;
	assert_int_equal(words_of(0)[at], 0);
}

static void expect_departure(uint64_t departure)
{
	const uint64_t control = (uint64_t)TEEPERF_CONTROL_LEFT << 32;
	assert_int_equal(words_of(0)[at], control | departure >> 32);
	assert_int_equal(words_of(0)[at + 1], control | (departure & UINT32_MAX));
	at += 2;
	expect_resync(TEEPERF_POSITION_ELSEWHERE);
}

static void test_leave_and_arrive(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	assert_int_equal(__teeperf_home(), 0);
	serve(0);
	const uint64_t position = event(name);
	const uint64_t home = __teeperf_home();
	assert_int_equal(home, 1);
	at = 1;
	uint64_t left = __teeperf_leave(position, name, home);
	expect_resync(position | TEEPERF_POSITION_LEAVES);
	__teeperf_arrive(position, name, left);
	expect_resync(position);
	// Began before its thread had a number: its own.
	left = __teeperf_leave(position, name, 0);
	expect_resync(position | TEEPERF_POSITION_LEAVES);
	__teeperf_arrive(position, name, left);
	expect_resync(position);
	// Nothing was left.
	__teeperf_arrive(position, name, 0);
	assert_int_equal(words_of(0)[at], 0);
	// The position is another thread's: where the stack was left tells which it is.
	const uint64_t left_at = sizeof(struct teeperf_chunk) + 8 * at;
	left = __teeperf_leave(position, name, home + 1);
	expect_resync(TEEPERF_POSITION_LEAVES);
	__teeperf_arrive(position, name, left);
	expect_departure(TEEPERF_DEPARTURE(home, left_at));
	// It was left in another thread, and began in this one.
	left = TEEPERF_DEPARTURE(home + 1, 4096) | UINT64_C(1) << 63;
	__teeperf_arrive(position, name, left);
	expect_departure(TEEPERF_DEPARTURE(home + 1, 4096));
	assert_int_equal(TEEPERF_DEPARTURE_POSITION(left), 4096);
	// What a handler has that came while this thread was in the runtime.
	static const uint64_t none[] = {0, TP_BIAS_BUSY + 64, TP_BIAS_BUSY + 60};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		__teeperf_leave(none[i], name, home);
		__teeperf_arrive(none[i], name, left);
		__teeperf_leave(none[i], name, home + 1);
		assert_int_equal(words_of(0)[at], 0);
	}
}

// As the program sees it (teeperf.h): four words that are ours.
static void test_by_hand(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	const uint64_t position = event(name);
	uint64_t here[5] = {0, 0, 0, 0, 4711};
	struct teeperf_context *context = (struct teeperf_context *)(void *)here;
	__teeperf_context_leave(context);
	assert_int_equal(here[4], 4711);
	// Above what was open, below what comes.
	const uint64_t between = position + 8 - TEEPERF_POSITION_BETWEEN;
	assert_int_equal(words_of(0)[2], between | TEEPERF_POSITION_LEAVES);
	assert_int_equal(words_of(0)[1] >> 32 & TEEPERF_KIND_MASK, TEEPERF_KIND_RESYNC);
	event(0x402000);
	__teeperf_context_arrive(context);
	assert_int_equal(words_of(0)[5], between);
	assert_int_equal(words_of(0)[4] >> 32, words_of(0)[1] >> 32);
	// Not while it is switched off, and later as what began then.
	__teeperf_switch(0);
	__teeperf_context_leave(context);
	__teeperf_context_arrive(context);
	assert_int_equal(words_of(0)[6], 0);
	__teeperf_switch(1);
	__teeperf_context_arrive(context);
	assert_int_equal(words_of(0)[7], TEEPERF_POSITION_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_leave_and_arrive), TEST(test_by_hand)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
