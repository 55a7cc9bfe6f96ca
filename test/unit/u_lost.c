// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events that are lost without a look for a chunk (runtime/arch/slow.S): exact whatever comes
// between, and cheap.
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "test/lib/play_host.h"

#if defined(__x86_64__)

// What the sequence calls where it cannot record.
static uint64_t cold(uint64_t name)
{
	register uint64_t argument __asm__("r10") = name;
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "call __teeperf_slow\n\t"
			 "leaq 128(%%rsp), %%rsp"
			 : "+r"(argument)
			 :
			 : "r11", "memory", "cc");
	return argument;
}

static const struct teeperf_thread *threads(void)
{
	return (const void *)((char *)header + header->threads_offset);
}

static int made;

// As the sequence, for a soft clock.
static uint64_t make(uint64_t name)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	made++;
	if (*block->counter >> 32 != block->clock_high || block->cursor + 8 <= block->start ||
	    block->cursor + 8 > block->end)
		return cold(name);
	uint64_t *at = (uint64_t *)(uintptr_t)block->cursor;
	const uint64_t position = (uint64_t)(uintptr_t)at + block->bias;
	block->cursor += 8;
	if (*at)
		return cold(name);
	*at = word(1, name);
	return position;
}

// Records of events in all chunks, and what their LOST records say.
static uint64_t recorded(uint64_t *told)
{
	uint64_t count = 0;
	*told = 0;
	for (uint64_t i = 0; i < CHUNKS; i++)
		for (int k = 0; states[i] != TEEPERF_CHUNK_FREE && k < PER_CHUNK; k++) {
			const uint64_t name = words_of(i)[k] >> 32;
			count += name >= TEEPERF_NAME_FIRST;
			*told += name == TEEPERF_CONTROL_LOST ? words_of(i)[k] & UINT32_MAX : 0;
		}
	return count;
}

static void check_sum(void)
{
	uint64_t told;
	const uint64_t count = recorded(&told);
	assert_int_equal(tp_thread_lost(), threads()[0].lost);
	assert_int_equal(count + threads()[0].lost, made);
	assert_int_equal(told, tp_thread.lost_told);
}

static void begin(void)
{
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
}

static void test_looks_are_few(void **state)
{
	(void)state;
	enum { EVENTS = 10000, MOST = 256 };
	begin();
	int looks = 0;
	for (uint64_t i = 1; i <= EVENTS; i++) {
		looks += !tp_thread_skips();
		assert_int_equal(make(0x401000), 4);
		// The host may look, and the process may end, at any time.
		assert_int_equal(threads()[0].lost, i);
	}
	assert_in_range(looks, EVENTS / MOST, EVENTS / MOST + 10);
	serve(5);
	int late = 0;
	while (make(0x402000) == 4)
		late++;
	assert_in_range(late, 0, MOST);
	assert_int_equal(words_of(5)[0], word((uint64_t)(EVENTS + late), TEEPERF_CONTROL_LOST));
	assert_int_equal(words_of(5)[1], word(1, 0x402000));
	assert_int_equal(tp_thread_skips(), 0);
	// The next time it looks soon again.
	for (int i = 0; i < PER_CHUNK; i++)
		make(0x401000);
	serve(6);
	late = 0;
	while (states[6] != TEEPERF_CHUNK_OWNED && late < MOST) {
		make(0x401000);
		late++;
	}
	assert_in_range(late, 1, 16);
	check_sum();
}

// ---- A handler at each instruction.

static int steps_left; // until it comes
static int steps;      // in all
static void (*handler)(void);

static void trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	steps++;
	if (steps_left-- || !handler)
		return;
	ucontext_t *at = context;
	at->uc_mcontext.gregs[REG_EFL] &= ~0x100;
	handler();
}

static uint64_t stepped(uint64_t name)
{
	made++;
	register uint64_t argument __asm__("r10") = name;
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "orq $0x100, (%%rsp)\n\t"
			 "popfq\n\t"
			 "call __teeperf_slow\n\t"
			 "pushfq\n\t"
			 "andq $~0x100, (%%rsp)\n\t"
			 "popfq\n\t"
			 "leaq 128(%%rsp), %%rsp"
			 : "+r"(argument)
			 :
			 : "r11", "memory", "cc");
	return argument;
}

static void starve(void)
{
	struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
	begin();
	// The second look was in vain, too: there is something to be skipped.
	for (int i = 0; i < 12; i++)
		make(0x401000);
	assert_true(tp_thread_skips() > 2);
}

static void make_some(void)
{
	for (int i = 0; i < 3; i++)
		make(0x501000);
}

// Enough events that the thread looks for a chunk, in vain.
static void make_many(void)
{
	for (int i = 0; i < 100; i++)
		make(0x501000);
}

static uint64_t lost_then;

static void make_until_recorded(void)
{
	serve(3);
	while (!__teeperf_thread.cursor)
		make(0x501000);
	lost_then = threads()[0].lost;
}

