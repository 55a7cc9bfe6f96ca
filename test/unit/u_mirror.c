// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The effect of a stream on a region: words go to their places in the tables and nowhere else,
// wherever a frame begins and ends; chunks go where the drain has room.
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "recorder/stream/thread.h"

enum { CHUNKS = 8 };
static struct tp_region region;
static struct tp_frames frames;
static struct tp_mirror mirror;
static struct tp_err err;

static int make(void **state)
{
	(void)state;
	const struct tp_region_options options = {
	    .chunk_count = CHUNKS, .mode = TEEPERF_MODE_STREAM, .clock = TEEPERF_CLOCK_TSC};
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	mirror = (struct tp_mirror){.region = &region};
	memset(&frames, 0, sizeof(frames));
	frames.start.region_size = 1 << 24;
	frames.start.modules_offset = 1 << 16;
	frames.start.module_capacity = 4;
	frames.start.threads_offset = 1 << 20;
	frames.start.thread_capacity = 8;
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	tp_region_release(&region);
	return 0;
}

// Words of `length` bytes that are their places in the log, as if it lay at 0x5500000000000000.
static const uint64_t HERE = UINT64_C(0x55) << 56;
static void send_words(uint64_t offset, uint64_t length)
{
	for (uint64_t i = 0; i < length / 8; i++)
		frames.payload[i] = HERE + offset + 8 * i;
	frames.frame = (struct teeperf_frame){.offset = offset, .length = length};
	tp_mirror_words(&mirror, &frames);
}

// Of the table at `words`, which lies at `offset` in the log, just bytes [from, end) have come.
static void table_has(
    const void *table, uint64_t offset, uint64_t size, uint64_t from, uint64_t end)
{
	const uint64_t *words = table;
	for (uint64_t i = 0; i < size / 8; i++) {
		const bool sent = 8 * i >= from && 8 * i < end;
		assert_int_equal(words[i], sent ? HERE + offset + 8 * i : 0);
	}
}

static void words_of_tables(void **state)
{
	(void)state;
	const uint64_t modules = frames.start.modules_offset;
	const uint64_t threads = frames.start.threads_offset;
	const uint64_t all_modules = TP_REGION_MODULES * sizeof(struct teeperf_module);
	const uint64_t all_threads = TP_REGION_THREADS * sizeof(struct teeperf_thread);
	// One that ends in the table, one that begins there and goes on behind it.
	send_words(modules - 64, 64 + 24);
	table_has(region.modules, modules, all_modules, 0, 24);
	send_words(modules + 4 * 512 - 16, 4096);
	for (uint64_t i = 4 * 512 / 8 - 2; i < all_modules / 8; i++)
		assert_int_equal(
		    ((uint64_t *)region.modules)[i], i < 4 * 512 / 8 ? HERE + modules + 8 * i : 0);
	send_words(threads + 64, 64);
	table_has(region.threads, threads, all_threads, 64, 128);
	// Far away from everything.
	send_words(UINT64_MAX - 71, 64);
	send_words(frames.start.chunks_offset, 64);
	table_has(region.threads, threads, all_threads, 64, 128);
}

// A log may say that its tables are larger than ours.
static void larger_tables(void **state)
{
	(void)state;
	frames.start.module_capacity = 2 * TP_REGION_MODULES;
	frames.start.thread_capacity = 2 * TP_REGION_THREADS;
	frames.start.threads_offset = UINT64_C(1) << 32;
	const uint64_t modules_end =
	    frames.start.modules_offset + TP_REGION_MODULES * sizeof(struct teeperf_module);
	const uint64_t threads_end =
	    frames.start.threads_offset + TP_REGION_THREADS * sizeof(struct teeperf_thread);
	const uint64_t first = *(uint64_t *)region.threads;
	send_words(modules_end - 8, 4096);
	// Behind our modules are our threads.
	assert_int_equal(*(uint64_t *)region.threads, first);
	assert_int_equal(
	    ((uint64_t *)(region.modules + TP_REGION_MODULES))[-1], HERE + modules_end - 8);
	const uint64_t behind = ((uint64_t *)(region.threads + TP_REGION_THREADS))[0];
	send_words(threads_end - 8, 4096);
	assert_int_equal(
	    ((uint64_t *)(region.threads + TP_REGION_THREADS))[-1], HERE + threads_end - 8);
	assert_int_equal(((uint64_t *)(region.threads + TP_REGION_THREADS))[0], behind);
}

