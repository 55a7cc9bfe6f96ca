// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instrumented programs of a family of processes, counted once each, in whatever order the
// processors' records are read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/kernel/programs.h"

#define FORK TP_PROGRAMS_FORK
#define EXEC TP_PROGRAMS_EXEC
#define CODE TP_PROGRAMS_CODE

static void add_all(
    struct tp_programs *programs, const struct tp_programs_event *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		tp_programs_add(programs, &events[i]);
}

// The events of a whole run, all at once and backwards.
static uint64_t count(const struct tp_programs_event *events, uint32_t number)
{
	struct tp_programs programs = {0};
	while (number)
		tp_programs_add(&programs, &events[--number]);
	tp_programs_settle(&programs, UINT64_MAX);
	tp_programs_release(&programs);
	return programs.count;
}

static void each_program_once(void **state)
{
	(void)state;
	// A program with a library, which is instrumented as well, and its child.
	static const struct tp_programs_event own[] = {
	    {1, EXEC, 7, 0}, {2, CODE, 7, 0}, {3, CODE, 7, 0}, {4, FORK, 8, 7}, {5, CODE, 8, 0}};
	assert_int_equal(count(own, 5), 1);
	// The child starts another one, which starts a third in its place.
	static const struct tp_programs_event next[] = {{1, EXEC, 7, 0}, {2, CODE, 7, 0},
	    {3, FORK, 8, 7}, {4, EXEC, 8, 0}, {5, CODE, 8, 0}, {6, EXEC, 8, 0}, {7, CODE, 8, 0}};
	assert_int_equal(count(next, 7), 3);
	// Of a shell, which is not instrumented, a child that loads a library.
	static const struct tp_programs_event shell[] = {
	    {1, EXEC, 7, 0}, {2, FORK, 8, 7}, {3, CODE, 8, 0}, {4, FORK, 9, 7}, {5, EXEC, 9, 0}};
	assert_int_equal(count(shell, 5), 1);
	// A process id is given again, to a child of a program that is not instrumented.
	static const struct tp_programs_event again[] = {
	    {1, FORK, 8, 7}, {2, EXEC, 8, 0}, {3, CODE, 8, 0}, {4, FORK, 8, 7}, {5, CODE, 8, 0}};
	assert_int_equal(count(again, 5), 2);
	// Ids that no process has.
	static const struct tp_programs_event odd[] = {
	    {1, FORK, 8, UINT32_MAX}, {2, CODE, UINT32_MAX, 0}, {3, CODE, 1 << 22, 0}};
	assert_int_equal(count(odd, 3), 0);
}

// One processor's records are read before those that another one made earlier.
static void rounds(void **state)
{
	(void)state;
	static const struct tp_programs_event first[] = {{10, CODE, 7, 0}, {21, CODE, 7, 0}};
	static const struct tp_programs_event second[] = {{5, EXEC, 7, 0}, {20, EXEC, 7, 0}};
	struct tp_programs programs = {0};
	add_all(&programs, first, 2);
	tp_programs_settle(&programs, 4);
	assert_int_equal(programs.count, 0);
	add_all(&programs, second, 2);
	tp_programs_settle(&programs, 15);
	assert_int_equal(programs.count, 0); // none is older than 4
	assert_int_equal(programs.event_count, 4);
	tp_programs_settle(&programs, 30);
	assert_int_equal(programs.count, 1);
	assert_int_equal(programs.event_count, 2);
	tp_programs_settle(&programs, 31);
	assert_int_equal(programs.count, 2);
	assert_int_equal(programs.event_count, 0);
	tp_programs_release(&programs);
	assert_int_equal(programs.count, 2);
}

static void map(struct tp_programs *programs, uint32_t pid, const char *path, uint64_t key)
{
	tp_programs_map(programs, pid, pid, path, key);
}

// This test is not instrumented, nor are files that are not there, or no programs.
static void files(void **state)
{
	(void)state;
	static const unsigned char note[] = {0x7f, 'E', 'L', 'F', 2, 1,
	    1, [16] = 2, [18] = 62, [20] = 1, [32] = 64, [52] = 64, [54] = 56, [56] = 1,
	    // PT_NOTE at 120, of 24 bytes
	    [64] = 4, [72] = 120, [96] = 24, [104] = 24,
	    // teeperf_note
	    [120] = 8, [124] = 4, [128] = 1, [132] = 'T', 'e', 'e', 'P', 'e', 'r', 'f', 0, 1, 0, 0,
	    0};
	char path[] = "/tmp/teeperf-programs-XXXXXX";
	const int file = mkstemp(path);
	struct tp_programs programs = {0};
	assert_true(file >= 0);
	map(&programs, 1, "//anon", 1);
	map(&programs, 2, "[heap]", 2);
	map(&programs, 3, "/proc/self/exe", 3);
	map(&programs, 4, "/dev/null", 4);
	map(&programs, 5, "/nothing/of/this/name", 5);
	map(&programs, 6, path, 6);
	assert_int_equal(write(file, note, sizeof(note)), sizeof(note));
	assert_int_equal(programs.event_count, 0);
	map(&programs, 6, path, 6); // looked at already
	assert_int_equal(programs.event_count, 0);
	map(&programs, 7, path, 7);
	map(&programs, 8, path, 7);
	assert_int_equal(programs.event_count, 2);
	// Cut anywhere it is no harm.
	for (int size = sizeof(note) - 1; size >= 0; size--) {
		assert_int_equal(ftruncate(file, size), 0);
		map(&programs, 9, path, UINT64_C(100) + (uint64_t)size);
	}
	assert_int_equal(programs.event_count, 2);
	assert_int_equal(programs.file_count, 5 + sizeof(note));
	tp_programs_settle(&programs, UINT64_MAX);
	assert_int_equal(programs.count, 2);
	tp_programs_release(&programs);
	close(file);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_program_once),
	    cmocka_unit_test(rounds),
	    cmocka_unit_test(files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
