// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of a thread that crosses the border of a TEE, and the numbers by which both sides
// know a crossing.
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
	// The number alone, for a call that has begun; and records that are not borders.
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

// Calls in progress have places of their own; where there is none left, one is not known, and none
// is another's.
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

// ---- commands (border_label.c)

static struct {
	void *buffer;
	size_t size;
	uint32_t flags;
} memory;
struct operation {
	uint32_t started;
	uint32_t types;
	struct {
		void *parent;
		size_t size;
		size_t offset;
	} parameters[4];
	void *more;
};
enum { WHOLE = 0xc, PARTIAL_INPUT = 0xd, PARTIAL_INOUT = 0xf, VALUE_INOUT = 3 };

static void set_memory(void)
{
	memory.buffer = header;
	memory.size = REGION + TEEPERF_LABEL_ROOM;
	memory.flags = 3;
}

static void begin_commands(void)
{
	begin();
	set_memory();
	tp_process.tee_log = header;
	tp_process.tee_log_size = memory.size;
}

static struct operation make_command(uint32_t type)
{
	return (struct operation){.types = type << 8 | VALUE_INOUT,
	    .parameters = {{(void *)1, 2, 3}, {0}, {&memory, memory.size, 0}},
	    .more = &memory};
}

// The part of the log that the other side gets, and whose call it takes that for.
static void arrive(const struct operation *command, uint64_t number)
{
	const uint64_t label = -(uint64_t)command->parameters[2].size % TEEPERF_LABEL_ROOM;
	assert_int_not_equal(label, 0);
	assert_in_range(command->parameters[2].size, REGION + 1, memory.size - 1);
	assert_int_equal(command->parameters[2].offset, 0);
	assert_int_equal(command->types, PARTIAL_INOUT << 8 | VALUE_INOUT);
	__teeperf_border(TEEPERF_CONTROL_CALL_IN, TEEPERF_LABEL_HANDLE(label));
	expect_word(1, TEEPERF_CONTROL_CALL_IN);
	expect_word(number, TEEPERF_CONTROL_CROSSING);
}

static void *call_command(void *command)
{
	__teeperf_command(command);
	return NULL;
}

static void test_command(void **state)
{
	(void)state;
	static const uint32_t types[] = {WHOLE, PARTIAL_INOUT};
	begin_commands();
	for (uint64_t i = 0; i < 20; i++) {
		struct operation command = make_command(types[i % 2]);
		const struct operation before = command;
		__teeperf_command(&command);
		expect_word(1, TEEPERF_CONTROL_CALL_OUT);
		expect_word(i + 1, TEEPERF_CONTROL_CROSSING);
		// Of some calls nobody has taken the number, and it is not that of the next one.
		struct operation seen = command;
		__teeperf_border(TEEPERF_CONTROL_RETURN_IN, 0);
		expect_word(1, TEEPERF_CONTROL_RETURN_IN);
		assert_memory_equal(&command, &before, sizeof(before));
		if (i % 3)
			arrive(&seen, i + 1);
		// Nothing is changed twice.
		command = seen;
		__teeperf_border(TEEPERF_CONTROL_RETURN_IN, 0);
		expect_word(1, TEEPERF_CONTROL_RETURN_IN);
		assert_memory_equal(&command, &seen, sizeof(seen));
	}
}

// Commands in progress have labels of their own, whichever comes first on the other side. Threads
// that never come back take theirs with them.
static void test_command_many(void **state)
{
	(void)state;
	enum { MANY = CHUNKS - 1 };
	struct operation commands[MANY];
	pthread_t thread;
	begin_commands();
	for (uint64_t i = 1; i <= MANY; i++)
		serve(i);
	for (uint64_t i = 0; i < MANY; i++) {
		commands[i] = make_command(WHOLE);
		assert_int_equal(pthread_create(&thread, NULL, call_command, &commands[i]), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		for (uint64_t j = 0; j < i; j++)
			assert_int_not_equal(
			    commands[j].parameters[2].size, commands[i].parameters[2].size);
	}
	for (uint64_t i = MANY; i-- > 0;)
		arrive(&commands[i], i + 1);
}

// A command without the whole log, or with a log that only one side writes, stays as it is; so does
// every command whose call the program has reported.
static void test_command_left_alone(void **state)
{
	(void)state;
	begin_commands();
	const struct operation whole = make_command(WHOLE);
	struct operation others[8];
	for (int i = 0; i < 8; i++)
		others[i] = make_command(PARTIAL_INOUT);
	others[0].types = VALUE_INOUT;
	others[1] = make_command(PARTIAL_INPUT);
	others[2].parameters[2].offset = 64;
	others[3].parameters[2].size -= 1;
	others[4].parameters[2].parent = NULL;
	for (int i = 0; i < 8; i++) {
		const struct operation before = others[i];
		if (i == 5)
			memory.flags = 1;
		if (i == 6)
			memory.size -= 4096;
		if (i == 7)
			memory.buffer = &memory;
		__teeperf_command(&others[i]);
		expect_word(1, TEEPERF_CONTROL_CALL_OUT);
		assert_memory_equal(&others[i], &before, sizeof(before));
		__teeperf_border(TEEPERF_CONTROL_RETURN_IN, 0);
		expect_word(1, TEEPERF_CONTROL_RETURN_IN);
		set_memory();
	}
	__teeperf_command(NULL);
	expect_word(1, TEEPERF_CONTROL_CALL_OUT);
	// By hand: it is reported once more, because of calls between the two.
	struct operation command = whole;
	__teeperf_border(TEEPERF_CONTROL_CALL_OUT, 77);
	expect_word(1, TEEPERF_CONTROL_CALL_OUT);
	expect_word(1, TEEPERF_CONTROL_CROSSING);
	__teeperf_command(&command);
	expect_word(1, TEEPERF_CONTROL_CALL_OUT);
	expect_word(1, TEEPERF_CONTROL_CROSSING);
	assert_memory_equal(&command, &whole, sizeof(whole));
	__teeperf_border(TEEPERF_CONTROL_RETURN_IN, 0);
	__teeperf_border(TEEPERF_CONTROL_RETURN_IN, 0);
	at += 2;
	// The next one has a label; but not where nothing is recorded.
	__teeperf_command(&command);
	at += 2;
	assert_memory_not_equal(&command, &whole, sizeof(whole));
	__teeperf_switch(0);
	__teeperf_border(TEEPERF_CONTROL_RETURN_IN, 0);
	assert_memory_equal(&command, &whole, sizeof(whole));
	__teeperf_command(&command);
	assert_memory_equal(&command, &whole, sizeof(whole));
}

// Handles of labels have tags of their own, so that none takes another's number.
static void test_labels(void **state)
{
	(void)state;
	static uint64_t tags[TEEPERF_LABEL_ROOM];
	for (uint64_t i = 1; i < TEEPERF_LABEL_ROOM; i++) {
		tags[i] =
		    TEEPERF_LABEL_HANDLE(i) * TEEPERF_CROSSING_MIX << 8 >> TEEPERF_CROSSING_BITS;
		for (uint64_t j = 1; j < i; j++)
			assert_int_not_equal(tags[i], tags[j]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_numbers), TEST(test_many), TEST(test_garbage),
	    TEST(test_off), TEST(test_command), TEST(test_command_many),
	    TEST(test_command_left_alone), TEST(test_labels)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
