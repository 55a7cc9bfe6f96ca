// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many threads were in a function at once, against counting in each tick: of random times, and
// of random traces with recursion.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile/contention.h"
#include "analyzer/trace/text/dump_text.h"
#include "analyzer/output/view.h"

#define TICKS 400
#define CALLS 40
#define THREADS 3
#define FUNCTIONS 4

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

// The same by counting, but for most.
static struct tp_contention count_ticks(const struct tp_interval *items, uint64_t count)
{
	struct tp_contention result = {.calls = count};
	uint32_t inside[TICKS] = {0};
	for (uint64_t i = 0; i < count; i++)
		for (uint64_t t = items[i].start; t < items[i].end; t++)
			inside[t]++;
	for (uint32_t t = 0; t < TICKS; t++) {
		result.busy += inside[t] > 0;
		result.overlap += inside[t] > 1;
		result.total += inside[t];
		result.most = inside[t] > result.most ? inside[t] : result.most;
		if (inside[t])
			result.inside[(inside[t] < TP_CONTENTION_COUNTED ? inside[t]
									 : TP_CONTENTION_COUNTED) -
				      1]++;
	}
	for (uint64_t i = 0; i < count; i++) {
		bool shared = false;
		for (uint64_t t = items[i].start; t < items[i].end; t++)
			shared |= inside[t] > 1;
		*(shared ? &result.shared_calls : &result.alone_calls) += 1;
		*(shared ? &result.shared : &result.alone) += items[i].end - items[i].start;
	}
	return result;
}

static void assert_equal(const struct tp_contention *a, const struct tp_contention *b)
{
	assert_int_equal(a->calls, b->calls);
	assert_int_equal(a->busy, b->busy);
	assert_int_equal(a->total, b->total);
	assert_int_equal(a->overlap, b->overlap);
	assert_int_equal(a->most, b->most);
	assert_memory_equal(a->inside, b->inside, sizeof(a->inside));
	assert_int_equal(a->alone_calls, b->alone_calls);
	assert_int_equal(a->alone, b->alone);
	assert_int_equal(a->shared_calls, b->shared_calls);
	assert_int_equal(a->shared, b->shared);
}

static void random_times(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 3000; round++) {
		struct tp_interval items[CALLS];
		uint64_t ends[CALLS];
		seed = round;
		const uint64_t count = pick(CALLS + 1);
		const uint32_t spread = 1 + pick(TICKS - 60);
		for (uint64_t i = 0; i < count; i++) {
			items[i].start = pick(spread);
			items[i].end = items[i].start + (pick(4) ? pick(60) : 0);
		}
		const struct tp_contention expected = count_ticks(items, count);
		const struct tp_contention result = tp_contention_sweep(items, ends, count);
		// The median of a class is between the shortest and the longest of all.
		assert_true(result.alone_median < 60 && result.shared_median < 64);
		assert_equal(&result, &expected);
	}
}

// The histogram is coarse there: the median is of calls that there were, not of a bucket.
static void medians(void **state)
{
	(void)state;
	struct tp_interval items[] = {{0, 900}, {1000, 1900}, {3000, 3907}, {3100, 4007}};
	uint64_t ends[4];
	const struct tp_contention result = tp_contention_sweep(items, ends, 4);
	assert_int_equal(result.alone_calls, 2);
	assert_int_equal(result.alone_median, 900);
	assert_int_equal(result.shared_calls, 2);
	assert_int_equal(result.shared_median, 907);
}

static struct tp_interval outermost[FUNCTIONS][CALLS * THREADS];
static uint64_t outermost_count[FUNCTIONS];

// A thread of nested calls, and when the outermost of each function ran.
static void add_thread(struct tp_buf *text, uint32_t thread)
{
	uint32_t open[CALLS];
	uint64_t starts[CALLS];
	uint32_t active[FUNCTIONS] = {0};
	uint32_t depth = 0;
	uint32_t made = 0;
	uint32_t time = pick(20);
	tp_buf_addf(text, "chunk thread=%u\n", thread);
	while (depth || made < CALLS / 2) {
		time += pick(3) ? pick(8) : 0;
		if (made < CALLS / 2 && (!depth || pick(2))) {
			open[depth] = pick(FUNCTIONS);
			starts[depth] = time;
			active[open[depth]]++;
			tp_buf_addf(text, "	%u enter f%u\n", time, open[depth++]);
			made++;
		} else {
			const uint32_t function = open[--depth];
			tp_buf_addf(text, "	%u exit f%u\n", time, function);
			if (--active[function] == 0)
				outermost[function][outermost_count[function]++] =
				    (struct tp_interval){starts[depth], time};
		}
	}
	assert_true(time < TICKS);
}

