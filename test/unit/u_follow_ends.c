// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of a followed process: its trace says when that was noticed, and how it ended, however
// late it is completed.
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/follow/process.h"

static struct teeperf_trace_end end_of(const char *path)
{
	struct teeperf_trace_end end;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	// It is the last section.
	assert_true(lseek(fd, -(off_t)sizeof(end), SEEK_END) > 0);
	assert_int_equal(read(fd, &end, sizeof(end)), sizeof(end));
	close(fd);
	return end;
}

static void a_late_completion_changes_no_end(void **state)
{
	(void)state;
	char path[] = "/tmp/u_follow_ends.XXXXXX";
	struct tp_err err;
	struct tp_region first;
	const struct tp_region_options options = {.chunk_count = TP_REGION_MIN_CHUNKS,
	    .mode = TEEPERF_MODE_STREAM,
	    .clock = TEEPERF_CLOCK_NONE};
	assert_non_null(mkdtemp(path));
	assert_int_equal(chdir(path), 0);
	assert_int_equal(tp_region_create(&first, &options, &err), 0);
	const struct tp_follow follow = {
	    .options = {.output = "x",
		.first = &first,
		.common = {.clock = TEEPERF_CLOCK_NONE,
		    .facts = {.clock = "none", .mode = "stream", .drain = "now"}}}};
	int go[2];
	assert_int_equal(pipe(go), 0);
	const pid_t child = fork();
	if (!child) {
		char byte;
		close(go[1]);
		_exit(read(go[0], &byte, 1) == 0 ? 7 : 1);
	}
	close(go[0]);
	struct tp_followed *process = malloc(sizeof(*process));
	assert_non_null(process);
	const struct tp_follow_request request = {.parent = getpid()};
	assert_int_equal(tp_followed_start(process, &follow, child, &request, "x", &err), 0);
	// So that there is something to keep.
	tp_store_relaxed(&process->log.region.header->lost_overflow, 1);
	const uint64_t lives = tp_clock_monotonic_ns();
	close(go[1]);
	struct pollfd ended = {.fd = process->pidfd, .events = POLLIN};
	assert_int_equal(poll(&ended, 1, -1), 1);
	tp_followed_end(process);
	const uint64_t noticed = tp_clock_monotonic_ns();
	// Whatever comes between, such as a slow disk.
	while (tp_clock_monotonic_ns() == noticed)
		;
	struct tp_follow_result result;
	tp_followed_finish(process, false, &result);
	assert_string_equal(result.path, "x");
	const struct teeperf_trace_end end = end_of("x");
	assert_true(end.start_ns <= lives && lives <= end.end_ns && end.end_ns <= noticed);
	assert_int_equal(end.exit_kind, TEEPERF_EXIT_CODE);
	assert_int_equal(end.exit_value, 7);
	assert_int_equal(waitpid(child, NULL, 0), child);
	free(result.path);
	tp_region_release(&first);
	unlink("x");
	assert_int_equal(chdir("/"), 0);
	rmdir(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_late_completion_changes_no_end)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
