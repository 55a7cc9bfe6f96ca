// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attaching to a log: modules, headers that lie, forks, and a host that goes on lying.
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "test/lib/play_host.h"

static void test_module_table(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	const struct teeperf_module *module =
	    (const void *)((char *)header + header->modules_offset);
	assert_int_equal(header->module_count, 1);
	assert_int_equal(module->anchor, (uint64_t)(uintptr_t)&anchor);
	assert_in_range(module->anchor, module->start, module->end - 1);
	char self[4096];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(length > 0);
	self[length] = '\0';
	assert_string_equal(module->path, self);
	assert_int_equal(module->build_id_size, 20);
	// Registering it again (other objects of the module, another clock) adds nothing.
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_SOFT, &anchor);
	assert_int_equal(header->module_count, 1);
}

static void test_forked_child_is_silent(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	event(0x400000);
	const uint64_t cursor = __teeperf_thread.cursor;
	const uint64_t tail = header->tail;
	const pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < 10; i++)
			event(0x666000);
		// A sequence that a forking signal handler interrupted writes where it was about
		// to.
		tp_store_relaxed((uint64_t *)(uintptr_t)cursor, 0x666);
		tp_fetch_add_relaxed(&tp_process.header->tail, 1);
		// Children of the child are not counted.
		const pid_t grandchild = fork();
		if (grandchild == 0)
			_exit(event(0x666000) != TEEPERF_POSITION_OFF);
		int status;
		waitpid(grandchild, &status, 0);
		_exit(status || tp_process.state != TP_STATE_OFF);
	}
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(header->forked, 1);
	assert_int_equal(header->tail, tail);
	assert_int_equal(words_of(0)[1], 0);
	assert_int_not_equal(event(0x400000), 0);
}

// The child of a thread that counts has no place to count in any more.
static void test_forked_child_does_not_count(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	serve(0);
	static struct {
		struct teeperf_counted head;
		const void *function;
	} counted = {.head.count = 1, .function = &counted};
	static _Thread_local void *pointer;
	__teeperf_counted(&counted.head, &pointer);
	const uint64_t at = tp_count((uint64_t)(uintptr_t)&counted);
	assert_int_not_equal(at, 0);
	uint64_t *count = (uint64_t *)(uintptr_t)(at + TEEPERF_COUNTED_OFFSET(0));
	++*count;
	const pid_t child = fork();
	if (child == 0) {
		++*count; // as a sequence that was interrupted
		_exit(pointer != NULL || tp_count((uint64_t)(uintptr_t)&counted) != 0);
	}
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_ptr_equal(pointer, (void *)(uintptr_t)at);
	assert_int_equal(*count, 1);
	__teeperf_counted_gone(&counted.head);
}

static void test_second_process_is_refused(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	header->pid = 1;
	__teeperf_module(TEEPERF_ABI << 8, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	assert_int_equal(header->refused, 1);
	assert_int_equal(header->attach, TEEPERF_ATTACH_NONE);
	assert_int_equal(tp_process.state, TP_STATE_OFF);
	assert_int_equal(functions.gates[0], TEEPERF_GATE_OFF);
	assert_int_equal(event(0x401000), TEEPERF_POSITION_OFF);
}

static bool is_mapped(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	char line[4096];
	bool found = false;
	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, path) != NULL;
	fclose(maps);
	return found;
}

// The recorder waits for whoever has a log mapped: nothing is left of one that is refused.
static void test_refused_log_is_unmapped(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	header->major++;
	munmap(header, REGION);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	assert_int_equal(tp_process.state, TP_STATE_OFF);
	assert_false(is_mapped(getenv(TEEPERF_LOG_ENV)));
	unlink(getenv(TEEPERF_LOG_ENV));
}

static void test_wrong_clock(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_HARDWARE, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	assert_int_equal(header->attach, TEEPERF_ATTACH_BAD_CLOCK);
	assert_int_equal(tp_process.state, TP_STATE_OFF);
}

// The ordered clock is a gate of its own, which only code for any clock knows, and only on x86-64.
static void test_ordered_clock(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_TSC_ORDERED);
#if defined(__x86_64__)
	assert_int_equal(header->attach, TEEPERF_ATTACH_DONE);
	assert_int_equal(functions.gates[0], TEEPERF_GATE_ORDERED);
