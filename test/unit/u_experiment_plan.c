// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans of experiments: accepted plans, refused ones with the place of the fault, the grid, its
// order, and placeholders.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/spelling.h"
#include "experiment/grid.h"

// What the existing harness takes, as it is.
static const char harness[] =
    "[globals]\n"
    "sample_size = 1\n"
    "output_directory = \"demo-result\"\n"
    "extra_perf_events = [\"cpu-clock\"]\n"
    "debug = false\n"
    "deep_trace = true\n"
    "\n"
    "[[tasks]]\n"
    "executable = \"/usr/bin/sysbench\"\n"
    "args = [\"--threads={{ num_threads }}\", \"cpu\", \"run\"]\n"
    "enclave_size = [\"1G\"]\n"
    "num_threads = [1, 2, 4]\n"
    "env = { OMP_NUM_THREADS = \"{{ num_threads }}\" }\n"
    "\n"
    "[[tasks]]\n"
    "executable = \"/bin/dd\"\n"
    "args = [\"if=/dev/random\", \"of={{ output_directory }}/a.random\", \"count=1000000\"]\n"
    "storage_type = [\"encrypted\", \"untrusted\"]\n"
    "enclave_size = [\"256M\", \"512M\"]\n"
    "post_run_executable = \"rm\"\n"
    "post_run_args = [\"-rf\", \"{{ output_directory }}/a.random\"]\n";

struct opened {
	struct tp_plan plan;
	struct tp_grid grid;
};

static void open_plan(struct opened *opened, const char *text)
{
	struct tp_err err;
	char shown[TP_ERR_TEXT_SIZE];
	if (tp_plan_parse(&opened->plan, "plan.toml", text, strlen(text), &err) ||
	    tp_grid_make(&opened->grid, &opened->plan, &err) ||
	    tp_grid_order(&opened->grid, 7, &err))
		fail_msg("%s", tp_err_render(&err, shown, sizeof(shown)));
}

static void close_plan(struct opened *opened)
{
	tp_grid_release(&opened->grid);
	tp_plan_release(&opened->plan);
}

static void test_harness(void **state)
{
	(void)state;
	static const char *const cells[] = {"sysbench-native-1-1G", "sysbench-native-2-1G",
	    "sysbench-native-4-1G", "sysbench-gramine-sgx-1-1G", "sysbench-gramine-sgx-2-1G",
	    "sysbench-gramine-sgx-4-1G", "dd-native-256M", "dd-native-512M",
	    "dd-gramine-sgx-256M-encrypted", "dd-gramine-sgx-256M-untrusted",
	    "dd-gramine-sgx-512M-encrypted", "dd-gramine-sgx-512M-untrusted"};
	struct opened at;
	open_plan(&at, harness);
	assert_string_equal(at.plan.output_directory.text, "demo-result");
	assert_int_equal(at.plan.repeat.samples, 1);
	assert_true(at.plan.repeat.deep_trace);
	assert_false(at.plan.debug);
	assert_int_equal(at.plan.events.count, 1);
	assert_string_equal(at.plan.events.items[0].text, "cpu-clock");
	assert_int_equal(at.grid.cell_count, sizeof(cells) / sizeof(*cells));
	for (uint32_t i = 0; i < at.grid.cell_count; i++)
		assert_string_equal(at.grid.cells[i].name, cells[i]);
	// One run of each, and the deep traces of the five that run natively.
	assert_int_equal(at.grid.run_count, 12 + 5);
	close_plan(&at);
}

static void expect_expanded(
    const struct opened *at, uint32_t cell, const char *text, const char *wanted)
{
	const struct tp_expansion in = {.plan = &at->plan,
	    .cell = &at->grid.cells[cell],
	    .output_directory = "/out",
	    .iteration = 3};
	const struct tp_plan_text what = {text, {1, 1}};
	struct tp_err err;
	struct tp_buf out;
	tp_buf_init(&out);
	assert_int_equal(tp_expand(&in, &what, &out, &err), 0);
	assert_string_equal(out.data, wanted);
	tp_buf_release(&out);
}

static void test_placeholders(void **state)
{
	(void)state;
	struct opened at;
	open_plan(&at, harness);
	expect_expanded(&at, 1, "--threads={{ num_threads }}", "--threads=2");
	expect_expanded(&at, 1, "{{threads}}{{ threads}}", "22");
	expect_expanded(
	    &at, 1, "{{ enclave_size }}/{{ task }}/{{\tvariant }}", "1G/sysbench/native");
	expect_expanded(&at, 9, "{{ storage_type }} {{ output_directory }}/x", "untrusted /out/x");
	expect_expanded(&at, 0, "{ x } }} {{ iteration }}", "{ x } }} 3");
	// Not known yet: for keys, and to be shown.
	expect_expanded(&at, 0, "{{build_directory}}/app", "{{ build_directory }}/app");
	close_plan(&at);
}

