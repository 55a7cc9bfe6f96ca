// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The recorder outlives memory of the log that goes away, and nothing else that SIGBUS stands for.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/region/log_guard.h"

enum { SIZE = 4 * 64 * 1024, HALF = SIZE / 2 + 4096 };

static struct tp_err err;

static int make_file(void)
{
	const int fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	return fd;
}

// Aligned to 64 KiB, as the log is.
static volatile char *map_file(int fd)
{
	char *at = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(at != MAP_FAILED);
	at += -(uintptr_t)at % (64 * 1024);
	at = mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	assert_true(at != MAP_FAILED);
	return at;
}

static void what_goes_away_is_replaced(void **state)
{
	(void)state;
	const int fd = make_file();
	volatile char *map = map_file(fd);
	assert_int_equal(tp_log_guard_start((void *)(uintptr_t)map, SIZE, &err), 0);
	for (size_t i = 0; i < SIZE; i++)
		map[i] = 1;
	assert_int_equal(tp_log_guard_lost_bytes((void *)(uintptr_t)map), 0);

	assert_int_equal(ftruncate(fd, HALF), 0);
	for (size_t i = 0; i < SIZE; i++) {
		assert_int_equal(map[i], i < HALF);
		map[i] = 2;
	}
	for (size_t i = 0; i < SIZE; i++)
		assert_int_equal(map[i], 2);
	assert_int_equal(tp_log_guard_lost_bytes((void *)(uintptr_t)map), SIZE - HALF);

	// Not in the order of addresses, and the file is gone altogether.
	assert_int_equal(ftruncate(fd, 0), 0);
	for (size_t i = SIZE; i--;)
		map[i] = 3;
	for (size_t i = 0; i < SIZE; i++)
		assert_int_equal(map[i], 3);
	tp_log_guard_stop((void *)(uintptr_t)map);

	// It begins anew.
	assert_int_equal(tp_log_guard_start((void *)(uintptr_t)map, SIZE, &err), 0);
	assert_int_equal(tp_log_guard_lost_bytes((void *)(uintptr_t)map), 0);
	tp_log_guard_stop((void *)(uintptr_t)map);
	close(fd);
}

// Each log of several has its own count, and the last one is guarded as well as the first.
static void several_logs(void **state)
{
	(void)state;
	const int fds[2] = {make_file(), make_file()};
	volatile char *maps[2];
	for (int i = 0; i < 2; i++) {
		maps[i] = map_file(fds[i]);
		assert_int_equal(tp_log_guard_start((void *)(uintptr_t)maps[i], SIZE, &err), 0);
	}
	assert_int_equal(ftruncate(fds[1], HALF), 0);
	maps[1][SIZE - 1] = 1;
	assert_int_equal(tp_log_guard_lost_bytes((void *)(uintptr_t)maps[0]), 0);
	assert_int_equal(tp_log_guard_lost_bytes((void *)(uintptr_t)maps[1]), 4096);
	tp_log_guard_stop((void *)(uintptr_t)maps[0]);
	maps[1][HALF] = 1;
	assert_int_equal(tp_log_guard_lost_bytes((void *)(uintptr_t)maps[1]), 8192);
	tp_log_guard_stop((void *)(uintptr_t)maps[1]);
	for (int i = 0; i < 2; i++)
		close(fds[i]);
}

// The signal that ends a child which does `what`, 0 if none does.
static int ends_by(void (*what)(volatile char *map, int fd))
{
	const int fd = make_file();
	volatile char *map = map_file(fd);
	const pid_t child = fork();
	if (!child) {
		const struct rlimit none = {0};
		setrlimit(RLIMIT_CORE, &none);
		// A sanitizer has handlers of its own.
		signal(SIGBUS, SIG_DFL);
		what(map, fd);
		_exit(0);
	}
	int status;
	waitpid(child, &status, 0);
	close(fd);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void touch_other_memory(volatile char *map, int fd)
{
	tp_log_guard_start((void *)(uintptr_t)map, SIZE / 2, &err);
	ftruncate(fd, 0);
	map[0] = 1;
	map[SIZE / 2] = 1;
}

static void send_signal(volatile char *map, int fd)
{
	(void)fd;
	tp_log_guard_start((void *)(uintptr_t)map, SIZE, &err);
	kill(getpid(), SIGBUS);
}

static void touch_after_stop(volatile char *map, int fd)
{
	tp_log_guard_start((void *)(uintptr_t)map, SIZE, &err);
	tp_log_guard_stop((void *)(uintptr_t)map);
	ftruncate(fd, 0);
	map[0] = 1;
}

static void touch_blocked(volatile char *map, int fd)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	tp_log_guard_start((void *)(uintptr_t)map, SIZE, &err);
	ftruncate(fd, 0);
	map[0] = 1;
}

static void other_faults_end_us(void **state)
{
	(void)state;
	assert_int_equal(ends_by(touch_other_memory), SIGBUS);
	assert_int_equal(ends_by(send_signal), SIGBUS);
	assert_int_equal(ends_by(touch_after_stop), SIGBUS);
	assert_int_equal(ends_by(touch_blocked), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_goes_away_is_replaced),
	    cmocka_unit_test(several_logs),
	    cmocka_unit_test(other_faults_end_us),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
