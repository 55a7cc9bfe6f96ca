// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Energy by domain, from a folder that looks like the kernel's powercap.
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/kernel/energy.h"
#include "kernel_folder.h"

static struct tp_energy energy;
static struct tp_meter_value readings[TP_ENERGY_MOST];

static void put_in(const char *zone, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", zone, name);
	put(path, text);
}

static void put_zone(const char *zone, const char *name, const char *uj)
{
	put_in(zone, "name", name);
	put_in(zone, "energy_uj", uj);
	put_in(zone, "max_energy_range_uj", "1000000\n");
}

static const struct tp_meter_value *reading_of(const char *name)
{
	for (uint32_t i = 0; i < energy.count; i++)
		if (!strcmp(energy.meters[i].name, name))
			return &readings[i];
	fail_msg("there is no domain '%s'", name);
	return NULL;
}

static const struct teeperf_trace_meter *meter_of(const char *name)
{
	return &energy.meters[reading_of(name) - readings];
}

static void domains_have_their_names(void **state)
{
	(void)state;
	put_in("intel-rapl", "enabled", "1\n");
	put_zone("intel-rapl:0", "package-0\n", "100\n");
	put_zone("intel-rapl:0:0", "core\n", "200\n");
	put_zone("intel-rapl:0:1", "dram\n", "300\n");
	put_zone("intel-rapl:1", "package-1\n", "400\n");
	put_zone("intel-rapl:1:0", "core\n", "500\n");
	put_zone("intel-rapl:2", "psys\n", "600\n");
	put_zone("intel-rapl-mmio:0", "package-0\n", "700\n");
	tp_energy_open(&energy, root);
	assert_int_equal(energy.count, 6);
	put_zone("intel-rapl:0", "package-0\n", "150\n");
	put_zone("intel-rapl:1:0", "core\n", "1500\n");
	put_zone("intel-rapl:2", "psys\n", "601\n");
	tp_energy_read(&energy, readings);
	assert_int_equal(reading_of("package-0")->value, 50);
	assert_int_equal(reading_of("package-0/core")->value, 0);
	assert_true(reading_of("package-0/dram")->known);
	assert_int_equal(reading_of("package-1")->value, 0);
	assert_int_equal(reading_of("package-1/core")->value, 1000);
	assert_int_equal(reading_of("psys")->value, 1);
	assert_int_equal(meter_of("psys")->unit, TEEPERF_METER_MICROJOULES);
	tp_energy_close(&energy);
}

static void wraps_are_added_up(void **state)
{
	(void)state;
	static const struct {
		const char *uj;
		uint64_t sum;
	} steps[] = {{"999990\n", 90}, {"10\n", 110}, {"999999\n", 1000099}, {"0\n", 1000100},
	    {"0\n", 1000100}};
	put_zone("intel-rapl:0", "package-0\n", "999900\n");
	tp_energy_open(&energy, root);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		put_zone("intel-rapl:0", "package-0\n", steps[i].uj);
		tp_energy_read(&energy, readings);
		assert_true(readings[0].known);
		assert_int_equal(readings[0].value, steps[i].sum);
	}
	assert_int_equal(energy.meters[0].flags, TEEPERF_METER_COUNTED);
	tp_energy_close(&energy);
}

// Without a range, or above it, nobody knows how far it went.
static void a_counter_that_goes_back_is_given_up(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "2000000\n");
	put_zone("intel-rapl:1", "package-1\n", "500\n");
	put_in("intel-rapl:1", "max_energy_range_uj", "nonsense\n");
	tp_energy_open(&energy, root);
	put_zone("intel-rapl:0", "package-0\n", "5\n");
	put_in("intel-rapl:1", "energy_uj", "5\n");
	for (int i = 0; i < 2; i++) {
		tp_energy_read(&energy, readings);
		assert_false(reading_of("package-0")->known);
		assert_false(reading_of("package-1")->known);
	}
	assert_true(meter_of("package-0")->flags & TEEPERF_METER_BROKEN);
	assert_non_null(strstr(meter_of("package-1")->note, "went back"));
	tp_energy_close(&energy);
}

static void what_cannot_be_read_says_why(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "not a number\n");
	put_in("intel-rapl:1", "name", "package-1\n");
	put_in("intel-rapl:2", "enabled", "1\n");
	tp_energy_open(&energy, root);
	assert_int_equal(energy.count, 2);
	tp_energy_read(&energy, readings);
	for (uint32_t i = 0; i < energy.count; i++) {
		assert_int_equal(energy.meters[i].flags, 0);
		assert_string_not_equal(energy.meters[i].note, "");
		assert_false(readings[i].known);
	}
	tp_energy_close(&energy);
}

static void a_domain_may_vanish(void **state)
{
	(void)state;
	put_zone("intel-rapl:0", "package-0\n", "100\n");
	tp_energy_open(&energy, root);
	put_in("intel-rapl:0", "energy_uj", "250\n");
	tp_energy_read(&energy, readings);
	assert_int_equal(readings[0].value, 150);
	put_in("intel-rapl:0", "energy_uj", "");
	for (int i = 0; i < 2; i++) {
		tp_energy_read(&energy, readings);
		assert_false(readings[0].known);
	}
	assert_int_equal(energy.meters[0].flags, TEEPERF_METER_COUNTED | TEEPERF_METER_BROKEN);
	assert_non_null(strstr(energy.meters[0].note, "vanished"));
	tp_energy_close(&energy);
}

static void a_machine_without_any_says_so(void **state)
{
	(void)state;
	char nowhere[64];
	snprintf(nowhere, sizeof(nowhere), "%s/nowhere", root);
	const char *const places[] = {root, nowhere};
	for (int i = 0; i < 2; i++) {
		tp_energy_open(&energy, places[i]);
		assert_int_equal(energy.count, 1);
		assert_string_equal(energy.meters[0].name, "energy");
		assert_int_equal(energy.meters[0].flags, 0);
		assert_non_null(strstr(energy.meters[0].note, "no RAPL"));
		tp_energy_read(&energy, readings);
		assert_false(readings[0].known);
		tp_energy_close(&energy);
	}
}

static void what_root_alone_may_read_says_so(void **state)
{
	(void)state;
	char path[128];
	put_zone("intel-rapl:0", "package-0\n", "100\n");
	snprintf(path, sizeof(path), "%s/intel-rapl:0/energy_uj", root);
	assert_int_equal(chmod(path, 0400), 0);
	assert_int_equal(chmod(root, 0755), 0);
	const pid_t pid = fork();
	if (!pid) {
		if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(1);
		if (access(path, R_OK) == 0)
			_exit(2); // it is ours
		tp_energy_open(&energy, root);
		_exit(energy.count == 1 && !energy.meters[0].flags &&
			      strstr(energy.meters[0].note, "only root")
			  ? 0
			  : 3);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2) {
		print_message("this test needs root, to make a file that is not ours\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
	const struct CMUnitTest tests[] = {
	    TEST(domains_have_their_names),
	    TEST(wraps_are_added_up),
	    TEST(a_counter_that_goes_back_is_given_up),
	    TEST(what_cannot_be_read_says_why),
	    TEST(a_domain_may_vanish),
	    TEST(a_machine_without_any_says_so),
	    TEST(what_root_alone_may_read_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
