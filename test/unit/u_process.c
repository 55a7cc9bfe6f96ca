// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Child processes: streams, status, environment, limits, and those that end badly.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/process.h"
#include "common/read_all.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(struct tp_program program, const char *script, const char *expected)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct tp_buf out;
	int status = -1;
	tp_buf_init(&out);
	program.argv = argv;
	program.output = expected ? &out : NULL;
	assert_int_equal(tp_process_run(&program, &status), 0);
	if (expected)
		assert_string_equal(out.data, expected);
	tp_buf_release(&out);
	return status;
}

static void test_program(void **state)
{
	(void)state;
	assert_int_equal(run((struct tp_program){0}, "echo out; echo lost >&2", "out\n"), 0);
	assert_int_equal(
	    run((struct tp_program){.input = "a\nb\n"}, "cat; echo c", "a\nb\nc\n"), 0);
	assert_int_equal(run((struct tp_program){0}, "cat", ""), 0); // there is no input
	// One that does not read its input does no harm.
	assert_int_equal(run((struct tp_program){.input = "a"}, "exit 0", NULL), 0);
	int status = run((struct tp_program){0}, "exit 7", NULL);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	status = run((struct tp_program){0}, "kill -TERM $$", NULL);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

// More than a pipe holds.
static void test_much(void **state)
{
	(void)state;
	const char *const argv[] = {"sh", "-c",
	    "i=0; while [ $i -lt 5000 ]; do echo 0123456789012345678901234567890; i=$((i+1)); done",
	    NULL};
	struct tp_buf out;
	int status;
	tp_buf_init(&out);
	const struct tp_program program = {.argv = argv, .output = &out};
	assert_int_equal(tp_process_run(&program, &status), 0);
	assert_int_equal(status, 0);
	assert_int_equal(out.size, 160000);
	tp_buf_release(&out);
}

static void become(const void *context)
{
	const char *const *argv = context;
	execvp(argv[0], (char *const *)argv);
}

// The error of exec is that of the start.
static void test_become(void **state)
{
	(void)state;
	const char *const argv[] = {"sh", "-c", "exit 7", NULL};
	const char *const missing[] = {"/does/not/exist", NULL};
	pid_t pid = 0;
	assert_int_equal(tp_process_start(&pid, become, argv), 0);
	const int status = tp_process_wait(pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_int_equal(tp_process_start(&pid, become, missing), ENOENT);
	assert_int_equal(waitpid(pid, NULL, 0), -1);
}

static void test_missing(void **state)
{
	(void)state;
	const char *const argv[] = {"teeperf-no-such-program", NULL};
	struct tp_buf out;
	int status;
	tp_buf_init(&out);
	const struct tp_program program = {.argv = argv, .input = "a", .output = &out};
	assert_int_equal(tp_process_run(&program, &status), ENOENT);
	assert_int_equal(out.size, 0);
	tp_buf_release(&out);
}

static int say(void *context, int fd)
{
	const char *text = context;
	if (strcmp(text, "crash") == 0)
		raise(SIGKILL);
	if (strcmp(text, "wait") == 0)
		pause();
	return tp_write_all(fd, text, strlen(text)) ? 3 : 1;
}

static bool take(const char *text, uint64_t most, const char *expected, int *status)
{
	struct tp_process process;
	struct tp_buf got;
	tp_buf_init(&got);
	tp_buf_add_string(&got, "before ");
	assert_int_equal(tp_process_fork(&process, say, (void *)(uintptr_t)text), 0);
	const bool taken = tp_process_take(&process, most, &got, status);
	assert_string_equal(got.data, expected);
	tp_buf_release(&got);
	return taken;
}

static void test_work(void **state)
{
	(void)state;
	int status;
	assert_true(take("twelve bytes", 12, "before twelve bytes", &status));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	assert_false(take("twelve bytes", 11, "before ", &status));
	assert_true(take("crash", 12, "before ", &status));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	// One that would never end.
	struct tp_process process;
	assert_int_equal(tp_process_fork(&process, say, (void *)(uintptr_t) "wait"), 0);
	tp_process_kill(&process);
	assert_int_equal(kill(process.pid, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_program),
	    cmocka_unit_test(test_much),
	    cmocka_unit_test(test_become),
	    cmocka_unit_test(test_missing),
	    cmocka_unit_test(test_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
