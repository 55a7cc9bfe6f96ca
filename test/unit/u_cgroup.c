// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processor time and memory of control groups of version 1 and 2, from folders that look like the
// kernel's.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/kernel/cgroup.h"
#include "kernel_folder.h"

static struct tp_cgroup cgroup;
static struct tp_meter_value readings[TP_CGROUP_METERS];

static int close_and_remove(void **state)
{
	tp_cgroup_close(&cgroup);
	return remove_root(state);
}

static void open_group(pid_t pid)
{
	char proc[64];
	snprintf(proc, sizeof(proc), "%s/proc", root);
	tp_cgroup_open(&cgroup, proc, pid);
	tp_cgroup_read(&cgroup, readings);
}

static void expect(const char *name, uint64_t value)
{
	for (int i = 0; i < TP_CGROUP_METERS; i++)
		if (!strcmp(cgroup.meters[i].name, name)) {
			if (!readings[i].known)
				fail_msg("'%s' is not known: %s", name, cgroup.meters[i].note);
			assert_int_equal(readings[i].value, value);
			return;
		}
	fail_msg("there is no '%s'", name);
}

static void version_2(void **state)
{
	(void)state;
	put("proc/7/cgroup", "0::/user/app\n");
	put("proc/self/mountinfo",
	    "22 1 0:20 / /proc rw shared:5 - proc proc rw\n"
	    "30 23 0:26 / @/unified rw,nosuid shared:9 master:1 - cgroup2 cgroup2 rw,nsdelegate\n");
	put("unified/user/app/cpu.stat",
	    "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nnr_throttled 3\n"
	    "throttled_usec 42\n");
	put("unified/user/app/memory.current", "8192\n");
	put("unified/user/app/memory.peak", "16384\n");
	open_group(7);
	expect("cgroup-cpu", 1500000);
	expect("cgroup-cpu-user", 1000000);
	expect("cgroup-cpu-system", 500000);
	expect("cgroup-throttled", 42000);
	expect("cgroup-memory", 8192);
	expect("cgroup-memory-peak", 16384);
	assert_non_null(strstr(cgroup.meters[0].note, "/user/app"));
	put("unified/user/app/cpu.stat", "usage_usec 2500\n");
	tp_cgroup_read(&cgroup, readings);
	expect("cgroup-cpu", 2500000);
	// A value that is no longer available is unknown, not 0.
	assert_false(readings[1].known);
	assert_true(cgroup.meters[1].flags & TEEPERF_METER_BROKEN);
}

// Also in a container, where the mount begins at the group itself.
static void version_1(void **state)
{
	(void)state;
	put("proc/self/cgroup",
	    "9:name=systemd:/\n4:memory:/docker/1\n2:cpu,cpuacct:/docker/1/sub\n0::/\n");
	put("proc/self/mountinfo", "31 23 0:27 /docker/1 @/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
				   "32 23 0:28 /docker/1 @/memory rw - cgroup cgroup rw,memory\n"
				   "33 23 0:29 / @/unified rw - cgroup2 cgroup2 rw\n");
	put("cpu/sub/cpuacct.usage", "123456789\n");
	put("cpu/sub/cpuacct.stat", "user 10\nsystem 2\n");
	put("cpu/sub/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 77\n");
	put("memory/memory.usage_in_bytes", "4096\n");
	put("unified/cgroup.procs", "1\n");
	open_group(0);
	expect("cgroup-cpu", 123456789);
	expect("cgroup-cpu-user", 100000000);
	expect("cgroup-cpu-system", 20000000);
	expect("cgroup-throttled", 77);
	expect("cgroup-memory", 4096);
	assert_int_equal(cgroup.meters[5].flags, 0);
	assert_string_not_equal(cgroup.meters[5].note, "");
}

static void nothing_is_said_to_be_nothing(void **state)
{
	(void)state;
	static const char *const groups[] = {
	    "", "garbage", "::\n:::\n", "0::/gone\n", "1:memory\n0:", "0::/../..\n"};
	put("proc/self/mountinfo",
	    " - \n1 2 3 - cgroup2\n1 2 3 / @/none rw - cgroup2 a b\n - cgroup");
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		put("proc/self/cgroup", groups[i]);
		open_group(0);
		for (int k = 0; k < TP_CGROUP_METERS; k++) {
			assert_int_equal(cgroup.meters[k].flags, 0);
			assert_string_not_equal(cgroup.meters[k].note, "");
			assert_false(readings[k].known);
		}
		tp_cgroup_close(&cgroup);
	}
}

static void without_the_files_of_proc(void **state)
{
	(void)state;
	open_group(7);
	assert_int_equal(cgroup.meters[0].flags, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, close_and_remove)
	const struct CMUnitTest tests[] = {
	    TEST(version_2),
	    TEST(version_1),
	    TEST(nothing_is_said_to_be_nothing),
	    TEST(without_the_files_of_proc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
