// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draining with the help of the clock's thread: each chunk once, in order, whole, and cleared
// before it is supplied; with help, and without.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/chunks/checksum.h"
#include "recorder/drain/relay.h"

enum { CHUNKS = 256, WORDS = TP_REGION_CHUNK_SIZE / 8, HEADER = sizeof(struct teeperf_chunk) / 8 };

static struct tp_region region;
static struct tp_slices slices;
static struct tp_relay relay;
static struct tp_err err;
static uint32_t numbers[CHUNKS];
static uint32_t written;
static uint32_t supplied;
static uint64_t stop;

// Lengths of all kinds: one says more than there can be, as a hostile program may, and one nothing.
static uint64_t used(uint32_t i)
{
	return i == 3 ? UINT64_MAX : i == 5 ? 0 : 64 + i * UINT64_C(7919) * 8 % (65536 - 64);
}

static uint64_t word(uint32_t chunk, uint64_t at)
{
	return (chunk + UINT64_C(1)) << 32 | at | 1;
}

static void fill(uint32_t i)
{
	struct teeperf_chunk *chunk = tp_region_chunk(&region, numbers[i]);
	uint64_t *words = (uint64_t *)(void *)chunk;
	for (uint64_t at = HEADER; at < WORDS; at++)
		words[at] = word(i, at);
	chunk->sequence = i;
	chunk->used = used(i);
	tp_store_release(&region.states[numbers[i]], TEEPERF_CHUNK_DONE);
}

static void see_written(
    void *context, uint32_t number, const struct teeperf_chunk *chunk, uint32_t checksum)
{
	const uint64_t *copy = (const uint64_t *)(const void *)chunk;
	assert_ptr_equal(context, &region);
	assert_int_equal(number, numbers[written]);
	assert_int_equal(chunk->sequence, written);
	const uint64_t size = used(written) < sizeof(*chunk) ? sizeof(*chunk)
			      : used(written) > 65536        ? 65536
							     : used(written);
	assert_int_equal(chunk->used, size);
	for (uint64_t at = HEADER; at < size / 8; at++)
		assert_int_equal(copy[at], word(written, at));
	assert_int_equal(checksum, tp_checksum(copy, size));
	// Until here it is the log that has it, for who finds it when we are killed.
	assert_int_equal(region.states[number], TEEPERF_CHUNK_DONE);
	assert_memory_equal(tp_region_chunk(&region, number) + 1, copy + HEADER, size - 8 * HEADER);
	tp_store_release(&region.states[number], TEEPERF_CHUNK_FREE);
	written++;
}

static void see_supplied(void *context, uint32_t number)
{
	(void)context;
	assert_int_equal(number, numbers[supplied]);
	assert_true(supplied < written);
	const uint64_t *words = (const uint64_t *)(const void *)tp_region_chunk(&region, number);
	const uint64_t told = used(supplied);
	const uint64_t size = told > 65536 ? 65536 : told < 64 ? 8 * HEADER : told;
	for (uint64_t at = 0; at < size / 8; at++)
		assert_int_equal(words[at], 0);
	supplied++;
}

static void *help(void *argument)
{
	while (!tp_load_relaxed(&stop))
		tp_slices_step(argument);
	return NULL;
}

static void take(bool helped)
{
	const struct tp_region_options options = {.chunk_count = CHUNKS,
	    .ready = (uint64_t)CHUNKS * TP_REGION_CHUNK_SIZE,
	    .mode = TEEPERF_MODE_STREAM,
	    .clock = TEEPERF_CLOCK_TSC};
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	assert_true(tp_slices_init(&slices));
	assert_int_equal(tp_relay_init(&relay, &slices, &err), 0);
	for (uint32_t i = 0; i < CHUNKS; i++) {
		numbers[i] = i * 37 % CHUNKS;
		fill(i);
	}
	written = supplied = 0;
	stop = 0;
	pthread_t thread;
	if (helped)
		assert_int_equal(pthread_create(&thread, NULL, help, &slices), 0);
	const struct tp_relay_steps steps = {&region, see_written, see_supplied, &region};
	// One, as many as there are rooms, and the rest, which is more.
	static const uint32_t counts[] = {0, 1, TP_RELAY_ROOMS, CHUNKS - TP_RELAY_ROOMS - 1};
	uint32_t at = 0;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		tp_relay_take(&relay, numbers + at, counts[i], &steps);
		at += counts[i];
		assert_int_equal(written, at);
		assert_int_equal(supplied, at);
	}
	tp_store_relaxed(&stop, 1);
	if (helped)
		pthread_join(thread, NULL);
	assert_int_equal(slices.done, 2 * CHUNKS);
	assert_int_equal(slices.submitted, 2 * CHUNKS);
	tp_relay_release(&relay);
	tp_slices_release(&slices);
	tp_region_release(&region);
}

static void with_help(void **state)
{
	(void)state;
	take(true);
}

// The clock's thread never runs: the drain does it all.
static void without(void **state)
{
	(void)state;
	take(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(with_help),
	    cmocka_unit_test(without),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
