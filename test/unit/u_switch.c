// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Switching: who may ask for it, the records of it, and that the last request counts.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <cmocka.h>

#include "test/lib/play_host.h"

#include <teeperf/teeperf.h>

static const uint64_t NAME = 0x401000;

static uint64_t switch_at(uint64_t number)
{
	return header->switches[number % TEEPERF_SWITCHES];
}

static void set_time(uint64_t time)
{
	__atomic_store_n(&header->counter, time, __ATOMIC_RELAXED);
}

static void start(uint64_t control)
{
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	header->control = control;
	set_time(1000);
	for (uint64_t i = 0; i < CHUNKS; i++)
		serve(i);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
}

// Only events while it is on are recorded, and a tick belongs to the time before the switch.
static void test_program_switches(void **state)
{
	(void)state;
	start(TEEPERF_ACTIVE);
	assert_true(teeperf_is_on());
	event(NAME);
	set_time(2000);
	teeperf_off();
	assert_false(teeperf_is_on());
	assert_int_equal(functions.gates[0], TEEPERF_GATE_OFF);
	assert_int_equal(event(NAME + 4), TEEPERF_POSITION_OFF);
	teeperf_on(); // in the same tick: the gap is empty, it does not run backwards
	set_time(3000);
	teeperf_on(); // no change, so no switch
	assert_int_equal(functions.gates[0], TEEPERF_GATE_SOFT);
	event(NAME + 8);
	assert_int_equal(header->switch_count, 2);
	assert_int_equal(switch_at(0), 2001 << 1);
	assert_int_equal(switch_at(1), 2001 << 1 | 1);
	assert_int_equal(words_of(0)[0], word(1000, NAME));
	assert_int_equal(words_of(0)[1], word(3000, NAME + 8));
	assert_int_equal(words_of(0)[2], 0);
}

static void test_requests_before_the_log(void **state)
{
	(void)state;
	assert_false(teeperf_is_on());
	teeperf_poll();
	teeperf_off();
	teeperf_on();
	teeperf_off();
	start(TEEPERF_ACTIVE);
	assert_false(teeperf_is_on());
	assert_int_equal(header->switch_count, 1);
	assert_int_equal(functions.gates[0], TEEPERF_GATE_OFF);
}

static void test_starts_off(void **state)
{
	(void)state;
	start(0);
	assert_false(teeperf_is_on());
	event(NAME);
	assert_int_equal(header->tail, 0);
	teeperf_poll();
	assert_int_equal(header->switch_count, 0);
	set_time(5000);
	header->control = 2 | TEEPERF_ACTIVE;
	teeperf_poll();
	assert_true(teeperf_is_on());
	assert_int_equal(header->switch_count, 1);
	assert_int_equal(switch_at(0), 5000 << 1 | 1);
	event(NAME);
	assert_int_equal(words_of(0)[0], word(5000, NAME));
}

// A command is a change of the word: each is obeyed once, and the program's last wish stands.
static void test_commands(void **state)
{
	(void)state;
	start(TEEPERF_ACTIVE);
	header->control = 2;
	teeperf_poll();
	assert_false(teeperf_is_on());
	teeperf_on();
	teeperf_poll(); // no new command
	assert_true(teeperf_is_on());
	header->control = 4; // off once more
	teeperf_poll();
	assert_false(teeperf_is_on());
	header->control = 6 | TEEPERF_ACTIVE;
	teeperf_poll();
	assert_true(teeperf_is_on());
	assert_int_equal(header->switch_count, 4);
}

// Without a signal the word is looked at for each chunk, and more switches than there are entries
// wrap.
static void test_looks_for_a_chunk(void **state)
{
	(void)state;
	start(TEEPERF_ACTIVE);
	for (int i = 0; i < PER_CHUNK - 3; i++)
		event(NAME);
	header->control = 2;
	assert_true(teeperf_is_on());
	for (int i = 0; i < 4; i++)
		event(NAME);
	assert_false(teeperf_is_on());
	for (uint64_t i = 1; i < 1000; i++) {
		set_time(2000 + i);
		if (i % 2)
			teeperf_on();
		else
			teeperf_off();
	}
	assert_int_equal(header->switch_count, 1000);
	assert_int_equal(switch_at(999), (2000 + 999) << 1 | 1);
	assert_int_equal(switch_at(998), (2000 + 998 + 1) << 1);
}

