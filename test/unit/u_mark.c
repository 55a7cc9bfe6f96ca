// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime writes where the program marks a moment or a phase: whole names, in one chunk,
// or nothing.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <teeperf/teeperf.h>

#include "test/lib/play_host.h"

static uint64_t at; // the next word in chunk 0

static void expect_word(uint64_t low, uint64_t control)
{
	assert_int_equal(words_of(0)[at++], low | control << 32);
}

static void expect_text(const char *text)
{
	for (size_t i = 0; i < strlen(text); i += 4) {
		uint32_t piece = 0;
		memcpy(&piece, text + i, strnlen(text + i, 4));
		expect_word(piece, TEEPERF_CONTROL_TEXT);
	}
}

static void begin(void)
{
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	event(0x401000);
	at = 1;
}

static void test_names(void **state)
{
	(void)state;
	char name[100];
	begin();
	header->counter = 5;
	teeperf_mark("loaded");
	expect_word(5, TEEPERF_CONTROL_MARK);
	expect_text("loaded");
	teeperf_phase_begin("sort");
	expect_word(5, TEEPERF_CONTROL_PHASE_BEGIN);
	expect_text("sort");
	header->counter = 6;
	teeperf_phase_end("sort");
	expect_word(6, TEEPERF_CONTROL_PHASE_END);
	expect_text("sort");
	teeperf_mark("");
	expect_word(6, TEEPERF_CONTROL_MARK);
	teeperf_mark(NULL);
	expect_word(6, TEEPERF_CONTROL_MARK);
	// One byte more than there may be tells that it was cut.
	memset(name, 'x', sizeof(name));
	name[TEEPERF_MARK_NAME] = '\0';
	teeperf_mark(name);
	expect_word(6, TEEPERF_CONTROL_MARK);
	expect_text(name);
	name[TEEPERF_MARK_NAME] = 'x';
	name[sizeof(name) - 1] = '\0';
	teeperf_mark(name);
	name[TEEPERF_MARK_NAME + 1] = '\0';
	expect_word(6, TEEPERF_CONTROL_MARK);
	expect_text(name);
	// A word that is not a mark leaves no record.
	__teeperf_mark(TEEPERF_CONTROL_LOST, "lost");
	__teeperf_mark(TEEPERF_KIND_RESYNC | 0x401000, "resync");
	assert_int_equal(words_of(0)[at], 0);
	// Events go on behind it.
	event(0x401000);
	expect_word(6, 0x401000);
}

// A name is in one chunk, whatever is left of the last one.
static void test_chunks(void **state)
{
	(void)state;
	begin();
	serve(1);
	while (at < PER_CHUNK - 3) {
		event(0x401000);
		at++;
	}
	teeperf_mark("a name of so many bytes");
	for (; at < PER_CHUNK; at++)
		assert_int_equal(words_of(0)[at], word(0, TEEPERF_CONTROL_PAD));
	assert_int_equal(words_of(1)[0], word(1, TEEPERF_CONTROL_MARK));
	assert_int_equal(words_of(1)[6] >> 32, TEEPERF_CONTROL_TEXT);
	assert_int_equal(words_of(1)[7], 0);
}

// A full log: the mark is one event that is lost, and said to be when there is room again.
static void test_full(void **state)
{
	(void)state;
	begin();
	while (at < PER_CHUNK) {
		event(0x401000);
		at++;
	}
	teeperf_mark("lost");
	assert_int_equal(tp_thread_lost(), 1);
	serve(1);
	teeperf_mark("kept");
	assert_int_equal(words_of(1)[0], word(1, TEEPERF_CONTROL_LOST));
	assert_int_equal(words_of(1)[1], word(1, TEEPERF_CONTROL_MARK));
}

// Switched off, a mark is not wanted, and costs a load and a branch: its gate is closed.
static void test_off(void **state)
{
	(void)state;
	begin();
	assert_int_equal(__teeperf_mark_gate, 1);
	__teeperf_switch(0);
	assert_int_equal(__teeperf_mark_gate, 0);
	teeperf_mark("off");
	__teeperf_mark(TEEPERF_CONTROL_MARK, "off");
	assert_int_equal(words_of(0)[at], 0);
	assert_int_equal(tp_thread_lost(), 0);
	__teeperf_switch(1);
	teeperf_mark("on");
	expect_word(1, TEEPERF_CONTROL_MARK);
	expect_text("on");
}

// In a signal handler that came while its thread was in the runtime, a mark is lost and counted, as
// events are.
static void test_busy(void **state)
{
	(void)state;
	begin();
	assert_true(tp_thread_enter(0));
	teeperf_mark("inside");
	tp_thread_leave();
	assert_int_equal(tp_thread_lost(), 1);
	teeperf_mark("behind");
	expect_word(1, TEEPERF_CONTROL_LOST);
	expect_word(1, TEEPERF_CONTROL_MARK);
	expect_text("behind");
}

// A hostile host changes what it likes: nothing of a mark leaves the log.
static void test_hostile(void **state)
{
	(void)state;
	begin();
	for (uint64_t i = 0; i < CHUNKS; i++)
		supply[i] = UINT64_MAX - i;
	header->tail = UINT64_MAX;
	memset(words_of(0), 0xff, 4096);
	for (int i = 0; i < 100000; i++)
		teeperf_mark("an endless number of marks");
	assert_true(tp_thread_lost() > 0);
}

static sigjmp_buf out;

static void jump_out(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

// A handler jumps out while a name is being written: there is no mark with half of it, and nothing
// else is lost.
static void test_jump_out(void **state)
{
	(void)state;
	enum { PAGE = 4096, ON_PAGE = PAGE / 8 - 8 };
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	const uint64_t position = event(0x401000);
	for (at = 1; at < ON_PAGE - 3; at++)
		event(0x401001);
	// Behind the record and two pieces the memory may not be written.
	void *const beyond = (void *)(uintptr_t)(tp_process.chunks + PAGE);
	assert_int_equal(mprotect(beyond, CHUNK - PAGE, PROT_READ), 0);
	signal(SIGSEGV, jump_out);
	if (!sigsetjmp(out, 1)) {
		teeperf_mark("in three pieces");
		fail_msg("nothing faulted");
	}
	assert_int_equal(mprotect(beyond, CHUNK - PAGE, PROT_READ | PROT_WRITE), 0);
	__teeperf_resync(position, 0x401003);
	expect_word(1, 0x401003);
	assert_int_equal(words_of(0)[at++], position);
	// A piece of the name is left, behind a record that is no mark.
	assert_int_equal(words_of(0)[at] >> 32, TEEPERF_CONTROL_TEXT);
	at++;
	event(0x401001);
	teeperf_mark("whole");
	expect_word(1, 0x401001);
	expect_word(1, TEEPERF_CONTROL_MARK);
	expect_text("whole");
	assert_int_equal(tp_thread_lost(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_names), TEST(test_chunks), TEST(test_full),
	    TEST(test_off), TEST(test_busy), TEST(test_hostile), TEST(test_jump_out)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
