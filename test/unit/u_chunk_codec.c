// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chunks, packed and unpacked: random and odd records survive unchanged, the codes are those of the
// format document, and faults of a packed chunk are found.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "common/chunks/chunk_codec.h"

enum { CHUNK = 65536, RECORDS = (CHUNK - sizeof(struct teeperf_chunk)) / 8 };

static struct {
	struct teeperf_chunk header;
	uint64_t records[RECORDS];
} chunk;
static uint64_t unpacked[RECORDS];
static struct tp_packer packer;
static struct tp_unpacker unpacker;
static struct tp_err err;
static uint64_t state_of_random = 1;

static uint32_t random_below(uint32_t limit)
{
	state_of_random = state_of_random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(state_of_random >> 33) % limit;
}

static int set_up(void **state)
{
	(void)state;
	return tp_packer_init(&packer, CHUNK, TP_PACKER_LEVEL_DEFAULT, &err) ||
	       tp_unpacker_init(&unpacker, CHUNK, &err);
}

static int tear_down(void **state)
{
	(void)state;
	tp_packer_release(&packer);
	tp_unpacker_release(&unpacker);
	return 0;
}

static uint64_t record(uint32_t name, uint32_t time)
{
	return (uint64_t)name << 32 | time;
}

static void set_header(uint32_t count)
{
	chunk.header = (struct teeperf_chunk){
	    .thread = 3,
	    .sequence = 9,
	    .os_tid = 77,
	    .first_time = UINT64_C(0x1234567890),
	    .used = sizeof(chunk.header) + 8 * (uint64_t)count,
	};
}

static int unpack(const void *payload, uint64_t size, uint32_t *count)
{
	memset(unpacked, 0xee, sizeof(unpacked));
	return tp_unpacker_unpack(&unpacker, payload, size, unpacked, count, "trace", 88, &err);
}

// Pack the first `count` records and unpack them again; returns the packed size.
static uint64_t round_trip(uint32_t count)
{
	uint32_t found = 0;
	set_header(count);
	const uint64_t size = tp_packer_pack(&packer, &chunk.header);
	if (!size)
		return 0;
	assert_true(size < chunk.header.used);
	assert_memory_equal(packer.packed, &chunk.header, sizeof(chunk.header));
	assert_int_equal(unpack(packer.packed, size, &found), 0);
	assert_int_equal(found, count);
	assert_memory_equal(unpacked, chunk.records, 8 * (size_t)count);
	return size;
}

// Nested calls with a little jitter, as programs make them.
static void make_calls(uint32_t count)
{
	uint32_t stack[40];
	uint32_t depth = 0;
	uint32_t time = 0xffffff00; // passes 2^32 on the way
	for (uint32_t i = 0; i < count; i++) {
		time += 20 + random_below(60);
		if (depth == 40 || (depth && random_below(2)))
			chunk.records[i] = record(stack[--depth] | TEEPERF_KIND_EXIT, time);
		else
			chunk.records[i] =
			    record(stack[depth++] = 0x401000 + random_below(30) * 64, time);
	}
}

static void calls_become_small(void **state)
{
	(void)state;
	make_calls(RECORDS);
	const uint64_t size = round_trip(RECORDS);
	assert_in_range(size, 1, RECORDS * 3);
}

static void any_words_come_back(void **state)
{
	(void)state;
	uint32_t packed = 0;
	for (uint32_t round = 0; round < 400; round++) {
		const uint32_t count = 1 + random_below(RECORDS);
		const uint32_t bits = random_below(33); // how far the times stray
		const uint32_t names = 1 + random_below(1000);
		for (uint32_t i = 0; i < count; i++) {
			const uint64_t noise = (uint64_t)random_below(UINT32_MAX) << 1;
			const uint32_t step =
			    (uint32_t)(bits ? noise & ((UINT64_C(1) << bits) - 1) : 0);
			const uint32_t before = i ? (uint32_t)chunk.records[i - 1] : 5;
			chunk.records[i] = record(0x400000 + random_below(names), before + step);
			if (random_below(50) == 0)
				chunk.records[i] = record((uint32_t)noise, (uint32_t)(noise * 77));
		}
		packed += round_trip(count) != 0;
	}
	assert_in_range(packed, 200, 400);
}