#else
	assert_int_equal(header->attach, TEEPERF_ATTACH_BAD_CLOCK);
#endif
}

static void test_ordered_clock_needs_auto(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_TSC_ORDERED);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_HARDWARE, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	assert_int_equal(header->attach, TEEPERF_ATTACH_BAD_CLOCK);
	assert_int_equal(functions.gates[0], TEEPERF_GATE_OFF);
}

static void test_wrong_abi(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	__teeperf_module((TEEPERF_ABI + 1) << 8, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	assert_int_equal(header->attach, TEEPERF_ATTACH_BAD_MODULE);
}

static void test_early_events_are_counted(void **state)
{
	(void)state;
	for (int i = 0; i < 7; i++)
		event(0x401000);
	attach(TEEPERF_CLOCK_SOFT_TSC);
	assert_int_equal(header->lost_early, 7);
	serve(0);
	header->counter = 1;
	assert_int_equal(event(0x401000), 64);
}

// Words that a host might choose: promised chunks that do not exist, tickets served for ever,
// chance.
static bool scribbling;

static void *scribble(void *argument)
{
	uint64_t random = (uint64_t)(uintptr_t)argument | 1;
	uint64_t *const words = (uint64_t *)(void *)header;
	while (__atomic_load_n(&scribbling, __ATOMIC_RELAXED)) {
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		const uint64_t where = random >> 33;
		const uint64_t value = where % 4 == 0   ? UINT64_MAX
				       : where % 4 == 1 ? (uint64_t)1 << 62
							: random;
		// Nearly anywhere, and more often where the cold path looks: but who holds a ticket
		// for which there is no slot gets no further, so the tail only counts.
		const uint64_t near = where / 4 % (4096 / 8);
		__atomic_store_n(&words[512 + where % (REGION / 8 - 512)], value, __ATOMIC_RELAXED);
		if (near != offsetof(struct teeperf_log_header, tail) / 8)
			__atomic_store_n(&words[near], value, __ATOMIC_RELAXED);
		const uint64_t ticket =
		    __atomic_load_n(&header->tail, __ATOMIC_RELAXED) - where % (8 * CHUNKS);
		__atomic_store_n(&supply[ticket % CHUNKS],
		    TEEPERF_SUPPLY_SLOT(ticket, random >> 40), __ATOMIC_RELAXED);
		__atomic_store_n(&header->head, ticket + 16 * CHUNKS, __ATOMIC_RELAXED);
	}
	return NULL;
}

static uint64_t written_in_all;

static void *run_against_scribbler(void *argument)
{
	(void)argument;
	uint64_t written = 0;
	for (int i = 0; i < 100000; i++) {
		uint64_t position;
		while ((position = event(0x401000)) == TEEPERF_POSITION_OFF)
			__teeperf_switch(1); // the host switches it off again and again
		written += position != 0;
		__teeperf_resync(position, 0x401003);
		const uint64_t cursor = __teeperf_thread.cursor;
		if (cursor && cursor - tp_process.chunks > CHUNKS * CHUNK)
			return NULL;
	}
	__atomic_fetch_add(&written_in_all, written, __ATOMIC_RELAXED);
	return &written_in_all;
}

// A host that writes over all that is shared while generations of threads run: four, and more until
// threads and host have met often enough, which on a busy machine takes its time. What the runtime
// stores stays in the log: around its mapping there is nothing to write to.
static void test_scribbling_host(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	struct tp_process before = tp_process;
	header->tail = UINT64_MAX - 20; // it wraps
	pthread_t host;
	scribbling = true;
	assert_int_equal(pthread_create(&host, NULL, scribble, &supply), 0);
	uint32_t rounds = 0;
	while (rounds < 4 || (written_in_all <= 1000 && rounds < 400)) {
		rounds++;
		pthread_t threads[2];
		for (int i = 0; i < 2; i++)
			assert_int_equal(
			    pthread_create(&threads[i], NULL, run_against_scribbler, NULL), 0);
		for (int i = 0; i < 2; i++) {
			void *fine;
			pthread_join(threads[i], &fine);
			assert_non_null(fine);
		}
	}
	__atomic_store_n(&scribbling, false, __ATOMIC_RELAXED);
	pthread_join(host, NULL);
	assert_in_range(tp_process.state, TP_STATE_RECORDING, TP_STATE_PAUSED);
	before.state = tp_process.state;
	before.next_thread = tp_process.next_thread;
	before.next_home = tp_process.next_home;
	before.lost_overflow = tp_process.lost_overflow;
	memcpy(before.tickets, tp_process.tickets, sizeof(before.tickets));
	assert_memory_equal(&before, &tp_process, sizeof(before));
	assert_int_equal(tp_process.next_thread, 2 * rounds);
	assert_int_equal(tp_process.next_home, 2 * rounds);
	assert_true(written_in_all > 1000);
}

// Each of these words, wrong in each of these ways, must be refused before anything is stored.
static void test_hostile_headers(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	const struct teeperf_log_header good = *header;
	static const struct {
		size_t offset;
		uint64_t value;
		size_t size;
	} bad[] = {
#define BAD(field, value) {offsetof(struct teeperf_log_header, field), value, sizeof(good.field)}
	    BAD(magic, 0),
	    BAD(major, 2),
	    BAD(chunk_shift, 12),
	    BAD(chunk_shift, 40),
	    BAD(chunk_count, 0),
	    BAD(chunk_count, 7),
	    BAD(chunk_count, 16),
	    BAD(chunk_count, UINT32_C(1) << 31),
	    BAD(supply_offset, REGION),
	    BAD(supply_offset, UINT64_MAX - 7),
	    BAD(supply_offset, 4097),
	    BAD(state_offset, REGION - 8),
	    BAD(modules_offset, REGION - 511),
	    BAD(module_capacity, UINT32_MAX),
	    BAD(thread_capacity, 3),
	    BAD(thread_capacity, 0),
	    BAD(threads_offset, REGION - 64),
	    BAD(thread_capacity, UINT32_C(1) << 30),
	    BAD(only_offset, 4097),
	    BAD(only_count, UINT32_MAX),
	    BAD(selection_offset, 4097),
	    BAD(selection_capacity, UINT64_MAX / 8),
	    BAD(chunks_offset, 4096),
	    BAD(chunks_offset, 2 * CHUNK),
	    BAD(chunks_offset, UINT64_MAX - CHUNK + 1),
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*header = good;
		memcpy((char *)header + bad[i].offset, &bad[i].value, bad[i].size);
		tp_process.state = TP_STATE_START;
		__teeperf_module(TEEPERF_ABI << 8, &anchor);
		if (tp_process.state != TP_STATE_OFF || header->pid)
			fail_msg("header %zu was accepted", i);
	}
	*header = good;
	tp_process.state = TP_STATE_START;
	__teeperf_module(TEEPERF_ABI << 8, &anchor);
	assert_int_equal(tp_process.state, TP_STATE_RECORDING);
	unlink(getenv(TEEPERF_LOG_ENV));
}

static void start_only(enum teeperf_only kind)
{
	static const uint64_t wanted[] = {1, 20, 30, 31};
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	// Behind the thread table.
	header->only_offset =
	    header->threads_offset + header->thread_capacity * sizeof(struct teeperf_thread);
	memcpy((char *)header + header->only_offset, wanted, sizeof(wanted));
	header->only_count = 4;
	header->only = kind;
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	// The other constructor of the module.
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_SOFT, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
}

static void assert_gates(uint8_t first, uint8_t second, uint8_t third)
{
	assert_int_equal(functions.gates[0], first);
	assert_int_equal(functions.gates[1], second);
	assert_int_equal(functions.gates[2], third);
}

// The gates of functions that the host does not want stay closed, also when recording is switched.
static void test_only_listed(void **state)
{
	(void)state;
	start_only(TEEPERF_ONLY_LISTED);
	assert_gates(TEEPERF_GATE_OFF, TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT);
	assert_int_equal(header->function_count, 3);
	assert_int_equal(header->functions_left_out, 1);
	__teeperf_switch(0);
	assert_gates(TEEPERF_GATE_OFF, TEEPERF_GATE_OFF, TEEPERF_GATE_OFF);
	__teeperf_switch(1);
	assert_gates(TEEPERF_GATE_OFF, TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT);
}

static void test_only_rest(void **state)
{
	(void)state;
	start_only(TEEPERF_ONLY_REST);
	assert_gates(TEEPERF_GATE_SOFT, TEEPERF_GATE_OFF, TEEPERF_GATE_OFF);
	assert_int_equal(header->functions_left_out, 2);
}

enum { ROOM = 4 };

// With room for later selections, and functions 20 and 30 at first.
static uint64_t *start_selecting(void)
{
	static const uint64_t wanted[] = {20, 30};
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	header->only_offset =
	    header->threads_offset + header->thread_capacity * sizeof(struct teeperf_thread);
	memcpy((char *)header + header->only_offset, wanted, sizeof(wanted));
	header->only_count = 2;
	header->only = TEEPERF_ONLY_LISTED;
	header->selection_offset = header->only_offset + sizeof(wanted);
	header->selection_capacity = ROOM;
	header->counter = 1000;
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	assert_int_equal(header->selected, TEEPERF_SELECTION_FIRST);
	return (uint64_t *)(void *)((char *)header + header->selection_offset);
}

static void choose(uint64_t word)
{
	header->selection = word;
	__teeperf_poll();
	assert_int_equal(header->selected, word);
}

// Gates that were closed open again, and a module that comes later obeys the last word.
static void test_selections(void **state)
{
	(void)state;
	uint64_t *lists = start_selecting();
	assert_gates(TEEPERF_GATE_OFF, TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT);
	lists[ROOM] = 10;
	choose(TEEPERF_SELECTION(1, TEEPERF_ONLY_LISTED, 1));
	assert_gates(TEEPERF_GATE_SOFT, TEEPERF_GATE_OFF, TEEPERF_GATE_OFF);
	assert_int_equal(header->selected_time, 1000);
	// A gap of no length for readers that know no better, behind the tick.
	assert_int_equal(header->switch_count, 2);
	assert_int_equal(header->switches[0], 1001 << 1);
	assert_int_equal(header->switches[1], 1001 << 1 | 1);
	lists[0] = 20;
	choose(TEEPERF_SELECTION(2, TEEPERF_ONLY_REST, 1));
	assert_gates(TEEPERF_GATE_SOFT, TEEPERF_GATE_OFF, TEEPERF_GATE_SOFT);
	// While recording is off, gates stay closed, and no gap is noted.
	__teeperf_switch(0);
	const uint64_t count = header->switch_count;
	choose(TEEPERF_SELECTION(3, TEEPERF_ONLY_ALL, 0));
	assert_gates(TEEPERF_GATE_OFF, TEEPERF_GATE_OFF, TEEPERF_GATE_OFF);
	assert_int_equal(header->switch_count, count);
	__teeperf_switch(1);
	assert_gates(TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT);
	static struct late_module late = LATE_MODULE;
	static struct teeperf_module_block block = LATE_BLOCK(late);
	lists[0] = 20;
	header->selection = TEEPERF_SELECTION(4, TEEPERF_ONLY_LISTED, 1);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &block);
	assert_int_equal(header->selected, header->selection);
	assert_int_equal(late.gates[0], TEEPERF_GATE_SOFT);
	assert_int_equal(late.gates[1], TEEPERF_GATE_OFF);
	assert_gates(TEEPERF_GATE_OFF, TEEPERF_GATE_SOFT, TEEPERF_GATE_OFF);
}