// Each cell once in each round; the same for the same seed, and another order for another one.
static void test_order(void **state)
{
	(void)state;
	static const char text[] =
	    "[globals]\nsample_size = 5\n[factors]\na = [1, 2, 3, 4]\nb = [\"x\", 2.5]\n"
	    "[[tasks]]\nexecutable = \"true\"\n"
	    "[[tasks]]\nexecutable = \"false\"\nsample_size = 2\nfactors = { b = [] }\n";
	struct opened at;
	open_plan(&at, text);
	assert_int_equal(at.grid.cell_count, 8 + 4);
	assert_string_equal(at.grid.cells[1].name, "true-native-1-2.5");
	assert_string_equal(at.grid.cells[8].name, "false-native-1");
	assert_int_equal(at.grid.run_count, 8 * 5 + 4 * 2);
	uint32_t seen[12] = {0};
	bool mixed = false;
	for (uint32_t i = 0; i < at.grid.run_count; i++) {
		const struct tp_run *run = &at.grid.runs[i];
		assert_int_equal(run->iteration, ++seen[run->cell]);
		assert_true(!i || run->iteration >= at.grid.runs[i - 1].iteration);
		mixed |= i && i < 12 && run->cell < at.grid.runs[i - 1].cell;
	}
	assert_true(mixed);
	struct tp_run *before = malloc(at.grid.run_count * sizeof(*before));
	assert_non_null(before);
	memcpy(before, at.grid.runs, at.grid.run_count * sizeof(*before));
	struct tp_err err;
	assert_int_equal(tp_grid_order(&at.grid, 7, &err), 0);
	assert_memory_equal(before, at.grid.runs, at.grid.run_count * sizeof(*before));
	assert_int_equal(tp_grid_order(&at.grid, 8, &err), 0);
	assert_memory_not_equal(before, at.grid.runs, at.grid.run_count * sizeof(*before));
	free(before);
	close_plan(&at);
}

// Each place of each cell is drawn alike: 24 orders of four cells, 2,400 rounds, within five
// standard deviations.
static void test_shuffle(void **state)
{
	(void)state;
	uint32_t counts[256] = {0};
	struct opened at;
	open_plan(&at,
	    "[globals]\nsample_size = 2400\n[[tasks]]\nexecutable = \"true\"\nnum_threads = [1, 2, "
	    "3, 4]\n");
	for (uint32_t i = 0; i < at.grid.run_count; i += 4) {
		const struct tp_run *r = &at.grid.runs[i];
		counts[r[0].cell << 6 | r[1].cell << 4 | r[2].cell << 2 | r[3].cell]++;
	}
	uint32_t orders = 0;
	for (int i = 0; i < 256; i++) {
		orders += counts[i] > 0;
		assert_true(!counts[i] || (counts[i] > 50 && counts[i] < 150));
	}
	assert_int_equal(orders, 24);
	close_plan(&at);
}

// Values that make the same name of a folder, or a bad one.
static void test_names(void **state)
{
	(void)state;
	struct opened at;
	open_plan(&at,
	    "[[tasks]]\nexecutable = \"true\"\nfactors = { f = [\"a b\", \"a/b\", \"..\", \"\"] }\n"
	    "[[tasks]]\nexecutable = \"x\"\nname = \"../x\"\n");
	assert_int_equal(at.grid.cell_count, 5);
	for (uint32_t i = 0; i < at.grid.cell_count; i++) {
		const char *name = at.grid.cells[i].name;
		assert_null(strpbrk(name, "/ "));
		assert_int_not_equal(*name, '.');
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(name, at.grid.cells[j].name);
	}
	close_plan(&at);
}

#define TASK "[[tasks]]\nexecutable = \"true\"\n"

