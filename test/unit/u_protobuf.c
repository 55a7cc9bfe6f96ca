// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Protocol buffers: the bytes are those of the specification.
#include "analyzer/output/format/protobuf.h"
#include "common/varint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define assert_bytes(buf, text)                                          \
	do {                                                             \
		assert_int_equal((buf).size, sizeof(text) - 1);          \
		assert_memory_equal((buf).data, text, sizeof(text) - 1); \
		tp_buf_reset(&(buf));                                    \
	} while (0)

static void test_numbers(void **state)
{
	(void)state;
	struct tp_buf out;
	tp_buf_init(&out);
	tp_protobuf_add_number(&out, 1, 150); // the example of the specification
	assert_bytes(out, "\x08\x96\x01");
	tp_protobuf_add_number(&out, 1, 0);
	assert_bytes(out, "\x08\x00");
	tp_protobuf_add_number(&out, 16, 127);
	assert_bytes(out, "\x80\x01\x7f");
	tp_protobuf_add_number(&out, 1, (uint64_t)(int64_t)-2); // int64
	assert_bytes(out, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	tp_protobuf_add_number(&out, 536870911, UINT64_MAX); // the greatest of both
	assert_bytes(out, "\xf8\xff\xff\xff\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	tp_varint_add(&out, 86942);
	assert_bytes(out, "\x9e\xa7\x05");
	tp_buf_release(&out);
}

static void test_bytes(void **state)
{
	(void)state;
	struct tp_buf out;
	struct tp_buf part;
	tp_buf_init(&out);
	tp_buf_init(&part);
	tp_protobuf_add_bytes(&out, 2, "testing", 7);
	assert_bytes(out, "\x12\x07testing");
	tp_protobuf_add_bytes(&out, 2, "", 0);
	assert_bytes(out, "\x12\x00");
	tp_protobuf_add_number(&part, 1, 150);
	tp_protobuf_add_part(&out, 3, &part);
	assert_bytes(out, "\x1a\x03\x08\x96\x01");
	assert_int_equal(part.size, 0);
	for (uint32_t i = 0; i < 300; i++)
		tp_varint_add(&part, 1);
	tp_protobuf_add_part(&out, 3, &part);
	assert_int_equal(out.size, 303);
	assert_memory_equal(out.data, "\x1a\xac\x02\x01", 4);
	part.failed = true;
	assert_false(out.failed);
	tp_protobuf_add_part(&out, 3, &part);
	assert_true(out.failed);
	tp_buf_release(&part);
	tp_buf_release(&out);
}

static void test_text(void **state)
{
	(void)state;
	struct tp_buf out;
	tp_buf_init(&out);
	tp_protobuf_add_text(&out, 1, "");
	assert_bytes(out, "\x0a\x00");
	tp_protobuf_add_text(&out, 1, "na\xc3\xafve");
	assert_bytes(out, "\x0a\x06na\xc3\xafve");
	tp_protobuf_add_text(&out, 1,
	    "\xff"
	    "a\xc3"
	    "b\xe2\x82");
	assert_bytes(out, "\x0a\x06?a?b??");
	tp_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_bytes),
	    cmocka_unit_test(test_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
