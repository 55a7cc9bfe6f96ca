// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The trace's statements about its chunks, threads and modules, checked against its contents.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/tracefile.h"

static struct tp_tracefile trace;
static struct tp_err err;

static void begin(const struct tp_chunk *chunks, size_t count)
{
	memset(&trace, 0, sizeof(trace));
	tp_source_from_memory(&trace.source, "trace", "", 0);
	trace.source.size = 999;
	trace.chunks = malloc((count + 1) * sizeof(*chunks));
	assert_non_null(trace.chunks);
	if (count)
		memcpy(trace.chunks, chunks, count * sizeof(*chunks));
	trace.chunk_count = count;
}

static void end(void)
{
	free(trace.chunks);
	free(trace.threads);
}

static void chunks_are_sorted_and_joined_with_the_table(void **state)
{
	(void)state;
	const struct tp_chunk chunks[] = {
	    {.offset = 10, .thread = 4, .sequence = 1, .os_tid = 44},
	    {.offset = 20, .thread = 1, .sequence = 0, .os_tid = 11},
	    {.offset = 30, .thread = 4, .sequence = 0, .os_tid = 44},
	    {.offset = 40, .thread = UINT32_MAX, .sequence = 0, .os_tid = 99},
	};
	struct teeperf_thread table[4] = {
	    {.os_tid = 5, .lost = 7, .ended = 1, .name = "main"},
	    {.os_tid = 11, .name = "0123456789abcde"},
	    {.os_tid = 0, .lost = 100}, // not filled
	    {.os_tid = 33},
	};
	// Not ended by a NUL, as only damage can make it.
	memset(table[3].name, 'x', sizeof(table[3].name));
	begin(chunks, 4);
	assert_int_equal(tp_verify_threads(&trace, table, 4, &err), 0);
	assert_int_equal(trace.problems.count, 0);
	assert_int_equal(trace.thread_count, 5);
	static const uint32_t numbers[] = {0, 1, 3, 4, UINT32_MAX};
	static const uint64_t counts[] = {0, 1, 0, 2, 1};
	static const uint64_t tids[] = {5, 11, 33, 44, 99};
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(trace.threads[i].number, numbers[i]);
		assert_int_equal(trace.threads[i].chunk_count, counts[i]);
		assert_int_equal(trace.threads[i].os_tid, tids[i]);
		assert_int_equal(trace.threads[i].missing, 0);
	}
	assert_int_equal(trace.threads[0].lost, 7);
	assert_true(trace.threads[0].ended);
	assert_false(trace.threads[1].ended);
	assert_string_equal(trace.threads[1].name, "0123456789abcde");
	assert_string_equal(trace.threads[2].name, "xxxxxxxxxxxxxxxx");
	assert_int_equal(trace.threads[3].chunks[0].offset, 30);
	assert_int_equal(trace.threads[3].chunks[1].offset, 10);
	end();
}

static void duplicates_and_gaps(void **state)
{
	(void)state;
	const struct tp_chunk chunks[] = {
	    {.offset = 50, .thread = 0, .sequence = 3},
	    {.offset = 10, .thread = 0, .sequence = 0},
	    {.offset = 30, .thread = 0, .sequence = 3},
	    {.offset = 60, .thread = 0, .sequence = UINT64_MAX},
	    {.offset = 20, .thread = 2, .sequence = 1},
	};
	begin(chunks, 5);
	assert_int_equal(tp_verify_threads(&trace, NULL, 0, &err), 0);
	assert_int_equal(trace.chunk_count, 4);
	assert_int_equal(trace.thread_count, 2);
	// The chunk that comes first in the file is the one that counts.
	assert_int_equal(trace.threads[0].chunks[1].offset, 30);
	assert_true(trace.threads[0].missing == UINT64_MAX - 2);
	assert_int_equal(trace.threads[1].missing, 1);
	static const struct {
		uint64_t offset;
		const char *what;
	} problems[] = {
	    {50, "a second chunk 3 of thread 0 is not used"},
	    {30, "2 chunks of thread 0 are missing before chunk 3"},
	    {60, "18446744073709551611 chunks of thread 0 are missing before chunk "
		 "18446744073709551615"},
	    {20, "1 chunks of thread 2 are missing before chunk 1"},
	};
	assert_int_equal(trace.problems.count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(trace.problems.kept[i].offset, problems[i].offset);
		assert_string_equal(trace.problems.kept[i].what, problems[i].what);
		assert_string_equal(trace.problems.kept[i].file, "trace");
	}
	end();
}

