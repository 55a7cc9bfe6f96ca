// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of 'fleet serve': which runs a set has, the test of two sets, quantiles, a link of paths
// that a file made up.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/serve/store.h"
#include "common/hash.h"

#include <math.h>

static struct tp_serve_run items[] = {
    {.run_id = "one",
	.day = "2026-11-25",
	.program = "p",
	.host = "h",
	.build_id = "aa",
	.git_revision = "r1",
	.labels = "{\"k\": \"v\", \"other\": \"a\\\"k\\\": \\\"x\\\"\"}"},
    {.run_id = "two",
	.day = "2026-11-26",
	.program = "p",
	.host = "i",
	.build_id = "bb",
	.git_revision = "",
	.labels = "{\"k\":\"w\"}"},
    {.run_id = "three",
	.day = "2026-11-27",
	.program = "q",
	.host = "h",
	.build_id = "aa",
	.git_revision = "r1",
	.labels = "no JSON"},
};

// The runs of a set, as bits.
static uint32_t chosen(const struct tp_serve_wish *wishes, uint32_t count)
{
	struct tp_serve_runs runs = {.items = items, .count = 3};
	struct tp_serve_set set;
	struct tp_err err;
	uint32_t bits = 0;
	assert_true(tp_index_init(&runs.by_id, 3));
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t *slot = tp_index_first(&runs.by_id, tp_hash_text(items[i].run_id));
		while (*slot)
			slot = tp_index_next(&runs.by_id, slot);
		*slot = i + 1;
	}
	const int code = tp_serve_set_choose(&set, &runs, wishes, count, &err);
	for (uint32_t i = 0; i < set.count; i++)
		bits |= 1U << set.items[i];
	tp_serve_set_release(&set);
	tp_index_release(&runs.by_id);
	return code ? 99 : bits;
}

#define CHOSEN(...)                                         \
	chosen((const struct tp_serve_wish[]){__VA_ARGS__}, \
	    sizeof((const struct tp_serve_wish[]){__VA_ARGS__}) / sizeof(struct tp_serve_wish))

static void sets(void **state)
{
	(void)state;
	assert_int_equal(chosen(NULL, 0), 7);
	assert_int_equal(CHOSEN({TP_SERVE_PROGRAM, "p"}), 3);
	assert_int_equal(CHOSEN({TP_SERVE_PROGRAM, "p"}, {TP_SERVE_PROGRAM, "q"}), 7);
	assert_int_equal(CHOSEN({TP_SERVE_PROGRAM, "p"}, {TP_SERVE_HOST, "h"}), 1);
	assert_int_equal(CHOSEN({TP_SERVE_BUILD, "r1"}), 5);
	assert_int_equal(CHOSEN({TP_SERVE_BUILD, "bb"}), 2);
	assert_int_equal(CHOSEN({TP_SERVE_DAY, "2026-11-26"}), 2);
	assert_int_equal(CHOSEN({TP_SERVE_DAY, "2026-11-26..2026-12-01"}), 6);
	assert_int_equal(CHOSEN({TP_SERVE_RUN, "three"}), 4);
	assert_int_equal(CHOSEN({TP_SERVE_NOT, "three"}), 3);
	assert_int_equal(CHOSEN({TP_SERVE_HOST, "i"}, {TP_SERVE_RUN, "three"}), 6);
	assert_int_equal(CHOSEN({TP_SERVE_HOST, "h"}, {TP_SERVE_NOT, "three"}), 1);
	assert_int_equal(CHOSEN({TP_SERVE_RUN, "four"}), 99);
	assert_int_equal(CHOSEN({TP_SERVE_DAY, "2026"}), 99);
	assert_int_equal(CHOSEN({TP_SERVE_DAY, "2026-11-26..x"}), 99);
	assert_int_equal(CHOSEN({TP_SERVE_LABEL, "k"}), 99);
	// Labels are members, not parts of texts, with or without a blank.
	assert_int_equal(CHOSEN({TP_SERVE_LABEL, "k=v"}), 1);
	assert_int_equal(CHOSEN({TP_SERVE_LABEL, "k=w"}), 2);
	assert_int_equal(CHOSEN({TP_SERVE_LABEL, "k=x"}), 0);
	// Of one key any, of several keys all.
	assert_int_equal(CHOSEN({TP_SERVE_LABEL, "k=w"}, {TP_SERVE_LABEL, "k=v"}), 3);
	assert_int_equal(
	    CHOSEN({TP_SERVE_LABEL, "k=w"}, {TP_SERVE_LABEL, "other=a\"k\": \"x\""}), 0);
	assert_int_equal(
	    CHOSEN({TP_SERVE_LABEL, "k=v"}, {TP_SERVE_LABEL, "other=a\"k\": \"x\""}), 1);
	assert_int_equal(CHOSEN({TP_SERVE_LABEL, "other=a\"k\": \"x\""}), 1);
}