// While recording is off, too, choices and what follows them have times that do not descend,
// although clocks may.
static void test_selections_in_order(void **state)
{
	(void)state;
	start_selecting();
	__teeperf_switch(0);
	header->counter = 2000;
	choose(TEEPERF_SELECTION(1, TEEPERF_ONLY_ALL, 0));
	assert_int_equal(header->selected_time, 2000);
	header->counter = 1500;
	choose(TEEPERF_SELECTION(2, TEEPERF_ONLY_ALL, 0));
	assert_int_equal(header->selected_time, 2000);
	__teeperf_switch(1);
	assert_int_equal(header->switches[1], 2001 << 1 | 1);
}

// The functions of the recording's beginning count as left out.
static void test_left_out_at_first(void **state)
{
	(void)state;
	static struct late_module late = LATE_MODULE;
	static struct teeperf_module_block block = LATE_BLOCK(late);
	start_selecting();
	assert_int_equal(header->functions_left_out, 1);
	choose(TEEPERF_SELECTION(1, TEEPERF_ONLY_ALL, 0));
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &block);
	assert_int_equal(header->function_count, 5);
	assert_int_equal(header->functions_left_out, 2);
	assert_int_equal(late.gates[1], TEEPERF_GATE_SOFT);
}

// A thread that has its chunk for long looks when the clock's upper half changes.
static void test_selection_with_new_upper_half(void **state)
{
	(void)state;
	start_selecting();
	choose(TEEPERF_SELECTION(1, TEEPERF_ONLY_ALL, 0));
	serve(0);
	event(0x400000);
	header->selection = TEEPERF_SELECTION(2, TEEPERF_ONLY_REST, 0);
	event(0x400000);
	assert_int_equal(header->selected, TEEPERF_SELECTION(1, TEEPERF_ONLY_ALL, 0));
	header->counter = UINT64_C(1) << 32;
	event(0x400000);
	assert_int_equal(header->selected, header->selection);
	assert_gates(TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT);
}

