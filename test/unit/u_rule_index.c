// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index of globs against trying each of them: what it finds, in which order of worth, and not
// twice as much.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allowlists/language/rule_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GLOBS_MAX = 400 };

static struct tp_globs globs[GLOBS_MAX]; // of one glob each
static uint32_t glob_count;
static uint64_t ranks[GLOBS_MAX];

static void add(struct tp_rule_index *index, const char *text, uint64_t rank)
{
	struct tp_glob_error error;
	assert_true(glob_count < GLOBS_MAX);
	assert_int_equal(tp_globs_compile(&globs[glob_count], text, strlen(text), &error), 0);
	assert_int_equal(globs[glob_count].count, 1);
	ranks[glob_count] = rank;
	assert_int_equal(tp_rule_index_add(index, globs[glob_count++].items[0], rank), 0);
}

static void clear(struct tp_rule_index *index)
{
	tp_rule_index_release(index);
	while (glob_count)
		tp_globs_release(&globs[--glob_count]);
}

static uint64_t best(void *context, uint64_t rank, uint64_t floor)
{
	(void)context;
	assert_true(rank > floor);
	return rank;
}

static uint64_t find(const struct tp_rule_index *index, const char *text, uint64_t floor)
{
	const struct tp_reading reading = {text, strlen(text)};
	return tp_rule_index_search(index, &reading, 1, floor, best, NULL);
}

// Marks each found item in an array of flags by rank.
static uint64_t mark(void *context, uint64_t rank, uint64_t floor)
{
	((bool *)context)[rank] = true;
	return floor;
}

static void test_shapes(void **state)
{
	(void)state;
	struct tp_rule_index index = {0};
	assert_int_equal(tp_rule_index_build(&index), 0);
	assert_int_equal(find(&index, "x", 0), 0);

	add(&index, "*", 1);
	add(&index, "main", 2);
	add(&index, "?ain", 3);
	add(&index, "*in", 4);
	add(&index, "*a*i*", 5);
	add(&index, "m*", 6);
	add(&index, "*thread_start*", 7);
	add(&index, "pthread_*_start", 8);
	add(&index, "[mn]ai[mn]", 9);
	assert_int_equal(tp_rule_index_build(&index), 0);
	assert_int_equal(find(&index, "main", 0), 9);
	assert_int_equal(find(&index, "main", 9), 9);
	assert_int_equal(find(&index, "mains", 0), 6);
	assert_int_equal(find(&index, "begin", 0), 4);
	assert_int_equal(find(&index, "thread_start", 0), 7);
	assert_int_equal(find(&index, "pthread_start", 0), 7);
	assert_int_equal(find(&index, "pthread_x_start", 0), 8);
	assert_int_equal(find(&index, "pthread__start", 0), 8);
	assert_int_equal(find(&index, "pthread_x_starts", 0), 1);
	assert_int_equal(find(&index, "", 0), 1);
	clear(&index);

	// The empty glob, and the same glob twice.
	add(&index, "", 1);
	add(&index, "a*", 2);
	add(&index, "a*", 3);
	assert_int_equal(tp_rule_index_build(&index), 0);
	assert_int_equal(find(&index, "", 0), 1);
	assert_int_equal(find(&index, "a", 0), 3);
	assert_int_equal(find(&index, "b", 0), 0);
	clear(&index);
}

static void test_readings(void **state)
{
	(void)state;
	struct tp_rule_index index = {0};
	add(&index, "libfoo.so", 1);
	add(&index, "*/lib/*", 2);
	add(&index, "lib*", 3);
	assert_int_equal(tp_rule_index_build(&index), 0);
	const char *path = "/usr/lib/libfoo.so";
	const struct tp_reading readings[] = {{path, strlen(path)}, {path + 9, strlen(path) - 9}};
	bool found[4] = {false};
	tp_rule_index_search(&index, readings, 1, 0, mark, found);
	assert_false(found[1]);
	assert_true(found[2]);
	assert_false(found[3]);
	tp_rule_index_search(&index, readings, 2, 0, mark, found);
	assert_true(found[1]);
	assert_true(found[3]);
	clear(&index);
}

static uint64_t random_state = 99;

static uint32_t pick(uint32_t count)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % count;
}

// A text of a few parts, with wildcards among them or not. Bytes above 127, too.
static void make_text(char text[64], bool wild)
{
	static const char *const parts[] = {"a", "ab", "Block", "Iterator", "_ZN", "\xc3\xa4", "1",
	    "lev\xff", "*", "?", "[aB_]", "**"};
	text[0] = '\0';
	for (uint32_t count = pick(6) + !wild; count; count--)
		strcat(text, parts[pick(wild ? 12 : 8)]);
}

static void test_agrees(void **state)
{
	(void)state;
	uint32_t matches = 0;
	for (int round = 0; round < 60; round++) {
		struct tp_rule_index index = {0};
		char text[64];
		const uint32_t count = 1 + pick(GLOBS_MAX - 1);
		for (uint32_t i = 0; i < count; i++) {
			make_text(text, true);
			// Ranks in another order than they are added.
			add(&index, text, 1 + (i * UINT64_C(7)) % 401);
		}
		assert_int_equal(tp_rule_index_build(&index), 0);
		for (int i = 0; i < 100; i++) {
			make_text(text, false);
			bool found[402] = {false};
			const struct tp_reading reading = {text, strlen(text)};
			tp_rule_index_search(&index, &reading, 1, 0, mark, found);
			uint64_t highest = 0;
			for (uint32_t g = 0; g < glob_count; g++) {
				const bool expected = tp_globs_match(&globs[g], text, strlen(text));
				if (found[ranks[g]] != expected)
					fail_msg("'%s' and rule %u of %u", text, g, glob_count);
				if (expected && ranks[g] > highest)
					highest = ranks[g];
				matches += expected;
			}
			assert_int_equal(find(&index, text, 0), highest);
		}
		clear(&index);
	}
	assert_true(matches > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_shapes),
	    cmocka_unit_test(test_readings),
	    cmocka_unit_test(test_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
