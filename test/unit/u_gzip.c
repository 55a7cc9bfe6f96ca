// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that are added to a packed buffer, in any number, come out of zlib again; a failed buffer
// is reported.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/output/format/gzip.h"

#include <stdlib.h>
#include <string.h>

static void unpack(const struct tp_buf *packed, const char *wanted, size_t size)
{
	char *got = malloc(size + 1);
	z_stream stream = {0};
	assert_non_null(got);
	assert_int_equal(inflateInit2(&stream, 31), Z_OK);
	stream.next_in = (unsigned char *)packed->data;
	stream.avail_in = (uInt)packed->size;
	stream.next_out = (unsigned char *)got;
	stream.avail_out = (uInt)size + 1;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, size);
	assert_int_equal(stream.avail_in, 0);
	assert_memory_equal(got, wanted, size);
	inflateEnd(&stream);
	free(got);
}

static void test_sizes(void **state)
{
	static const size_t sizes[] = {
	    0, 1, 100, TP_BUF_DRAIN_SIZE, TP_BUF_DRAIN_SIZE + 1, 3000000};
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *data = malloc(sizes[i] + 1);
		struct tp_buf out;
		struct tp_gzip gzip;
		struct tp_err err;
		uint64_t seed = 1;
		assert_non_null(data);
		for (size_t j = 0; j < sizes[i]; j++) {
			seed = seed * UINT64_C(6364136223846793005) + 1;
			data[j] = (char)(j % 3 ? 'x' : seed >> 56);
		}
		tp_buf_init(&out);
		assert_int_equal(tp_gzip_init(&gzip, &out, &err), 0);
		for (size_t at = 0; at < sizes[i]; at += 1000)
			tp_buf_add(
			    &gzip.buf, data + at, sizes[i] - at < 1000 ? sizes[i] - at : 1000);
		tp_gzip_finish(&gzip);
		assert_false(out.failed);
		unpack(&out, data, sizes[i]);
		tp_buf_release(&out);
		free(data);
	}
}

static void test_failure(void **state)
{
	(void)state;
	struct tp_buf out;
	struct tp_gzip gzip;
	struct tp_err err;
	tp_buf_init(&out);
	assert_int_equal(tp_gzip_init(&gzip, &out, &err), 0);
	tp_buf_add_string(&gzip.buf, "something");
	gzip.buf.failed = true;
	tp_gzip_finish(&gzip);
	assert_true(out.failed);
	tp_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
