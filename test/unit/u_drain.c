// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A drain that packs chunks, and what it does when the program has filled most of the log: chunks
// are then written as they are, until there is room again. The tables that a trace has when it is
// flushed, behind a snapshot, and at the end.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
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

// ---- tables

static void begin(uint32_t mode, enum tp_drain_policy policy)
{
	const struct tp_region_options options = {.chunk_count = 8,
	    .ready = UINT64_C(8) * TP_REGION_CHUNK_SIZE,
	    .mode = mode,
	    .clock = TEEPERF_CLOCK_TSC};
	unlink(TRACE);
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	assert_int_equal(tp_trace_writer_open(&writer, TRACE, false, 0, &err), 0);
	tp_clock_log_init(&clock_log, TEEPERF_CLOCK_TSC, NULL);
	region.header->thread_count = 1;
	region.threads[0].os_tid = 1;
	drain = (struct tp_drain){
	    .region = &region, .writer = &writer, .clock_log = &clock_log, .policy = policy};
}

static void end(void)
{
	assert_int_equal(tp_trace_writer_close(&writer, &err), 0);
	tp_region_release(&region);
	unlink(TRACE);
}

// How many sections of TYPE the file PATH has; the last one's payload, as much as fits, in TO.
static uint32_t last_section(const char *path, uint32_t type, void *to, uint64_t size)
{
	struct tp_source source;
	struct tp_problems problems = {0};
	struct tp_reader reader;
	struct tp_section section;
	uint32_t count = 0;
	assert_int_equal(tp_source_open(&source, path, &err), 0);
	assert_int_equal(tp_reader_init(&reader, &source, &problems, &err), 0);
	memset(to, 0, size);
	while (tp_reader_next(&reader, &section, &err) == 1) {
		const uint64_t has = section.header.size;
		if (section.header.type != type)
			continue;
		count++;
		memcpy(to, section.payload, has < size ? has : size);
	}
	tp_reader_release(&reader);
	tp_source_close(&source);
	return count;
}

// A trace that was flushed is of use to who copies it then, also if the recorder is killed later.
static void a_flush_writes_tables(void **state)
{
	(void)state;
	struct teeperf_thread thread;
	struct teeperf_trace_clock clock;
	begin(TEEPERF_MODE_STREAM, TP_DRAIN_END);
	assert_int_equal(tp_drain_start(&drain, &err), 0);
	for (uint64_t lost = 1; lost < 4; lost++) {
		tp_store_relaxed(&region.threads[0].lost, lost);
		assert_true(tp_drain_flush(&drain, 60000));
		assert_true(last_section(TRACE, TEEPERF_SECTION_THREADS, &thread, sizeof(thread)));
		assert_int_equal(thread.lost, lost);
		assert_in_range(last_section(TRACE, TEEPERF_SECTION_CLOCK, &clock, sizeof(clock)),
		    1 + lost, UINT32_MAX);
	}
	tp_drain_stop(&drain);
	tp_drain_finish(&drain);
	end();
}

static void no_beginning(void *context)
{
	(void)context;
}

// What was written to a snapshot is not in the recording's own trace yet.
static void a_snapshot_is_another_trace(void **state)
{
	(void)state;
	static struct teeperf_module modules[2];
	static const uint64_t start_ns = 1;
	begin(TEEPERF_MODE_RING, TP_DRAIN_END);
	drain.snapshots.begin = no_beginning;
	drain.snapshots.start_ns = &start_ns;
	region.header->module_count = 2;
	region.header->switches[0] = 100 << 1;
	region.header->switch_count = 1;
	assert_int_equal(tp_drain_start(&drain, &err), 0);
	assert_true(tp_drain_flush(&drain, 60000));
	tp_drain_stop(&drain);
	assert_int_equal(
	    last_section(TRACE ".snapshot-1", TEEPERF_SECTION_MODULES, modules, sizeof(modules)),
	    1);
	// If we were killed here: the modules are in the trace, or will be written next.
	const bool written =
	    last_section(TRACE, TEEPERF_SECTION_MODULES, modules, sizeof(modules)) != 0;
	assert_int_equal(drain.modules_seen, written ? 2 : 0);
	uint64_t word;
	assert_int_equal(
	    last_section(TRACE ".snapshot-1", TEEPERF_SECTION_SWITCHES, &word, sizeof(word)), 1);
	assert_int_equal(word, 100 << 1);
	const bool told = last_section(TRACE, TEEPERF_SECTION_SWITCHES, &word, sizeof(word)) != 0;
	assert_int_equal(drain.switches_written, told ? sizeof(word) : 0);
	tp_drain_finish(&drain);
	end();
	unlink(TRACE ".snapshot-1");
}