// What the view says of function F.
static bool find_row(const char *csv, uint32_t function, uint64_t *overlap, uint64_t *busy,
    uint64_t *total, uint64_t *most)
{
	char name[16];
	snprintf(name, sizeof(name), ",f%u,", function);
	for (const char *line = strchr(csv, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		const char *found = strstr(line, name);
		char share[32];
		if (!found || found > strchr(line, '\n'))
			continue;
		unsigned long long numbers[4];
		assert_int_equal(sscanf(line, "%llu,%31[^,],%llu,%llu,%llu", &numbers[0], share,
				     &numbers[1], &numbers[2], &numbers[3]),
		    5);
		*overlap = numbers[0];
		*busy = numbers[1];
		*total = numbers[2];
		*most = numbers[3];
		return true;
	}
	return false;
}

static void random_traces(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 100; round++) {
		struct tp_buf text;
		struct tp_buf file;
		struct tp_buf out;
		struct tp_tracefile trace;
		struct tp_analysis analysis;
		struct tp_err err;
		const struct tp_analysis_options options = {0};
		const struct tp_view_options view = {.format = TP_FORMAT_CSV};
		seed = round + 1000;
		memset(outermost_count, 0, sizeof(outermost_count));
		tp_buf_init(&text);
		tp_buf_init(&file);
		tp_buf_init(&out);
		tp_buf_add_string(&text, "clock kind=tsc hz=1000000000\nsymbols\n");
		for (uint32_t i = 0; i < FUNCTIONS; i++)
			tp_buf_addf(&text, "	symbol %u f%u\n", 4096 + 16 * i, i);
		uint64_t before[FUNCTIONS] = {0};
		uint32_t callers[FUNCTIONS] = {0};
		for (uint32_t i = 0; i < THREADS; i++) {
			add_thread(&text, i);
			for (uint32_t j = 0; j < FUNCTIONS; j++) {
				callers[j] += outermost_count[j] > before[j];
				before[j] = outermost_count[j];
			}
		}
		tp_buf_add_string(&text, "end\n");
		if (tp_dump_assemble(text.data, text.size, "text", &file, &err))
			fail_msg("line %u: %s", err.line, err.what);
		assert_int_equal(
		    tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
		assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
		assert_int_equal(
		    tp_view_render(tp_view_find("contention"), &analysis, &view, &out, &err), 0);
		for (uint32_t i = 0; i < FUNCTIONS; i++) {
			uint64_t overlap = 0;
			uint64_t busy = 0;
			uint64_t total = 0;
			uint64_t most = 0;
			const bool found = find_row(out.data, i, &overlap, &busy, &total, &most);
			// Functions of one thread are left out.
			assert_int_equal(found, callers[i] > 1);
			const struct tp_contention expected =
			    count_ticks(outermost[i], outermost_count[i]);
			if (!found)
				continue;
			assert_int_equal(overlap, expected.overlap);
			assert_int_equal(busy, expected.busy);
			assert_int_equal(total, expected.total);
			assert_int_equal(most, expected.most);
		}
		tp_analysis_release(&analysis);
		tp_tracefile_close(&trace);
		tp_buf_release(&text);
		tp_buf_release(&file);
		tp_buf_release(&out);
	}
}

// A least time chooses the same calls for the sums and for the calls, though only the sums are
// without a cost.
static void a_least_time_leaves_the_long_calls(void **state)
{
	(void)state;
	static const char text[] =
	    "clock kind=tsc hz=1000000000\n"
	    "host\n	line \"cost_in_ps=10000\"\n	line \"cost_out_ps=6000\"\n"
	    "	line \"cost_untimed_ps=12500\"\n"
	    "symbols\n	symbol 0x401000 work\n"
	    "chunk\n"
	    "	0 enter work\n	55 exit work\n" // 45 without the cost
	    "	100 enter work\n	155 exit work\n"
	    "	1000 enter work\n	1200 exit work\n"
	    "chunk thread=1\n"
	    "	200 enter work\n	255 exit work\n"
	    "	1100 enter work\n	1400 exit work\n"
	    "end\n";
	static const struct tp_view_options view = {.format = TP_FORMAT_CSV};
	const struct tp_analysis_options options = {
	    .workers = 1, .compensate = true, .least_ns = 50};
	struct tp_buf file;
	struct tp_buf out;
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	struct tp_err err;
	tp_buf_init(&file);
	tp_buf_init(&out);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	assert_int_equal(analysis.functions[0].calls, 2);
	const struct tp_analysis recorded = tp_view_as_recorded(&analysis);
	assert_int_equal(
	    tp_view_render(tp_view_find("contention"), &recorded, &view, &out, &err), 0);
	// overlap, share, busy, total, most, threads, calls
	const char *row = strchr(out.data, '\n') + 1;
	assert_int_equal(strtoull(row, NULL, 10), 100);
	assert_non_null(strstr(row, ",400,500,2,2,2,2,"));
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
	tp_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_times),
	    cmocka_unit_test(medians),
	    cmocka_unit_test(random_traces),
	    cmocka_unit_test(a_least_time_leaves_the_long_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
