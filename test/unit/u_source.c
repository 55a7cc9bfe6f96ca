// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sources of bytes: files and memory give the same bytes, and neither reads beyond its end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/trace/source.h"

#define FILE_NAME "u_source.tmp"

static const char text[] = "0123456789";

static void write_file(void)
{
	FILE *file = fopen(FILE_NAME, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, 10, file), 10);
	assert_int_equal(fclose(file), 0);
}

static void check_reads(const struct tp_source *source)
{
	char to[11] = "";
	struct tp_err err;
	assert_int_equal(source->size, 10);
	assert_int_equal(tp_source_read(source, 3, to, 4, &err), 0);
	assert_string_equal(to, "3456");
	assert_int_equal(tp_source_read(source, 0, to, 10, &err), 0);
	assert_string_equal(to, text);
	assert_int_equal(tp_source_read(source, 10, to, 0, &err), 0);
	assert_int_equal(tp_source_read(source, 7, to, 4, &err), TP_ERR_TRUNCATED);
	assert_int_equal(err.offset, 7);
	assert_string_equal(err.what, "4 bytes are needed, but the file ends at offset 10");
	// Offset and size whose sum wraps.
	assert_int_equal(tp_source_read(source, UINT64_MAX, to, 2, &err), TP_ERR_TRUNCATED);
	assert_int_equal(tp_source_read(source, 1, to, SIZE_MAX, &err), TP_ERR_TRUNCATED);
	assert_string_equal(to, text);
}

static void file_and_memory_are_alike(void **state)
{
	(void)state;
	struct tp_source source;
	struct tp_err err;
	write_file();
	assert_int_equal(tp_source_open(&source, FILE_NAME, &err), 0);
	check_reads(&source);
	tp_source_close(&source);
	assert_int_equal(source.fd, -1);
	tp_source_from_memory(&source, "memory", text, 10);
	check_reads(&source);
	tp_source_close(&source);
}

static void a_file_that_shrinks_is_an_error(void **state)
{
	(void)state;
	struct tp_source source;
	struct tp_err err;
	char to[10];
	write_file();
	assert_int_equal(tp_source_open(&source, FILE_NAME, &err), 0);
	assert_int_equal(truncate(FILE_NAME, 5), 0);
	assert_int_equal(tp_source_read(&source, 2, to, 8, &err), TP_ERR_TRUNCATED);
	assert_int_equal(err.offset, 5);
	assert_string_equal(err.what, "the file became shorter while it was read");
	tp_source_close(&source);
}

static void only_regular_files_open(void **state)
{
	(void)state;
	struct tp_source source;
	struct tp_err err;
	assert_int_equal(tp_source_open(&source, "no-such-file", &err), TP_ERR_SYSTEM);
	assert_string_equal(err.what, "cannot open it: No such file or directory");
	assert_string_equal(err.file, "no-such-file");
	assert_int_equal(tp_source_open(&source, "/", &err), TP_ERR_FORMAT);
	assert_int_equal(tp_source_open(&source, "/dev/null", &err), TP_ERR_FORMAT);
	// Must not wait for a writer.
	unlink("u_source.fifo");
	assert_int_equal(mkfifo("u_source.fifo", 0600), 0);
	assert_int_equal(tp_source_open(&source, "u_source.fifo", &err), TP_ERR_FORMAT);
	assert_int_equal(source.fd, -1);
	unlink("u_source.fifo");
	unlink(FILE_NAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(file_and_memory_are_alike),
	    cmocka_unit_test(a_file_that_shrinks_is_an_error),
	    cmocka_unit_test(only_regular_files_open),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
