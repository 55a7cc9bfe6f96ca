// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "contention": functions that ran in several threads at once.
#include "analyzer/profile/calls.h"
#include "analyzer/profile/contention.h"
#include "analyzer/output/grid.h"
#include "analyzer/output/view/waits.h"
#include "common/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Calls that are held at once, 24 bytes each; as many functions as have no more are swept in a
// pass.
#define CALLS_MAX (UINT64_C(1) << 24)
#define PASSES_MAX 64
// Fewer calls, or less of a difference, are no reason to say that they wait for each other.
#define WAITS_CALLS 10
#define WAITS_RATIO 1.5

struct item {
	uint32_t function;
	uint32_t threads; // that have called it
	uint32_t last;    // of these, + 1
	uint64_t calls;   // outermost
	uint64_t first;   // of the pass: where its calls stand
	uint64_t count;   // number of waits
	struct tp_contention result;
	uint64_t waits; // in the function itself, that another thread ended
	uint64_t waited_ns;
	const struct tp_wait_row *holder; // who ended those with most time; NULL: there are none
};

struct contention {
	const struct tp_analysis *analysis;
	struct tp_paths paths;
	struct tp_system_items events;
	struct tp_waits waits;
	struct item *items; // of functions that several threads have called
	uint32_t count;
	uint32_t *item_of; // of each function; 0: none, else + 1
	uint32_t begin;    // items of this pass
	uint32_t end;
	uint32_t thread; // whose calls come
	struct tp_interval *calls;
	uint64_t *ends;
};

// Of recursive calls only the outermost; UINT32_MAX: not this one.
static uint32_t function_of(const struct contention *contention, uint32_t thread, uint32_t node)
{
	const struct tp_profile *profile = &contention->analysis->threads[thread].profile;
	const uint32_t path =
	    node < profile->node_count ? contention->paths.of_node[thread][node] : 0;
	if (!path || contention->paths.items[path].recursion)
		return UINT32_MAX;
	return contention->paths.items[path].function;
}

// Which functions several threads have called.
static bool list(struct contention *contention, const bool *marks)
{
	const struct tp_analysis *analysis = contention->analysis;
	const size_t functions = (size_t)analysis->function_count + 1;
	struct item *all = calloc(functions, sizeof(*all));
	contention->item_of = calloc(functions, sizeof(*contention->item_of));
	contention->items = all;
	if (!all || !contention->item_of)
		return false;
	for (uint32_t t = 0; t < analysis->thread_count; t++)
		for (uint32_t i = 1; i < analysis->threads[t].profile.node_count; i++) {
			const uint32_t function = function_of(contention, t, i);
			if (function == UINT32_MAX || !marks[function])
				continue;
			all[function].threads += all[function].last != t + 1;
			all[function].last = t + 1;
			all[function].calls += analysis->threads[t].profile.nodes[i].calls;
		}
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		if (all[i].threads < 2 || !all[i].calls)
			continue;
		const struct item item = all[i];
		all[contention->count] = item;
		all[contention->count].function = i;
		contention->item_of[i] = ++contention->count;
	}
	return true;
}

static void on_call(void *context, const struct tp_call *call)
{
	struct contention *contention = context;
	const uint32_t function = function_of(contention, contention->thread, call->node);
	const uint32_t at = function == UINT32_MAX ? 0 : contention->item_of[function];
	if (at <= contention->begin || at > contention->end)
		return;
	struct item *item = &contention->items[at - 1];
	// As many as were counted when they were listed; but a damaged thread may end elsewhere.
	if (item->count < item->calls)
		contention->calls[item->first + item->count++] =
		    (struct tp_interval){call->start, call->end};
}

// As many functions as fit, from contention->end on; false: the next one alone does not.
static bool plan(struct contention *contention)
{
	uint64_t sum = 0;
	contention->begin = contention->end;
	while (contention->end < contention->count) {
		struct item *item = &contention->items[contention->end];
		if (item->calls > CALLS_MAX - sum)
			break;
		item->first = sum;
		sum += item->calls;
		contention->end++;
	}
	return contention->end > contention->begin;
}

static int pass(struct contention *contention, struct tp_err *err)
{
	struct tp_call_sink sink = {.context = contention, .leave = on_call};
	for (uint32_t i = 0; i < contention->analysis->thread_count; i++) {
		contention->thread = i;
		// What there is of a damaged thread counts.
		if (tp_calls_each(contention->analysis, i, &sink, err) == TP_ERR_MEMORY)
			return TP_ERR_MEMORY;
	}
	for (uint32_t i = contention->begin; i < contention->end; i++) {
		struct item *item = &contention->items[i];
		item->result = tp_contention_sweep(
		    contention->calls + item->first, contention->ends, item->count);
	}
	return 0;
}

