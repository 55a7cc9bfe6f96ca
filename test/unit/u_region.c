// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared region: layout, supply and growth, as the runtime would find them.
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/drain/drain.h"
#include "recorder/region/log_guard.h"
#include "recorder/region/region.h"

static struct tp_region region;
static struct tp_err err;
static const uint64_t CHUNK = TP_REGION_CHUNK_SIZE;
static const uint64_t READY = (uint64_t)TP_REGION_AHEAD_CHUNKS * TP_REGION_CHUNK_SIZE;

static const uint64_t hashes[] = {3, 5, 9};

static int try_to_create(uint64_t size, uint64_t ready)
{
	const struct tp_region_options options = {.size = size,
	    .ready = ready,
	    .mode = TEEPERF_MODE_STREAM,
	    .clock = TEEPERF_CLOCK_TSC,
	    .only = {TEEPERF_ONLY_REST, hashes, 3}};
	memset(&err, 0, sizeof(err));
	return tp_region_create(&region, &options, &err);
}

static void create(uint64_t chunks)
{
	if (try_to_create(chunks * CHUNK, READY))
		fail_msg("%s", err.what);
}

// In a small table of threads, the memory behind it belongs to others.
static void a_small_table_ends(void **state)
{
	(void)state;
	const struct tp_region_options options = {.chunk_count = 8,
	    .small_tables = true,
	    .mode = TEEPERF_MODE_STREAM,
	    .clock = TEEPERF_CLOCK_TSC};
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	assert_true(region.thread_capacity < TP_REGION_THREADS);
	struct teeperf_thread *threads = region.header ? (void *)region.threads : NULL;
	threads[region.thread_capacity].lost = UINT64_MAX;
	assert_false(tp_region_is_forged(&region));
	threads[region.thread_capacity - 1].lost = UINT64_MAX;
	assert_true(tp_region_is_forged(&region));
	tp_region_release(&region);
}

// A chunk that the program has from the beginning: anywhere, with memory, out, and never supplied.
static void owned_chunk(void **state)
{
	(void)state;
	for (uint32_t number = 0; number < 64; number += 21) {
		const struct tp_region_options options = {.chunk_count = 64,
		    .ready = 16 * CHUNK,
		    .low_chunks = 16,
		    .step_chunks = 16,
		    .owned = number + 1,
		    .mode = TEEPERF_MODE_STREAM,
		    .clock = TEEPERF_CLOCK_TSC};
		assert_int_equal(tp_region_create(&region, &options, &err), 0);
		uint64_t *states = region.states;
		states[number] = TEEPERF_CHUNK_OWNED;
		uint32_t numbers[64];
		assert_int_equal(tp_region_collect(&region, 1 << TEEPERF_CHUNK_OWNED, numbers), 1);
		assert_int_equal(numbers[0], number);
		while (region.committed < region.chunk_count) {
			region.header->tail = region.header->head;
			tp_region_grow(&region);
		}
		assert_int_equal(region.head, 63);
		for (uint32_t i = 0; i < 63; i++)
			assert_int_not_equal(region.supply[i] & 0xffffff, number);
		tp_region_withdraw(&region, number);
		assert_int_equal(tp_region_collect(&region, 1 << TEEPERF_CHUNK_OWNED, numbers), 0);
		tp_region_supply(&region, number);
		assert_int_equal(region.supply[63] & 0xffffff, number);
		tp_region_release(&region);
	}
	// Numbers come from the program.
	const struct tp_region_options beyond = {.chunk_count = 64,
	    .ready = 16 * CHUNK,
	    .owned = 65,
	    .mode = TEEPERF_MODE_STREAM,
	    .clock = TEEPERF_CLOCK_TSC};
	assert_int_equal(tp_region_create(&region, &beyond, &err), 0);
	assert_int_equal(region.owned, 0);
	tp_region_release(&region);
}

