// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of experiments: what the kernel did for a program, added up; and a program that is run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recorder/measure/measure.h"
#include "recorder/measure/system.h"

static double figure(const struct tp_buf *lines, const char *name)
{
	char start[64];
	snprintf(start, sizeof(start), "metric\t%s\t", name);
	const char *line = strstr(lines->data, start);
	return line ? strtod(strchr(line + strlen(start), '\t'), NULL) : -1;
}

// A request is sequential if it begins where the one before it on its device ended.
static void test_system(void **state)
{
	(void)state;
	static const uint32_t DEVICE = UINT32_C(4000) << 20 | 7;
	static const uint32_t OTHER = UINT32_C(4001) << 20;
	static const struct teeperf_system_event events[] = {
	    {.kind = TEEPERF_SYSTEM_BLOCK,
		.number = DEVICE,
		.argument = 100,
		.result = 1024,
		.duration_ns = 10},
	    {.kind = TEEPERF_SYSTEM_BLOCK,
		.number = OTHER,
		.argument = 102,
		.result = 512,
		.detail = 1},
	    {.kind = TEEPERF_SYSTEM_BLOCK,
		.number = DEVICE,
		.argument = 102,
		.result = 512,
		.detail = 1,
		.duration_ns = 20},
	    {.kind = TEEPERF_SYSTEM_BLOCK,
		.number = DEVICE,
		.argument = 102,
		.result = 512,
		.duration_ns = 30},
	    {.kind = TEEPERF_SYSTEM_BLOCK, .number = DEVICE, .argument = 0, .detail = 2},
	    {.kind = TEEPERF_SYSTEM_FAULT},
	};
	struct tp_system_sums sums = {0};
	struct tp_buf lines;
	tp_buf_init(&lines);
	tp_system_sums_add(&sums, events, 3);
	tp_system_sums_add(&sums, events + 3, sizeof(events) / sizeof(events[0]) - 3);
	tp_system_sums_report(&sums, 1, &lines);
	assert_true(figure(&lines, "block_4000_7_read_bytes") == 1536);
	assert_true(figure(&lines, "block_4000_7_written_bytes") == 512);
	assert_true(figure(&lines, "block_4000_7_sequential") == 1);
	assert_true(figure(&lines, "block_4000_7_random") == 2);
	assert_true(figure(&lines, "block_4000_7_mean") > 19.9e-9 &&
		    figure(&lines, "block_4000_7_mean") < 20.1e-9);
	assert_true(figure(&lines, "block_4001_0_random") == 1);
	assert_true(figure(&lines, "system_read_calls") == 0);
	assert_true(figure(&lines, "system_read_mean") == -1);
	assert_non_null(strstr(lines.data, "\nnote\tsystem events came too fast and were lost: "));
	tp_buf_release(&lines);
}

static void test_program(void **state)
{
	(void)state;
	char words[][40] = {"sh", "-c", "[ \"$MODE\" = x ] && exit 3", "MODE=x"};
	char *argv[] = {words[0], words[1], words[2], NULL};
	char *variables[] = {words[3], NULL};
	struct tp_measurement what = {.argv = argv,
	    .variables = variables,
	    .cwd = "/",
	    .output = "/dev/null",
	    .errors = "/dev/null",
	    .measured = true};
	struct tp_buf lines;
	tp_buf_init(&lines);
	assert_true(tp_measure(&what, &lines));
	assert_non_null(strstr(lines.data, "\nstatus\tfailed\texit status 3\n"));
	assert_true(figure(&lines, "wall_time") > 0);
	assert_true(figure(&lines, "max_rss") > 0);
	tp_buf_reset(&lines);
	what.cwd = "/no such folder";
	assert_false(tp_measure(&what, &lines));
	assert_int_equal(strncmp(lines.data, "error\tcannot run 'sh' in '/no such folder'", 40), 0);
	tp_buf_release(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_system),
	    cmocka_unit_test(test_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
