// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order a report has functions and calls.
#define _GNU_SOURCE
#include "analyzer/output/report/report.h"

#include "common/array.h"

#include <stdlib.h>

struct by_time {
	const struct tp_analysis *analysis;
	bool cpu; // processor time, which is known of all
};

static int compare_inclusive(const void *a, const void *b, void *context)
{
	const struct by_time *by = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const struct tp_function *of_x = &by->analysis->functions[x];
	const struct tp_function *of_y = &by->analysis->functions[y];
	const int order =
	    by->cpu ? TP_COMPARE(of_y->parts.inclusive_cpu, of_x->parts.inclusive_cpu) : 0;
	if (order)
		return order;
	return of_x->inclusive != of_y->inclusive ? TP_COMPARE(of_y->inclusive, of_x->inclusive)
						  : TP_COMPARE(x, y);
}

uint32_t *tp_report_heaviest(const struct tp_analysis *analysis, uint32_t *count)
{
	uint32_t *functions = malloc(((size_t)analysis->function_count + 1) * sizeof(*functions));
	struct tp_err why;
	struct by_time by = {analysis, !tp_analysis_check_parts(analysis, &why)};
	*count = 0;
	for (uint32_t i = 0; functions && i < analysis->function_count; i++)
		if (tp_histogram_size(&analysis->functions[i].times))
			functions[(*count)++] = i;
	if (functions)
		qsort_r(functions, *count, sizeof(*functions), compare_inclusive, &by);
	return functions;
}

static int compare_calls(const void *a, const void *b)
{
	const struct tp_report_call *x = a;
	const struct tp_report_call *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->duration != y->duration)
		return x->duration > y->duration ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

void tp_report_calls_sort(struct tp_report_call *calls, size_t count)
{
	if (count)
		qsort(calls, count, sizeof(*calls), compare_calls);
}