static void an_empty_trace(void **state)
{
	(void)state;
	const struct teeperf_thread empty[2] = {{0}};
	begin(NULL, 0);
	assert_int_equal(tp_verify_threads(&trace, empty, 2, &err), 0);
	assert_int_equal(trace.thread_count, 0);
	assert_int_equal(trace.problems.count, 0);
	end();
}

static void check_end(
    bool has_end, bool stopped, struct teeperf_trace_end said, const char *what, uint64_t offset)
{
	static const struct tp_chunk chunks[] = {{.thread = 0}, {.thread = 1}};
	begin(chunks, 2);
	trace.module_count = 3;
	trace.has_end = has_end;
	trace.end = said;
	tp_verify_end(&trace, stopped);
	assert_int_equal(trace.problems.count, what != NULL);
	if (what) {
		assert_string_equal(trace.problems.kept[0].what, what);
		assert_true(trace.problems.kept[0].offset == offset);
	}
	end();
}

static void the_end_section(void **state)
{
	(void)state;
	check_end(
	    true, false, (struct teeperf_trace_end){.chunk_count = 2, .module_count = 3}, NULL, 0);
	check_end(true, false, (struct teeperf_trace_end){.chunk_count = 2}, NULL, 0);
	check_end(true, false, (struct teeperf_trace_end){.chunk_count = UINT64_MAX},
	    "2 chunks are usable, but 18446744073709551615 were written", TP_ERR_NO_OFFSET);
	check_end(true, true, (struct teeperf_trace_end){.chunk_count = 1},
	    "2 chunks are usable, but 1 were written", TP_ERR_NO_OFFSET);
	check_end(true, false, (struct teeperf_trace_end){.chunk_count = 2, .module_count = 70000},
	    "3 modules are described, but 70000 were loaded: calls in the others were not recorded",
	    TP_ERR_NO_OFFSET);
	check_end(false, false, (struct teeperf_trace_end){0},
	    "the trace has no end section: the recorder was killed, or the file was cut; the last "
	    "events may be missing",
	    999);
	// Why reading broke off has been said already.
	check_end(false, true, (struct teeperf_trace_end){0}, NULL, 0);
}

// Those that are missing in between count as well as the last ones.
static void gaps_and_cuts_add_up(void **state)
{
	(void)state;
	static const struct tp_chunk chunks[] = {{.thread = 0, .sequence = 2},
	    {.thread = 0, .sequence = 4}, {.thread = 1, .sequence = 0}};
	const struct teeperf_thread table[] = {
	    {.os_tid = 5, .chunks = 6}, {.os_tid = 6, .chunks = 3}};
	begin(chunks, 3);
	assert_int_equal(tp_verify_threads(&trace, table, 2, &err), 0);
	trace.has_end = true;
	trace.end.chunk_count = 3;
	trace.header.chunk_shift = 16;
	tp_verify_end(&trace, false);
	assert_int_equal(trace.threads[0].missing, 2 + 1);
	assert_int_equal(trace.threads[0].cut, 1);
	assert_int_equal(trace.threads[1].cut, 2);
	assert_int_equal(trace.lacks.chunks, 2 + 1 + 1 + 2);
	end();
}

// In a trace of a flight recorder, missing events were overwritten: that is not a problem.
static void rings_lack_what_was_overwritten(void **state)
{
	(void)state;
	const struct tp_chunk chunks[] = {
	    {.offset = 10, .thread = 0, .sequence = 1, .os_tid = 5},
	    {.offset = 20, .thread = 0, .sequence = 9, .os_tid = 5},
	    {.offset = 30, .thread = 0, .sequence = 8, .os_tid = 5},
	    {.offset = 40, .thread = 3, .sequence = 4, .os_tid = 6},
	};
	const struct teeperf_thread table[] = {
	    {.os_tid = 5, .chunks = 10},
	    {.os_tid = 7, .chunks = 3, .ended = 1},
	    {.os_tid = 8},
	    {.os_tid = 6, .chunks = 5, .first = 4},
	    {.os_tid = 9, .chunks = 6, .first = 4},
	};
	static const uint64_t overwritten[] = {1 + 6, 3, 0, 0, 2};
	begin(chunks, 4);
	trace.rings = true;
	assert_int_equal(tp_verify_threads(&trace, table, 5, &err), 0);
	assert_int_equal(trace.problems.count, 0);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(trace.threads[i].overwritten, overwritten[i]);
		assert_int_equal(trace.threads[i].missing, 0);
		assert_int_equal(trace.threads[i].cut, 0);
	}
	end();
}