static int sweep(struct contention *contention, struct tp_err *err)
{
	const char *file = contention->analysis->trace->source.name;
	uint64_t sum = 0;
	uint64_t most = 0;
	for (uint32_t i = 0; i < contention->count; i++) {
		const uint64_t calls = contention->items[i].calls;
		most = calls > most ? calls : most;
		sum = tp_add_capped(sum, calls);
	}
	if (most > CALLS_MAX || sum / CALLS_MAX >= PASSES_MAX / 2)
		return tp_err_set(err, TP_ERR_LIMIT, file,
		    "several threads called one function %" PRIu64
		    " times, and all such functions %" PRIu64
		    " times: more than can be compared (%" PRIu64
		    " of one); use --function or --time-range",
		    most, sum, (uint64_t)CALLS_MAX);
	const uint64_t room = sum < CALLS_MAX ? sum : CALLS_MAX;
	contention->calls = malloc((room + 1) * sizeof(*contention->calls));
	contention->ends = malloc((most + 1) * sizeof(*contention->ends));
	int code = contention->calls && contention->ends ? 0 : TP_ERR_MEMORY;
	while (!code && plan(contention))
		code = pass(contention, err);
	if (code)
		tp_err_set(err, code, file,
		    "out of memory while comparing calls of several threads: use --function or "
		    "--time-range");
	return code;
}

// Who held the locks that these functions waited for.
static int find_holders(struct contention *contention, struct tp_err *err)
{
	const struct tp_analysis *analysis = contention->analysis;
	if (!analysis->trace->system.has)
		return 0;
	int code = tp_system_items_init(&contention->events, analysis, &contention->paths, err);
	if (!code)
		code = tp_waits_init(
		    &contention->waits, &contention->events, analysis, &contention->paths, err);
	for (uint64_t i = 0; !code && i < contention->waits.count; i++) {
		const struct tp_wait_row *row = &contention->waits.rows[i];
		if (!row->woken || row->function == TP_SYSTEM_NOBODY ||
		    !contention->item_of[row->function])
			continue;
		struct item *item = &contention->items[contention->item_of[row->function] - 1];
		item->waits += row->count;
		item->waited_ns = tp_add_capped(item->waited_ns, row->total_ns);
		// Those with most time come first.
		item->holder = item->holder ? item->holder : row;
	}
	return code;
}

static int compare(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;
	int order = TP_COMPARE(y->result.overlap, x->result.overlap);
	order = order ? order : TP_COMPARE(y->result.total, x->result.total);
	return order ? order : TP_COMPARE(x->function, y->function);
}

// "1: 40% 2: 60%" in tables, else ticks or nanoseconds.
static void add_inside(struct tp_grid *grid, const struct tp_contention *result)
{
	char text[TP_TEXT_NUMBER];
	struct tp_buf cell;
	tp_buf_init(&cell);
	const bool table = grid->options->format == TP_FORMAT_TABLE;
	const uint32_t most =
	    result->most < TP_CONTENTION_COUNTED ? result->most : TP_CONTENTION_COUNTED;
	for (uint32_t i = 0; i < most; i++) {
		if (table && i == 4 && most > 5) {
			uint64_t more = 0;
			for (; i < most; i++)
				more += result->inside[i];
			tp_buf_addf(&cell, " 5+:%s", tp_view_share(text, more, result->busy));
		} else if (table) {
			tp_buf_addf(&cell, "%s%" PRIu32 ":%s", i ? " " : "", i + 1,
			    tp_view_share(text, result->inside[i], result->busy));
		} else {
			tp_buf_addf(&cell, "%s%" PRIu64, i ? ";" : "",
			    tp_timebase_ns(&grid->analysis->time, result->inside[i]));
		}
	}
	grid->out->failed |= cell.failed;
	tp_grid_text(grid, cell.data);
	tp_buf_release(&cell);
}

// "lock in worker 3"
static void add_holder(struct tp_grid *grid, const struct tp_wait_row *holder)
{
	char thread[64];
	struct tp_buf cell;
	tp_buf_init(&cell);
	if (holder) {
		tp_buf_add_string(&cell, tp_view_waker(grid->analysis, holder));
		tp_view_waker_thread(grid->analysis, holder, thread);
		tp_buf_addf(&cell, "%s%s", thread[0] ? " in " : "", thread);
	}
	grid->out->failed |= cell.failed;
	tp_grid_text(grid, cell.data ? cell.data : "");
	tp_buf_release(&cell);
}

