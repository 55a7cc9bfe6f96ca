// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays that grow: contents stay, and what does not fit leaves all as it was. Searches in sorted
// ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/array.h"

struct item {
	uint64_t a, b;
};

static void test_grow(void **state)
{
	(void)state;
	struct item *items = NULL;
	uint32_t room = 0;
	uint32_t moved = 0;
	for (uint32_t count = 0; count < 10000; count++) {
		const uint32_t before = room;
		assert_true(TP_GROW(items, room, count + 1));
		assert_true(room > count);
		moved += room != before;
		items[count] = (struct item){count, ~count};
	}
	assert_int_equal(moved, 11); // 16, 32 ... 16384
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(items[i].a, i);
	assert_true(TP_GROW(items, room, 100000));
	assert_int_equal(room, 100000);
	assert_int_equal(items[9999].b, (uint64_t)~9999u);
	free(items);
}

static void test_limits(void **state)
{
	(void)state;
	uint8_t *bytes = NULL;
	uint8_t room = 0;
	assert_true(TP_GROW(bytes, room, 200));
	assert_int_equal(room, 200);
	uint8_t *const before = bytes;
	volatile uint64_t above = 256; // that no compiler works out what it is compared with
	assert_false(TP_GROW(bytes, room, above)); // not a number of this type
	assert_ptr_equal(bytes, before);
	assert_int_equal(room, 200);
	assert_true(TP_GROW(bytes, room, 201)); // twice as many would not be, either
	assert_int_equal(room, 255);
	free(bytes);

	struct item *items = NULL;
	uint64_t many = 0;
	assert_false(TP_GROW(items, many, UINT64_MAX)); // bytes beyond any size
	assert_false(TP_GROW(items, many, UINT64_MAX / sizeof(*items) + 1));
	assert_null(items);
	assert_int_equal(many, 0);
}

static void test_search(void **state)
{
	(void)state;
	static const uint32_t items[] = {1, 3, 3, 3, 9};
	const uint32_t count = 5;
	assert_int_equal(TP_LOWER_BOUND(0, count, i, items[i] < 1), 0);
	assert_int_equal(TP_LOWER_BOUND(0, count, i, items[i] < 3), 1);
	assert_int_equal(TP_LOWER_BOUND(0, count, i, items[i] <= 3), 4);
	assert_int_equal(TP_LOWER_BOUND(2, count, i, items[i] < 3), 2);
	assert_int_equal(TP_LOWER_BOUND(0, count, i, items[i] < 10), 5);
	assert_int_equal(TP_LOWER_BOUND(0, 0u, i, items[i] < 10), 0);
	// Numbers whose sum is none.
	const uint64_t far = TP_LOWER_BOUND(UINT64_MAX - 9, UINT64_MAX, i, i < UINT64_MAX - 4);
	assert_int_equal(far, UINT64_MAX - 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_grow),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
