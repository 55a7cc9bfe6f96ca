// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Marks of a trace as they are read, whatever is in it, and ranges between them.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/marks.h"
#include "analyzer/trace/text/dump_text.h"

static struct tp_buf bytes;
static struct tp_tracefile trace;
static struct tp_marks marks;

static void read_text(const char *text)
{
	struct tp_err err;
	tp_buf_init(&bytes);
	assert_int_equal(tp_dump_assemble(text, strlen(text), "test", &bytes, &err), 0);
	assert_int_equal(tp_tracefile_from_memory(&trace, "test", bytes.data, bytes.size, &err), 0);
	assert_int_equal(tp_marks_read(&marks, &trace, NULL, &err), 0);
}

static void release(void)
{
	tp_marks_release(&marks);
	tp_tracefile_close(&trace);
	tp_buf_release(&bytes);
}

static void expect(uint64_t i, const char *kind, const char *name, uint64_t time, uint64_t end)
{
	assert_true(i < marks.count);
	assert_string_equal(tp_mark_kind_name(&marks.items[i]), kind);
	assert_string_equal(marks.items[i].name, name);
	assert_int_equal(marks.items[i].time, time);
	assert_int_equal(marks.items[i].end, end);
}

static void test_phases(void **state)
{
	(void)state;
	read_text("clock kind=tsc hz=1000000000\n\tpoint 0 5000\n\tpoint 100000 105000\n"
		  "marks\n\tmarked 5150 name=\"outside\"\n"
		  "chunk\n"
		  "\t100 phase-begin \"outer\"\n"
		  "\t110 enter 0x401000\n"
		  "\t120 phase-begin \"inner\"\n"
		  "\t130 mark \"loaded\"\n"
		  "\t140 phase-begin \"inner\"\n"
		  "\t150 phase-end \"inner\"\n"
		  "\t160 phase-end \"outer\"\n" // the other inner one never ends
		  "\t170 phase-end \"inner\"\n"
		  "\t180 phase-begin \"last\"\n"
		  "\t190 mark\n"
		  "chunk thread=1 tid=2\n"
		  "\t105 phase-end \"outer\"\n"); // begun by another thread
	assert_int_equal(marks.count, 9);
	expect(0, "phase", "outer", 100, 160);
	expect(1, "end", "outer", 105, 105);
	assert_int_equal(marks.items[1].thread, 1);
	expect(2, "phase", "inner", 120, TP_MARK_OPEN);
	expect(3, "mark", "loaded", 130, 130);
	expect(4, "phase", "inner", 140, 150);
	expect(5, "mark", "outside", 150, 150);
	assert_int_equal(marks.items[5].thread, TP_MARK_OUTSIDE);
	expect(6, "end", "inner", 170, 170);
	expect(7, "phase", "last", 180, TP_MARK_OPEN);
	expect(8, "mark", "unnamed", 190, 190);
	release();
}

// Names that are too long, that steer terminals, that stand alone or in pieces; raw words that look
// like marks.
static void test_odd(void **state)
{
	(void)state;
	read_text(
	    "chunk\n"
	    "\ttext 1633771873\n"
	    "\t10 mark \"0123456789012345678901234567890123456789012345678901234567890123\"\n"
	    "\t20 mark \"0123456789012345678901234567890123456789012345678901234567890123456789\"\n"
	    "\t30 mark \"a\\x1b[2J\\xff\"\n"
	    "\t40 mark \"a\\x00b\"\n"
	    "\t45 mark "
	    "\"01234567890123456789012345678901234567890123456789012345678901\xe2\x82\xac\"\n"
	    "\t46 mark \"0123456789012345678901234567890123456789012345678901234567890123\xc3\"\n"
	    "\t47 mark \"\x80\x80\"\n"
	    "\t50 mark \"ab\"\n"
	    "\tpad\n\tsync 1\n\ttext 99\n"
	    "\tlost 3\n\ttext 100\n"
	    "\tword 0x0040100300000009\n" // a resync, whose position looks like a mark
	    "\tword 0x0000000400000001\n"
	    "\tcounts 1\n\tword 0x0000000400000001\n\tword 0x0000000400000002\n"
	    "\tcounts 4000\n\tword 0x0000000400000003\n");
	assert_int_equal(marks.count, 8);
	assert_int_equal(strlen(marks.items[0].name), TEEPERF_MARK_NAME);
	assert_false(marks.items[0].cut);
	assert_int_equal(strlen(marks.items[1].name), TEEPERF_MARK_NAME);
	assert_true(marks.items[1].cut);
	assert_string_equal(marks.items[2].name, "a?[2J?");
	expect(3, "mark", "a", 40, 40);
	// A name is cut between two letters.
	assert_int_equal(strlen(marks.items[4].name), TEEPERF_MARK_NAME - 2);
	assert_true(marks.items[4].cut);
	assert_int_equal(strlen(marks.items[5].name), TEEPERF_MARK_NAME);
	assert_true(marks.items[5].cut);
	expect(6, "mark", "??", 47, 47);
	expect(7, "mark", "abc", 50, 50);
	release();
}

static uint32_t chunks; // of the text so far

static void add_marks(struct tp_buf *text, const char *record, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (i % 2000 == 0)
			tp_buf_addf(text, "chunk sequence=%" PRIu32 "\n", chunks++);
		tp_buf_addf(text, "\t%s\n", record);
	}
}

