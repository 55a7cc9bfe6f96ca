// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A comparison of runs as a table, CSV or JSON, and its limits.
#define _GNU_SOURCE
#include "diff_show.h"

#include "analyzer/output/completeness.h"
#include "analyzer/output/grid.h"
#include "common/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Number of innermost functions of a path that are shown; recursive paths may be very deep.
#define FRAMES_MAX 32
#define FRAMES_IN_TABLE 4
// Lines about what rules forbid.
#define LINES_MAX 20

static const struct tp_column columns[] = {
    {"before", "self_before_ns", 'r', 4, true, false},
    {"after", "self_after_ns", 'r', 3, true, false},
    {"self", "self_delta_ns", 'r', 0, true, false},
    {"relative", "self_relative", 'r', 1, true, false},
    {"p", "self_p", 'r', 2, true, false},
    {"wall", NULL, 'r', 0, true, false},
    {NULL, "inclusive_before_ns", 'r', 0, true, false},
    {NULL, "inclusive_after_ns", 'r', 0, true, false},
    {"inclusive", "inclusive_delta_ns", 'r', 7, true, false},
    {NULL, "inclusive_relative", 'r', 0, true, false},
    {NULL, "inclusive_p", 'r', 0, true, false},
    {"calls before", "calls_before", 'r', 6, false, false},
    {"calls after", "calls_after", 'r', 5, false, false},
    {NULL, "calls_relative", 'r', 0, false, false},
    {NULL, "calls_p", 'r', 0, false, false},
    {"function", "function", 'l', 0, false, true},
    {NULL, "module", 'l', 0, false, false},
    {NULL, "linkage", 'l', 0, false, false},
    {NULL, "path", 'l', 0, false, false},
    {NULL, "wall_self_before_ns", 'r', 0, true, false},
    {NULL, "wall_self_after_ns", 'r', 0, true, false},
    {NULL, "wall_self_delta_ns", 'r', 0, true, false},
    {NULL, "wall_self_relative", 'r', 0, true, false},
    {NULL, "wall_self_p", 'r', 0, true, false},
    {NULL, "wall_inclusive_before_ns", 'r', 0, true, false},
    {NULL, "wall_inclusive_after_ns", 'r', 0, true, false},
    {NULL, "wall_inclusive_delta_ns", 'r', 0, true, false},
    {NULL, "wall_inclusive_relative", 'r', 0, true, false},
    {NULL, "wall_inclusive_p", 'r', 0, true, false},
    {0},
};

// The column of tables only, which shows wall time where another time is compared.
#define WALL_IN_TABLE 5

struct order {
	uint32_t item;
	double key;
};

static int compare(const void *a, const void *b, void *context)
{
	const struct tp_diff *diff = context;
	const struct order *x = a;
	const struct order *y = b;
	int order = TP_COMPARE(y->key, x->key);
	order = order ? order : strcmp(diff->items[x->item].name, diff->items[y->item].name);
	return order ? order : TP_COMPARE(x->item, y->item);
}

static double key_of(const struct tp_diff *diff, enum tp_diff_sort sort, uint32_t item)
{
	if (sort == TP_DIFF_BY_NAME)
		return 0;
	const struct tp_diff_change change = tp_diff_change(
	    diff, item, sort == TP_DIFF_BY_RELATIVE ? TP_DIFF_SELF : (enum tp_diff_metric)sort);
	return sort == TP_DIFF_BY_RELATIVE ? fabs(change.relative)
					   : fabs(change.after - change.before);
}

static struct order *sort_items(const struct tp_diff *diff, enum tp_diff_sort sort)
{
	struct order *order = calloc((size_t)diff->count + 1, sizeof(*order));
	if (!order)
		return NULL;
	for (uint32_t i = 0; i < diff->count; i++)
		order[i] = (struct order){i, key_of(diff, sort, i)};
	if (diff->count)
		qsort_r(order, diff->count, sizeof(*order), compare, (void *)(uintptr_t)diff);
	return order;
}

