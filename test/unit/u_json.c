// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The JSON writer: both spacings, lines, values, escapes and invalid text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/json.h"

#include <math.h>

static void add_all(struct tp_json *json)
{
	tp_json_object(json, NULL);
	tp_json_text(json, "text", "a\"b\\c");
	tp_json_text(json, "none", NULL);
	tp_json_uint(json, "large", UINT64_MAX);
	tp_json_object(json, "empty");
	tp_json_end(json);
	tp_json_array(json, "list");
	tp_json_real(json, NULL, 3, 1.0005);
	tp_json_real(json, NULL, 0, 1e300 * 1e300);
	tp_json_real(json, NULL, 0, NAN);
	tp_json_bool(json, NULL, true);
	tp_json_array(json, NULL);
	tp_json_end(json);
	tp_json_end(json);
	tp_json_value(json, "raw");
	tp_buf_add_string(json->out, "1e9");
	tp_json_end(json);
}

static void test_spacing(void **state)
{
	(void)state;
	struct tp_buf out;
	struct tp_json json;
	tp_buf_init(&out);
	tp_json_init(&json, &out, TP_JSON_COMPACT);
	add_all(&json);
	assert_string_equal(out.data,
	    "{\"text\":\"a\\\"b\\\\c\",\"none\":null,\"large\":18446744073709551615,"
	    "\"empty\":{},\"list\":[1.000,null,null,true,[]],"
	    "\"raw\":1e9}");
	tp_buf_reset(&out);
	tp_json_init(&json, &out, TP_JSON_SPACED);
	add_all(&json);
	assert_string_equal(out.data,
	    "{\"text\": \"a\\\"b\\\\c\", \"none\": null, \"large\": 18446744073709551615, "
	    "\"empty\": {}, \"list\": [1.000, null, null, true, []], "
	    "\"raw\": 1e9}");
	tp_buf_release(&out);
}

static void test_lines(void **state)
{
	(void)state;
	struct tp_buf out;
	struct tp_json json;
	tp_buf_init(&out);
	tp_json_init(&json, &out, TP_JSON_SPACED);
	tp_json_object(&json, NULL);
	tp_json_lines(&json);
	tp_json_uint(&json, "a", 1);
	tp_json_array(&json, "none");
	tp_json_lines(&json);
	tp_json_end(&json);
	tp_json_array(&json, "list");
	tp_json_lines(&json);
	for (uint64_t i = 0; i < 2; i++) {
		tp_json_object(&json, NULL);
		tp_json_uint(&json, "b", i);
		tp_json_line(&json, 1);
		tp_json_uint(&json, "c", i);
		tp_json_uint(&json, "d", i);
		tp_json_end(&json);
	}
	tp_json_end(&json);
	tp_json_end(&json);
	assert_string_equal(out.data, "{\n  \"a\": 1,\n  \"none\": [],\n  \"list\": [\n"
				      "    {\"b\": 0,\n \"c\": 0, \"d\": 0},\n"
				      "    {\"b\": 1,\n \"c\": 1, \"d\": 1}\n  ]\n}");
	tp_buf_reset(&out);
	// Values one after another, and lines that are asked for one by one.
	tp_json_init(&json, &out, TP_JSON_COMPACT);
	tp_json_array(&json, NULL);
	tp_json_line(&json, 0);
	tp_json_uint(&json, NULL, 1);
	tp_json_line(&json, 0);
	tp_json_uint(&json, NULL, 2);
	tp_json_line(&json, 2);
	tp_json_end(&json);
	assert_string_equal(out.data, "[\n1,\n2\n  ]");
	tp_buf_release(&out);
}

static void test_deep(void **state)
{
	(void)state;
	struct tp_buf out;
	struct tp_buf expected;
	struct tp_json json;
	tp_buf_init(&out);
	tp_buf_init(&expected);
	tp_json_init(&json, &out, TP_JSON_COMPACT);
	for (int i = 0; i < TP_JSON_DEPTH / 2; i++) {
		tp_json_object(&json, NULL);
		tp_json_array(&json, "a");
		tp_buf_add_string(&expected, "{\"a\":[");
	}
	for (int i = 0; i < TP_JSON_DEPTH / 2; i++) {
		tp_json_uint(&json, NULL, 1);
		tp_json_end(&json);
		tp_json_uint(&json, "b", 2);
		tp_json_end(&json);
		tp_buf_add_string(&expected, i ? ",1],\"b\":2}" : "1],\"b\":2}");
	}
	assert_int_equal(json.depth, 0);
	assert_string_equal(out.data, expected.data);
	tp_buf_release(&out);
	tp_buf_release(&expected);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct tp_buf out;
	struct tp_json json;
	tp_buf_init(&out);
	out.failed = true;
	tp_json_init(&json, &out, TP_JSON_COMPACT);
	add_all(&json);
	assert_true(out.failed);
	assert_int_equal(json.depth, 0);
	assert_int_equal(out.size, 0);
	tp_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_spacing),
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_deep),
	    cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
