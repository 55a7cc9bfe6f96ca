// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Base64: the examples of RFC 4648, section 10, and bytes that fill the buffer inside.
#include "common/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_examples(void **state)
{
	static const char *const examples[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="},
	    {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"},
	    {"\xff\xff\xfe", "///+"}};
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct tp_buf out;
		tp_buf_init(&out);
		tp_base64_add(&out, examples[i][0], strlen(examples[i][0]));
		assert_string_equal(out.data, examples[i][1]);
		tp_buf_release(&out);
	}
}

static void test_long(void **state)
{
	uint8_t bytes[3 * 4096 + 1] = {0};
	struct tp_buf out;
	(void)state;
	tp_buf_init(&out);
	tp_base64_add(&out, bytes, sizeof(bytes));
	assert_int_equal(out.size, 4 * 4096 + 4);
	for (size_t i = 0; i < out.size - 2; i++)
		assert_int_equal(out.data[i], 'A');
	assert_string_equal(out.data + out.size - 2, "==");
	tp_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_examples),
	    cmocka_unit_test(test_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
