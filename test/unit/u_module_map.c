// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose a name is: modules that take turns at one place, come back elsewhere, or lie over one
// another.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/modules.h"

static struct tp_arena arena;
static struct tp_problems problems;
static struct tp_module_map map;
static struct teeperf_module modules[64];
static uint32_t module_count;

static struct teeperf_module *add(
    const char *path, uint64_t start, uint64_t size, uint64_t loaded, uint64_t unloaded)
{
	struct teeperf_module *module = &modules[module_count++];
	*module = (struct teeperf_module){.bias = start,
	    .start = start,
	    .end = start + size,
	    .loaded = loaded,
	    .unloaded = unloaded};
	snprintf(module->path, sizeof(module->path), "%s", path);
	return module;
}

static void build(void)
{
	assert_int_equal(
	    tp_module_map_init(&map, modules, module_count, "trace", &problems, &arena), 0);
}

static int begin(void **state)
{
	(void)state;
	tp_arena_init(&arena);
	memset(&problems, 0, sizeof(problems));
	module_count = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	tp_arena_release(&arena);
	return 0;
}

static uint64_t word(uint64_t time, uint64_t name)
{
	return (time & UINT32_MAX) | name << 32;
}

// "PATH+OFFSET" of the name that a record at TIME has after it was moved, or "0xNAME".
static const char *meaning(uint64_t time, uint64_t name)
{
	static char text[512];
	uint64_t record = word(time, name);
	uint64_t last = 0;
	tp_module_map_chunk(&map, &record, 1, time, &last);
	assert_int_equal((uint32_t)record, (uint32_t)time);
	const uint32_t moved = (uint32_t)(record >> 32);
	assert_int_equal(moved & TEEPERF_KIND_MASK, name & TEEPERF_KIND_MASK);
	int found = 0;
	snprintf(text, sizeof(text), "0x%x", moved);
	for (uint32_t i = 0; i < map.count; i++) {
		const struct teeperf_module *module = &map.modules[i];
		const uint64_t offset = (uint32_t)(moved - (uint32_t)module->start);
		if (offset >= module->end - module->start)
			continue;
		found++;
		snprintf(text, sizeof(text), "%s+0x%llx", module->path,
		    (unsigned long long)(module->start + offset - module->bias));
	}
	assert_in_range(found, 0, 1);
	return text;
}

static void plain(void **state)
{
	(void)state;
	add("/main", 0x400000, 0x1000, 0, 0);
	add("/lib", 0x7fff12340000, 0x10000, 5, 90);
	build();
	assert_false(map.moves);
	assert_int_equal(map.count, 2);
	assert_memory_equal(map.modules, modules, 2 * sizeof(*modules));
	assert_string_equal(meaning(0, 0x12340010), "/lib+0x10");
	assert_string_equal(meaning(100, 0x400001), "/main+0x1");
	assert_string_equal(meaning(100, 0x300001), "0x300001");
	assert_true(tp_module_map_knows(&map, 0x12340010));
	assert_false(tp_module_map_knows(&map, 0x300000));
}

static void turns(void **state)
{
	(void)state;
	add("/main", 0x400000, 0x1000, 0, 0);
	add("/a", 0x7fff12340000, 0x10000, 10, 20);
	add("/b", 0x7fff12340000, 0x8000, 30, 40);
	add("/a", 0x7fff12340000, 0x10000, 50, 60);
	add("/c", 0x7ffd12345000, 0x10000, 70, 0);
	build();
	assert_true(map.moves);
	assert_int_equal(map.count, 4);
	for (uint32_t i = 1; i < map.count; i++)
		assert_int_equal(map.modules[i].start % 4096, 0);
	// Code that runs before its module has registered is not the earlier one's.
	static const struct {
		uint64_t time;
		const char *low, *high;
	} wanted[] = {{9, "/a", "/a"}, {10, "/a", "/a"}, {20, "/a", "/a"}, {21, "/b", "/a"},
	    {30, "/b", "/a"}, {40, "/b", "/a"}, {45, "/a", "/a"}, {60, "/a", "/a"},
	    {61, "/a", "/c"}, {1ul << 40, "/a", "/c"}};
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		char text[64];
		snprintf(text, sizeof(text), "%s+0x101", wanted[i].low);
		assert_string_equal(meaning(wanted[i].time, 0x12340101), text);
		const bool c = !strcmp(wanted[i].high, "/c");
		snprintf(text, sizeof(text), "%s+0x%x", wanted[i].high, c ? 0x4000 : 0x9000);
		assert_string_equal(meaning(wanted[i].time, 0x12349000), text);
		assert_string_equal(meaning(wanted[i].time, 0x400010), "/main+0x10");
	}
	assert_int_equal(problems.count, 0);
}

static void comes_back_elsewhere(void **state)
{
	(void)state;
	add("/a", 0x7f0000010000, 0x4000, 10, 20);
	add("/a", 0x7f0000020000, 0x4000, 30, 40);
	// Half over the first, and around the end of the low halves.
	add("/a", 0x7f0000012000, 0x4000, 50, 60);
	add("/a", 0x7effffffe000, 0x4000, 70, 0);
	build();
	assert_true(map.moves);
	assert_int_equal(map.count, 1);
	assert_string_equal(meaning(15, 0x10100), "/a+0x100");
	assert_string_equal(meaning(35, 0x20100), "/a+0x100");
	assert_string_equal(meaning(15, 0x12100), "/a+0x2100");
	assert_string_equal(meaning(55, 0x12100), "/a+0x100");
	assert_string_equal(meaning(75, 0xffffe100), "/a+0x100");
	assert_string_equal(meaning(75, 0x00001100), "/a+0x3100");
}

