// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a report keeps and what it folds, on random programs whose time is known tick by tick: sums
// stay what they are, however small the limits are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/output/report/report.h"

#define FUNCTIONS 7
#define DEPTH 180 // more than the rows that are drawn
#define TICKS 5000
#define THREADS 2

struct program {
	struct tp_buf text;
	struct tp_buf file;
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	struct tp_paths paths;
	// The function on top at each tick and its callers: (parent, function) pairs; 0 is nothing.
	uint32_t top[THREADS][TICKS];
	uint32_t parents[THREADS * TICKS];
	uint32_t functions[THREADS * TICKS];
	uint32_t node_count;
	uint64_t durations[THREADS * TICKS];
	uint32_t call_count;
};

static uint64_t seed;
static struct tp_err err;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static uint32_t child(struct program *program, uint32_t parent, uint32_t function)
{
	for (uint32_t i = 1; i < program->node_count; i++)
		if (program->parents[i] == parent && program->functions[i] == function)
			return i;
	program->parents[program->node_count] = parent;
	program->functions[program->node_count] = function;
	return program->node_count++;
}

// A thread that calls and returns, DEEP: mostly calls at first, mostly returns in the end.
static void make_thread(struct program *program, uint32_t thread, bool deep)
{
	static uint32_t stack[DEPTH + 1];
	static uint32_t began[DEPTH + 1];
	uint32_t depth = 0;
	stack[0] = 0;
	tp_buf_addf(&program->text, "chunk thread=%u\n", thread);
	for (uint32_t time = 0; time < TICKS; time++) {
		const uint32_t calls = deep ? (time < TICKS / 2 ? 6 : 4) : 5;
		while (pick(4) == 0) {
			if (pick(10) < calls && depth < DEPTH) {
				const uint32_t function = pick(FUNCTIONS);
				tp_buf_addf(&program->text, "\t%u enter f%u\n", time, function);
				stack[depth + 1] = child(program, stack[depth], function);
				began[++depth] = time;
			} else if (depth > (deep ? 0 : 1)) {
				tp_buf_addf(&program->text, "\t%u exit f%u\n", time,
				    program->functions[stack[depth]]);
				program->durations[program->call_count++] = time - began[depth--];
			}
		}
		program->top[thread][time] = stack[depth];
	}
	while (depth) {
		tp_buf_addf(
		    &program->text, "\t%u exit f%u\n", TICKS, program->functions[stack[depth]]);
		program->durations[program->call_count++] = TICKS - began[depth--];
	}
}

static void make_program(struct program *program, uint64_t number)
{
	memset(program, 0, sizeof(*program));
	seed = number;
	program->node_count = 1;
	tp_buf_init(&program->text);
	tp_buf_init(&program->file);
	tp_buf_add_string(&program->text, "clock kind=tsc hz=1000000000\nsymbols\n");
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		tp_buf_addf(&program->text, "\tsymbol 0x%x f%u\n", 0x1000 * (i + 1), i);
	for (uint32_t i = 0; i < THREADS; i++)
		make_thread(program, i, i == 0);
	tp_buf_addf(&program->text, "end threads=%d\n", THREADS);
	if (tp_dump_assemble(program->text.data, program->text.size, "text", &program->file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&program->trace, "trace", program->file.data,
			     program->file.size, &err),
	    0);
	const struct tp_analysis_options options = {.workers = 1};
	assert_int_equal(tp_analysis_init(&program->analysis, &program->trace, &options, &err), 0);
	assert_int_equal(tp_paths_init(&program->paths, &program->analysis, &err), 0);
}

static void end_program(struct program *program)
{
	tp_paths_release(&program->paths);
	tp_analysis_release(&program->analysis);
	tp_tracefile_close(&program->trace);
	tp_buf_release(&program->file);
	tp_buf_release(&program->text);
}

// ---- the tree

struct totals {
	uint64_t calls;
	uint64_t self;
	uint64_t base_calls;
	uint64_t base_self;
	uint32_t kept;
};

