// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that somebody else has started: each way in which it comes, and is over.
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/launch.h"

static struct tp_region region;
static struct tp_guest guest;
static struct tp_err err;

static int make(void **state)
{
	(void)state;
	const struct tp_region_options options = {
	    .chunk_count = 8, .mode = TEEPERF_MODE_STREAM, .clock = TEEPERF_CLOCK_TSC};
	return tp_region_create(&region, &options, &err);
}

static int unmake(void **state)
{
	(void)state;
	tp_guest_stop(&guest);
	tp_region_release(&region);
	return 0;
}

// A process that has the log mapped, if it is to, and waits to be killed.
static pid_t start_program(bool maps)
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	const pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that fails leaves nobody behind
		// What a child has of its parent's is not the program's.
		munmap(region.map, region.map_size);
		close(region.fd);
		const int fd = open(tp_region_where(&region), O_RDWR | O_CLOEXEC);
		if (maps)
			(void)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_program(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void attach(void)
{
	__atomic_store_n(&region.header->attach, TEEPERF_ATTACH_DONE, __ATOMIC_RELEASE);
}

static void comes_and_says_that_it_is_over(void **state)
{
	(void)state;
	assert_int_equal(tp_guest_start(&guest, &region, 0, UINT64_MAX, &err), 0);
	assert_int_equal(guest.deadline_ns, UINT64_MAX);
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_AWAITED);
	const pid_t program = start_program(true);
	// It has the log, and has not attached.
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_AWAITED);
	attach();
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_RUNS);
	// An exit code is none without the flag that says so.
	tp_store_release(&region.header->ended, TEEPERF_ENDED_HAS_CODE);
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_RUNS);
	tp_store_release(&region.header->ended, TEEPERF_ENDED);
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_ENDED);
	end_program(program);
}

static void goes_without_a_word(void **state)
{
	(void)state;
	assert_int_equal(tp_guest_start(&guest, &region, 0, UINT64_MAX, &err), 0);
	const pid_t program = start_program(true);
	attach();
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_RUNS);
	end_program(program);
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_LEFT);
}

static void never_comes(void **state)
{
	(void)state;
	assert_int_equal(tp_guest_start(&guest, &region, 0, 0, &err), 0);
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_MISSING);
	// Late, but there.
	attach();
	const pid_t program = start_program(true);
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_RUNS);
	end_program(program);
	// No deadline is so late that it comes at once.
	assert_int_equal(tp_guest_start(&guest, &region, 0, UINT64_MAX - 1, &err), 0);
	__atomic_store_n(&region.header->attach, 0, __ATOMIC_RELEASE);
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_AWAITED);
}

static void a_process_is_watched(void **state)
{
	(void)state;
	const pid_t other = start_program(false);
	// With a log, and without one.
	for (int with = 1; with >= 0; with--) {
		assert_int_equal(
		    tp_guest_start(&guest, with ? &region : NULL, other, UINT64_MAX, &err), 0);
		assert_int_equal(tp_guest_look(&guest), with ? TP_GUEST_AWAITED : TP_GUEST_RUNS);
		tp_guest_stop(&guest);
	}
	assert_int_equal(tp_guest_start(&guest, &region, other, 0, &err), 0);
	end_program(other);
	// That is more than that none has come; that it said so is more than that.
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_GONE);
	tp_store_release(&region.header->ended, TEEPERF_ENDED);
	assert_int_equal(tp_guest_look(&guest), TP_GUEST_ENDED);
	tp_guest_stop(&guest);
	assert_int_equal(tp_guest_start(&guest, &region, other, 0, &err), TP_ERR_NOT_FOUND);
	assert_non_null(strstr(err.what, "does not exist"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(comes_and_says_that_it_is_over, make, unmake),
	    cmocka_unit_test_setup_teardown(goes_without_a_word, make, unmake),
	    cmocka_unit_test_setup_teardown(never_comes, make, unmake),
	    cmocka_unit_test_setup_teardown(a_process_is_watched, make, unmake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