// Where the times do not tell, there is no name.
static void unclear(void **state)
{
	(void)state;
	add("/a", 0x7f0000010000, 0x4000, 0, 0);
	add("/b", 0x7f0000010000, 0x3000, 0, 0);
	add("/c", 0x7f0000020000, 0x1000, 10, 20);
	add("/d", 0x7f0000020000, 0x1000, 20, 0);
	add("/e", 0x7f0000030000, 0x1000, 10, 25);
	add("/f", 0x7f0000030000, 0x1000, 20, 0);
	build();
	assert_string_equal(meaning(7, 0x10100), "0x10100");
	assert_true(tp_module_map_knows(&map, 0x10100));
	assert_string_equal(meaning(7, 0x13100), "/a+0x3100");
	assert_string_equal(meaning(19, 0x20100), "/c+0x100");
	assert_string_equal(meaning(20, 0x20100), "0x20100");
	assert_string_equal(meaning(21, 0x20100), "/d+0x100");
	assert_string_equal(meaning(19, 0x30100), "/e+0x100");
	assert_string_equal(meaning(20, 0x30100), "0x30100");
	assert_string_equal(meaning(25, 0x30100), "0x30100");
	assert_string_equal(meaning(26, 0x30100), "/f+0x100");
}

static void colliding(void **state)
{
	(void)state;
	add("/a", 0x7f0000010000, 0x4000, 5, 0);
	add("/b", 0x7e0000010000, 0x4000, 6, 0)->flags = TEEPERF_MODULE_COLLIDES;
	build();
	assert_false(map.moves);
	assert_string_equal(meaning(7, 0x10100), "/a+0x100");
	assert_int_equal(problems.count, 1);
	assert_string_equal(problems.kept[0].file, "/b");
}

// Kinds, raw words, upper halves and untimed exits; counts by the module that they tell.
static void whole_chunk(void **state)
{
	(void)state;
	add("/a", 0x7f0000010000, 0x4000, (UINT64_C(5) << 32) + 10, (UINT64_C(5) << 32) + 20);
	add("/b", 0x7f0000010000, 0x4000, (UINT64_C(6) << 32) + 1, 0);
	build();
	const uint64_t a = (uint32_t)map.modules[0].start;
	const uint64_t b = (uint32_t)map.modules[1].start;
	assert_int_not_equal(a, b);
	uint64_t words[] = {word(12, 0x10100), word(0, 0x10102), word(13, 0x10203),
	    word(0, 0x10200), word(14, 0x10201), word(6, TEEPERF_CONTROL_SYNC), word(0, 0x10202),
	    word(1, 0x10100), word(0, 0x10102), word(1, TEEPERF_CONTROL_MODULE),
	    word(1, TEEPERF_CONTROL_COUNTS), 0x7f0000010300, 9, word(2, TEEPERF_CONTROL_MODULE),
	    word(2, TEEPERF_CONTROL_COUNTS), 0x7f0000010300, 9, 0x123, 1,
	    word(0, TEEPERF_CONTROL_MODULE), word(1, TEEPERF_CONTROL_COUNTS), 0x7f0000010300, 9,
	    word(1, 0x10101), word(7, TEEPERF_CONTROL_COUNTS), word(1, 0x10100)};
	const uint64_t before[] = {words[0], words[3], words[17], words[21], words[25]};
	uint64_t last = 0;
	tp_module_map_chunk(&map, words, sizeof(words) / 8, (UINT64_C(5) << 32) + 11, &last);
	assert_int_equal(last, (UINT64_C(6) << 32) + 1);
	assert_int_equal(words[0], word(12, a + 0x100));
	assert_int_equal(words[1], word(0, a + 0x102));
	assert_int_equal(words[2], word(13, a + 0x203));
	assert_int_equal(words[3], before[1]); // a position
	assert_int_equal(words[4], word(14, a + 0x201));
	assert_int_equal(words[6], word(0, a + 0x202)); // nothing later had come yet
	assert_int_equal(words[7], word(1, b + 0x100));
	assert_int_equal(words[8], word(0, b + 0x102));
	assert_int_equal(words[11], map.modules[0].start + 0x300);
	assert_int_equal(words[15], map.modules[1].start + 0x300);
	assert_int_equal(words[17], before[2]);
	assert_int_equal(words[21], before[3]); // nobody says whose
	assert_int_equal(words[23], word(1, b + 0x101));
	assert_int_equal(words[25], before[4]); // behind counts that cannot be
}

// Any numbers: names have at most one meaning, and nothing takes long. Addresses beyond all bounds,
// a module over everything, and thousands in one place.
static void hostile(void **state)
{
	(void)state;
	enum { MANY = 6000 };
	struct teeperf_module *many = calloc(MANY, sizeof(*many));
	uint64_t random = 1;
	for (int round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < MANY; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			const uint64_t start = round == 0   ? 0x10000
					       : round == 1 ? random >> 20
					       : round == 2 ? random
							    : (random >> 40) * 4096;
			many[i] = (struct teeperf_module){.start = start,
			    .end = start + (round == 3 ? 4096 : random % 0x1ffffffff),
			    .loaded = round ? random % 1000 : i * 2,
			    .unloaded = round ? random % 1024 : i * 2 + 1};
			snprintf(many[i].path, sizeof(many[i].path), "/%u", i % 100);
		}
		assert_int_equal(
		    tp_module_map_init(&map, many, MANY, "trace", &problems, &arena), 0);
		for (uint32_t i = 0; i < 200; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			meaning(random % 2000, TEEPERF_NAME_FIRST + (random >> 33));
		}
	}
	free(many);
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {WITH(plain), WITH(turns), WITH(comes_back_elsewhere),
	    WITH(unclear), WITH(colliding), WITH(whole_chunk), WITH(hostile)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