// Only the program's part of the header, whatever else is sent.
static void words_of_the_header(void **state)
{
	(void)state;
	struct teeperf_log_header before;
	const size_t from = offsetof(struct teeperf_log_header, pid);
	const size_t end = offsetof(struct teeperf_log_header, crossings);
	memcpy(&before, region.header, sizeof(before));
	send_words(0, TEEPERF_LOG_HEADER_SIZE);
	assert_memory_equal(region.header, &before, from);
	assert_memory_equal(
	    (char *)region.header + end, (char *)&before + end, sizeof(before) - end);
	assert_int_equal(region.header->pid, HERE + from);
	assert_int_equal(region.header->switches[TEEPERF_SWITCHES - 1], HERE + end - 8);
	memset(&frames.start, 0x33, sizeof(frames.start));
	tp_mirror_start(&mirror, &frames);
	assert_memory_equal(region.header, &before, from);
	assert_int_equal(region.header->ended, UINT64_C(0x3333333333333333));
}

static void chunks(void **state)
{
	(void)state;
	struct teeperf_chunk *chunk = (void *)frames.payload;
	for (uint64_t n = 0; n < CHUNKS; n++) {
		chunk->sequence = n;
		chunk->used = frames.frame.length = sizeof(*chunk) + 8 * n;
		frames.payload[8] = n + 1;
		assert_true(tp_mirror_chunk(&mirror, &frames));
		assert_int_equal(region.header->tail, n + 1);
	}
	// There is no more until one of them has been freed.
	assert_false(tp_mirror_chunk(&mirror, &frames));
	assert_int_equal(region.header->tail, CHUNKS);
	uint32_t numbers[CHUNKS];
	assert_int_equal(tp_region_collect(&region, 1 << TEEPERF_CHUNK_DONE, numbers), CHUNKS);
	for (uint32_t n = 0; n < CHUNKS; n++) {
		const uint64_t *words = (const void *)tp_region_chunk(&region, numbers[n]);
		const struct teeperf_chunk *there = (const void *)words;
		assert_int_equal(there->sequence, n);
		// No word more than was sent.
		assert_int_equal(words[8], n ? n + 1 : 0);
	}
	// Slots that are of another ticket, or name a chunk that is not there.
	const uint64_t ticket = CHUNKS;
	const uint64_t wrong[] = {0, TEEPERF_SUPPLY_SLOT(ticket - 1, 3),
	    TEEPERF_SUPPLY_SLOT(ticket + 1, 3), TEEPERF_SUPPLY_SLOT(ticket, CHUNKS), UINT64_MAX};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		region.supply[ticket % CHUNKS] = wrong[i];
		assert_false(tp_mirror_chunk(&mirror, &frames));
	}
	region.supply[ticket % CHUNKS] = TEEPERF_SUPPLY_SLOT(ticket, 5);
	chunk->sequence = 77;
	assert_true(tp_mirror_chunk(&mirror, &frames));
	const struct teeperf_chunk *there = (const void *)tp_region_chunk(&region, 5);
	assert_int_equal(there->sequence, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(words_of_tables, make, unmake),
	    cmocka_unit_test_setup_teardown(larger_tables, make, unmake),
	    cmocka_unit_test_setup_teardown(words_of_the_header, make, unmake),
	    cmocka_unit_test_setup_teardown(chunks, make, unmake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