static void layout(void **state)
{
	(void)state;
	create(16);
	const struct teeperf_log_header *header = region.header;
	assert_true(header->magic == TEEPERF_LOG_MAGIC);
	assert_int_equal(header->chunk_count, 16);
	assert_int_equal((uintptr_t)region.map % CHUNK, 0);
	assert_int_equal(header->chunks_offset % CHUNK, 0);
	assert_int_equal(header->region_size, header->chunks_offset + 16 * CHUNK);
	assert_true(header->supply_offset >= TEEPERF_LOG_HEADER_SIZE);
	assert_true(header->state_offset >= header->supply_offset + 16 * 8);
	assert_true(header->modules_offset >= header->state_offset + 16 * 8);
	assert_true(
	    header->threads_offset >=
	    header->modules_offset + header->module_capacity * sizeof(struct teeperf_module));
	assert_true(header->chunks_offset >=
		    header->threads_offset +
			header->thread_capacity * sizeof(struct teeperf_thread) + 3 * 8);
	assert_int_equal(header->only, TEEPERF_ONLY_REST);
	assert_int_equal(header->only_count, 3);
	assert_memory_equal((char *)header + header->only_offset, hashes, sizeof(hashes));
	struct stat info;
	assert_int_equal(stat(region.path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal((uint64_t)info.st_size, header->region_size);
	char path[sizeof(region.path)];
	strcpy(path, region.path);
	assert_int_equal(access(path, F_OK), 0);
	char name[TP_REGION_NAME_SIZE];
	tp_region_name(name, (uint32_t)getpid(), region.id);
	assert_string_equal(path + sizeof(TP_REGION_FOLDER), name);
	tp_region_release(&region);
	assert_int_equal(access(path, F_OK), -1);
}

// All chunks are supplied once, in slots that their tickets find.
static void check_supply(uint64_t tickets)
{
	assert_int_equal(region.header->head, tickets);
	for (uint64_t t = 0; t < tickets; t++) {
		const uint64_t slot = region.supply[t & (region.chunk_count - 1)];
		assert_true(slot == TEEPERF_SUPPLY_SLOT(t, t));
	}
}

static void supply(void **state)
{
	(void)state;
	create(8);
	check_supply(8);
	tp_region_supply(&region, 5);
	assert_int_equal(region.header->head, 9);
	assert_true(region.supply[0] == TEEPERF_SUPPLY_SLOT(8, 5));
	tp_region_release(&region);
}

// Once enough are supplied, others wait. Those that were used last come first.
static void warm(void **state)
{
	(void)state;
	const struct tp_region_options options = {.size = 64 * CHUNK,
	    .ready = 16 * CHUNK,
	    .low_chunks = 1,
	    .warm_first = 8,
	    .mode = TEEPERF_MODE_STREAM};
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	check_supply(8);
	assert_int_equal(region.waiting_count, 8);
	assert_true(!tp_region_grow(&region));
	// Two are taken, and come back.
	for (uint32_t number = 0; number < 2; number++) {
		region.header->tail++;
		tp_region_withdraw(&region, number);
		tp_region_supply(&region, number);
	}
	assert_int_equal(region.header->head, 10);
	assert_true(region.supply[9] == TEEPERF_SUPPLY_SLOT(9, 1));
	// Of five that are taken, none has come back: the newest that waits follows.
	region.header->tail += 5;
	tp_region_supply(&region, 2);
	assert_int_equal(region.waiting_count, 8);
	assert_true(!tp_region_grow(&region)); // half of them are there yet
	region.header->tail++;
	assert_true(tp_region_grow(&region));
	assert_true(region.supply[11] == TEEPERF_SUPPLY_SLOT(11, 15));
	assert_int_equal(region.header->head - region.header->tail, 8);
	assert_int_equal(region.waiting_count, 3);
	// What comes back then waits, and is the first to go.
	tp_region_supply(&region, 3);
	assert_int_equal(region.waiting_count, 4);
	region.header->tail += 5;
	assert_true(tp_region_grow(&region));
	assert_true(region.supply[16] == TEEPERF_SUPPLY_SLOT(16, 3));
	// All that is left. A lie gets no more than there is.
	region.header->tail += 1000;
	while (tp_region_grow(&region))
		;
	assert_int_equal(region.waiting_count, 0);
	assert_int_equal(region.committed, 64);
	tp_region_release(&region);
}

// The supply follows the program: as much as it takes in 16 ms, and more if we come late; half of
// that a quarter of a second later.
static void follows_pace(void **state)
{
	(void)state;
	const struct tp_region_options options = {.size = 1024 * CHUNK,
	    .ready = 512 * CHUNK,
	    .low_chunks = 1,
	    .warm_first = 256,
	    .warm_least = 64,
	    .mode = TEEPERF_MODE_STREAM};
	const uint64_t ms = 1000 * 1000;
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	// Nothing is known before the program takes any.
	assert_false(tp_region_follow_pace(&region, 1 * ms, 0));
	assert_int_equal(region.warm, 256);
	region.header->tail = 1;
	tp_region_follow_pace(&region, 2 * ms, 0);
	assert_false(tp_region_follow_pace(&region, 3 * ms, 0));
	assert_int_equal(region.warm, 64);
	region.header->tail += 10;
	assert_true(tp_region_follow_pace(&region, 4 * ms, 0));
	assert_int_equal(region.warm, 10 * 16);
	region.header->tail += 20;
	assert_true(tp_region_follow_pace(&region, 6 * ms, 1 * ms));
	assert_in_range(region.warm, 10 * 20 - 1, 10 * 20);
	assert_in_range(region.head, 256, 256);
	// In 4 ms it may take an eighth of them: we come soon.
	assert_true(tp_region_follow_pace(&region, 256 * ms, 0));
	assert_in_range(region.warm, 5 * 16, 5 * 20);
	assert_false(tp_region_follow_pace(&region, 5000 * ms, 0));
	assert_int_equal(region.warm, 64);
	// A tail that went back is no pace, and one that is a lie makes it no more than there is.
	region.header->tail = 2;
	tp_region_follow_pace(&region, 5001 * ms, 0);
	assert_int_equal(region.warm, 64);
	region.header->tail = 3;
	tp_region_follow_pace(&region, 5002 * ms, UINT64_C(1) << 60);
	assert_int_equal(region.warm, 1024);
	// The program has run out while others waited: from now on none waits.
	assert_true(region.waiting_count > 0);
	region.header->tail = region.head;
	tp_region_follow_pace(&region, 5003 * ms, 0);
	assert_int_equal(region.warm, 0);
	while (tp_region_grow(&region))
		;
	assert_int_equal(region.waiting_count, 0);
	tp_region_supply(&region, 0);
	assert_int_equal(region.waiting_count, 0);
	assert_false(tp_region_follow_pace(&region, 9000 * ms, 0));
	assert_int_equal(region.warm, 0);
	tp_region_release(&region);
}

// The number of different chunks that a program gets which takes 5,000, one each MS, and of which
// the drain has two at most.
static uint32_t different_chunks(uint32_t warm)
{
	const struct tp_region_options options = {.size = 1024 * CHUNK,
	    .ready = 1024 * CHUNK,
	    .warm_first = warm,
	    .warm_least = warm,
	    .mode = TEEPERF_MODE_STREAM};
	bool used[1024] = {false};
	uint32_t numbers[5000];
	uint32_t count = 0;
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	for (uint64_t taken = 0; taken < 5000; taken++) {
		const uint64_t slot = region.supply[taken & (region.chunk_count - 1)];
		assert_true(taken < region.head);
		numbers[taken] = (uint32_t)slot & ((1u << TEEPERF_SUPPLY_CHUNK_BITS) - 1);
		count += !used[numbers[taken]];
		used[numbers[taken]] = true;
		region.header->tail = taken + 1;
		tp_region_follow_pace(&region, (taken + 1) * 1000 * 1000, 0);
		tp_region_grow(&region);
		if (taken < 2)
			continue;
		tp_region_withdraw(&region, numbers[taken - 2]);
		tp_region_supply(&region, numbers[taken - 2]);
	}
	tp_region_release(&region);
	return count;
}

// What a page fault of the program costs is paid for few pages.
static void few_are_used(void **state)
{
	(void)state;
	assert_int_equal(different_chunks(0), 1024);
	assert_in_range(different_chunks(64), 3, 66);
}

static void growth(void **state)
{
	(void)state;
	const uint64_t first = TP_REGION_AHEAD_CHUNKS;
	create(2 * first);
	// However long that has taken.
	region.eases_in = false;
	region.low_chunks = TP_REGION_LOW_FIRST_CHUNKS;
	check_supply(first);
	assert_true(!tp_region_grow(&region)); // nothing was drawn yet
	assert_int_equal(region.committed, first);
	// Draw chunks until the supply is just low.
	region.header->tail = first - TP_REGION_LOW_FIRST_CHUNKS;
	assert_true(tp_region_grow(&region));
	check_supply(first + TP_REGION_STEP_CHUNKS);
	assert_int_equal(region.touched, first);
	while (tp_region_grow(&region))
		;
	assert_int_equal(region.committed, first + TP_REGION_STEP_CHUNKS);
	assert_int_equal(region.touched, region.committed);
	region.header->tail = 100 * first; // a lie gets no more than there is
	while (tp_region_grow(&region))
		;
	check_supply(2 * first);
	tp_region_release(&region);
}

// The chunks ahead are fetched in steps though nothing is drawn, and no more than these.
static void ahead(void **state)
{
	(void)state;
	const struct tp_region_options options = {
	    .size = 128 * CHUNK,
	    .ready = 16 * CHUNK,
	    .ahead = 64 * CHUNK,
	    .touch_later = true,
	};
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	region.eases_in = false;
	region.low_chunks = 0;
	check_supply(16);
	for (uint32_t there = 16; there < 64; there += TP_REGION_STEP_CHUNKS) {
		assert_int_equal(region.committed, there);
		assert_true(tp_region_grow(&region));
	}
	const uint32_t there = region.committed;
	assert_in_range(there, 64, 64 + TP_REGION_STEP_CHUNKS - 1);
	check_supply(there);
	assert_int_equal(region.touched, 0);
	assert_true(!tp_region_grow(&region));
	assert_int_equal(region.committed, there);
	tp_region_release(&region);
}

// Few at first, and in the end as many whatever the program did, and never more.
static void lows(void **state)
{
	(void)state;
	assert_int_equal(tp_region_low(0, 0), TP_REGION_LOW_FIRST_CHUNKS);
	assert_true(tp_region_low(0, 0) < TP_REGION_AHEAD_CHUNKS);
	// If half of the first chunks are used, then at least as many again are in reserve.
	assert_true(tp_region_low(TP_REGION_AHEAD_CHUNKS / 2, 0) > TP_REGION_AHEAD_CHUNKS);
	assert_int_equal(tp_region_low(TP_REGION_LOW_CHUNKS, 0), TP_REGION_LOW_CHUNKS);
	assert_int_equal(tp_region_low(UINT64_MAX, 0), TP_REGION_LOW_CHUNKS);
	assert_in_range(tp_region_low(0, 20), TP_REGION_LOW_FIRST_CHUNKS, 80);
	// A program that begins to log has as much as one that is fast at it needs; one that does
	// not, little for long.
	assert_int_equal(tp_region_low(1, 0),
	    TP_REGION_WORKING_CHUNKS - TP_REGION_LOW_FIRST_CHUNKS + TP_REGION_LOW_FACTOR);
	assert_in_range(tp_region_low(0, 1000), TP_REGION_LOW_FIRST_CHUNKS, TP_REGION_AHEAD_CHUNKS);
	assert_int_equal(tp_region_low(1, 2000), TP_REGION_LOW_CHUNKS);
	assert_int_equal(tp_region_low(0, UINT64_MAX), TP_REGION_LOW_CHUNKS);
}

// As much as was asked for is ready, but no more than there is and no less than any program needs.
static void ready(void **state)
{
	(void)state;
	static const uint64_t cases[][2] = {
	    {0, TP_REGION_MIN_CHUNKS}, {10 * 65536 + 1, 10}, {UINT64_MAX, 16}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(try_to_create(16 * CHUNK, cases[i][0]), 0);
		assert_int_equal(region.touched, cases[i][1]);
		check_supply(cases[i][1]);
		tp_region_release(&region);
	}
}

// Supplied at once, and touched by and by.
static void touched_later(void **state)
{
	(void)state;
	const struct tp_region_options options = {.size = 64 * CHUNK,
	    .ready = 64 * CHUNK,
	    .touch_later = true,
	    .mode = TEEPERF_MODE_STREAM,
	    .clock = TEEPERF_CLOCK_TSC};
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	check_supply(64);
	assert_int_equal(region.touched, 0);
	// Not while it is young, and that it is no more; and not before the program logs.
	region.header->tail = 1;
	assert_true(!tp_region_grow(&region));
	region.start_ms = 0;
	region.header->tail = 0;
	assert_true(!tp_region_grow(&region));
	region.header->tail = 1;
	for (uint32_t touched = TP_REGION_STEP_CHUNKS; touched <= 64;
	     touched += TP_REGION_STEP_CHUNKS) {
		assert_true(tp_region_grow(&region));
		assert_int_equal(region.touched, touched);
	}
	assert_true(!tp_region_grow(&region));
	tp_region_release(&region);
}

static void threads(void **state)
{
	(void)state;
	create(8);
	assert_int_equal(tp_region_thread_count(&region), 0);
	region.threads[3].os_tid = 33;
	assert_int_equal(tp_region_thread_count(&region), 4);
	region.threads[1].lost = 5;
	region.header->lost_early = 2;
	region.header->thread_count = UINT64_MAX; // hostile: bounded by the table
	assert_int_equal(tp_region_lost(&region), 5);
	assert_int_equal(tp_region_early(&region), 2);
	tp_region_release(&region);
}

static void refusals(void **state)
{
	(void)state;
	const int r = try_to_create(TP_REGION_MIN_CHUNKS * CHUNK - 1, READY);
	assert_int_equal(r, TP_ERR_LIMIT);
	assert_non_null(strstr(err.what, "'--size'"));
}

static void bounds_of_chunks(void **state)
{
	(void)state;
	static const uint64_t cases[][2] = {{0, 64}, {63, 64}, {64, 64}, {71, 64}, {72, 72},
	    {65536, 65536}, {65544, 65536}, {UINT64_MAX, 65536}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(tp_drain_clamp_used(cases[i][0]), cases[i][1]);
	static uint64_t chunk[TP_REGION_CHUNK_SIZE / 8];
	assert_int_equal(tp_drain_find_used(chunk), 64);
	chunk[2] = 1;
	assert_int_equal(tp_drain_find_used(chunk), 64);
	chunk[8] = 1;
	assert_int_equal(tp_drain_find_used(chunk), 72);
	chunk[8191] = 1;
	assert_int_equal(tp_drain_find_used(chunk), 65536);
	// A mark whose record does not stand before its name yet is not there; nor is what lies
	// before the hole.
	chunk[8191] = 0;
	chunk[9] = UINT64_C(5) | (uint64_t)TEEPERF_CONTROL_MARK << 32;
	chunk[10] = chunk[11] = UINT64_C(0x61) | (uint64_t)TEEPERF_CONTROL_TEXT << 32;
	assert_int_equal(tp_drain_find_used(chunk), 96);
	chunk[9] = 0;
	assert_int_equal(tp_drain_find_used(chunk), 72);
	chunk[8] = 0;
	assert_int_equal(tp_drain_find_used(chunk), 64);
}

// Complete chunks come in the order in which they were supplied, whatever their numbers.
static void collects_in_order(void **state)
{
	(void)state;
	create(16);
	uint32_t numbers[16];
	assert_int_equal(tp_region_collect(&region, 1 << TEEPERF_CHUNK_DONE, numbers), 0);
	for (uint32_t number = 2; number < 6; number++) {
		tp_region_withdraw(&region, number);
		assert_int_equal(tp_region_collect(&region, 1 << TEEPERF_CHUNK_FREE, numbers), 15);
		tp_region_supply(&region, number);
	}
	region.states[3] = region.states[9] = region.states[2] = TEEPERF_CHUNK_DONE;
	region.states[15] = TEEPERF_CHUNK_OWNED;
	assert_int_equal(tp_region_collect(&region, 1 << TEEPERF_CHUNK_DONE, numbers), 3);
	assert_int_equal(numbers[0], 9);
	assert_int_equal(numbers[1], 2);
	assert_int_equal(numbers[2], 3);
	assert_int_equal(tp_region_collect(&region, TP_REGION_DONE | TP_REGION_OWNED, numbers), 4);
	assert_int_equal(numbers[1], 15);
	assert_int_equal(numbers[3], 3);
	tp_region_withdraw(&region, 5); // the newest
	tp_region_withdraw(&region, 0); // the oldest
	assert_int_equal(tp_region_collect(&region, 1 << TEEPERF_CHUNK_FREE, numbers), 10);
	assert_int_equal(numbers[0], 1);
	assert_int_equal(numbers[9], 4);
	tp_region_release(&region);
}

// A region's memory that goes away (its header too) is replaced and counted as long as the region
// is there.
static void is_guarded(void **state)
{
	(void)state;
	create(16);
	char *map = region.map;
	const uint64_t size = region.map_size;
	assert_int_equal(tp_log_guard_lost_bytes(map), 0);
	region.header->tail = 5;
	assert_int_equal(ftruncate(region.fd, 0), 0);
	assert_int_equal(region.header->tail, 0);
	assert_int_equal(tp_log_guard_lost_bytes(map), 4096);
	assert_int_equal(map[size - 1], 0);
	assert_int_equal(tp_region_chunk(&region, 15)->sequence, 0);
	assert_in_range(tp_log_guard_lost_bytes(map), 3 * 4096, size);
	tp_region_release(&region);
	assert_int_equal(tp_log_guard_lost_bytes(map), 0);
	// The next one at the same place begins anew.
	create(16);
	assert_int_equal(tp_log_guard_lost_bytes(region.map), 0);
	tp_region_release(&region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(layout),
	    cmocka_unit_test(a_small_table_ends),
	    cmocka_unit_test(owned_chunk),
	    cmocka_unit_test(collects_in_order),
	    cmocka_unit_test(supply),
	    cmocka_unit_test(warm),
	    cmocka_unit_test(follows_pace),
	    cmocka_unit_test(few_are_used),
	    cmocka_unit_test(growth),
	    cmocka_unit_test(lows),
	    cmocka_unit_test(ready),
	    cmocka_unit_test(touched_later),
	    cmocka_unit_test(ahead),
	    cmocka_unit_test(threads),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(bounds_of_chunks),
	    cmocka_unit_test(is_guarded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
