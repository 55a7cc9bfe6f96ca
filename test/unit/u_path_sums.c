// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times by path in whole nanoseconds: with clocks of any rate, what a thread spent in a path with
// all below it is right to a nanosecond; and formats that repeat callers refuse what nobody could
// read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/profile/analysis.h"
#include "analyzer/trace/text/dump_text.h"
#include "analyzer/output/format/path_sums.h"

#include <string.h>

#define TIMES 40
#define FUNCTIONS 9

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;

static void open_text(const char *text)
{
	struct tp_err err;
	tp_buf_init(&file);
	assert_int_equal(tp_dump_assemble(text, strlen(text), "text", &file, &err), 0);
	assert_int_equal(tp_tracefile_from_memory(&trace, "t", file.data, file.size, &err), 0);
	const struct tp_analysis_options options = {.workers = 1};
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
}

static void close_text(void)
{
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

// Calls of a nest of functions, in two threads, whose lengths make most self times fractions of
// nanoseconds.
static void make_text(struct tp_buf *text, unsigned hz)
{
	tp_buf_init(text);
	tp_buf_addf(text, "clock kind=tsc hz=%u\n", hz);
	for (unsigned thread = 0; thread < 2; thread++) {
		unsigned time = 0;
		tp_buf_addf(text, "chunk thread=%u\n", thread);
		for (unsigned i = 0; i < TIMES; i++) {
			const unsigned depth = 1 + (i * 7 + thread) % FUNCTIONS;
			for (unsigned j = 0; j < depth; j++)
				tp_buf_addf(text, "\t%u enter 0x%x\n", time += 1 + (i + j) % 3,
				    0x401000 + 16 * ((i / 8 + j) % FUNCTIONS));
			for (unsigned j = depth; j-- > 0;)
				tp_buf_addf(text, "\t%u exit 0x%x\n", time += 1 + j % 2,
				    0x401000 + 16 * ((i / 8 + j) % FUNCTIONS));
		}
	}
	tp_buf_add_string(text, "end\n");
}

// The ticks and nanoseconds of a thread's rows below a path, itself included.
static void sum_subtree(
    const struct tp_path_sums *sums, uint32_t path, uint32_t thread, uint64_t *ticks, uint64_t *ns)
{
	*ticks = *ns = 0;
	const uint32_t end = tp_paths_rows_end(&sums->paths, sums->paths.items[path].last);
	for (uint32_t i = sums->paths.items[path].row; i < end; i++) {
		if (sums->paths.rows[i].thread != thread)
			continue;
		*ticks += tp_path_sums_node(&analysis, &sums->paths.rows[i])->self;
		*ns += sums->self[i];
	}
}

static void test_rounding(void **state)
{
	static const unsigned rates[] = {1000000000, 3000000000U, 2893299000U, 24000000, 700000001};
	(void)state;
	for (size_t rate = 0; rate < sizeof(rates) / sizeof(rates[0]); rate++) {
		struct tp_buf text;
		struct tp_path_sums sums;
		struct tp_err err;
		make_text(&text, rates[rate]);
		open_text(text.data);
		assert_int_equal(tp_path_sums_init(&sums, &analysis, TP_WEIGHT_SELF, &err), 0);
		assert_true(sums.paths.count > 40);
		for (uint32_t path = 0; path < sums.paths.count; path++)
			for (uint32_t thread = 0; thread < 2; thread++) {
				uint64_t ticks;
				uint64_t ns;
				sum_subtree(&sums, path, thread, &ticks, &ns);
				const uint64_t right = tp_timebase_ns(&analysis.time, ticks);
				// All of a thread is right, each part of it to a nanosecond.
				assert_in_range(ns, right - (path && right), right + (path != 0));
				if (rates[rate] == 1000000000)
					assert_int_equal(ns, ticks);
			}
		uint64_t total = 0;
		for (uint32_t i = 0; i < sums.paths.row_count; i++)
			total += sums.self[i];
		assert_int_equal(total, sums.total);
		assert_int_equal(tp_path_sums_check(&sums, &analysis, &err), 0);
		tp_path_sums_release(&sums);
		tp_buf_release(&text);
		close_text();
	}
}

static void test_calls(void **state)
{
	(void)state;
	struct tp_buf text;
	struct tp_path_sums sums;
	struct tp_err err;
	make_text(&text, 24000000);
	open_text(text.data);
	assert_int_equal(tp_path_sums_init(&sums, &analysis, TP_WEIGHT_CALLS, &err), 0);
	uint64_t calls = 0;
	for (uint32_t i = 0; i < analysis.function_count; i++)
		calls += analysis.functions[i].calls;
	assert_int_equal(sums.total, calls);
	tp_path_sums_release(&sums);
	tp_buf_release(&text);
	close_text();
}

// 24,000 calls, each inside of the one before: 288 million functions.
static void test_too_deep(void **state)
{
	(void)state;
	struct tp_buf text;
	struct tp_path_sums sums;
	struct tp_err err;
	tp_buf_init(&text);
	tp_buf_add_string(&text, "clock kind=tsc hz=1000000000\n");
	for (unsigned i = 0; i < 24000; i++) {
		if (i % 8000 == 0)
			tp_buf_addf(&text, "chunk sequence=%u time=%u\n", i / 8000, i);
		tp_buf_addf(&text, "\t%u enter 0x401000\n", i);
	}
	tp_buf_add_string(&text, "end\n");
	open_text(text.data);
	assert_int_equal(tp_path_sums_init(&sums, &analysis, TP_WEIGHT_SELF, &err), 0);
	assert_int_equal(tp_path_sums_check(&sums, &analysis, &err), TP_ERR_LIMIT);
	assert_non_null(strstr(err.what, "up to 24000 calls deep"));
	assert_non_null(strstr(err.what, "288012000 functions"));
	assert_non_null(strstr(err.what, "--depth"));
	tp_path_sums_release(&sums);
	tp_buf_release(&text);
	close_text();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rounding),
	    cmocka_unit_test(test_calls),
	    cmocka_unit_test(test_too_deep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
