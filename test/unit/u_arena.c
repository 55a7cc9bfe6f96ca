// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arena: pieces are zeroed, aligned, apart from each other, and stay where they are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/arena.h"

#define PIECES 3000

static void pieces_keep_their_contents(void **state)
{
	(void)state;
	static unsigned char *pieces[PIECES];
	struct tp_arena arena;
	tp_arena_init(&arena);
	for (size_t i = 0; i < PIECES; i++) {
		// Now and then one that is bigger than a block.
		const size_t size = i % 500 == 7 ? 100000 : i % 97;
		pieces[i] = tp_arena_alloc(&arena, size);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < size; j++)
			assert_int_equal(pieces[i][j], 0);
		memset(pieces[i], (int)(i % 251) + 1, size);
	}
	for (size_t i = 0; i < PIECES; i++)
		for (size_t j = 0; j < (i % 500 == 7 ? 100000 : i % 97); j++)
			assert_int_equal(pieces[i][j], i % 251 + 1);
	tp_arena_release(&arena);
	assert_null(arena.blocks);
}

static void impossible_sizes_fail(void **state)
{
	(void)state;
	struct tp_arena arena;
	tp_arena_init(&arena);
	assert_non_null(tp_arena_alloc(&arena, 10));
	assert_null(tp_arena_alloc(&arena, SIZE_MAX));
	assert_null(tp_arena_alloc(&arena, SIZE_MAX - 8));
	assert_null(tp_arena_copy(&arena, "", SIZE_MAX));
	// It is usable afterwards.
	assert_non_null(tp_arena_alloc(&arena, 10));
	tp_arena_release(&arena);
	tp_arena_release(&arena);
}

static void copies_end_in_nul(void **state)
{
	(void)state;
	struct tp_arena arena;
	tp_arena_init(&arena);
	const char *two = tp_arena_copy(&arena, "text", 2);
	const char *none = tp_arena_copy(&arena, NULL, 0);
	assert_string_equal(two, "te");
	assert_string_equal(none, "");
	assert_ptr_not_equal(two, none);
	assert_memory_equal(tp_arena_copy(&arena, "a\0b", 3), "a\0b", 4);
	tp_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_keep_their_contents),
	    cmocka_unit_test(impossible_sizes_fail),
	    cmocka_unit_test(copies_end_in_nul),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
