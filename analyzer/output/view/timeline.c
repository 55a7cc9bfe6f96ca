// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "timeline": single calls in the order in which they began, indented by depth; or the
// slowest calls of a function, each with what it called and what other threads did meanwhile.
#define _GNU_SOURCE
#include "analyzer/profile/around/kept_calls.h"
#include "analyzer/output/grid.h"
#include "common/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX (UINT64_C(1) << 26) // functions times slow calls
#define FRAMES 6                      // callers that are named
#define THREADS_MAX 8                 // other threads that are shown with a slow call

// What another thread did during a slow call.
struct meanwhile {
	uint32_t thread;
	uint32_t function; // in which most of that was; UINT32_MAX: in none
	uint64_t busy;
	uint64_t inside;
};

struct around {
	struct tp_kept_call slow;
	struct tp_kept_calls calls;
	struct meanwhile others[THREADS_MAX];
	uint32_t other_count;
	uint32_t more_others;
};

struct timeline {
	const struct tp_analysis *analysis;
	const bool *marks; // NULL: all functions
	struct tp_kept_calls kept;
	bool shows_time; // a column has the time by which calls are the slowest
	struct around *arounds;
	uint32_t around_count;
	int64_t *inside; // of each slow call, of each function: ticks in the current thread
	uint64_t *busy;  // of each slow call
	uint32_t thread; // whose calls come
	uint64_t more_marks;
	struct tp_grid grid;
};

static uint32_t function_of(const struct timeline *timeline, uint32_t thread, uint32_t node)
{
	const struct tp_thread_result *result = &timeline->analysis->threads[thread];
	return result->functions[result->profile.nodes[node].function];
}

// Not of a path that a filter has left out.
static bool is_known(const struct timeline *timeline, const struct tp_call *call)
{
	const struct tp_profile *profile = &timeline->analysis->threads[timeline->thread].profile;
	return call->node < profile->node_count && profile->nodes[call->node].function;
}

// The first pass: which calls are shown.
static void on_call(void *context, const struct tp_call *call)
{
	struct timeline *timeline = context;
	if (!is_known(timeline, call))
		return;
	if (timeline->marks &&
	    !timeline->marks[function_of(timeline, timeline->thread, call->node)])
		return;
	const struct tp_kept_call row = {*call, timeline->thread};
	tp_kept_calls_add(&timeline->kept, &row);
}

// The second pass: calls inside of slow calls, and beside them.
static void on_call_around(void *context, const struct tp_call *call)
{
	struct timeline *timeline = context;
	const struct tp_analysis *analysis = timeline->analysis;
	const struct tp_profile *profile = &analysis->threads[timeline->thread].profile;
	for (uint32_t i = 0; is_known(timeline, call) && i < timeline->around_count; i++) {
		struct around *around = &timeline->arounds[i];
		const struct tp_call *slow = &around->slow.call;
		if (call->end < slow->start || call->start > slow->end)
			continue;
		if (timeline->thread == around->slow.thread) {
			if (!tp_call_is_inside(call, slow))
				continue;
			const struct tp_kept_call row = {*call, timeline->thread};
			tp_kept_calls_add(&around->calls, &row);
			continue;
		}
		const uint64_t from = call->start > slow->start ? call->start : slow->start;
		const uint64_t to = call->end < slow->end ? call->end : slow->end;
		int64_t *inside = timeline->inside + (size_t)i * analysis->function_count;
		const uint32_t parent = profile->nodes[call->node].parent;
		inside[function_of(timeline, timeline->thread, call->node)] += (int64_t)(to - from);
		// What its callee was in, the caller was not.
		if (parent && profile->nodes[parent].function)
			inside[function_of(timeline, timeline->thread, parent)] -=
			    (int64_t)(to - from);
		else
			timeline->busy[i] += to - from;
	}
}

// The current thread is over: what it did during slow calls of others.
static void add_meanwhile(struct timeline *timeline)
{
	const uint32_t functions = timeline->analysis->function_count;
	for (uint32_t i = 0; i < timeline->around_count; i++) {
		struct around *around = &timeline->arounds[i];
		int64_t *inside = timeline->inside + (size_t)i * functions;
		struct meanwhile other = {timeline->thread, UINT32_MAX, timeline->busy[i], 0};
		for (uint32_t j = 0; j < functions; j++) {
			if (inside[j] > (int64_t)other.inside) {
				other.inside = (uint64_t)inside[j];
				other.function = j;
			}
			inside[j] = 0;
		}
		timeline->busy[i] = 0;
		if (!other.busy)
			continue;
		uint32_t least = 0;
		for (uint32_t j = 1; j < around->other_count; j++)
			if (around->others[j].busy < around->others[least].busy)
				least = j;
		if (around->other_count < THREADS_MAX)
			around->others[around->other_count++] = other;
		else {
			around->more_others++;
			if (other.busy > around->others[least].busy)
				around->others[least] = other;
		}
	}
}