// ... and until there is no chunk again.
static void make_until_lost(void)
{
	make_until_recorded();
	while (__teeperf_thread.cursor)
		make(0x501000);
	make(0x501000);
}

enum { INSTRUCTIONS_MOST = 28 };

static void test_instructions(void **state)
{
	(void)state;
	starve();
	handler = NULL;
	const int skips = tp_thread_skips();
	assert_int_equal(stepped(0x401000), 4);
	assert_int_equal(tp_thread_skips(), skips - 1);
	// Behind popfq: the call, its routine, and two to stop.
	assert_in_range(steps, 10, INSTRUCTIONS_MOST);
	check_sum();
}

static int steps_before; // the handler comes
static void (*does)(void);

static void interrupted_once(void **state)
{
	(void)state;
	starve();
	steps_left = steps_before;
	handler = does;
	const uint64_t position = stepped(0x402000);
	// Its place: behind all that began before, and before what comes.
	assert_in_range(position, 1, __teeperf_thread.cursor + __teeperf_thread.bias);
	// With a chunk nothing is skipped: it was lost before the handler had one, or is recorded.
	if (does == make_until_recorded && lost_then) {
		assert_int_equal(tp_thread_skips(), 0);
		assert_int_equal(threads()[0].lost, lost_then);
	}
	check_sum();
	serve(4);
	for (int i = 0; i < 2 * PER_CHUNK; i++)
		make(0x403000);
	check_sum();
	uint64_t told;
	recorded(&told);
	assert_true(told <= threads()[0].lost);
}

static void test_interrupted(void **state)
{
	static void (*const all[])(void) = {
	    make_some, make_many, make_until_recorded, make_until_lost};
	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (steps_before = 0; steps_before < INSTRUCTIONS_MOST; steps_before++) {
			test_function *test = interrupted_once;
			void *argument = &test;
			does = all[i];
			run_in_child(&argument);
		}
}

// ---- Where nothing may be skipped.

static void test_other_log(void **state)
{
	(void)state;
	starve();
	serve(2);
	__teeperf_thread.log++;
	assert_int_not_equal(make(0x402000), 4);
	assert_int_equal(states[2], TEEPERF_CHUNK_OWNED);
	check_sum();
}

static void *lose_some(void *argument)
{
	(void)argument;
	for (int i = 0; i < 1000; i++)
		cold(0x401000);
	return NULL;
}

static void test_threads_beyond_table(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < THREADS + 3; i++) {
		pthread_t thread;
		assert_int_equal(pthread_create(&thread, NULL, lose_some, NULL), 0);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(threads()[i].lost, 1000);
	assert_int_equal(header->lost_overflow, 3000);
}

static void test_fork(void **state)
{
	(void)state;
	starve();
	const pid_t child = fork();
	if (!child) {
		// It has no log, and its losses are nobody's.
		_exit(make(0x401000) != TEEPERF_POSITION_OFF || tp_thread_skips());
	}
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	check_sum();
}

// ---- Gates of a log that is full.

static void lose(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++)
		cold(0x401000);
}

static void attach_hardware(uint32_t mode)
{
	make_log(TP_HARDWARE_CLOCK);
	header->mode = mode;
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	assert_int_equal(functions.gates[1], TEEPERF_GATE_HARDWARE);
}

static void test_gates_of_full_log(void **state)
{
	(void)state;
	attach_hardware(TEEPERF_MODE_FULL);
	lose(1000);
	assert_int_equal(functions.gates[1], TEEPERF_GATE_HARDWARE);
	lose(5000);
	for (int i = 0; i < 3; i++)
		assert_int_equal(functions.gates[i], TEEPERF_GATE_SOFT);
	assert_int_equal(threads()[0].lost, 6000);
	// The clock of such gates is none that records without a look at the right one.
	assert_int_not_equal(*__teeperf_thread.counter >> 32, __teeperf_thread.clock_high);
	__teeperf_switch(0);
	assert_int_equal(functions.gates[1], TEEPERF_GATE_OFF);
	__teeperf_switch(1);
	assert_int_equal(functions.gates[1], TEEPERF_GATE_SOFT);
	// The log has grown.
	serve(1);
	lose(300);
	assert_int_equal(states[1], TEEPERF_CHUNK_OWNED);
	assert_int_equal(functions.gates[1], TEEPERF_GATE_HARDWARE);
}

static void test_gates_of_stream(void **state)
{
	(void)state;
	attach_hardware(TEEPERF_MODE_STREAM);
	lose(10000);
	assert_int_equal(functions.gates[1], TEEPERF_GATE_HARDWARE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_looks_are_few), TEST(test_instructions),
	    cmocka_unit_test(test_interrupted), TEST(test_other_log),
	    TEST(test_threads_beyond_table), TEST(test_fork), TEST(test_gates_of_full_log),
	    TEST(test_gates_of_stream)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("SKIP: it steps by the trap flag of x86-64");
	return 77;
}

#endif
