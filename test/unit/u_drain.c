// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A drain that packs chunks, and what it does when the program has filled most of the log: chunks
// are then written as they are, until there is room again.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/trace/reader.h"
#include "common/chunks/chunk_codec.h"
#include "recorder/drain/drain.h"

#define TRACE "u_drain.trace"

enum { RECORDS = (TP_REGION_CHUNK_SIZE - 64) / 8 };

static struct tp_region region;
static struct tp_trace_writer writer;
static struct tp_clock_log clock_log;
static struct tp_drain drain;
static struct tp_err err;

// As a thread of the program fills one.
static void fill(uint64_t sequence)
{
	const uint32_t number = (uint32_t)sequence;
	struct teeperf_chunk *chunk = tp_region_chunk(&region, number);
	uint64_t *words = (uint64_t *)(void *)(chunk + 1);
	chunk->os_tid = 1;
	chunk->sequence = sequence;
	for (uint64_t i = 0; i < RECORDS; i++)
		words[i] = (sequence * RECORDS + i) << 32 | 0x1000;
	chunk->used = TP_REGION_CHUNK_SIZE;
	region.header->tail++;
	tp_store_release(&region.states[number], TEEPERF_CHUNK_DONE);
}

struct sections {
	uint32_t plain;
	uint32_t packed;
};

static struct sections count_sections(void)
{
	struct tp_source source;
	struct tp_problems problems = {0};
	struct tp_reader reader;
	struct tp_section section;
	struct sections count = {0};
	assert_int_equal(tp_source_open(&source, TRACE, &err), 0);
	assert_int_equal(tp_reader_init(&reader, &source, &problems, &err), 0);
	while (tp_reader_next(&reader, &section, &err) == 1) {
		count.plain += section.header.type == TEEPERF_SECTION_CHUNK;
		count.packed += section.header.type == TEEPERF_SECTION_PACKED;
		assert_false(section.damaged);
	}
	tp_reader_release(&reader);
	tp_source_close(&source);
	return count;
}

// FILLED of CHUNKS chunks are full when the drain begins.
static struct sections drain_all(
    uint32_t chunks, uint32_t filled, uint32_t mode, enum tp_drain_policy policy)
{
	const struct tp_region_options options = {.chunk_count = chunks,
	    .ready = (uint64_t)chunks * TP_REGION_CHUNK_SIZE,
	    .mode = mode,
	    .clock = TEEPERF_CLOCK_TSC};
	unlink(TRACE);
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	assert_int_equal(tp_trace_writer_open(&writer, TRACE, false, 1, &err), 0);
	tp_clock_log_init(&clock_log, TEEPERF_CLOCK_TSC, NULL);
	for (uint32_t i = 0; i < filled; i++)
		fill(i);
	drain = (struct tp_drain){
	    .region = &region, .writer = &writer, .clock_log = &clock_log, .policy = policy};
	assert_int_equal(tp_drain_start(&drain, &err), 0);
	const uint64_t all = policy == TP_DRAIN_END ? 0 : (uint64_t)filled * RECORDS * 8;
	while (tp_load_relaxed(&drain.record_bytes) < all)
		nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
	tp_drain_stop(&drain);
	tp_drain_finish(&drain);
	const uint64_t hurried = writer.hurried;
	assert_int_equal(tp_trace_writer_close(&writer, &err), 0);
	tp_region_release(&region);
	const struct sections count = count_sections();
	assert_int_equal(count.plain + count.packed, filled);
	assert_int_equal(count.plain, hurried);
	unlink(TRACE);
	return count;
}

// With 160 of 256 it is behind, so of 200 those that are there too many.
static void behind(void **state)
{
	(void)state;
	assert_int_equal(drain_all(256, 200, TEEPERF_MODE_STREAM, TP_DRAIN_NOW).plain, 41);
	assert_int_equal(drain_all(256, 256, TEEPERF_MODE_STREAM, TP_DRAIN_LATE).plain, 97);
}

static void not_behind(void **state)
{
	(void)state;
	assert_int_equal(drain_all(256, 159, TEEPERF_MODE_STREAM, TP_DRAIN_NOW).plain, 0);
	assert_int_equal(drain_all(256, 159, TEEPERF_MODE_STREAM, TP_DRAIN_LATE).plain, 0);
}

// No room is gained, or there is no hurry, or no log to speak of.
static void never(void **state)
{
	(void)state;
	assert_int_equal(drain_all(256, 200, TEEPERF_MODE_FULL, TP_DRAIN_NOW).plain, 0);
	assert_int_equal(drain_all(256, 200, TEEPERF_MODE_STREAM, TP_DRAIN_END).plain, 0);
	assert_int_equal(drain_all(TP_DRAIN_HURRY_CHUNKS / 2, TP_DRAIN_HURRY_CHUNKS / 2,
			     TEEPERF_MODE_STREAM, TP_DRAIN_NOW)
			     .plain,
	    0);
}

int main(void)
{
	if (!tp_packer_is_there())
		return 77;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(behind),
	    cmocka_unit_test(not_behind),
	    cmocka_unit_test(never),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