// Every length near the boundaries of the codes, at each kind of record.
static void all_differences(void **state)
{
	(void)state;
	static const uint32_t steps[] = {0, 1, 239, 240, 241, 495, 496, 4079, 4080, 4081, 0xffff,
	    0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
	const uint32_t count = sizeof(steps) / sizeof(steps[0]);
	for (uint32_t kind = 0; kind < 4; kind++) {
		uint32_t time = 0x34567890;
		// Each step thirty times in a row, so that it also repeats well.
		for (uint32_t i = 0; i < count * 30; i++) {
			time += steps[i / 30];
			chunk.records[i] = record(0x401000 | (i % 7 == 0 ? kind : 0), time);
		}
		assert_int_not_equal(round_trip(count * 30), 0);
	}
}

// The bytes are those that docs/format.md says: taken apart here without the codec.
static void codes_are_as_documented(void **state)
{
	(void)state;
	const uint32_t start = 0x34567890; // low half of first_time
	memset(chunk.records, 0, sizeof(chunk.records));
	chunk.records[0] = record(0x401000, start + 239);
	chunk.records[1] = record(0x401002, 0);                 // untimed: 0 - 0
	chunk.records[2] = record(0x401001, start + 239 + 240); // to the time before it
	chunk.records[3] = record(0x401001, start + 479 + 4079);
	chunk.records[4] = record(0x401001, start + 4558 + 4080);
	for (uint32_t i = 5; i < 300; i++)
		chunk.records[i] = chunk.records[4];
	assert_int_not_equal(round_trip(300), 0);
	struct teeperf_packed header;
	memcpy(&header, packer.packed, sizeof(header));
	assert_int_equal(header.level, TP_PACKER_LEVEL_DEFAULT);
	const uint8_t *names = packer.packed + sizeof(header);
	uint32_t name[300];
	assert_int_equal(ZSTD_decompress(name, sizeof(name), names, header.names_size), 1200);
	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(name[i], chunk.records[i] >> 32);
	uint8_t times[2000];
	assert_int_equal(
	    ZSTD_decompress(times, sizeof(times), names + header.names_size, header.times_size),
	    300 + 1 + 1 + 4);
	static const uint8_t codes[] = {239, 0, 240, 254, 255, 0, 0};
	assert_memory_equal(times, codes, sizeof(codes));
	static const uint8_t more[] = {0, 0xff, 0xf0, 0x0f, 0, 0};
	assert_memory_equal(times + 300, more, sizeof(more));
}

static void what_does_not_shrink_is_not_packed(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < RECORDS; i++)
		chunk.records[i] = (uint64_t)random_below(UINT32_MAX) << 33 ^
				   (uint64_t)random_below(UINT32_MAX) * 0x9e3779b97f4a7c15;
	assert_int_equal(round_trip(RECORDS), 0);
	// So little that the header alone is larger.
	assert_int_equal(round_trip(0), 0);
	assert_int_equal(round_trip(2), 0);
}

static void all_levels(void **state)
{
	(void)state;
	for (int level = 1; level <= TP_PACKER_LEVEL_MAX; level += 6) {
		tp_packer_release(&packer);
		assert_int_equal(tp_packer_init(&packer, CHUNK, level, &err), 0);
		make_calls(RECORDS);
		assert_in_range(round_trip(RECORDS), 1, RECORDS * 3);
	}
	tp_packer_release(&packer);
	assert_int_equal(tp_packer_init(&packer, CHUNK, TP_PACKER_LEVEL_DEFAULT, &err), 0);
}

static uint8_t payload[CHUNK];
static uint64_t payload_size;

static void make_payload(void)
{
	make_calls(1000);
	payload_size = round_trip(1000);
	assert_in_range(payload_size, 100, sizeof(payload));
	memcpy(payload, packer.packed, payload_size);
}

static void assert_bad(uint64_t size, const char *start)
{
	uint32_t count = 0;
	assert_int_equal(unpack(payload, size, &count), TP_ERR_FORMAT);
	assert_string_equal(err.file, "trace");
	assert_int_equal(err.offset, 88);
	if (strncmp(err.what, start, strlen(start)))
		assert_string_equal(err.what, start);
}

