// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order a report has functions and calls.
#define _GNU_SOURCE
#include "analyzer/output/report/report.h"

#include <stdlib.h>

static int compare_inclusive(const void *a, const void *b, void *context)
{
	const struct tp_analysis *analysis = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const uint64_t of_x = analysis->functions[x].inclusive;
	const uint64_t of_y = analysis->functions[y].inclusive;
	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

uint32_t *tp_report_heaviest(const struct tp_analysis *analysis, uint32_t *count)
{
	uint32_t *functions = malloc(((size_t)analysis->function_count + 1) * sizeof(*functions));
	*count = 0;
	for (uint32_t i = 0; functions && i < analysis->function_count; i++)
		if (analysis->functions[i].times.size)
			functions[(*count)++] = i;
	if (functions)
		qsort_r(functions, *count, sizeof(*functions), compare_inclusive,
		    (void *)(uintptr_t)analysis);
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