// The path of ITEM, its outermost function first, or its last MAX functions.
static void add_path(const struct tp_diff *diff, uint32_t item, uint32_t max, struct tp_buf *out)
{
	uint32_t frames[FRAMES_MAX];
	uint32_t count = 0;
	while (item != UINT32_MAX && count < max) {
		frames[count++] = item;
		item = diff->items[item].parent;
	}
	if (item != UINT32_MAX)
		tp_buf_add_string(out, "...;");
	while (count--)
		tp_buf_addf(out, "%s%s", diff->items[frames[count]].name, count ? ";" : "");
}

static void add_calls(struct tp_grid *grid, double calls)
{
	if (grid->options->format == TP_FORMAT_TABLE && calls == floor(calls) && calls < 1e18)
		tp_grid_count(grid, (uint64_t)calls);
	else
		tp_grid_real(grid, true, calls, calls == floor(calls) ? 0 : 1);
}

static bool shows_wall(const struct tp_diff *diff)
{
	return diff->time != TP_TIME_WALL && diff->has_wall;
}

static void add_change(struct tp_grid *grid, const struct tp_diff_change *change, bool time)
{
	const bool known = !grid->analysis->timeless || !time;
	if (time) {
		tp_grid_ns(grid, true, change->before, false);
		tp_grid_ns(grid, true, change->after, false);
		tp_grid_ns(grid, true, change->after - change->before, true);
	} else {
		add_calls(grid, change->before);
		add_calls(grid, change->after);
	}
	if (known)
		tp_grid_relative(grid, change->relative);
	else
		tp_grid_blank(grid);
	tp_grid_real(grid, known && !isnan(change->significance), change->significance, 4);
}

static void add_wall(struct tp_grid *grid, const struct tp_diff *diff, uint32_t index)
{
	for (int metric = TP_DIFF_WALL_SELF; metric <= TP_DIFF_WALL_INCLUSIVE; metric++) {
		const struct tp_diff_change change =
		    tp_diff_change(diff, index, (enum tp_diff_metric)metric);
		if (diff->has_wall)
			add_change(grid, &change, true);
		for (int i = 0; !diff->has_wall && i < 5; i++)
			tp_grid_blank(grid);
	}
}

static void add_row(struct tp_grid *grid, const struct tp_diff *diff, uint32_t index)
{
	const struct tp_diff_item *item = &diff->items[index];
	const struct tp_diff_change self = tp_diff_change(diff, index, TP_DIFF_SELF);
	const struct tp_diff_change inclusive = tp_diff_change(diff, index, TP_DIFF_INCLUSIVE);
	const struct tp_diff_change calls = tp_diff_change(diff, index, TP_DIFF_CALLS);
	const struct tp_diff_change wall = tp_diff_change(diff, index, TP_DIFF_WALL_SELF);
	const bool table = grid->options->format == TP_FORMAT_TABLE;
	struct tp_buf path;
	tp_buf_init(&path);
	add_path(diff, index, table ? FRAMES_IN_TABLE : FRAMES_MAX, &path);
	grid->out->failed |= path.failed;
	add_change(grid, &self, true);
	if (shows_wall(diff))
		tp_grid_ns(grid, true, wall.after - wall.before, true);
	add_change(grid, &inclusive, true);
	add_change(grid, &calls, false);
	tp_grid_text(grid, table ? path.data : item->name);
	tp_grid_text(grid, item->module);
	tp_grid_text(grid, item->linkage);
	tp_grid_text(grid, path.data);
	add_wall(grid, diff, index);
	tp_buf_release(&path);
}

struct shown {
	const struct tp_diff *diff;
	const struct tp_analysis *const *runs;
	const struct tp_diff_options *options;
};

static void add_side(struct tp_json *json, const char *side, const struct tp_analysis *const *runs,
    uint32_t first, uint32_t end)
{
	tp_json_array(json, side);
	for (uint32_t i = first; i < end; i++) {
		tp_json_line(json, 0);
		tp_json_object(json, NULL);
		tp_json_text(json, "file", runs[i]->trace->source.name);
		tp_view_add_json(json, runs[i]);
		tp_json_end(json);
	}
	tp_json_end(json);
}