// Whatever the host writes: a choice of functions, and nothing else.
static void test_hostile_selections(void **state)
{
	(void)state;
	uint64_t *lists = start_selecting();
	uint64_t random = 88172645463325252;
	for (int i = 0; i < 20000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		for (int j = 0; j < 2 * ROOM; j++)
			lists[j] = random >> j & 0x3f;
		header->selection_offset = random;
		header->selection_capacity = random >> 3;
		header->selection = random;
		__teeperf_poll();
		for (int j = 0; j < 3; j++)
			if (functions.gates[j] != TEEPERF_GATE_OFF &&
			    functions.gates[j] != TEEPERF_GATE_SOFT)
				fail_msg("gate %d is %d", j, functions.gates[j]);
		assert_int_equal(functions.hashes[0], 10);
	}
	assert_int_equal(tp_process.selection_capacity, ROOM);
}

// Zeroes that a linker puts between the parts of a section are passed over.
static void test_functions_of_two_files(void **state)
{
	(void)state;
	struct part {
		struct teeperf_functions head;
		uint8_t gates[8];
		uint64_t hash;
	};
	static struct {
		struct part first;
		uint64_t gap[3];
		struct part second;
	} section = {.first = {{sizeof(struct part), 1}, {TEEPERF_GATE_SOFT}, 20},
	    .second = {{sizeof(struct part), 1}, {TEEPERF_GATE_SOFT}, 21}};
	static struct teeperf_module_block block = {
	    .functions = (uint8_t *)&section, .functions_end = (uint8_t *)(&section + 1)};
	start_only(TEEPERF_ONLY_LISTED);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &block);
	assert_int_equal(section.first.gates[0], TEEPERF_GATE_SOFT);
	assert_int_equal(section.second.gates[0], TEEPERF_GATE_OFF);
	assert_int_equal(header->function_count, 5);
	assert_int_equal(header->functions_left_out, 2);
	__teeperf_switch(0);
	assert_int_equal(section.first.gates[0], TEEPERF_GATE_OFF);
	// A module of which the linker has removed everything.
	static struct teeperf_module_block empty;
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &empty);
	assert_int_equal(header->function_count, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_only_listed), TEST(test_only_rest),
	    TEST(test_selections), TEST(test_selections_in_order), TEST(test_left_out_at_first),
	    TEST(test_selection_with_new_upper_half), TEST(test_hostile_selections),
	    TEST(test_functions_of_two_files), TEST(test_module_table),
	    TEST(test_forked_child_is_silent), TEST(test_forked_child_does_not_count),
	    TEST(test_second_process_is_refused), TEST(test_refused_log_is_unmapped),
	    TEST(test_wrong_clock), TEST(test_ordered_clock), TEST(test_ordered_clock_needs_auto),
	    TEST(test_wrong_abi), TEST(test_early_events_are_counted), TEST(test_scribbling_host),
	    TEST(test_hostile_headers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
