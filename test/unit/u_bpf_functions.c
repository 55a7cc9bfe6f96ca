// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs that time functions of the kernel's SGX driver, on other functions: each call by a
// thread of the process is reported once, with its number and a duration, and none of another
// process. Functions that the kernel lacks are left out, and reported.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/kernel/bpf.h"

enum { ROUNDS = 40, SYNCS = 3, NOT_THERE = 5 };

// Which may be loaded here, or why it is skipped.
static bool may_load(struct tp_bpf *bpf, uint32_t groups, const char *const *functions)
{
	if (!tp_bpf_open_functions(bpf, groups, TP_BPF_JOINED, functions))
		return true;
	print_message("skipped: %s\n", bpf->refused.what);
	tp_bpf_release(bpf);
	return false;
}

// Nothing else here does so: the C library reads files of its own.
static void sync_often(void)
{
	const int fd = open("/dev/zero", O_RDONLY);
	assert_true(fd >= 0);
	for (int i = 0; i < ROUNDS; i++)
		(void)fsync(fd); // which a device does not know
	close(fd);
}

static void *in_thread(void *unused)
{
	sync_often();
	return unused;
}

static void counted(void **state)
{
	(void)state;
	struct tp_bpf bpf;
	struct tp_bpf_reader reader;
	const char *const functions[TP_BPF_FUNCTIONS] = {
	    [SYNCS] = "vfs_fsync_range", [NOT_THERE] = "sgx_no_kernel_has_this"};
	if (!may_load(&bpf, TEEPERF_SYSTEM_SGX, functions))
		skip();
	assert_int_equal(bpf.missing.code, 0);
	assert_int_equal(bpf.head.groups, TEEPERF_SYSTEM_SGX);
	tp_bpf_reader_init(&reader, &bpf, 0);
	assert_int_equal(tp_bpf_join(&bpf, getpid()), 0);
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
	sync_often();
	pthread_join(thread, NULL);
	const pid_t child = fork();
	if (!child) {
		sync_often();
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	tp_bpf_take(&bpf);
	int count[2] = {0};
	struct teeperf_system_event event;
	for (size_t at = 0; at + sizeof(event) <= reader.events.size; at += sizeof(event)) {
		memcpy(&event, reader.events.data + at, sizeof(event));
		assert_int_equal(event.kind, TEEPERF_SYSTEM_DRIVER);
		assert_int_equal(event.number, SYNCS);
		assert_int_equal(event.os_pid, getpid());
		assert_true(event.duration_ns > 0 && event.duration_ns < UINT64_C(1) << 40);
		count[event.os_tid == (uint32_t)getpid()]++;
	}
	assert_int_equal(count[0], ROUNDS);
	assert_int_equal(count[1], ROUNDS);
	tp_bpf_reader_release(&reader);
	tp_bpf_release(&bpf);
}

static void missing(void **state)
{
	(void)state;
	struct tp_bpf bpf;
	const char *const functions[TP_BPF_FUNCTIONS] = {[NOT_THERE] = "sgx_no_kernel_has_this"};
	if (!may_load(&bpf, TEEPERF_SYSTEM_SGX | TEEPERF_SYSTEM_SYSCALLS, functions))
		skip();
	assert_int_equal(bpf.missing.code, TP_ERR_NOT_FOUND);
	assert_int_equal(bpf.head.groups, TEEPERF_SYSTEM_SYSCALLS);
	tp_bpf_release(&bpf);
	// Alone there is nothing to record.
	assert_int_not_equal(
	    tp_bpf_open_functions(&bpf, TEEPERF_SYSTEM_SGX, TP_BPF_JOINED, functions), 0);
	assert_non_null(strstr(bpf.refused.what, "this kernel has no SGX driver"));
	tp_bpf_release(&bpf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counted),
	    cmocka_unit_test(missing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
