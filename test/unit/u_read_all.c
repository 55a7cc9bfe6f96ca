// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing whole: at an offset, at the end of a file, more than a pipe takes at once,
// and errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/process.h"
#include "common/read_all.h"
#include "common/out_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void test_read_at(void **state)
{
	(void)state;
	const char *folder;
	char text[8] = "";
	const int fd = tp_temporary_open(&folder);
	assert_true(fd >= 0);
	assert_true(tp_write_all(fd, "0123456789", 10));
	assert_int_equal(tp_read_at(fd, text, 4, 3), 4);
	assert_memory_equal(text, "3456", 4);
	assert_int_equal(tp_read_at(fd, text, 4, 8), 2); // the file ends
	assert_memory_equal(text, "8956", 4);
	assert_int_equal(tp_read_at(fd, text, 4, 10), 0);
	assert_int_equal(tp_read_at(fd, text, 0, 3), 0);
	close(fd);
	assert_int_equal(tp_read_at(fd, text, 4, 0), -1);
	assert_int_equal(errno, EBADF);
	assert_false(tp_write_all(fd, "0", 1));
	assert_int_equal(errno, EBADF);
}

static int say(void *context, int fd)
{
	(void)context;
	static char much[1 << 20];
	memset(much, 'x', sizeof(much));
	return !tp_write_all(fd, much, sizeof(much));
}

static void test_pipe(void **state)
{
	(void)state;
	struct tp_process process;
	struct tp_buf got;
	struct tp_err err;
	tp_buf_init(&got);
	assert_int_equal(tp_process_fork(&process, say, NULL), 0);
	assert_int_equal(tp_read_all(&got, process.fd, "pipe", "it", 1 << 20, &err), 0);
	assert_int_equal(got.size, 1 << 20);
	assert_int_equal(got.data[got.size - 1], 'x');
	close(process.fd);
	assert_int_equal(tp_process_wait(process.pid), 0);
	tp_buf_reset(&got);
	assert_int_equal(tp_process_fork(&process, say, NULL), 0);
	assert_int_equal(
	    tp_read_all(&got, process.fd, "pipe", "it", (1 << 20) - 1, &err), TP_ERR_LIMIT);
	tp_process_kill(&process);
	tp_buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_read_at),
	    cmocka_unit_test(test_pipe),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