static const char *ns_text(char text[TP_TEXT_NUMBER], double ns)
{
	return tp_text_ns(text, ns < 1.8e19 ? (uint64_t)ns : UINT64_MAX);
}

static void add_members(struct tp_json *json, const void *context)
{
	const struct shown *shown = context;
	const struct tp_diff *diff = shown->diff;
	const struct tp_diff_change total = tp_diff_total(diff);
	add_side(json, "before", shown->runs, 0, diff->before);
	add_side(json, "after", shown->runs, diff->before, diff->runs);
	tp_json_text(json, "unit", tp_view_unit(shown->runs[0]));
	tp_json_value(json, "alpha");
	tp_buf_addf(json->out, "%g", shown->options->alpha);
	tp_json_real(json, "total_before_ns", 0, total.before);
	tp_json_real(json, "total_after_ns", 0, total.after);
	tp_json_text(json, "time", tp_time_name(diff->time));
	if (!diff->has_wall)
		return;
	const struct tp_diff_change wall = tp_diff_wall_total(diff);
	tp_json_real(json, "wall_total_before_ns", 0, wall.before);
	tp_json_real(json, "wall_total_after_ns", 0, wall.after);
}

// Which time is compared.
static void add_time(
    const struct tp_diff *diff, const struct tp_diff_options *options, struct tp_buf *out)
{
	char before[TP_TEXT_NUMBER];
	char after[TP_TEXT_NUMBER];
	tp_buf_addf(out, "time       %s: that of calls %s", tp_time_name(diff->time),
	    tp_time_meaning(diff->time));
	if (shows_wall(diff)) {
		const struct tp_diff_change wall = tp_diff_wall_total(diff);
		tp_buf_addf(out, "; in wall time %s -> %s", ns_text(before, wall.before),
		    ns_text(after, wall.after));
		if (isfinite(wall.relative))
			tp_buf_addf(out, " (%+.1f%%)", wall.relative * 100);
	}
	if (options->why_wall)
		tp_buf_addf(out, "; not cpu: %s", options->why_wall);
	tp_buf_add_char(out, '\n');
}

static void add_sides(const struct tp_diff *diff, const struct tp_analysis *const *runs,
    const struct tp_diff_options *options, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const struct tp_diff_change total = tp_diff_total(diff);
	for (int side = 0; side < 2; side++) {
		const uint32_t first = side ? diff->before : 0;
		const uint32_t count = side ? diff->runs - diff->before : diff->before;
		const double ns = side ? total.after : total.before;
		tp_buf_addf(out, "%-10s %s%s", side ? "after" : "before",
		    runs[first]->trace->source.name, count > 1 ? " and others" : "");
		uint32_t incomplete = 0;
		for (uint32_t i = first; i < first + count; i++)
			incomplete += !tp_analysis_is_complete(runs[i]);
		tp_buf_add_string(out, " (");
		if (count > 1)
			tp_buf_addf(out, "%" PRIu32 " runs, ", count);
		if (count == 1)
			tp_completeness_add_text(runs[first], out);
		else if (incomplete)
			tp_buf_addf(out, "%" PRIu32 " incomplete", incomplete);
		else
			tp_buf_add_string(out, "complete");
		tp_buf_add_char(out, ')');
		if (!runs[0]->timeless && runs[0]->time.known)
			tp_buf_addf(out, ": %s in functions", ns_text(text, ns));
		if (side && !runs[0]->timeless && isfinite(total.relative))
			tp_buf_addf(out, " (%+.1f%%)", total.relative * 100);
		tp_buf_add_char(out, '\n');
	}
	if (!runs[0]->timeless)
		add_time(diff, options, out);
	if (diff->before > 1 && diff->runs - diff->before > 1)
		tp_buf_addf(out,
		    "p          probability of such a difference by chance (Welch's t-test); one "
		    "in %.0f functions is below %g without any change\n",
		    1 / options->alpha, options->alpha);
	else
		tp_buf_add_string(
		    out, "p          unknown: it needs at least two runs on each side\n");
	tp_buf_add_char(out, '\n');
}