static void add_row(struct tp_grid *grid, const struct item *item)
{
	const struct tp_contention *result = &item->result;
	const bool both = result->alone_calls && result->shared_calls && result->alone_median;
	// Not by means: the few calls that were interrupted meet others, and would speak for all.
	const double ratio =
	    both ? (double)result->shared_median / (double)result->alone_median : 0;
	const bool waits = both && ratio >= WAITS_RATIO && result->alone_calls >= WAITS_CALLS &&
			   result->shared_calls >= WAITS_CALLS;
	tp_grid_time(grid, true, result->overlap);
	tp_grid_share(grid, result->overlap, result->busy);
	tp_grid_time(grid, true, result->busy);
	tp_grid_time(grid, true, result->total);
	tp_grid_number(grid, result->most);
	tp_grid_number(grid, item->threads);
	tp_grid_count(grid, result->calls);
	tp_grid_count(grid, result->shared_calls);
	tp_grid_time(grid, result->alone_calls != 0, result->alone_median);
	tp_grid_time(grid, result->shared_calls != 0, result->shared_median);
	tp_grid_real(grid, both, ratio, 2);
	if (grid->analysis->trace->system.has)
		tp_grid_count(grid, item->waits);
	else
		tp_grid_blank(grid);
	tp_grid_kernel_ns(grid, item->waits != 0, item->waited_ns);
	add_holder(grid, item->holder);
	add_inside(grid, result);
	tp_grid_text(grid, grid->analysis->functions[item->function].symbol.name);
	tp_grid_text(grid, waits ? "waits likely" : "");
}

static int show(struct contention *contention, const struct tp_view_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_column columns[] = {
	    {"overlap", "overlap_ns", 'r', 0, false, false},
	    {"share", "overlap_share", 'r', 3, false, false},
	    {"busy", "busy_ns", 'r', 2, false, false},
	    {NULL, "total_ns", 'r', 0, false, false},
	    {"most", "most", 'r', 1, false, false},
	    {"threads", "threads", 'r', 5, false, false},
	    {"calls", "calls", 'r', 4, false, false},
	    {NULL, "shared_calls", 'r', 0, false, false},
	    {"alone", "alone_p50_ns", 'r', 7, false, false},
	    {"shared", "shared_p50_ns", 'r', 8, false, false},
	    {"ratio", "ratio", 'r', 6, false, false},
	    {"waits", "waits", 'r', 10, false, false},
	    {"waited", "waited_ns", 'r', 0, false, false},
	    {"ended by", "waker", 'l', 0, false, false},
	    {"threads inside", "inside_ns", 'l', 9, false, false},
	    {"function", "function", 'l', 0, false, true},
	    {"", "hint", 'l', 0, false, false},
	    {0},
	};
	// Without system events there is nothing to show in a table.
	for (struct tp_column *column = columns; column->key; column++)
		if (!contention->analysis->trace->system.has &&
		    (strncmp(column->key, "wait", 4) == 0 || strcmp(column->key, "waker") == 0))
			column->title = NULL;
	struct tp_grid grid;
	tp_grid_init(&grid, contention->analysis, options, columns, "contention", NULL, out);
	for (uint32_t i = 0; i < contention->count; i++)
		if (!tp_grid_skips(&grid))
			add_row(&grid, &contention->items[i]);
	return tp_grid_end(&grid, 0, err);
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	struct contention contention = {.analysis = analysis};
	int code = tp_paths_init(&contention.paths, analysis, err);
	if (!code && !list(&contention, marks))
		code = tp_err_set(err, TP_ERR_MEMORY, analysis->trace->source.name,
		    "out of memory while reading %" PRIu32 " functions", analysis->function_count);
	if (!code)
		code = sweep(&contention, err);
	if (!code)
		code = find_holders(&contention, err);
	if (!code) {
		if (contention.count)
			qsort(
			    contention.items, contention.count, sizeof(*contention.items), compare);
		code = show(&contention, options, out, err);
	}
	tp_waits_release(&contention.waits);
	tp_system_items_release(&contention.events);
	free(contention.calls);
	free(contention.ends);
	free(contention.items);
	free(contention.item_of);
	tp_paths_release(&contention.paths);
	return code;
}

const struct tp_view tp_view_contention = {
    .name = "contention",
    .summary = "functions that ran in several threads at once",
    .of = TP_VIEW_OF_ANY,
    .timeline = true,
    .records = true,
    .render = render,
};