static struct totals check_tree(const struct tp_report_tree *tree)
{
	struct totals totals = {0};
	assert_int_equal(tree->items[0].depth, 0);
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct tp_report_item *item = &tree->items[i];
		assert_true(item->parent < i);
		assert_int_equal(item->depth, tree->items[item->parent].depth + 1);
		// In preorder: the parent is the last item, or an ancestor of it.
		uint32_t at = i - 1;
		while (at > item->parent)
			at = tree->items[at].parent;
		assert_int_equal(at, item->parent);
		uint32_t recursion = 0;
		for (at = item->parent; at; at = tree->items[at].parent)
			recursion += tree->items[at].function == item->function;
		if (item->function != TP_REPORT_SMALLER)
			assert_int_equal(recursion, item->recursion);
		else
			assert_true(
			    i + 1 == tree->count || tree->items[i + 1].depth <= item->depth);
		totals.calls += item->calls;
		totals.self += item->self;
		totals.base_calls += item->base_calls;
		totals.base_self += item->base_self;
		totals.kept += item->function != TP_REPORT_SMALLER;
	}
	return totals;
}

static void folds(void **state)
{
	(void)state;
	static struct program program;
	for (uint64_t round = 1; round <= 4; round++) {
		make_program(&program, round);
		const uint32_t all = program.paths.count;
		assert_int_equal(all, program.node_count);
		struct totals whole = {0};
		const uint32_t limits[] = {all, all - 1, all / 2, 10, 2, 1};
		for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
			struct tp_report_tree tree;
			assert_int_equal(tp_report_tree_init(&tree, &program.analysis,
					     &program.paths, NULL, NULL, limits[i], &err),
			    0);
			const struct totals totals = check_tree(&tree);
			if (!i)
				whole = totals;
			assert_int_equal(totals.calls, program.call_count);
			assert_int_equal(totals.self, whole.self);
			assert_int_equal(totals.kept + 1, limits[i]);
			assert_int_equal(tree.folded, all - limits[i]);
			for (uint32_t j = 1; j < all; j++) {
				const struct tp_report_item *item = &tree.items[tree.of_path[j]];
				if (item->function != TP_REPORT_SMALLER)
					assert_int_equal(item->self, program.paths.items[j].self);
			}
			tp_report_tree_release(&tree);
		}
		end_program(&program);
	}
}

static void compares(void **state)
{
	(void)state;
	static struct program after;
	static struct program before;
	make_program(&after, 11);
	make_program(&before, 12);
	struct totals whole = {0};
	for (uint32_t most = 1000000; most; most /= 30) {
		struct tp_report_tree tree;
		assert_int_equal(tp_report_tree_init(&tree, &after.analysis, &after.paths,
				     &before.analysis, &before.paths, most, &err),
		    0);
		const struct totals totals = check_tree(&tree);
		if (!whole.self)
			whole = totals;
		assert_int_equal(totals.calls, after.call_count);
		assert_int_equal(totals.base_calls, before.call_count);
		assert_int_equal(totals.self, whole.self);
		assert_int_equal(totals.base_self, whole.base_self);
		// The same functions, in whatever order they are found.
		assert_int_equal(tree.function_count, FUNCTIONS);
		for (uint32_t i = 0; i < FUNCTIONS; i++)
			assert_string_equal(
			    after.analysis.functions[tree.functions[i].here].symbol.name,
			    before.analysis.functions[tree.functions[i].there].symbol.name);
		tp_report_tree_release(&tree);
	}
	end_program(&after);
	end_program(&before);
}

// ---- the timeline

