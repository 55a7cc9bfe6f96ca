// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The histogram: its buckets leave no gaps, and percentiles are within a bucket of the sorted
// values'.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/replay/time_histogram.h"

#define VALUES 5000

static uint64_t seed = 1;

static uint64_t pick(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return seed >> 11;
}

static void buckets_follow_one_another(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < TP_HISTOGRAM_BUCKETS; i++) {
		const uint64_t low = tp_histogram_low(i);
		const uint64_t width = tp_histogram_width(i);
		assert_int_equal(tp_histogram_bucket(low), i);
		assert_int_equal(tp_histogram_bucket(low + width - 1), i);
		assert_true(width == 1 || width * 16 <= low);
		if (i + 1 < TP_HISTOGRAM_BUCKETS)
			assert_true(tp_histogram_low(i + 1) == low + width);
	}
	assert_int_equal(tp_histogram_bucket(UINT64_MAX), TP_HISTOGRAM_BUCKETS - 1);
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void check(const struct tp_histogram *histogram, uint64_t *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), compare);
	assert_true(tp_histogram_total(histogram) == count);
	for (int i = 0; i <= 1000; i++) {
		const double part = i / 1000.0;
		const uint64_t got =
		    tp_histogram_percentile(histogram, part, values[0], values[count - 1]);
		uint32_t rank = (uint32_t)(part * count + 0.999999);
		rank = rank ? rank : 1;
		const uint64_t exact = values[rank - 1];
		// The neighbours in rank, for what part * count is rounded to.
		const uint64_t next = values[rank < count ? rank : count - 1];
		const uint32_t bucket = tp_histogram_bucket(got);
		assert_true(
		    bucket == tp_histogram_bucket(exact) || bucket == tp_histogram_bucket(next));
	}
}

static void percentiles_are_within_a_bucket(void **state)
{
	(void)state;
	static uint64_t values[VALUES];
	struct tp_histogram whole = {0};
	struct tp_histogram parts[2] = {{0}, {0}};
	for (uint32_t i = 0; i < VALUES; i++) {
		values[i] = pick() >> pick() % 64;
		tp_histogram_add(&whole, values[i], NULL);
		tp_histogram_add(&parts[i % 2], values[i], NULL);
	}
	check(&whole, values, VALUES);
	// The same in a pool, whose pieces are given back and used again.
	struct tp_pool pool = {0};
	struct tp_histogram pooled[3] = {{0}, {0}, {0}};
	for (uint32_t i = 0; i < VALUES; i++)
		for (uint32_t j = 0; j < 3; j++)
			tp_histogram_add(&pooled[j], values[i], &pool);
	for (uint32_t j = 0; j < 3; j++) {
		assert_int_equal(pooled[j].size, whole.size);
		assert_memory_equal(pooled[j].counts, whole.counts, whole.size * 4);
	}
	tp_pool_release(&pool);
	tp_histogram_merge(&parts[0], &parts[1]);
	check(&parts[0], values, VALUES);
	tp_histogram_release(&whole);
	tp_histogram_release(&parts[0]);
	tp_histogram_release(&parts[1]);
}

// In a pool one value takes no memory, and is all that it would be with counts.
static void one_value_needs_no_counts(void **state)
{
	(void)state;
	struct tp_pool pool = {0};
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t first = pick() >> i % 50;
		const uint64_t second = i % 3 ? pick() >> i % 47 : first + i % 2;
		struct tp_histogram one = {0};
		struct tp_histogram other = {0};
		struct tp_histogram plain = {0};
		tp_histogram_add(&one, first, &pool);
		assert_null(one.counts);
		assert_int_equal(tp_histogram_in(&one, tp_histogram_bucket(first)), 1);
		check(&one, &first, 1);
		tp_histogram_merge(&plain, &one);
		check(&plain, &first, 1);
		tp_histogram_merge_in(&other, &one, &pool);
		assert_null(other.counts);
		assert_int_equal(tp_histogram_total(&other), 1);
		tp_histogram_add(&one, second, &pool);
		tp_histogram_add(&plain, second, NULL);
		struct tp_histogram late = {0};
		tp_histogram_add(&late, second, &pool);
		tp_histogram_merge_in(&other, &late, &pool);
		assert_int_equal(one.start, other.start);
		assert_int_equal(one.size, other.size);
		assert_int_equal(one.start, plain.start);
		assert_int_equal(one.size, plain.size);
		assert_memory_equal(one.counts, plain.counts, one.size * 4);
		assert_memory_equal(other.counts, plain.counts, one.size * 4);
		tp_histogram_release(&plain);
	}
	tp_pool_release(&pool);
}

static void counts_do_not_overflow(void **state)
{
	(void)state;
	struct tp_histogram histogram = {0};
	assert_int_equal(tp_histogram_percentile(&histogram, 0.5, 0, 9), 0);
	tp_histogram_add(&histogram, 7, NULL);
	histogram.counts[7 - histogram.start] = UINT32_MAX;
	tp_histogram_add(&histogram, 7, NULL);
	assert_true(tp_histogram_total(&histogram) == UINT32_MAX);
	struct tp_histogram other = {0};
	tp_histogram_add(&other, 7, NULL);
	tp_histogram_merge(&histogram, &other);
	assert_true(tp_histogram_total(&histogram) == UINT32_MAX);
	assert_int_equal(tp_histogram_percentile(&histogram, 0.99, 0, 100), 7);
	tp_histogram_release(&histogram);
	tp_histogram_release(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buckets_follow_one_another),
	    cmocka_unit_test(percentiles_are_within_a_bucket),
	    cmocka_unit_test(one_value_needs_no_counts),
	    cmocka_unit_test(counts_do_not_overflow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
