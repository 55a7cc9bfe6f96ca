// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hash index: each item is found again, even where all hashes are the same, and after growing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/hash.h"
#include "common/index.h"

struct items {
	uint64_t values[20000]; // from 1 on
	uint32_t count;
	bool meet; // all hashes are the same
};

static uint32_t hash_of(const struct items *items, uint64_t value)
{
	return items->meet ? UINT32_MAX : tp_hash_number(value);
}

static uint32_t hash_item(const void *items, uint32_t number)
{
	return hash_of(items, ((const struct items *)items)->values[number]);
}

static uint32_t *find(const struct tp_index *index, const struct items *items, uint64_t value)
{
	uint32_t *slot = tp_index_first(index, hash_of(items, value));
	while (*slot && items->values[*slot] != value)
		slot = tp_index_next(index, slot);
	return slot;
}

static void fill(struct items *items, uint32_t count)
{
	struct tp_index index = {0};
	for (uint32_t i = 0; i < count; i++) {
		assert_true(tp_index_reserve(&index, items->count, hash_item, items));
		assert_true(items->count <= index.mask / 2);
		uint32_t *slot = find(&index, items, i * UINT64_C(7));
		assert_int_equal(*slot, 0);
		items->values[++items->count] = i * UINT64_C(7);
		*slot = items->count;
	}
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(*find(&index, items, i * UINT64_C(7)), i + 1);
	assert_int_equal(*find(&index, items, 1), 0);
	tp_index_release(&index);
	assert_null(index.slots);
}

static void test_grow(void **state)
{
	(void)state;
	static struct items items;
	fill(&items, 19999);
}

static void test_meet(void **state)
{
	(void)state;
	static struct items items;
	items.meet = true;
	fill(&items, 300);
}

static void test_init(void **state)
{
	(void)state;
	struct tp_index index;
	assert_true(tp_index_init(&index, 0));
	assert_int_equal(*tp_index_first(&index, UINT64_MAX), 0);
	tp_index_release(&index);
	assert_true(tp_index_init(&index, 1000));
	assert_int_equal(index.mask, 2047);
	// Behind the last one comes the first.
	assert_ptr_equal(tp_index_next(&index, &index.slots[2047]), index.slots);
	tp_index_release(&index);
	assert_false(tp_index_init(&index, UINT64_C(1) << 31));
	assert_null(index.slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_grow),
	    cmocka_unit_test(test_meet),
	    cmocka_unit_test(test_init),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
