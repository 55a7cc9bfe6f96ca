// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each step of a session fails in turn, and so does none: what was started is stopped in the
// reverse order, each once, and nothing of it is left: no descriptor, no thread, no log, no trace,
// no signal that is still blocked.
#define _GNU_SOURCE
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/session_steps.h"

#define TRACE "u_session_steps.trace"
#define INNER TRACE ".tee"
enum { STEPS = 21, TEXT = 64 };

static struct tp_session session;
static struct tp_session_step watched[STEPS + 1];
static uint32_t step_count;
static uint32_t failing; // step_count: none
static uint32_t log_count;
static char logged[2 * STEPS + 1][TEXT]; // "+name" and "-name"

static void log_step(char sign, uint32_t i)
{
	assert_true(log_count < 2 * STEPS);
	snprintf(logged[log_count++], TEXT, "%c%s", sign, tp_session_steps[i].name);
}

static int start_step(uint32_t i, struct tp_session *its, struct tp_err *err)
{
	if (i == failing)
		return tp_err_set(err, TP_ERR_LIMIT, tp_session_steps[i].name, "fails here");
	log_step('+', i);
	return tp_session_steps[i].start(its, err);
}

static void stop_step(uint32_t i, struct tp_session *its)
{
	log_step('-', i);
	assert_int_equal(its->end != NULL, failing == step_count);
	if (tp_session_steps[i].stop)
		tp_session_steps[i].stop(its);
}

#define WATCH(i)                                                         \
	static int start_##i(struct tp_session *its, struct tp_err *err) \
	{                                                                \
		return start_step(i, its, err);                          \
	}                                                                \
	static void stop_##i(struct tp_session *its)                     \
	{                                                                \
		stop_step(i, its);                                       \
	}
#define EACH(MACRO) \
	MACRO(0)    \
	MACRO(1)    \
	MACRO(2)    \
	MACRO(3)    \
	MACRO(4)    \
	MACRO(5)    \
	MACRO(6)    \
	MACRO(7)    \
	MACRO(8)    \
	MACRO(9)    \
	MACRO(10)   \
	MACRO(11)   \
	MACRO(12)   \
	MACRO(13)   \
	MACRO(14)   \
	MACRO(15)   \
	MACRO(16)   \
	MACRO(17)   \
	MACRO(18)   \
	MACRO(19)   \
	MACRO(20)
EACH(WATCH)
#define STEP(i) {NULL, start_##i, stop_##i},
static const struct tp_session_step watching[] = {EACH(STEP)};

static int set_up(void **state)
{
	(void)state;
	while (tp_session_steps[step_count].name) {
		assert_true(step_count < STEPS);
		watched[step_count] = watching[step_count];
		watched[step_count].name = tp_session_steps[step_count].name;
		step_count++;
	}
	return 0;
}

static uint32_t count_entries(const char *path, const char *prefix)
{
	DIR *folder = opendir(path);
	assert_non_null(folder);
	uint32_t count = 0;
	for (const struct dirent *entry; (entry = readdir(folder));)
		count += !strncmp(entry->d_name, prefix, strlen(prefix));
	closedir(folder);
	return count;
}

// What a session could leave behind.
struct rest {
	uint32_t files;
	uint32_t threads;
	uint32_t logs;
	sigset_t mask;
};

static struct rest look(void)
{
	struct rest rest;
	char prefix[64];
	memset(&rest, 0, sizeof(rest));
	snprintf(prefix, sizeof(prefix), TP_REGION_PREFIX "%d-", (int)getpid());
	rest.files = count_entries("/proc/self/fd", "");
	rest.threads = count_entries("/proc/self/task", "");
	rest.logs = count_entries(TP_REGION_FOLDER, prefix);
	sigprocmask(SIG_BLOCK, NULL, &rest.mask);
	return rest;
}

static void assert_nothing_left(const struct rest *before)
{
	// A thread that was joined may be seen for a moment more.
	struct rest now = look();
	for (int i = 0; i < 10000 && now.threads != before->threads; i++) {
		usleep(1000);
		now = look();
	}
	assert_int_equal(now.threads, before->threads);
	assert_int_equal(now.files, before->files);
	assert_int_equal(now.logs, before->logs);
	assert_memory_equal(&now.mask, &before->mask, sizeof(now.mask));
}

// The steps up to the one that fails were started, and stopped in the reverse order.
static void assert_reversed(uint32_t started)
{
	assert_int_equal(log_count, 2 * started);
	for (uint32_t i = 0; i < started; i++) {
		assert_string_equal(logged[i] + 1, tp_session_steps[i].name);
		assert_int_equal(logged[i][0], '+');
		assert_string_equal(logged[log_count - 1 - i] + 1, tp_session_steps[i].name);
		assert_int_equal(logged[log_count - 1 - i][0], '-');
	}
}

static void fail_each(const struct tp_session_options *options)
{
	struct tp_session_counts counts;
	struct tp_err err;
	for (failing = 0; failing <= step_count; failing++) {
		unlink(TRACE);
		unlink(INNER);
		log_count = 0;
		const struct rest before = look();
		const int r = tp_session_start_steps(&session, options, watched, &err);
		if (failing < step_count) {
			assert_int_equal(r, TP_ERR_LIMIT);
			assert_string_equal(err.file, tp_session_steps[failing].name);
			assert_int_equal(access(TRACE, F_OK), -1);
			assert_int_equal(access(INNER, F_OK), -1);
		} else {
			assert_int_equal(r, 0);
			assert_int_equal(log_count, step_count);
			while (tp_session_wait(&session, 100) == TP_LAUNCH_TIMEOUT)
				;
			assert_int_equal(tp_session_finish(&session, &counts, &err), 0);
			tp_session_forget(&session);
			assert_true(session.launch.ended);
			assert_int_equal(session.launch.exit_value, 0);
			assert_int_equal(access(TRACE, F_OK), 0);
		}
		assert_reversed(failing);
		assert_nothing_left(&before);
	}
	unlink(TRACE);
	unlink(INNER);
}

static char *program[] = {(char[]){"true"}, NULL};
static const struct tp_session_options plain = {
    .output = TRACE,
    .size_bytes = 4 << 20,
    .ready_bytes = 1 << 20,
    .mode = TEEPERF_MODE_STREAM,
    .clock = TP_CLOCK_CHOICE_SOFT,
    .period_ns = 1000 * 1000,
    .only = {.kind = TEEPERF_ONLY_ALL},
    .argv = program,
};

static void of_a_program(void **state)
{
	(void)state;
	fail_each(&plain);
}

static void of_a_family(void **state)
{
	(void)state;
	struct tp_session_options options = plain;
	options.follow_fork = true;
	options.compress = tp_packer_is_there();
	fail_each(&options);
}

static void of_two_sides(void **state)
{
	(void)state;
	struct tp_session_options options = plain;
	options.inner = INNER;
	fail_each(&options);
}

static void of_counted_time(void **state)
{
	(void)state;
	struct tp_session_options options = plain;
	options.clock = TP_CLOCK_CHOICE_COUNT;
	options.mode = TEEPERF_MODE_RING;
	options.ring = 2;
	fail_each(&options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_a_program),
	    cmocka_unit_test(of_a_family),
	    cmocka_unit_test(of_two_sides),
	    cmocka_unit_test(of_counted_time),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