static int each_thread(struct timeline *timeline, bool second, struct tp_err *err)
{
	struct tp_call_sink sink = {
	    .context = timeline, .leave = second ? on_call_around : on_call};
	// Wall times are as recorded; processor time is without the cost of that, as everywhere.
	struct tp_analysis net = *timeline->analysis;
	net.compensation.applied |= net.compensation.chooses;
	for (uint32_t i = 0; i < timeline->analysis->thread_count; i++) {
		timeline->thread = i;
		const int code = tp_calls_each(&net, i, &sink, err);
		// What there is of a damaged thread is shown.
		if (code == TP_ERR_MEMORY)
			return code;
		if (second)
			add_meanwhile(timeline);
	}
	return 0;
}

static void add_row(
    struct timeline *timeline, const struct tp_kept_call *row, uint64_t around, uint32_t depth)
{
	static const char *const ends[] = {"", "unwound", "cut", "open", "no exit"};
	struct tp_grid *grid = &timeline->grid;
	const struct tp_analysis *analysis = timeline->analysis;
	tp_grid_number(grid, around);
	tp_grid_text(grid, "call");
	tp_grid_time(grid, true,
	    row->call.start > analysis->origin ? row->call.start - analysis->origin : 0);
	tp_grid_time(grid, true, row->call.duration);
	if (timeline->shows_time)
		tp_grid_time(grid, true, tp_call_part(&row->call, timeline->kept.time));
	tp_grid_time(grid, true, row->call.self);
	tp_grid_number(grid, analysis->threads[row->thread].thread->number);
	tp_grid_number(grid, row->call.depth);
	tp_grid_indented(grid,
	    analysis->functions[function_of(timeline, row->thread, row->call.node)].symbol.name,
	    depth);
	tp_grid_text(grid, ends[row->call.how]);
	tp_grid_time(grid, analysis->threads[row->thread].thread->off != NULL,
	    tp_call_part(&row->call, TP_TIME_CPU));
}

// A mark, or a phase, between calls.
static void add_mark(struct timeline *timeline, const struct tp_mark *mark)
{
	struct tp_grid *grid = &timeline->grid;
	const struct tp_analysis *analysis = timeline->analysis;
	const bool outside = mark->thread == TP_MARK_OUTSIDE;
	const bool ended = mark->kind == TP_MARK_PHASE && mark->end != TP_MARK_OPEN;
	const bool table = grid->options->format == TP_FORMAT_TABLE;
	char text[TEEPERF_MARK_NAME + 32];
	snprintf(text, sizeof(text), table ? "-- %s%s" : "%s%s", mark->name,
	    table && mark->cut ? "..." : "");
	tp_grid_number(grid, 0);
	tp_grid_text(grid, tp_mark_kind_name(mark));
	tp_grid_time(grid, true, mark->time > analysis->origin ? mark->time - analysis->origin : 0);
	tp_grid_time(grid, ended, mark->end - mark->time);
	tp_grid_blank(grid);
	if (outside && table)
		tp_grid_text(grid, "ctl");
	else if (outside)
		tp_grid_blank(grid);
	else
		tp_grid_number(grid, analysis->trace->threads[mark->thread].number);
	tp_grid_number(grid, 0);
	tp_grid_text(grid, text);
	tp_grid_text(grid, !table                                  ? ""
			   : mark->kind == TP_MARK_PHASE && !ended ? "phase, open"
			   : mark->kind == TP_MARK_END             ? "end of a phase"
			   : mark->kind == TP_MARK_PHASE           ? "phase"
								   : "mark");
	tp_grid_blank(grid);
}

static bool is_in_part(const struct tp_analysis *analysis, const struct tp_mark *mark)
{
	if (!mark->timed ||
	    (analysis->ranged && (mark->time < analysis->from || mark->time >= analysis->to)))
		return false;
	return mark->thread == TP_MARK_OUTSIDE || !analysis->options.one_thread ||
	       &analysis->trace->threads[mark->thread] == analysis->threads[0].thread;
}