static uint64_t next(const struct tp_buf *buf, size_t *at)
{
	uint64_t value = 0;
	for (int shift = 0;; shift += 7) {
		assert_true(*at < buf->size);
		const unsigned char byte = (unsigned char)buf->data[(*at)++];
		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
}

// The item of a node of the program: found from the root, by the names of functions.
static uint32_t item_of(
    const struct program *program, const struct tp_report_tree *tree, uint32_t node)
{
	if (!node)
		return 0;
	const uint32_t parent = item_of(program, tree, program->parents[node]);
	char name[8];
	snprintf(name, sizeof(name), "f%u", program->functions[node]);
	for (uint32_t i = parent + 1;
	     i < tree->count && tree->items[i].depth > tree->items[parent].depth; i++)
		if (tree->items[i].parent == parent &&
		    strcmp(program->analysis.functions[tree->items[i].function].symbol.name,
			name) == 0)
			return i;
	fail_msg("%s is not there", name);
	return 0;
}

static void check_rows(const struct tp_report_track *track, const struct tp_report_tree *tree,
    const struct tp_report_time *time)
{
	for (uint32_t row = 0; row < track->row_count; row++) {
		size_t at = 0;
		uint64_t bucket = 0;
		for (uint32_t run = 0; run < track->runs[row]; run++) {
			const uint64_t head = next(&track->rows[row], &at);
			assert_true(head >= 16);
			bucket += head / 16;
			if (head % 16)
				assert_int_equal(
				    tree->items[next(&track->rows[row], &at)].depth, row + 1);
		}
		assert_int_equal(bucket, time->buckets);
		assert_int_equal(at, track->rows[row].size);
	}
}

// Of the cells: all time is there, and where it was spent, or with a caller of that.
static void check_cells(const struct program *program, const struct tp_report_tree *tree,
    const struct tp_report_time *time, uint32_t thread, bool exact)
{
	const struct tp_buf *cells = &time->tracks[thread].cells;
	const uint64_t width = time->width * (time->buckets / time->cells);
	uint64_t *wanted = calloc(tree->count, sizeof(*wanted));
	uint64_t *found = calloc(tree->count, sizeof(*found));
	static uint32_t items[THREADS * TICKS];
	for (uint32_t i = 0; i < program->node_count; i++)
		items[i] = item_of(program, tree, i);
	size_t at = 0;
	assert_non_null(wanted);
	assert_non_null(found);
	for (uint32_t cell = 0; cell < time->cells; cell++) {
		memset(wanted, 0, tree->count * sizeof(*wanted));
		memset(found, 0, tree->count * sizeof(*found));
		for (uint64_t tick = cell * width; tick < (cell + 1) * width; tick++)
			if (tick + time->from < TICKS)
				wanted[items[program->top[thread][tick + time->from]]]++;
		uint64_t item = 0;
		for (uint64_t count = next(cells, &at); count; count--) {
			const uint64_t step = next(cells, &at);
			assert_true(step);
			item += step;
			found[item] = next(cells, &at);
		}
		wanted[0] = 0; // nothing was running
		for (uint32_t i = tree->count; exact && i-- > 1;)
			assert_int_equal(found[i], wanted[i]);
		for (uint32_t i = tree->count; i-- > 1;) {
			assert_true(found[i] <= wanted[i] || !exact);
			found[tree->items[i].parent] += found[i];
			wanted[tree->items[i].parent] += wanted[i];
			assert_true(found[i] <= wanted[i]);
		}
		assert_int_equal(found[0], wanted[0]);
	}
	assert_int_equal(at, cells->size);
	free(wanted);
	free(found);
}

static int compare_durations(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;
	return x > y ? -1 : x < y;
}

static void check_calls(const struct tp_report_time *time)
{
	for (uint32_t i = 1; i < time->call_count; i++) {
		const struct tp_report_call *a = &time->calls[i - 1];
		const struct tp_report_call *b = &time->calls[i];
		assert_true(
		    a->thread < b->thread || (a->thread == b->thread && a->start <= b->start));
	}
}

static void tells_time(void **state)
{
	(void)state;
	static struct program program;
	static const uint32_t threads[] = {0, 1};
	static const struct tp_report_limits limits[] = {
	    {100, 4, 1000000, 1000000, 20, NULL},
	    {7, 3, 1000000, 1000000, 1, NULL},
	    {100, 8, 300, 1000000, 0, NULL},
	    {20, 8, 1000000, 700, 5000, NULL},
	    {50, 8, 40, 1600, 100, NULL},
	    {100000, 8, 1000000, 10000000, 10, NULL},
	};
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		make_program(&program, 20 + i);
		struct tp_report_tree tree;
		struct tp_report_time time;
		assert_int_equal(tp_report_tree_init(&tree, &program.analysis, &program.paths, NULL,
				     NULL, UINT32_MAX, &err),
		    0);
		assert_int_equal(tp_report_time_init(&time, &program.analysis, &program.paths,
				     &tree, threads, THREADS, &limits[i], &err),
		    0);
		assert_true(time.cells <= limits[i].cells);
		assert_true(time.width * time.buckets > TICKS - time.from);
		const bool exact = limits[i].pairs >= 1000000;
		assert_true(exact == (time.moved_ticks == 0));
		assert_true((limits[i].runs >= 1000000) == (time.rows_left == 0));
		for (uint32_t t = 0; t < THREADS; t++) {
			uint64_t runs = 0;
			for (uint32_t row = 0; row < time.tracks[t].row_count; row++)
				runs += time.tracks[t].runs[row];
			// The last run of each row comes when all is over.
			assert_true(runs <= limits[i].runs / THREADS + TP_REPORT_ROWS ||
				    time.tracks[t].row_count == 1);
			check_rows(&time.tracks[t], &tree, &time);
			check_cells(&program, &tree, &time, t, exact);
		}
		check_calls(&time);
		// Not those that are too deep to be drawn, nor those that took no time.
		assert_true(time.call_count <= limits[i].calls);
		if (limits[i].calls == 20) {
			uint64_t found = UINT64_MAX;
			for (uint32_t j = 0; j < time.call_count; j++)
				if (time.calls[j].duration < found)
					found = time.calls[j].duration;
			qsort(program.durations, program.call_count, sizeof(uint64_t),
			    compare_durations);
			assert_int_equal(found, program.durations[19]);
			assert_int_equal(time.least, found);
		}
		tp_report_time_release(&time);
		tp_report_tree_release(&tree);
		end_program(&program);
	}
}