static void test_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
	    {"", "plan.toml:1:1: the plan has no tasks"},
	    {"tasks = []", "plan.toml:1:9: the plan has no tasks"},
	    {"x = = 1", "plan.toml:1:5: this is not TOML: "},
	    // Its own parser takes this for a mistake of its own.
	    {"[,t", "'plan.toml': this is not TOML; the parser does not say where"},
	    {"[[tasks]]\nargs = []\n", "plan.toml:1:1: a task needs an executable"},
	    {"[globals]\nsample_sise = 2\n" TASK,
		"plan.toml:2:1: [globals] has no key 'sample_sise'; did you mean 'sample_size'?"},
	    {"[global]\n" TASK,
		"plan.toml:1:2: the plan has no key 'global'; did you mean 'globals'?"},
	    {"[globals]\nqqqqqqqqq = 2\n" TASK,
		"plan.toml:2:1: [globals] has no key 'qqqqqqqqq'; teeperf help experiment lists "
		"them"},
	    {"[globals]\nsample_size = \"2\"\n" TASK,
		"plan.toml:2:15: 'sample_size' takes a whole number, as in sample_size = 5; this "
		"is a text"},
	    {"[globals]\nsample_size = 0\n" TASK,
		"plan.toml:2:15: 'sample_size' takes a number from 1 to 1000000"},
	    {"[globals]\ntimeout = \"5\"\n" TASK,
		"plan.toml:2:11: 'timeout' takes a time with its unit"},
	    {"[globals]\ntimeout = -1\n" TASK, "plan.toml:2:11: 'timeout' takes a time from 0"},
	    {"[globals]\ndebug = 1\n" TASK, "plan.toml:2:9: 'debug' takes true or false"},
	    {"[globals]\nenergy_sample_interval = 0\n" TASK,
		"plan.toml:2:26: 'energy_sample_interval' must be at least 1 ms"},
	    {"[globals]\ndisk_read_nj_per_byte = nan\n" TASK,
		"plan.toml:2:25: 'disk_read_nj_per_byte' takes a number of at least 0"},
	    {TASK "args = \"x\"\n", "plan.toml:3:8: 'args' takes a list of texts"},
	    {TASK "args = [1]\n", "plan.toml:3:9: 'args' takes a list of texts"},
	    {TASK "env = { A = [1] }\n", "plan.toml:3:13: 'A' takes a list of numbers or texts"},
	    {TASK "args = [\"\", \"{{ treads }}\"]\nnum_threads = [1]\n",
		"plan.toml:3:13: '{{ treads }}' is not a placeholder of task 'true', variant "
		"'native'"},
	    {TASK "args = [\"{{ \"]\n", "plan.toml:3:9: '{{' has no '}}'"},
	    {TASK "variants = [\"nativ\"]\n",
		"plan.toml:3:13: unknown variant 'nativ'; did you mean 'native'?"},
	    {TASK "variants = [\"native\", \"native\"]\n",
		"plan.toml:3:23: variant 'native' is named twice"},
	    {TASK "[variants.x]\nkind = \"tee-perf\"\n",
		"plan.toml:4:8: 'tee-perf' is not a kind of variant; did you mean 'teeperf'?"},
	    {TASK "[variants.x]\n", "plan.toml:3:11: 'x' is not a kind of variant"},
	    {TASK TASK, "plan.toml:3:1: two tasks are called 'true'"},
	    {TASK "storage_type = [\"disk\"]\n", "plan.toml:3:17: 'disk' is not a storage_type"},
	    {TASK "pre_run_args = []\n",
		"plan.toml:1:1: task 'true' has pre_run_args, but no pre_run_executable"},
	    {TASK "factors = { task = [1] }\n", "plan.toml:3:13: 'task' has a meaning already"},
	    {TASK "factors = { \"a b\" = [1] }\n", "plan.toml:3:13: a factor's name has 1 to 60"},
	    {TASK "factors = { a = [1, 1] }\n", "plan.toml:3:21: 'a' has the value '1' twice"},
	    {TASK "factors = { a = [[1]] }\n",
		"plan.toml:3:18: 'a' takes a list of numbers or texts"},
	    {"[[tasks]]\nexecutable = \"a\\u0000b\"\n",
		"plan.toml:2:14: the text has a NUL character"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_plan plan;
		struct tp_grid grid = {0};
		struct tp_err err;
		char text[TP_ERR_TEXT_SIZE];
		int code =
		    tp_plan_parse(&plan, "plan.toml", cases[i].text, strlen(cases[i].text), &err);
		if (!code)
			code = tp_grid_make(&grid, &plan, &err);
		if (code != TP_ERR_SYNTAX || strncmp(tp_err_format(&err, text, sizeof(text)),
						 cases[i].error, strlen(cases[i].error)))
			fail_msg("%s\n---- %d: %s\n---- wanted: %s", cases[i].text, code,
			    code ? text : "no error", cases[i].error);
		tp_grid_release(&grid);
		tp_plan_release(&plan);
	}
}

static void test_too_many(void **state)
{
	(void)state;
	char text[8192];
	size_t size = (size_t)snprintf(text, sizeof(text), "[factors]\n");
	for (int f = 0; f < 3; f++) {
		size += (size_t)snprintf(text + size, sizeof(text) - size, "f%d = [", f);
		for (int i = 0; i < 100; i++)
			size += (size_t)snprintf(text + size, sizeof(text) - size, "%d,", i);
		size += (size_t)snprintf(text + size, sizeof(text) - size, "]\n");
	}
	snprintf(text + size, sizeof(text) - size, "%s", TASK);
	struct tp_plan plan;
	struct tp_grid grid;
	struct tp_err err;
	assert_int_equal(tp_plan_parse(&plan, "plan.toml", text, strlen(text), &err), 0);
	assert_int_equal(tp_grid_make(&grid, &plan, &err), TP_ERR_SYNTAX);
	assert_non_null(strstr(err.what, "more than 100000 experiments"));
	tp_grid_release(&grid);
	tp_plan_release(&plan);
}

static void test_nearest(void **state)
{
	(void)state;
	static const char *const words[] = {"native", "teeperf", "perf-stat", NULL};
	assert_string_equal(tp_spelling_nearest("natvie", words), "native");
	assert_string_equal(tp_spelling_nearest("perfstat", words), "perf-stat");
	assert_null(tp_spelling_nearest("gramine", words));
	assert_null(tp_spelling_nearest("", words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_harness),
	    cmocka_unit_test(test_placeholders),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_shuffle),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_too_many),
	    cmocka_unit_test(test_nearest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