static void quantiles(void **state)
{
	const struct tp_serve_bucket buckets[] = {{.value_ns = 10, .calls = 98},
	    {.value_ns = 20, .calls = 1}, {.value_ns = 30, .calls = 1}};
	(void)state;
	assert_int_equal(tp_serve_quantile(buckets, 3, 0.5), 10);
	assert_int_equal(tp_serve_quantile(buckets, 3, 0.98), 10);
	assert_int_equal(tp_serve_quantile(buckets, 3, 0.99), 20);
	assert_int_equal(tp_serve_quantile(buckets, 3, 1), 30);
	assert_int_equal(tp_serve_quantile(buckets, 0, 0.5), -1);
}

static void limits(void **state)
{
	struct tp_arena texts;
	struct tp_err err;
	uint64_t sum = UINT64_MAX - 2;
	uint64_t bytes = TP_SERVE_TEXTS_MAX - 5;
	(void)state;
	tp_serve_add(&sum, 2);
	assert_true(sum == UINT64_MAX);
	tp_serve_add(&sum, 1);
	assert_true(sum == UINT64_MAX);
	tp_arena_init(&texts);
	assert_string_equal(tp_serve_copy(&texts, &bytes, "", &err), "");
	assert_null(tp_serve_copy(&texts, &bytes, "12345", &err));
	assert_int_equal(err.code, TP_ERR_LIMIT);
	assert_string_equal(tp_serve_copy(&texts, &bytes, "1234", &err), "1234");
	assert_null(tp_serve_copy(&texts, &bytes, "1", &err));
	tp_arena_release(&texts);
}

static struct tp_serve_sums one_function(uint64_t n, double mean, double spread)
{
	static struct tp_serve_function functions[2];
	static int next;
	struct tp_serve_function *it = &functions[next++ % 2];
	*it = (struct tp_serve_function){
	    .key = 1, .wall = {.n = n, .mean = mean, .spread = spread}, .self_ns = 1000};
	struct tp_serve_sums sums = {.functions = it, .function_count = 1, .secret = 1};
	assert_true(tp_index_init(&sums.functions_by_key, 1));
	*tp_index_first(&sums.functions_by_key, 0) = 0;
	uint64_t half = 1;
	half = half ^ half >> 32;
	*tp_index_first(&sums.functions_by_key, (uint32_t)(half >> 32)) = 1;
	return sums;
}

static int verdict(struct tp_serve_sums a, struct tp_serve_sums b, double least, double *t)
{
	struct tp_serve_comparison comparison;
	struct tp_err err;
	assert_int_equal(tp_serve_compare(&comparison, &a, &b, least, &err), 0);
	assert_int_equal(comparison.count, 1);
	const int found = comparison.pairs[0].tested ? comparison.pairs[0].verdict : 9;
	*t = comparison.pairs[0].t;
	tp_serve_comparison_release(&comparison);
	tp_index_release(&a.functions_by_key);
	tp_index_release(&b.functions_by_key);
	return found;
}

static void comparisons(void **state)
{
	double t;
	(void)state;
	// Five values of variance 2.5 on each side: the standard error is 1, with 8 degrees of
	// freedom 2.306 are needed.
	assert_int_equal(verdict(one_function(5, 10, 10), one_function(5, 12.2, 10), 5, &t), 0);
	assert_true(fabs(t - 2.2) < 1e-9);
	assert_int_equal(verdict(one_function(5, 10, 10), one_function(5, 12.4, 10), 5, &t), 1);
	assert_int_equal(verdict(one_function(5, 12.4, 10), one_function(5, 10, 10), 5, &t), -1);
	assert_int_equal(verdict(one_function(5, 10, 10), one_function(5, 12.4, 10), 25, &t), 0);
	assert_int_equal(verdict(one_function(4, 10, 10), one_function(5, 12.4, 10), 5, &t), 9);
	// Nothing varies.
	assert_int_equal(verdict(one_function(5, 10, 0), one_function(5, 12, 0), 5, &t), 1);
	assert_true(isnan(t));
	assert_int_equal(verdict(one_function(5, 10, 0), one_function(5, 10, 0), 5, &t), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sets),
	    cmocka_unit_test(quantiles),
	    cmocka_unit_test(limits),
	    cmocka_unit_test(comparisons),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
