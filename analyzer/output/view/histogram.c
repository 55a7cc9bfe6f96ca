// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "histogram": how often the calls of a function took how long, in all or by caller.
#define _GNU_SOURCE
#include "analyzer/output/grid.h"
#include "analyzer/profile/paths.h"
#include "common/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 24 // of a table, if that many doublings are enough
#define BAR 40

static const struct tp_column columns[] = {
    {NULL, "function", 'l', 0, false, false},
    {NULL, "caller", 'l', 0, false, false},
    {"from", "from_ns", 'r', 0, false, false},
    {"below", "below_ns", 'r', 0, false, false},
    {"calls", "calls", 'r', 0, false, false},
    {"share", "share", 'r', 0, false, false},
    {"up to", "up_to", 'r', 1, false, false},
    {"", NULL, 'l', 0, false, true},
    {0},
};

// Buckets are put together in groups of 1, 2, 4, ... 16 of a doubling until there are few: their
// log2.
static uint32_t choose_group(uint32_t first, uint32_t last)
{
	uint32_t bits = 0;
	while (bits < TP_HISTOGRAM_BITS && (last >> bits) - (first >> bits) >= ROWS_MAX)
		bits++;
	return bits;
}

// Calls in the buckets of group GROUP, which has 1 << BITS of them.
static uint64_t count_of(const struct tp_histogram *times, uint32_t group, uint32_t bits)
{
	uint64_t count = 0;
	for (uint32_t i = group << bits; i < (group + 1) << bits; i++)
		count += tp_histogram_in(times, i);
	return count;
}

static void add_group(struct tp_grid *grid, const char *function, const char *caller,
    uint32_t group, uint32_t bits, const uint64_t counts[4])
{
	const uint32_t last = ((group + 1) << bits) - 1;
	char bar[BAR + 1];
	// counts: of this one, up to it, of all, the greatest
	size_t length = (size_t)((double)counts[0] * BAR / (double)counts[3] + 0.5);
	length = counts[0] && !length ? 1 : length;
	memset(bar, '#', length);
	bar[length] = '\0';
	tp_grid_text(grid, function);
	tp_grid_text(grid, caller);
	tp_grid_time(grid, true, tp_histogram_low(group << bits));
	// The highest has no end that 64 bits could tell.
	tp_grid_time(grid, last + 1 < TP_HISTOGRAM_BUCKETS,
	    tp_histogram_low(last) + tp_histogram_width(last));
	tp_grid_count(grid, counts[0]);
	tp_grid_share(grid, counts[0], counts[2]);
	tp_grid_share(grid, counts[1], counts[2]);
	tp_grid_text(grid, bar);
}

// The calls of FUNCTION that CALLER made, or all of them if that is NULL.
static void add_histogram(struct tp_grid *grid, const struct tp_histogram *times,
    const char *function, const char *caller, struct tp_err *err)
{
	const bool table = grid->options->format == TP_FORMAT_TABLE;
	const uint64_t all = tp_histogram_total(times);
	if (!all || tp_grid_skips(grid))
		return;
	const uint32_t start = tp_histogram_first(times);
	uint32_t first = start;
	uint32_t last = start + tp_histogram_size(times) - 1;
	while (!tp_histogram_at(times, first - start))
		first++;
	while (!tp_histogram_at(times, last - start))
		last--;
	const uint32_t bits = table ? choose_group(first, last) : 0;
	if (table) {
		char text[TP_TEXT_NUMBER];
		tp_buf_addf(grid->out, "%s%s: %s%s%s\n", grid->rows ? "\n" : "", function,
		    tp_text_count(text, all), tp_by_count(all, " call", " calls"),
		    tp_histogram_failed(times) ? ", others did not fit in memory" : "");
		if (caller)
			tp_buf_addf(grid->out, "  called by %s\n", caller);
	}
	uint64_t counts[4] = {0, 0, all, 1};
	for (uint32_t i = first >> bits; i <= last >> bits; i++) {
		const uint64_t count = count_of(times, i, bits);
		counts[3] = count > counts[3] ? count : counts[3];
	}
	for (uint32_t i = first >> bits; i <= last >> bits; i++) {
		counts[0] = count_of(times, i, bits);
		counts[1] += counts[0];
		// In data, empty buckets would be most of all.
		if (counts[0] || table)
			add_group(grid, function, caller ? caller : "", i, bits, counts);
	}
	tp_grid_flush(grid, err);
}

// ---- by caller

struct called {
	uint32_t function;
	uint32_t caller; // function_count: the start of a thread
	uint32_t path;
};

static int compare(const void *a, const void *b, void *context)
{
	const uint32_t *rank = context;
	const struct called *x = a;
	const struct called *y = b;
	int order = TP_COMPARE(rank[x->function], rank[y->function]);
	order = order ? order : TP_COMPARE(x->caller, y->caller);
	return order ? order : TP_COMPARE(x->path, y->path);
}

// ORDER: the COUNT functions to show; RANK has a place for each function.
static int add_by_caller(struct tp_grid *grid, const uint32_t *order, uint32_t count,
    const bool *marks, struct tp_err *err)
{
	const struct tp_analysis *analysis = grid->analysis;
	struct tp_paths paths;
	int code = tp_paths_init(&paths, analysis, err);
	struct called *called = code ? NULL : calloc(paths.count, sizeof(*called));
	uint32_t *rank = calloc((size_t)analysis->function_count + 1, sizeof(*rank));
	if (!code && (!called || !rank))
		code = tp_err_memory(err, analysis->trace->source.name);
	if (code)
		goto out;
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++)
		rank[order[i]] = i;
	for (uint32_t i = 1; i < paths.count; i++) {
		const uint32_t caller = paths.items[paths.items[i].parent].function;
		if (marks[paths.items[i].function])
			called[found++] = (struct called){paths.items[i].function,
			    caller == UINT32_MAX ? analysis->function_count : caller, i};
	}
	if (found)
		qsort_r(called, found, sizeof(*called), compare, rank);
	for (uint32_t i = 0; i < found;) {
		const struct called first = called[i];
		struct tp_histogram times = {0};
		for (; i < found && called[i].function == first.function &&
		       called[i].caller == first.caller;
		     i++) {
			struct tp_histogram more = tp_paths_times(&paths, analysis, called[i].path);
			tp_histogram_merge(&times, &more);
			tp_histogram_release(&more);
		}
		add_histogram(grid, &times, analysis->functions[first.function].symbol.name,
		    first.caller < analysis->function_count
			? analysis->functions[first.caller].symbol.name
			: "(start of a thread)",
		    err);
		tp_histogram_release(&times);
	}
out:
	free(called);
	free(rank);
	tp_paths_release(&paths);
	return code;
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	uint32_t count;
	uint32_t *order = tp_view_order(analysis, options, marks, &count, err);
	if (!order)
		return TP_ERR_MEMORY;
	int code = 0;
	struct tp_grid grid;
	tp_grid_init(&grid, analysis, options, columns, "histogram", NULL, out);
	if (options->by_caller)
		code = add_by_caller(&grid, order, count, marks, err);
	else
		for (uint32_t i = 0; i < count; i++)
			add_histogram(&grid, &analysis->functions[order[i]].times,
			    analysis->functions[order[i]].symbol.name, NULL, err);
	code = tp_grid_end(&grid, code, err);
	free(order);
	return code;
}

const struct tp_view tp_view_histogram = {
    .name = "histogram",
    .summary = "histogram of the durations of a function's calls",
    .of = TP_VIEW_OF_SOME,
    .timeline = true,
    .render = render,
};