static void every_length_is_checked(void **state)
{
	(void)state;
	make_payload();
	for (uint64_t size = 0; size < payload_size; size++)
		assert_bad(size, "packed chunk of ");
	payload[payload_size] = 0;
	assert_bad(payload_size + 1, "packed chunk of ");
}

static void change_header(size_t at, uint32_t value, const char *start)
{
	make_payload();
	memcpy(payload + at, &value, sizeof(value));
	assert_bad(payload_size, start);
}

static void hostile_headers(void **state)
{
	(void)state;
	const size_t used = offsetof(struct teeperf_chunk, used);
	const size_t names = offsetof(struct teeperf_packed, names_size);
	change_header(used, 0, "packed chunk of ");
	change_header(used, 63, "packed chunk of ");
	change_header(used, CHUNK + 8, "packed chunk of ");
	change_header(used, 8065, "packed chunk of ");
	change_header(used + 4, 1, "packed chunk of ");
	change_header(used, 64 + 8 * 999, "packed chunk whose names do not unpack: ");
	change_header(
	    used, 64 + 8 * 1001, "packed chunk whose names do not unpack: there are too few");
	change_header(names, UINT32_MAX, "packed chunk of ");
	change_header(names + 4, UINT32_MAX, "packed chunk of ");
	change_header(names, 0, "packed chunk of ");
}

// Frames that are well, but of something else.
static void hostile_frames(void **state)
{
	(void)state;
	static uint8_t zeroes[1 << 22];
	static const struct {
		uint32_t names;
		uint32_t times;
		const char *what;
	} cases[] = {
	    {4000, 999,
		"packed chunk whose times do not unpack: their number differs from that of the "
		"names"},
	    {4000, 1001,
		"packed chunk whose times do not unpack: their number differs from that of the "
		"names"},
	    {4000, 1 << 22, "packed chunk whose times do not unpack: "},
	    {3996, 1000, "packed chunk whose names do not unpack: there are too few"},
	    {4004, 1000, "packed chunk whose names do not unpack: "},
	    {1 << 22, 1000, "packed chunk whose names do not unpack: "},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_payload();
		struct teeperf_packed header;
		memcpy(&header, payload, sizeof(header));
		uint8_t *at = payload + sizeof(header);
		header.names_size =
		    (uint32_t)ZSTD_compress(at, CHUNK / 2, zeroes, cases[i].names, 1);
		at += header.names_size;
		header.times_size =
		    (uint32_t)ZSTD_compress(at, CHUNK / 4, zeroes, cases[i].times, 1);
		at += header.times_size;
		memcpy(payload, &header, sizeof(header));
		assert_bad((uint64_t)(at - payload), cases[i].what);
	}
}

// Codes whose further bytes are not there.
static void codes_beyond_the_end(void **state)
{
	(void)state;
	static const uint8_t codes[] = {
	    TEEPERF_PACKED_NEAR, TEEPERF_PACKED_FAR - 1, TEEPERF_PACKED_FAR};
	for (size_t i = 0; i < sizeof(codes); i++) {
		uint8_t times[1000 + 3] = {0};
		make_payload();
		struct teeperf_packed header;
		memcpy(&header, payload, sizeof(header));
		times[999] = codes[i];
		const size_t more = codes[i] == TEEPERF_PACKED_FAR ? 3 : 0;
		uint8_t *at = payload + sizeof(header) + header.names_size;
		header.times_size = (uint32_t)ZSTD_compress(at, CHUNK / 4, times, 1000 + more, 1);
		memcpy(payload, &header, sizeof(header));
		assert_bad((uint64_t)(at - payload) + header.times_size,
		    "packed chunk whose times do not unpack: their number differs from that of the "
		    "names");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(calls_become_small),
	    cmocka_unit_test(any_words_come_back),
	    cmocka_unit_test(all_differences),
	    cmocka_unit_test(codes_are_as_documented),
	    cmocka_unit_test(what_does_not_shrink_is_not_packed),
	    cmocka_unit_test(all_levels),
	    cmocka_unit_test(every_length_is_checked),
	    cmocka_unit_test(hostile_headers),
	    cmocka_unit_test(hostile_frames),
	    cmocka_unit_test(codes_beyond_the_end),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