// A thread whose table says how many chunks it took, of which the trace has the first two.
static void check_cut(
    uint64_t taken, struct teeperf_trace_end said, uint64_t chunks, const char *what)
{
	static const struct tp_chunk there[] = {
	    {.thread = 0, .sequence = 0}, {.thread = 0, .sequence = 1}};
	const struct teeperf_thread table[] = {{.os_tid = 5, .chunks = taken}};
	begin(there, 2);
	trace.header.chunk_shift = 16;
	assert_int_equal(tp_verify_threads(&trace, table, 1, &err), 0);
	trace.has_end = true;
	trace.end = said;
	tp_verify_end(&trace, false);
	assert_int_equal(trace.lacks.chunks, chunks);
	assert_int_equal(trace.lacks.open, said.unwritten >> TEEPERF_SECTION_CHUNK & 1);
	assert_int_equal(trace.lacks.more, (chunks - said.missing_chunks) * (65536 - 64) / 8);
	assert_int_equal(trace.problems.count, what ? 1 + (said.chunk_count != 2) : 0);
	if (what)
		assert_string_equal(trace.problems.kept[said.chunk_count != 2].what, what);
	end();
}

// One chunk is enough; and what the threads' table and the end say is of the same chunks, so that
// the larger number counts.
static void the_last_chunks_of_a_thread(void **state)
{
	(void)state;
	check_cut(2, (struct teeperf_trace_end){.chunk_count = 2}, 0, NULL);
	check_cut(3, (struct teeperf_trace_end){.chunk_count = 2}, 1,
	    "the last 1 chunks of thread 0 are missing");
	check_cut(7, (struct teeperf_trace_end){.chunk_count = 4}, 5,
	    "the last 5 chunks of thread 0 are missing");
	check_cut(3, (struct teeperf_trace_end){.chunk_count = 6}, 4,
	    "the last 1 chunks of thread 0 are missing");
	check_cut(4, (struct teeperf_trace_end){.chunk_count = 2, .missing_chunks = 2}, 2,
	    "2 chunks with 0 events could not be written during the recording");
	// Chunks of which nobody knows how many there were.
	check_cut(2,
	    (struct teeperf_trace_end){
		.chunk_count = 2, .unwritten = UINT32_C(1) << TEEPERF_SECTION_CHUNK},
	    0, "chunks with an unknown number of events are missing");
	// Without a table of threads.
	check_cut(0, (struct teeperf_trace_end){.chunk_count = 2, .missing_chunks = 3}, 3,
	    "3 chunks with 0 events could not be written during the recording");
}

// A ring of which nothing was written: what the recorder says is missing was not overwritten.
static void rings_that_were_not_written(void **state)
{
	(void)state;
	const struct teeperf_thread table[] = {
	    {.os_tid = 5, .chunks = 7}, {.os_tid = 6, .chunks = 3}, {.os_tid = 7, .chunks = 3}};
	struct teeperf_trace_missing missing[] = {{.thread = 0, .chunks = 2, .events = 9},
	    {.thread = 1, .chunks = 5}, {.thread = 9, .chunks = 1}};
	static const uint64_t overwritten[] = {5, 0, 3};
	begin(NULL, 0);
	trace.rings = true;
	trace.kept[TEEPERF_SECTION_MISSING] =
	    (struct tp_section_parts){.items = missing, .count = 3};
	assert_int_equal(tp_verify_threads(&trace, table, 3, &err), 0);
	tp_verify_end(&trace, true);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(trace.threads[i].overwritten, overwritten[i]);
	assert_int_equal(trace.threads[0].unwritten.events, 9);
	assert_true(trace.lacks.open);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(chunks_are_sorted_and_joined_with_the_table),
	    cmocka_unit_test(duplicates_and_gaps),
	    cmocka_unit_test(the_last_chunks_of_a_thread),
	    cmocka_unit_test(gaps_and_cuts_add_up),
	    cmocka_unit_test(rings_that_were_not_written),
	    cmocka_unit_test(rings_lack_what_was_overwritten),
	    cmocka_unit_test(an_empty_trace),
	    cmocka_unit_test(the_end_section),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