// A thread that ends, and loses, while the rest is taken.
static void end_thread(void *context, const struct teeperf_chunk *chunk)
{
	(void)context;
	(void)chunk;
	region.threads[0].ended = 1;
	region.threads[0].lost = 5;
	region.threads[0].chunks = 9;
}

static void the_end_is_read_last(void **state)
{
	(void)state;
	struct teeperf_thread thread;
	begin(TEEPERF_MODE_STREAM, TP_DRAIN_END);
	drain.see = end_thread;
	region.threads[0].chunks = 1;
	fill(0);
	assert_int_equal(tp_drain_start(&drain, &err), 0);
	tp_drain_stop(&drain);
	tp_drain_finish(&drain);
	assert_true(last_section(TRACE, TEEPERF_SECTION_THREADS, &thread, sizeof(thread)) != 0);
	assert_int_equal(thread.ended, 1);
	assert_int_equal(thread.lost, 5);
	// A chunk that it has taken since then is none that the trace should have.
	assert_int_equal(thread.chunks, 1);
	end();
}

// What threads still own at the end is there, too, up to the last word that they wrote.
static void owned_chunks_are_taken(void **state)
{
	(void)state;
	struct teeperf_chunk chunk;
	begin(TEEPERF_MODE_STREAM, TP_DRAIN_END);
	fill(0);
	fill(1);
	struct teeperf_chunk *owned = tp_region_chunk(&region, 1);
	uint64_t *words = (uint64_t *)(void *)(owned + 1);
	memset(words + 7, 0, (RECORDS - 7) * 8);
	owned->used = 0;
	tp_store_release(&region.states[1], TEEPERF_CHUNK_OWNED);
	assert_int_equal(tp_drain_start(&drain, &err), 0);
	tp_drain_stop(&drain);
	tp_drain_finish(&drain);
	assert_int_equal(last_section(TRACE, TEEPERF_SECTION_CHUNK, &chunk, sizeof(chunk)), 2);
	assert_int_equal(chunk.sequence, 1);
	assert_int_equal(chunk.used, sizeof(chunk) + 7 * 8);
	end();
}

// Switches that went with the chunks that made room for the end are lost.
static void cut_switches_are_lost(void **state)
{
	(void)state;
	static uint64_t chunk[TP_REGION_CHUNK_SIZE / 8];
	static struct {
		struct teeperf_trace_sched head;
		struct teeperf_trace_sched_switch switches[3];
	} sched;
	struct rlimit roomy;
	begin(TEEPERF_MODE_STREAM, TP_DRAIN_END);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, chunk, sizeof(chunk));
	tp_trace_writer_add(&writer, TEEPERF_SECTION_SCHED, &sched, sizeof(sched));
	fill(0);
	assert_int_equal(tp_drain_start(&drain, &err), 0);
	tp_drain_stop(&drain);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &roomy), 0);
	const struct rlimit limit = {writer.offset + 1000, roomy.rlim_max};
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	tp_drain_finish(&drain);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &roomy), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(writer.missing.chunks, 2);
	assert_int_equal(writer.chunks, 0);
	assert_int_equal(drain.sched.lost, 3);
	assert_int_equal(tp_trace_writer_close(&writer, &err), TP_ERR_SYSTEM);
	tp_region_release(&region);
	unlink(TRACE);
}

int main(void)
{
	if (!tp_packer_is_there())
		return 77;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(behind),
	    cmocka_unit_test(not_behind),
	    cmocka_unit_test(never),
	    cmocka_unit_test(a_flush_writes_tables),
	    cmocka_unit_test(a_snapshot_is_another_trace),
	    cmocka_unit_test(the_end_is_read_last),
	    cmocka_unit_test(owned_chunks_are_taken),
	    cmocka_unit_test(cut_switches_are_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