// The calls that are kept, and the marks between them; as many of these as there may be calls.
static int add_in_order(struct timeline *timeline, uint64_t limit, struct tp_err *err)
{
	const struct tp_analysis *analysis = timeline->analysis;
	const struct tp_kept_calls *kept = &timeline->kept;
	struct tp_marks marks;
	const int code = tp_analysis_marks(analysis, &marks, err);
	uint64_t shown = 0;
	uint64_t at = 0;
	for (uint64_t i = 0; !code && i <= kept->count; i++) {
		// Behind the last call only if that is the last of all.
		const bool last = i == kept->count;
		for (; (last ? kept->seen == kept->count : true) && at < marks.count &&
		       (last || marks.items[at].time <= kept->items[i].call.start);
		     at++) {
			if (!is_in_part(analysis, &marks.items[at]))
				continue;
			if (limit && shown >= limit)
				timeline->more_marks++;
			else
				add_mark(timeline, &marks.items[at]);
			shown++;
		}
		if (!last)
			add_row(timeline, &kept->items[i], 0, kept->items[i].call.depth);
	}
	timeline->more_marks += marks.left_out;
	tp_marks_release(&marks);
	return code;
}

static void add_other(
    struct timeline *timeline, const struct around *around, uint32_t index, uint64_t number)
{
	const struct meanwhile *other = &around->others[index];
	struct tp_grid *grid = &timeline->grid;
	const struct tp_analysis *analysis = timeline->analysis;
	const uint64_t start = around->slow.call.start;
	const char *function =
	    other->function == UINT32_MAX ? "" : analysis->functions[other->function].symbol.name;
	tp_grid_number(grid, number);
	tp_grid_text(grid, "meanwhile");
	tp_grid_time(grid, true, start > analysis->origin ? start - analysis->origin : 0);
	tp_grid_time(grid, true, other->busy);
	if (timeline->shows_time)
		tp_grid_blank(grid);
	tp_grid_time(grid, true, other->inside);
	tp_grid_number(grid, analysis->threads[other->thread].thread->number);
	tp_grid_number(grid, 0);
	tp_grid_text(grid, function);
	tp_grid_text(grid, grid->options->format == TP_FORMAT_TABLE ? "meanwhile, most in it" : "");
	tp_grid_blank(grid);
}

static void add_title(struct timeline *timeline, const struct tp_kept_call *slow, uint32_t number)
{
	const struct tp_analysis *analysis = timeline->analysis;
	const struct tp_profile *profile = &analysis->threads[slow->thread].profile;
	const struct tp_function *function =
	    &analysis->functions[function_of(timeline, slow->thread, slow->call.node)];
	struct tp_buf *out = timeline->grid.out;
	char text[TP_TEXT_NUMBER];
	tp_buf_addf(out, "%s%" PRIu32 ". %s: %s", number > 1 ? "\n" : "", number,
	    function->symbol.name, tp_view_time(analysis, text, slow->call.duration));
	if (timeline->shows_time)
		tp_buf_addf(out, ", %s %s", tp_time_name(timeline->kept.time),
		    tp_view_time(analysis, text, tp_call_part(&slow->call, timeline->kept.time)));
	tp_buf_addf(out, " (half of its calls take up to %s)\n",
	    tp_view_time(analysis, text, function->percentiles[0]));
	uint32_t at = profile->nodes[slow->call.node].parent;
	for (uint32_t i = 0; at && profile->nodes[at].function; i++) {
		tp_buf_addf(out, "%s%s", i ? " < " : "called by ",
		    i < FRAMES
			? analysis->functions[function_of(timeline, slow->thread, at)].symbol.name
			: "...");
		at = i < FRAMES ? profile->nodes[at].parent : 0;
		if (!at)
			tp_buf_add_char(out, '\n');
	}
}

// The slowest calls, one after another.
static int add_arounds(struct timeline *timeline, uint64_t limit, struct tp_err *err)
{
	const struct tp_analysis *analysis = timeline->analysis;
	const uint64_t cells = (uint64_t)timeline->kept.count * analysis->function_count;
	const char *file = analysis->trace->source.name;
	if (cells > CELLS_MAX)
		return tp_err_set(err, TP_ERR_LIMIT, file,
		    "the calls of other threads during %" PRIu64
		    " calls do not fit in memory: request fewer with --around-slowest",
		    timeline->kept.count);
	timeline->around_count = (uint32_t)timeline->kept.count;
	timeline->arounds = calloc(timeline->kept.count + 1, sizeof(*timeline->arounds));
	timeline->inside = calloc(cells + 1, sizeof(*timeline->inside));
	timeline->busy = calloc(timeline->kept.count + 1, sizeof(*timeline->busy));
	if (!timeline->arounds || !timeline->inside || !timeline->busy)
		return tp_err_memory(err, file);
	for (uint32_t i = 0; i < timeline->around_count; i++) {
		timeline->arounds[i].slow = timeline->kept.items[i];
		const uint64_t share = limit / timeline->around_count;
		timeline->arounds[i].calls.most = limit && !share ? 1 : share;
	}
	int code = each_thread(timeline, true, err);
	for (uint32_t i = 0; !code && i < timeline->around_count; i++) {
		struct around *around = &timeline->arounds[i];
		if (around->calls.code)
			return around->calls.code;
		if (timeline->grid.options->format == TP_FORMAT_TABLE)
			add_title(timeline, &around->slow, i + 1);
		tp_kept_calls_sort(&around->calls);
		for (uint64_t j = 0; j < around->calls.count; j++)
			add_row(timeline, &around->calls.items[j], i + 1,
			    around->calls.items[j].call.depth - around->slow.call.depth + 1);
		for (uint32_t j = 0; j < around->other_count; j++)
			add_other(timeline, around, j, i + 1);
		tp_grid_flush(&timeline->grid, err);
		timeline->grid.more += around->calls.seen - around->calls.count;
		if (around->more_others && timeline->grid.options->format == TP_FORMAT_TABLE)
			tp_buf_addf(timeline->grid.out, "(%" PRIu32 " threads more)\n",
			    around->more_others);
	}
	return code;
}

