// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Growing buffers: contents, the NUL behind them, reuse, and memory that runs out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/buf.h"

#include <string.h>

static void test_add(void **state)
{
	(void)state;
	struct tp_buf buf;
	tp_buf_init(&buf);
	assert_string_equal(buf.data, "");
	tp_buf_add(&buf, "", 0);
	assert_int_equal(buf.capacity, 0);
	tp_buf_add_string(&buf, "abc");
	tp_buf_add_char(&buf, '-');
	tp_buf_addf(&buf, "%d %s", 42, "x");
	tp_buf_add(&buf, "\0z", 2);
	assert_int_equal(buf.size, 10);
	assert_memory_equal(buf.data, "abc-42 x\0z", 11);
	assert_false(buf.failed);
	tp_buf_reset(&buf);
	assert_int_equal(buf.size, 0);
	assert_string_equal(buf.data, "");
	tp_buf_release(&buf);
	assert_string_equal(buf.data, "");
	tp_buf_release(&buf);
}

static void test_growth(void **state)
{
	(void)state;
	struct tp_buf buf;
	tp_buf_init(&buf);
	for (int i = 0; i < 100000; i++)
		tp_buf_addf(&buf, "%d,", i % 10);
	assert_int_equal(buf.size, 200000);
	assert_int_equal(strlen(buf.data), 200000);
	for (size_t i = 0; i < 200000; i += 2) {
		assert_int_equal(buf.data[i], '0' + (int)(i / 2 % 10));
		assert_int_equal(buf.data[i + 1], ',');
	}
	// Larger than twice the capacity at once.
	static const char block[1 << 20];
	tp_buf_add(&buf, block, sizeof(block));
	assert_int_equal(buf.size, 200000 + sizeof(block));
	tp_buf_release(&buf);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct tp_buf buf;
	tp_buf_init(&buf);
	tp_buf_add_string(&buf, "kept");
	// More than any machine has; refused before the bytes are looked at.
	tp_buf_add(&buf, "", SIZE_MAX / 2);
	assert_true(buf.failed);
	tp_buf_add_string(&buf, "dropped");
	tp_buf_addf(&buf, "%d", 1);
	assert_string_equal(buf.data, "kept");
	assert_int_equal(buf.size, 4);
	tp_buf_release(&buf);
	assert_false(buf.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_add),
	    cmocka_unit_test(test_growth),
	    cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
