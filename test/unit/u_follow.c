// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of the processes of a recording: what waits for a disk keeps nobody from the list.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "recorder/follow/follow.h"
#include "recorder/follow/process.h"

enum { PATIENCE_MS = 30 * 1000 };

static struct tp_follow follow;
static struct tp_followed process;
static bool done;

// The process' drain thread is played by the test.
static void *flush(void *argument)
{
	done = tp_follow_flush(&follow, PATIENCE_MS);
	return argument;
}

static void begin(pthread_t *thread)
{
	struct tp_err err;
	follow = (struct tp_follow){.list = &process};
	process = (struct tp_followed){.pid = 1};
	assert_int_equal(pthread_mutex_init(&follow.lock, NULL), 0);
	assert_int_equal(tp_doorbell_init(&process.log.drain.worker.bell, &err), 0);
	done = false;
	assert_int_equal(pthread_create(thread, NULL, flush, NULL), 0);
	const struct timespec nap = {.tv_nsec = 1000 * 1000};
	while (!tp_load_acquire(&process.log.drain.flush_asked))
		nanosleep(&nap, NULL);
}

static void end(pthread_t thread)
{
	pthread_join(thread, NULL);
	pthread_mutex_destroy(&follow.lock);
	tp_doorbell_release(&process.log.drain.worker.bell);
}

static void a_flush_does_not_hold_the_list(void **state)
{
	(void)state;
	pthread_t thread;
	begin(&thread);
	// As a process that asks for a log does.
	pthread_mutex_lock(&follow.lock);
	follow.control = 1;
	pthread_mutex_unlock(&follow.lock);
	tp_store_release(&process.log.drain.flush_done, 1);
	end(thread);
	assert_true(done);
}

static void a_flush_waits_for_what_is_being_finished(void **state)
{
	(void)state;
	pthread_t thread;
	begin(&thread);
	// It ends meanwhile; its trace could not be written in full.
	pthread_mutex_lock(&follow.lock);
	follow.list = NULL;
	follow.finishing_flush = true;
	pthread_mutex_unlock(&follow.lock);
	struct tp_follow_result result = {.log.failed = true};
	pthread_mutex_lock(&follow.lock);
	follow.results = &result;
	follow.result_count = 1;
	follow.finishing_flush = false;
	pthread_mutex_unlock(&follow.lock);
	end(thread);
	assert_false(done);
}

static void expect_name(const struct tp_follow *of, const char *name)
{
	struct tp_err err;
	char *path = tp_follow_choose_path(of, 7, &err);
	assert_string_equal(path, name);
	free(path);
}

// No two traces of a recording have one name, wherever the first one is: recorded, being completed,
// complete.
static void names_are_taken_once(void **state)
{
	(void)state;
	struct tp_followed live = {.log.writer.path = (char[]){"run.trace.7"}};
	struct tp_follow_result results[] = {{.path = NULL}, {.path = (char[]){"run.trace.7-3"}}};
	struct tp_follow of = {.options.output = "run.trace"};
	expect_name(&of, "run.trace.7");
	of.finishing = (char[]){"run.trace.7"};
	expect_name(&of, "run.trace.7-2");
	of.list = &live;
	of.finishing = (char[]){"run.trace.7-2"};
	expect_name(&of, "run.trace.7-3");
	of.results = results;
	of.result_count = 2;
	expect_name(&of, "run.trace.7-4");
	of.finishing = NULL;
	expect_name(&of, "run.trace.7-2");
}

// A program that becomes another one again and again does not write over its own traces.
static void names_run_out(void **state)
{
	(void)state;
	enum { MOST = 1000 };
	struct tp_follow_result *results = calloc(MOST, sizeof(*results));
	struct tp_follow of = {.options.output = "run.trace", .results = results};
	struct tp_err err;
	assert_non_null(results);
	for (; of.result_count < MOST; of.result_count++) {
		results[of.result_count].path = tp_follow_choose_path(&of, 7, &err);
		assert_non_null(results[of.result_count].path);
	}
	assert_string_equal(results[MOST - 1].path, "run.trace.7-1000");
	assert_null(tp_follow_choose_path(&of, 7, &err));
	assert_int_equal(err.code, TP_ERR_LIMIT);
	assert_string_equal(err.what, "process 7 has 1000 traces already");
	for (uint64_t i = 0; i < of.result_count; i++)
		free(results[i].path);
	free(results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_taken_once),
	    cmocka_unit_test(names_run_out), cmocka_unit_test(a_flush_does_not_hold_the_list),
	    cmocka_unit_test(a_flush_waits_for_what_is_being_finished)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