// Phases in phases: more than are searched, and more than are remembered. What ends is what began
// last, or nothing.
static void test_deep(void **state)
{
	(void)state;
	enum { DEEP = 70000, KNOWN = 1 << 15 };
	struct tp_buf text;
	tp_buf_init(&text);
	add_marks(&text, "1 phase-begin \"p\"", 3000);
	add_marks(&text, "2 phase-end \"p\"", 3000);
	read_text(text.data);
	assert_int_equal(marks.count, 3000);
	for (uint64_t i = 0; i < marks.count; i++)
		expect(i, "phase", "p", 1, 2);
	release();
	tp_buf_reset(&text);
	chunks = 0;
	add_marks(&text, "1 phase-begin \"p\"", DEEP);
	add_marks(&text, "2 phase-end \"p\"", DEEP);
	read_text(text.data);
	uint64_t ends = 0;
	uint64_t open = 0;
	for (uint64_t i = 0; i < marks.count; i++) {
		ends += marks.items[i].kind == TP_MARK_END;
		open += marks.items[i].end == TP_MARK_OPEN;
		// It was the older half that was forgotten.
		assert_true(marks.items[i].end != TP_MARK_OPEN || i < KNOWN);
	}
	assert_int_equal(open, KNOWN);
	assert_int_equal(ends, KNOWN);
	release();
	// Left for good again and again, by longjmp: what comes later has its ends.
	tp_buf_reset(&text);
	chunks = 0;
	add_marks(&text, "1 phase-begin \"left\"", 3000);
	tp_buf_add_string(
	    &text, "\t2 phase-begin \"p\"\n\t3 phase-end \"p\"\n\t4 phase-end \"q\"\n");
	read_text(text.data);
	expect(3000, "phase", "p", 2, 3);
	expect(3001, "end", "q", 4, 4);
	release();
	tp_buf_release(&text);
}

static void test_many(void **state)
{
	(void)state;
	struct tp_buf text;
	tp_buf_init(&text);
	enum { EACH = 8000 };
	for (int chunk = 0; chunk < TP_MARKS_MAX / EACH + 2; chunk++) {
		tp_buf_addf(&text, "chunk sequence=%d\n", chunk);
		for (int i = 0; i < EACH; i++)
			tp_buf_add_string(&text, i ? "\t1 mark\n" : "\t1 phase-begin \"p\"\n");
	}
	// The begin of the last phase is not kept: its end ends no other phase, and is no mark
	// itself.
	tp_buf_add_string(&text, "\t2 phase-end \"p\"\n\t3 phase-end \"p\"\n\t4 phase-end \"p\"\n");
	read_text(text.data);
	enum { ALL = (TP_MARKS_MAX / EACH + 2) * EACH };
	assert_int_equal(marks.count, TP_MARKS_MAX);
	assert_int_equal(marks.left_out, ALL - TP_MARKS_MAX);
	uint64_t ended = 0;
	for (uint64_t i = 0; i < marks.count; i++)
		if (marks.items[i].kind == TP_MARK_PHASE && marks.items[i].end != TP_MARK_OPEN)
			ended += marks.items[i].end;
	assert_int_equal(ended, 3 + 4);
	tp_buf_release(&text);
	release();
}

static void expect_range(const char *range, uint64_t wanted_from, uint64_t wanted_to)
{
	struct tp_err err;
	uint64_t from;
	uint64_t to;
	assert_int_equal(tp_marks_range(&marks, range, "test", &from, &to, &err), 0);
	assert_int_equal(from, wanted_from);
	assert_int_equal(to, wanted_to);
}

static void expect_none(const char *range, const char *what)
{
	struct tp_err err;
	uint64_t from;
	uint64_t to;
	assert_int_equal(tp_marks_range(&marks, range, "test", &from, &to, &err), TP_ERR_NOT_FOUND);
	if (!strstr(err.what, what))
		fail_msg("'%s' is not in '%s'", what, err.what);
}

static void test_ranges(void **state)
{
	(void)state;
	read_text("chunk\n"
		  "\t100 mark \"b\"\n"
		  "\t110 mark \"a\"\n"
		  "\t120 mark \"b\"\n"
		  "\t130 mark \"a\"\n"
		  "\t140 phase-begin \"p\"\n"
		  "\t150 mark \"x..y\"\n"
		  "\t160 phase-end \"p\"\n"
		  "\t170 phase-begin \"p\"\n"
		  "\t180 phase-end \"p\"\n"
		  "\t190 mark \"b#2\"\n"
		  "\t200 phase-begin \"open\"\n");
	expect_range("a..b", 110, 120);
	expect_range("a..mark:b", 110, 120);
	expect_range("a..a", 110, 130);
	expect_range("a..", 110, UINT64_MAX);
	expect_range("..a", 0, 110);
	expect_range("a#2..p", 130, 140);
	expect_range("p..p", 140, 170);
	expect_range("p", 140, 160);
	expect_range("p#2", 170, 180);
	expect_range("x..y..p", 150, 170);
	expect_range("x..y..", 150, UINT64_MAX);
	expect_range("b#2..open", 190, 200); // a name as it is comes first
	expect_none("a..c",
	    "no mark after the first one named 'c'; the trace has 'b', 'a', 'p', 'x..y', 'b#2', "
	    "'open'");
	expect_none("c..a", "no mark 'c'");
	expect_none("p#2..a", "no mark after the first one named 'a'");
	expect_none("b#3..", "no mark 'b#3'");
	expect_none("open", "no finished phase named 'open'");
	expect_none("a", "no finished phase named 'a'");
	release();
	read_text("chunk\n\t100 enter 0x401000\n");
	expect_none("a..b", "the trace has no marks");
	release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_phases),
	    cmocka_unit_test(test_odd), cmocka_unit_test(test_deep), cmocka_unit_test(test_many),
	    cmocka_unit_test(test_ranges)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