// ---- the page

static void renders(void **state)
{
	(void)state;
	static struct program program;
	make_program(&program, 30);
	struct tp_report_options options = {.paths = 50, .calls = 10};
	struct tp_buf page;
	tp_buf_init(&page);
	assert_int_equal(tp_report_render(&program.analysis, &options, &page, &err), 0);
	assert_false(page.failed);
	assert_non_null(strstr(page.data, "call paths are too light for this report"));
	assert_non_null(strstr(page.data, "only the 10 longest calls are drawn"));
	tp_buf_reset(&page);
	options = (struct tp_report_options){.paths = 100000, .calls = 100000};
	assert_int_equal(tp_report_render(&program.analysis, &options, &page, &err), 0);
	assert_null(strstr(page.data, "call paths are too light"));
	assert_null(strstr(page.data, "longest calls are drawn"));
	// Single calls: of no function, of some, of all.
	assert_non_null(strstr(page.data, "latency over time of 7 functions"));
	tp_buf_reset(&page);
	options = (struct tp_report_options){
	    .paths = 100000, .heat_maps = 2, .slowest = 3, .slowest_calls = 20};
	assert_int_equal(tp_report_render(&program.analysis, &options, &page, &err), 0);
	assert_non_null(strstr(page.data, "latency over time of 5 functions"));
	assert_non_null(strstr(page.data, "of the slowest calls of functions are not drawn"));
	tp_buf_reset(&page);
	options.heat_maps = 100;
	options.slowest_calls = 10000000;
	assert_int_equal(tp_report_render(&program.analysis, &options, &page, &err), 0);
	assert_null(strstr(page.data, "latency over time of 5"));
	assert_null(strstr(page.data, "of the slowest calls of functions are not drawn"));
	tp_buf_release(&page);
	end_program(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(folds),
	    cmocka_unit_test(compares),
	    cmocka_unit_test(tells_time),
	    cmocka_unit_test(renders),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