static void test_signals(void **state)
{
	(void)state;
	setenv(TEEPERF_CONTROL_ENV, "23,10,12", 1);
	start(TEEPERF_ACTIVE);
	assert_int_equal(header->listens, TEEPERF_LISTENS_SIGNAL);
	assert_int_equal(header->listens_value, SIGURG);
	raise(SIGUSR2);
	assert_false(teeperf_is_on());
	raise(SIGUSR1);
	assert_true(teeperf_is_on());
	header->control = 2;
	raise(SIGURG);
	assert_false(teeperf_is_on());
	assert_int_equal(header->switch_count, 3);
}

static void own_handler(int number)
{
	(void)number;
}

static void test_signal_in_use(void **state)
{
	(void)state;
	signal(SIGUSR2, own_handler);
	setenv(TEEPERF_CONTROL_ENV, "23,10,12", 1);
	start(TEEPERF_ACTIVE);
	assert_int_equal(header->listens, TEEPERF_LISTENS_REFUSED);
	assert_int_equal(header->listens_value, SIGUSR2);
	assert_true(signal(SIGUSR2, SIG_DFL) == own_handler);
	assert_true(teeperf_is_on());
}

// Nonsense in the environment is refused, not obeyed.
static void test_no_such_signal(void **state)
{
	(void)state;
	setenv(TEEPERF_CONTROL_ENV, "99999999999,x", 1);
	start(TEEPERF_ACTIVE);
	assert_int_equal(header->listens, TEEPERF_LISTENS_REFUSED);
	assert_true(teeperf_is_on());
}

// Switched off for good stays so.
static void test_off_for_good(void **state)
{
	(void)state;
	start(TEEPERF_ACTIVE);
	tp_process_off();
	teeperf_on();
	header->control = 2 | TEEPERF_ACTIVE;
	teeperf_poll();
	assert_false(teeperf_is_on());
	assert_int_equal(functions.gates[0], TEEPERF_GATE_OFF);
	assert_int_equal(header->switch_count, 0);
}

static void flip(int number)
{
	(void)number;
	__teeperf_switch(!__teeperf_is_on());
}

// A handler that interrupts a switch leaves it to the one that it interrupted: nothing hangs, the
// entries alternate, and gate and state agree at the end.
static void test_handler_in_a_switch(void **state)
{
	(void)state;
	start(TEEPERF_ACTIVE);
	signal(SIGALRM, flip);
	const struct itimerval often = {.it_interval.tv_usec = 50, .it_value.tv_usec = 50};
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint64_t i = 0; i < 300000; i++)
		__teeperf_switch(i & 1);
	const struct itimerval never = {0};
	setitimer(ITIMER_REAL, &never, NULL);
	const uint64_t count = header->switch_count;
	assert_true(count > TEEPERF_SWITCHES);
	for (uint64_t i = count - TEEPERF_SWITCHES + 1; i < count; i++)
		assert_int_not_equal(switch_at(i) & 1, switch_at(i - 1) & 1);
	assert_int_equal(switch_at(count - 1) & 1, teeperf_is_on());
	assert_int_equal(
	    functions.gates[0], teeperf_is_on() ? TEEPERF_GATE_SOFT : TEEPERF_GATE_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_program_switches),
	    TEST(test_requests_before_the_log),
	    TEST(test_starts_off),
	    TEST(test_commands),
	    TEST(test_looks_for_a_chunk),
	    TEST(test_signals),
	    TEST(test_signal_in_use),
	    TEST(test_no_such_signal),
	    TEST(test_off_for_good),
	    TEST(test_handler_in_a_switch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
