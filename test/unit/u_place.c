// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files whose names others know: which are used, which are refused and left as they were, and which
// places in them are free.
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <teeperf/log.h>

#include "recorder/region/region.h"

static struct tp_place_file file;
static struct tp_err err;
static const uint64_t CHUNK = TP_REGION_CHUNK_SIZE;

static int fresh(void **state)
{
	(void)state;
	static char folder[64];
	strcpy(folder, "/tmp/u_place.XXXXXX");
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	char folder[64];
	(void)!getcwd(folder, sizeof(folder));
	unlink("log");
	unlink("link");
	return chdir("/") || rmdir(folder);
}

static int open_place(const struct tp_place *place)
{
	memset(&err, 0, sizeof(err));
	return tp_place_open(place, &file, &err);
}

static void refused(const struct tp_place *place, const char *text)
{
	assert_true(open_place(place) < 0);
	assert_int_equal(file.fd, -1);
	if (!strstr(err.what, text))
		fail_msg("'%s' is not in '%s'", text, err.what);
}

// `size` bytes, of which those at `at` are these.
static void make(off_t size, off_t at, const void *bytes, size_t count)
{
	const int fd = open("log", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(pwrite(fd, bytes, count, at), count);
	close(fd);
}

static void a_new_file(void **state)
{
	(void)state;
	const struct tp_place place = {.path = "log"};
	assert_int_equal(open_place(&place), 0);
	struct stat status;
	assert_int_equal(fstat(file.fd, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_true(file.made && !file.fixed && file.room > 0);
	// Until it is closed it is ours.
	const int other = open("log", O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
	const struct tp_place_file first = file;
	refused(&place, "another process has locked it");
	close(first.fd);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	close(other);
	// Now it is an old one, and empty.
	assert_int_equal(open_place(&place), 0);
	assert_true(!file.made && !file.fixed);
	close(file.fd);
}

static void what_is_no_place(void **state)
{
	(void)state;
	assert_int_equal(symlink("log", "link"), 0);
	refused(&(struct tp_place){.path = "link", .force = true}, "a symbolic link");
	assert_int_equal(access("log", F_OK), -1);
	assert_int_equal(mkfifo("log", 0600), 0);
	refused(&(struct tp_place){.path = "log", .force = true}, "a regular file");
	unlink("log");
	refused(&(struct tp_place){.path = "."}, "cannot open");
	refused(&(struct tp_place){.path = "nowhere/log"}, "cannot open");
	refused(&(struct tp_place){.path = "log", .offset = 4096},
	    "'--offset' must be a multiple of 64K");
	refused(
	    &(struct tp_place){.path = "log", .offset = UINT64_MAX & ~(CHUNK - 1)}, "'--offset'");
	assert_int_equal(access("log", F_OK), -1);
	make(65536, 0, "", 0);
	refused(&(struct tp_place){.path = "log", .offset = CHUNK}, "but the file has 65536 bytes");
	const struct tp_place there = {.path = "log", .guessable = true};
	if (geteuid() == 0) {
		assert_int_equal(chown("log", 1, 1), 0);
		refused(&there, "it belongs to user 1");
		assert_int_equal(chown("log", 0, 0), 0);
	}
	assert_int_equal(open_place(&there), 0);
	assert_true(file.fixed);
	assert_int_equal(file.room, 65536);
	close(file.fd);
}

static void what_is_there_already(void **state)
{
	(void)state;
	const struct tp_place place = {.path = "log", .offset = CHUNK};
	make((off_t)(8 * CHUNK), (off_t)CHUNK - 1, "x", 1);
	assert_int_equal(open_place(&place), 0);
	assert_int_equal(file.room, 7 * CHUNK);
	// The bytes before the place, and behind the log, belong to others.
	const int fd = open("log", O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "y", 1, (off_t)(5 * CHUNK)), 1);
	assert_int_equal(tp_place_check(&place, &file, 4 * CHUNK, &err), 0);
	assert_int_equal(tp_place_check(&place, &file, 4 * CHUNK + 8, &err), TP_ERR_LIMIT);
	assert_int_equal(err.offset, 5 * CHUNK);
	// In the first and the last byte, and with holes before.
	for (uint64_t at = CHUNK; at < 5 * CHUNK; at += 4 * CHUNK - 1) {
		assert_int_equal(pwrite(fd, "z", 1, (off_t)at), 1);
		assert_int_equal(tp_place_check(&place, &file, 4 * CHUNK, &err), TP_ERR_LIMIT);
		assert_int_equal(err.offset, at);
		// An earlier log may have had that.
		file.old_size = at - CHUNK + 1;
		assert_int_equal(tp_place_check(&place, &file, 4 * CHUNK, &err), 0);
		file.old_size = at - CHUNK;
		assert_int_equal(tp_place_check(&place, &file, 4 * CHUNK, &err), TP_ERR_LIMIT);
		file.old_size = 0;
		const struct tp_place force = {.path = "log", .offset = CHUNK, .force = true};
		assert_int_equal(tp_place_check(&force, &file, 4 * CHUNK, &err), 0);
		assert_int_equal(pwrite(fd, "", 1, (off_t)at), 1);
	}
	assert_int_equal(tp_place_check(&place, &file, 4 * CHUNK, &err), 0);
	close(fd);
	close(file.fd);
}

static void logs_of_before(void **state)
{
	(void)state;
	static union {
		struct teeperf_log_header header;
		char bytes[TEEPERF_LOG_HEADER_SIZE];
	} log;
	log.header.magic = TEEPERF_LOG_MAGIC;
	log.header.region_size = 3 * CHUNK;
	log.header.attach = TEEPERF_ATTACH_DONE;
	log.header.recorder_pid = 4711;
	make((off_t)(4 * CHUNK), 0, &log, sizeof(log));
	const struct tp_place place = {.path = "log"};
	const struct tp_place force = {.path = "log", .force = true};
	assert_int_equal(open_place(&place), 0);
	assert_int_equal(file.old_size, 3 * CHUNK);
	const int held = file.fd;
	refused(&force, "the log of another recorder, process 4711");
	close(held);
	// A program that has it still.
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	const pid_t program = fork();
	if (!program) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that fails leaves nobody behind
		const int fd = open("log", O_RDWR | O_CLOEXEC);
		char *map = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
		(void)!write(ready[1], map == MAP_FAILED ? "n" : "y", 1);
		for (;;)
			pause();
	}
	char answer = 0;
	assert_int_equal(read(ready[0], &answer, 1), 1);
	assert_int_equal(answer, 'y');
	close(ready[0]);
	close(ready[1]);
	refused(&place, "still has mapped");
	assert_int_equal(open_place(&force), 0);
	close(file.fd);
	// One that said that it was over does not write it any more, and one that never came did
	// not.
	log.header.ended = TEEPERF_ENDED;
	make((off_t)(4 * CHUNK), 0, &log, sizeof(log));
	assert_int_equal(open_place(&place), 0);
	close(file.fd);
	log.header.ended = 0;
	log.header.attach = 0;
	make((off_t)(4 * CHUNK), 0, &log, sizeof(log));
	assert_int_equal(open_place(&place), 0);
	close(file.fd);
	log.header.attach = TEEPERF_ATTACH_DONE;
	log.header.magic = TEEPERF_LOG_OVER;
	make((off_t)(4 * CHUNK), 0, &log, sizeof(log));
	refused(&place, "still has mapped");
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	assert_int_equal(open_place(&place), 0);
	assert_int_equal(file.old_size, 3 * CHUNK);
	close(file.fd);
	// What only looks like one.
	log.header.magic = TEEPERF_LOG_MAGIC + 1;
	make((off_t)(4 * CHUNK), 0, &log, sizeof(log));
	assert_int_equal(open_place(&place), 0);
	assert_int_equal(file.old_size, 0);
	assert_int_equal(tp_place_check(&place, &file, CHUNK, &err), TP_ERR_LIMIT);
	assert_int_equal(err.offset, 0);
	close(file.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_new_file, fresh, leave),
	    cmocka_unit_test_setup_teardown(what_is_no_place, fresh, leave),
	    cmocka_unit_test_setup_teardown(what_is_there_already, fresh, leave),
	    cmocka_unit_test_setup_teardown(logs_of_before, fresh, leave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
