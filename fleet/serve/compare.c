// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two sets of runs, function by function: the test of questions/sql/regressions.sql over what
// sums.c has of each.
#include "store.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS_LEAST = 5 };

// The squared standard error of the mean.
static double error_of(const struct tp_serve_mean *mean)
{
	const double n = (double)mean->n;
	return mean->spread / (n - 1) / n;
}

// What chance exceeds on either side with 5 % for all TESTS together (docs/fleet.md: Abramowitz and
// Stegun 26.2.23 and 26.7.5).
static double needed(double df, uint32_t tests)
{
	const double q = sqrt(-2 * log(0.05 / 2 / tests));
	const double z = q - (2.515517 + 0.802853 * q + 0.010328 * q * q) /
				 (1 + 1.432788 * q + 0.189269 * q * q + 0.001308 * q * q * q);
	return z + (z * z * z + z) / (4 * df) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * df * df) +
	       (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * df * df * df) +
	       (79 * pow(z, 9) + 776 * pow(z, 7) + 1482 * pow(z, 5) - 1920 * pow(z, 3) - 945 * z) /
		   (92160 * pow(df, 4));
}

static void test(struct tp_serve_pair *pair, uint32_t tests, double least)
{
	const struct tp_serve_mean *a = tp_serve_compared(pair, pair->a);
	const struct tp_serve_mean *b = tp_serve_compared(pair, pair->b);
	const double se2_a = error_of(a);
	const double se2_b = error_of(b);
	const double se2 = se2_a + se2_b;
	const double change = b->mean - a->mean;
	pair->df =
	    se2 > 0 ? se2 * se2 /
			  (se2_a * se2_a / (double)(a->n - 1) + se2_b * se2_b / (double)(b->n - 1))
		    : (double)(a->n + b->n) - 2;
	pair->t = se2 > 0 ? change / sqrt(se2) : NAN;
	pair->t_needed = needed(pair->df, tests);
	if (fabs(change) > pair->t_needed * sqrt(se2) && fabs(change) > a->mean * least / 100)
		pair->verdict = change > 0 ? 1 : -1;
}

// Time of a run that the change makes, more or less.
static double weight_of(const struct tp_serve_pair *pair)
{
	if (!pair->a || !pair->b)
		return (double)(pair->a ? pair->a : pair->b)->self_ns;
	const double a = tp_serve_compared(pair, pair->a)->mean;
	const double b = tp_serve_compared(pair, pair->b)->mean;
	const uint64_t of_a = pair->cpu ? pair->a->cpu_ns : pair->a->self_ns;
	const uint64_t of_b = pair->cpu ? pair->b->cpu_ns : pair->b->self_ns;
	return b > 0 ? fabs((b - a) / b * (double)of_b) : (double)of_a;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct tp_serve_pair *x = a;
	const struct tp_serve_pair *y = b;
	const double heavy_x = round(weight_of(x));
	const double heavy_y = round(weight_of(y));
	if (!x->verdict != !y->verdict)
		return x->verdict ? -1 : 1;
	if (heavy_x != heavy_y)
		return heavy_x > heavy_y ? -1 : 1;
	return TP_COMPARE((x->a ? x->a : x->b)->key, (y->a ? y->a : y->b)->key);
}

int tp_serve_compare(struct tp_serve_comparison *comparison, const struct tp_serve_sums *a,
    const struct tp_serve_sums *b, double least, struct tp_err *err)
{
	*comparison = (struct tp_serve_comparison){0};
	comparison->pairs =
	    calloc((size_t)a->function_count + b->function_count + 1, sizeof(*comparison->pairs));
	if (!comparison->pairs)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < a->function_count; i++) {
		const uint32_t there = tp_serve_sums_find(b, a->functions[i].key);
		comparison->pairs[comparison->count++] = (struct tp_serve_pair){
		    .a = &a->functions[i],
		    .b = there == TP_SERVE_NONE ? NULL : &b->functions[there],
		};
	}
	for (uint32_t i = 0; i < b->function_count; i++)
		if (tp_serve_sums_find(a, b->functions[i].key) == TP_SERVE_NONE)
			comparison->pairs[comparison->count++] =
			    (struct tp_serve_pair){.b = &b->functions[i]};
	for (uint32_t i = 0; i < comparison->count; i++) {
		struct tp_serve_pair *pair = &comparison->pairs[i];
		const uint64_t runs_a = pair->a ? pair->a->wall.n : 0;
		const uint64_t runs_b = pair->b ? pair->b->wall.n : 0;
		pair->cpu = (!pair->a || pair->a->cpu.n == runs_a) &&
			    (!pair->b || pair->b->cpu.n == runs_b) && (runs_a || runs_b);
		pair->tested = runs_a >= RUNS_LEAST && runs_b >= RUNS_LEAST;
		comparison->tested += pair->tested;
	}
	for (uint32_t i = 0; i < comparison->count; i++)
		if (comparison->pairs[i].tested)
			test(&comparison->pairs[i], comparison->tested, least);
	if (comparison->count)
		qsort(comparison->pairs, comparison->count, sizeof(*comparison->pairs),
		    compare_pairs);
	return 0;
}

void tp_serve_comparison_release(struct tp_serve_comparison *comparison)
{
	free(comparison->pairs);
	*comparison = (struct tp_serve_comparison){0};
}