int tp_diff_show(const struct tp_diff *diff, const struct tp_analysis *const *runs,
    const struct tp_diff_options *options, struct tp_buf *out, struct tp_err *err)
{
	const struct shown shown = {diff, runs, options};
	const struct tp_grid_members members = {add_members, &shown};
	struct order *order = sort_items(diff, runs[0]->timeless && options->sort != TP_DIFF_BY_NAME
						   ? TP_DIFF_BY_CALLS
						   : options->sort);
	if (!order)
		return tp_err_set(err, TP_ERR_MEMORY, NULL,
		    "out of memory while sorting %" PRIu32 " rows", diff->count);
	if (options->view.format == TP_FORMAT_TABLE)
		add_sides(diff, runs, options, out);
	struct tp_column shown_columns[sizeof(columns) / sizeof(columns[0])];
	memcpy(shown_columns, columns, sizeof(columns));
	if (!shows_wall(diff))
		memcpy(shown_columns + WALL_IN_TABLE, columns + WALL_IN_TABLE + 1,
		    sizeof(columns) - (WALL_IN_TABLE + 1) * sizeof(columns[0]));
	struct tp_grid grid;
	tp_grid_init(&grid, runs[0], &options->view, shown_columns, "functions", &members, out);
	for (uint32_t i = 0; i < diff->count; i++)
		if (!tp_grid_skips(&grid))
			add_row(&grid, diff, order[i].item);
	free(order);
	return tp_grid_end(&grid, 0, err);
}

// ---- rules

static bool is_real(const struct tp_diff_change *change, double alpha)
{
	return isnan(change->significance) || change->significance < alpha;
}

static void add_forbidden(const struct tp_diff *diff, const struct tp_diff_rule *rule,
    uint32_t item, const struct tp_diff_change *change, struct tp_buf *out)
{
	tp_buf_addf(out, "%s: ", rule->text);
	if (rule->total)
		tp_buf_add_string(out, "all functions");
	else
		add_path(diff, item, FRAMES_IN_TABLE, out);
	const bool calls = rule->metric == TP_DIFF_CALLS;
	tp_buf_addf(out, ": %.0f -> %.0f %s%s%s", change->before, change->after,
	    calls ? "calls" : "ns", calls || diff->time == TP_TIME_WALL ? "" : " of ",
	    calls || diff->time == TP_TIME_WALL ? "" : tp_time_name(diff->time));
	if (isfinite(change->relative))
		tp_buf_addf(out, " (%+.1f%%)", change->relative * 100);
	if (!isnan(change->significance))
		tp_buf_addf(out, ", p = %.4f", change->significance);
	tp_buf_add_char(out, '\n');
}

uint64_t tp_diff_judge(
    const struct tp_diff *diff, const struct tp_diff_options *options, struct tp_buf *out)
{
	const struct tp_diff_change total = tp_diff_total(diff);
	const double least =
	    (total.before > total.after ? total.before : total.after) * options->min_share;
	uint64_t found = 0;
	for (uint32_t i = 0; i < options->rule_count; i++) {
		const struct tp_diff_rule *rule = &options->rules[i];
		for (uint32_t j = 0; j < (rule->total ? 1 : diff->count); j++) {
			const struct tp_diff_change change =
			    rule->total ? total : tp_diff_change(diff, j, rule->metric);
			if (!tp_diff_rule_forbids(rule, &change) ||
			    !is_real(&change, options->alpha))
				continue;
			if (!rule->total && !tp_diff_rule_matches(rule, &diff->items[j]))
				continue;
			if (rule->metric != TP_DIFF_CALLS && change.before < least &&
			    change.after < least)
				continue;
			if (found++ < LINES_MAX)
				add_forbidden(diff, rule, j, &change, out);
		}
	}
	if (found > LINES_MAX)
		tp_buf_addf(out, "and %" PRIu64 " more\n", found - LINES_MAX);
	return found;
}