static int show(
    struct timeline *timeline, const struct tp_view_options *options, struct tp_err *err)
{
	int code = each_thread(timeline, false, err);
	if (!code && timeline->kept.code)
		code = timeline->kept.code;
	if (!code) {
		tp_kept_calls_sort(&timeline->kept);
		if (options->around_slowest)
			code = add_arounds(timeline, options->limit, err);
	}
	if (!code && !options->around_slowest)
		code = add_in_order(timeline, options->limit, err);
	if (!options->around_slowest)
		timeline->grid.more =
		    timeline->kept.seen - timeline->kept.count + timeline->more_marks;
	if (code == TP_ERR_LIMIT && timeline->kept.code)
		tp_err_set(err, code, timeline->analysis->trace->source.name,
		    "more than %" PRIu64 " calls: use --time-range or --limit, or 'teeperf export'",
		    (uint64_t)TP_KEPT_CALLS_MAX);
	else if (code == TP_ERR_MEMORY)
		tp_err_set(err, code, timeline->analysis->trace->source.name,
		    "out of memory while reading calls: use --time-range or --limit");
	return code;
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	static const struct tp_column columns[] = {
	    {NULL, "around", 'r', 0, false, false},
	    {NULL, "kind", 'l', 0, false, false},
	    {"time", "start_ns", 'r', 0, false, false},
	    {"duration", "duration_ns", 'r', 0, false, false},
	    {"self", "self_ns", 'r', 2, false, false},
	    {"thread", "thread", 'r', 1, false, false},
	    {NULL, "depth", 'r', 0, false, false},
	    {"function", "function", 'l', 0, false, true},
	    {"", "end", 'l', 0, false, false},
	    {NULL, "cpu_ns", 'r', 0, false, false},
	    {0},
	};
	const bool slowest = options->around_slowest;
	enum tp_time time = slowest ? options->around_time : TP_TIME_WALL;
	if (slowest && options->around_usual && !tp_analysis_check_parts(analysis, err))
		time = TP_TIME_CPU;
	else if (time && tp_analysis_check_parts(analysis, err))
		return err->code;
	// In tables the time that decides is beside the duration.
	struct tp_column shown[sizeof(columns) / sizeof(columns[0]) + 1];
	const bool shows_time = time && options->format == TP_FORMAT_TABLE;
	const size_t before = shows_time ? 4 : 0;
	memcpy(shown, columns, before * sizeof(columns[0]));
	shown[before] =
	    (struct tp_column){.title = tp_time_name(time), .alignment = 'r', .rank = 0};
	memcpy(shown + before + shows_time, columns + before,
	    sizeof(columns) - before * sizeof(columns[0]));
	struct timeline timeline = {
	    .analysis = analysis,
	    .marks = options->function ? marks : NULL,
	    .kept =
		{
		    .slowest = slowest,
		    .time = time,
		    .most = slowest ? options->around_slowest : options->limit,
		},
	};
	timeline.shows_time = shows_time;
	tp_grid_init(&timeline.grid, analysis, options, shown, "timeline", NULL, out);
	timeline.grid.left_out = "more calls: see --limit, --time-range, --depth and --min-time";
	const int code = tp_grid_end(&timeline.grid, show(&timeline, options, err), err);
	for (uint32_t i = 0; i < timeline.around_count; i++)
		free(timeline.arounds ? timeline.arounds[i].calls.items : NULL);
	free(timeline.arounds);
	free(timeline.inside);
	free(timeline.busy);
	free(timeline.kept.items);
	return code;
}

const struct tp_view tp_view_timeline = {
    .name = "timeline",
    .summary = "single calls in the order of their start",
    .of = TP_VIEW_OF_ANY,
    .timeline = true,
    .limit = 200,
    .records = true,
    .render = render,
};
