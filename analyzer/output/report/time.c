// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The timeline of a report: calls become buckets and cells while they pass.
//
// One file above 600 lines: rows, cells and the longest calls are made of one recorder in one pass,
// and its sums are added to at each event.
#include "report.h"

#include "analyzer/profile/calls.h"
#include "common/arena.h"
#include "common/array.h"
#include "common/varint.h"

#include <stdlib.h>
#include <string.h>

// Set in the ticks of an item that is listed without any of its own.
#define LISTED (UINT64_C(1) << 63)

// Time by item, with a list of the items that have any.
struct sums {
	uint64_t *ticks;
	uint32_t *touched;
	uint32_t count;
};

// The visible state of a row so far, and since when.
struct run {
	uint32_t item;
	uint32_t fill;
	uint32_t from;
};

// An open call. With a least time it is held back until it has taken that long: the end of a
// shorter one is never reported.
struct open {
	uint32_t item;
	uint32_t node;
	uint64_t start;
};

struct recorder {
	struct tp_arena arena; // of sums and `shown`
	struct tp_report_time *time;
	const struct tp_analysis *analysis;
	const struct tp_report_tree *tree;
	const struct tp_report_limits *limits;
	uint32_t *of_node; // items of the thread's nodes
	const struct tp_node *nodes;
	uint32_t node_count;
	uint32_t thread; // index of the track
	uint64_t *begun; // calls that began in each cell, row by row
	struct tp_report_track *track;
	uint32_t *shown; // of each item the ancestor that is drawn: not deeper than the rows
	struct open *stack;
	uint32_t depth;
	uint32_t settled; // the others of the stack are held
	uint32_t capacity;
	uint64_t now;  // ticks since time->from up to which all is attributed
	uint64_t edge; // where the bucket ends
	uint32_t bucket;
	struct sums
	    bucket_sums; // self times in the bucket, with each event; the others are made of it
	struct sums row_sums; // of items that are drawn
	struct sums cell_sums;
	struct run runs[TP_REPORT_ROWS];
	uint32_t busy_rows; // rows from here on are empty
	uint64_t run_count; // of this thread
	uint32_t pair_max;  // in a cell
	bool failed;
	struct tp_call_sink sink;
};

static inline void sums_add(struct sums *sums, uint32_t item, uint64_t ticks)
{
	if (!sums->ticks[item])
		sums->touched[sums->count++] = item;
	sums->ticks[item] += ticks;
}

// ---- rows

static void end_run(struct recorder *recorder, uint32_t row, uint32_t to)
{
	struct run *run = &recorder->runs[row];
	struct tp_report_track *track = recorder->track;
	if (to == run->from)
		return;
	tp_varint_add(&track->rows[row], (uint64_t)(to - run->from) * 16 + run->fill);
	if (run->fill)
		tp_varint_add(&track->rows[row], run->item);
	track->runs[row]++;
	recorder->run_count++;
	run->from = to;
}

static void set_row(struct recorder *recorder, uint32_t row, uint32_t item, uint32_t fill)
{
	struct run *run = &recorder->runs[row];
	if (!fill)
		item = 0;
	if (run->item == item && run->fill == fill)
		return;
	end_run(recorder, row, recorder->bucket);
	run->item = item;
	run->fill = fill;
}

// Too many runs: the deepest rows go, until a quarter of the room is free.
static void drop_rows(struct recorder *recorder, uint64_t most)
{
	struct tp_report_track *track = recorder->track;
	while (track->row_count > 1 && recorder->run_count > most - most / 4) {
		const uint32_t row = --track->row_count;
		recorder->run_count -= track->runs[row];
		track->runs[row] = 0;
		tp_buf_release(&track->rows[row]);
		recorder->time->rows_left++;
	}
	if (recorder->busy_rows > track->row_count)
		recorder->busy_rows = track->row_count;
}

// The bucket is over: including the calls below, which item is on top for longest at each depth?
static void end_bucket(struct recorder *recorder)
{
	struct sums *sums = &recorder->row_sums;
	const struct tp_report_item *items = recorder->tree->items;
	uint32_t best[TP_REPORT_ROWS];
	uint64_t most[TP_REPORT_ROWS];
	uint64_t all[TP_REPORT_ROWS];
	uint32_t rows = 0;
	for (uint32_t i = 0; i < recorder->bucket_sums.count; i++) {
		const uint32_t item = recorder->bucket_sums.touched[i];
		const uint64_t ticks = recorder->bucket_sums.ticks[item];
		sums_add(sums, recorder->shown[item], ticks);
		sums_add(&recorder->cell_sums, item, ticks);
		recorder->bucket_sums.ticks[item] = 0;
	}
	recorder->bucket_sums.count = 0;
	// Items that have no time of their own here, above those that have.
	for (uint32_t i = 0; i < sums->count; i++) {
		const uint32_t parent = items[sums->touched[i]].parent;
		if (parent && !sums->ticks[parent]) {
			sums->touched[sums->count++] = parent;
			sums->ticks[parent] = LISTED;
		}
	}
	const uint32_t count = sums->count;
	if (count > 1)
		qsort(sums->touched, count, sizeof(*sums->touched), tp_compare_u32);
	for (uint32_t i = count; i-- > 0;) {
		const uint32_t item = sums->touched[i];
		const uint64_t ticks = sums->ticks[item] & ~LISTED;
		const uint32_t row = items[item].depth - 1;
		if (items[item].parent)
			sums->ticks[items[item].parent] += ticks;
		for (; rows <= row; rows++)
			most[rows] = all[rows] = best[rows] = 0;
		all[row] += ticks;
		if (ticks >= most[row]) {
			most[row] = ticks;
			best[row] = item;
		}
		sums->ticks[item] = 0;
	}
	sums->count = 0;
	if (rows > recorder->track->row_count)
		rows = recorder->track->row_count;
	for (uint32_t row = 0; row < rows; row++) {
		const uint64_t width = recorder->time->width;
		uint64_t fill = all[row] >= width ? TP_REPORT_FILL
						  : (all[row] * TP_REPORT_FILL + width / 2) / width;
		set_row(recorder, row, best[row], fill ? (uint32_t)fill : 1);
	}
	for (uint32_t row = rows; row < recorder->busy_rows; row++)
		set_row(recorder, row, 0, 0);
	recorder->busy_rows = rows;
	const uint64_t room = recorder->limits->runs / recorder->time->track_count;
	if (recorder->run_count > room)
		drop_rows(recorder, room);
}

// ---- cells

// Too many paths in a cell: the lightest count for the nearest caller that is in it anyway.
static void merge_light(struct recorder *recorder)
{
	struct sums *sums = &recorder->cell_sums;
	const struct tp_report_item *items = recorder->tree->items;
	uint64_t *sorted = malloc(sums->count * sizeof(*sorted));
	if (!sorted) {
		recorder->failed = true;
		return;
	}
	for (uint32_t i = 0; i < sums->count; i++)
		sorted[i] = sums->ticks[sums->touched[i]];
	qsort(sorted, sums->count, sizeof(*sorted), tp_compare_u64_descending);
	const uint64_t least = sorted[recorder->pair_max - 1];
	// Of those that are just as light, some stay.
	uint32_t equal = 0;
	while (equal < recorder->pair_max && sorted[recorder->pair_max - 1 - equal] == least)
		equal++;
	free(sorted);
	const uint32_t count = sums->count;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t item = sums->touched[i];
		const uint64_t ticks = sums->ticks[item];
		if (ticks > least || items[item].depth <= 1 || (ticks == least && equal && equal--))
			continue;
		// Not further than the rows go: paths may be deep.
		uint32_t to = items[recorder->shown[item]].parent;
		while (sums->ticks[to] < least && items[to].depth > 1)
			to = items[to].parent;
		sums->ticks[item] = 0;
		sums_add(sums, to, ticks);
		recorder->time->moved_ticks += ticks;
	}
}

static void end_cell(struct recorder *recorder)
{
	struct sums *sums = &recorder->cell_sums;
	struct tp_buf *cells = &recorder->track->cells;
	if (sums->count > recorder->pair_max)
		merge_light(recorder);
	if (sums->count > 1)
		qsort(sums->touched, sums->count, sizeof(*sums->touched), tp_compare_u32);
	// What was merged has no time left, or is listed twice.
	uint32_t count = 0;
	for (uint32_t i = 0; i < sums->count; i++)
		if (sums->ticks[sums->touched[i]] &&
		    (!count || sums->touched[count - 1] != sums->touched[i]))
			sums->touched[count++] = sums->touched[i];
	tp_varint_add(cells, count);
	uint32_t last = 0;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t item = sums->touched[i];
		tp_varint_add(cells, item - last);
		tp_varint_add(cells, tp_timebase_ns(&recorder->analysis->time, sums->ticks[item]));
		last = item;
		recorder->time->all_ticks += sums->ticks[item];
		sums->ticks[item] = 0;
	}
	sums->count = 0;
}

// ---- calls

static void end_one_bucket(struct recorder *recorder)
{
	end_bucket(recorder);
	recorder->bucket++;
	recorder->edge += recorder->time->width;
	if (recorder->bucket % recorder->limits->buckets_per_cell == 0)
		end_cell(recorder);
}

static uint32_t top_item(const struct recorder *recorder)
{
	return recorder->settled ? recorder->stack[recorder->settled - 1].item : 0;
}

// The same as advance, across the ends of buckets.
static void advance_far(struct recorder *recorder, uint64_t ticks)
{
	const uint32_t item = top_item(recorder);
	while (recorder->now < ticks) {
		const uint64_t to = ticks < recorder->edge ? ticks : recorder->edge;
		if (item)
			sums_add(&recorder->bucket_sums, item, to - recorder->now);
		recorder->now = to;
		if (to < recorder->edge)
			return;
		if (recorder->bucket + 1 >= recorder->time->buckets) {
			recorder->now = ticks;
			return; // the end, where nothing is any more
		}
		end_one_bucket(recorder);
	}
}

// All time up to TICKS goes to the innermost call.
static inline void advance(struct recorder *recorder, uint64_t ticks)
{
	if (ticks >= recorder->edge) {
		advance_far(recorder, ticks);
		return;
	}
	if (ticks <= recorder->now)
		return;
	const uint32_t item = top_item(recorder);
	if (item)
		sums_add(&recorder->bucket_sums, item, ticks - recorder->now);
	recorder->now = ticks;
}

static uint64_t since(const struct recorder *recorder, uint64_t ticks)
{
	return ticks > recorder->time->from ? ticks - recorder->time->from : 0;
}

static inline uint32_t item_of(const struct recorder *recorder, uint32_t node)
{
	return node < recorder->node_count ? recorder->of_node[node] : 0;
}

static inline void push(struct recorder *recorder, uint32_t node, uint64_t ticks)
{
	if (!TP_GROW(recorder->stack, recorder->capacity, recorder->depth + UINT64_C(1))) {
		recorder->failed = recorder->sink.stop = true;
		return;
	}
	recorder->stack[recorder->depth++] = (struct open){item_of(recorder, node), node, ticks};
	recorder->settled += !recorder->analysis->least;
}

static void pop(struct recorder *recorder)
{
	recorder->depth--;
	if (recorder->settled > recorder->depth)
		recorder->settled = recorder->depth;
}

/*
 * With a least time: at TICKS the innermost call is one of NODE. Calls above it have ended and were
 * too short, so their time is their caller's. Of the rest, those that are long enough, or ALL, get
 * the time from their start on.
 */
static void settle(struct recorder *recorder, uint32_t node, uint64_t ticks, bool all)
{
	while (recorder->depth && recorder->stack[recorder->depth - 1].node != node)
		pop(recorder);
	while (recorder->settled < recorder->depth) {
		const uint64_t start = recorder->stack[recorder->settled].start;
		advance(recorder, start);
		if (!all && ticks - start < recorder->analysis->least)
			return;
		recorder->settled++;
	}
	advance(recorder, ticks);
}

// Whether a call of NODE is in the report at all: with a least time those that are always shorter
// are not.
static bool is_told(const struct recorder *recorder, uint32_t node)
{
	return !recorder->analysis->least || item_of(recorder, node);
}

static void begin(struct recorder *recorder, uint32_t node, uint64_t ticks)
{
	if (!is_told(recorder, node))
		return;
	if (recorder->analysis->least)
		settle(recorder, recorder->nodes[node].parent, ticks, false);
	else
		advance(recorder, ticks);
	push(recorder, node, ticks);
}

// Whether it is long enough may not be known before it is over, but its stack is left now.
static void end(struct recorder *recorder, uint32_t node, uint64_t ticks)
{
	if (!is_told(recorder, node))
		return;
	if (recorder->analysis->least)
		settle(recorder, node, ticks, true);
	else
		advance(recorder, ticks);
	if (recorder->depth)
		pop(recorder);
}

static void on_enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	struct recorder *recorder = context;
	(void)id;
	begin(recorder, node, since(recorder, time));
}

// A heap with the shortest of the longest calls at its root.
static void sift_down(struct tp_report_call *calls, uint32_t count)
{
	uint32_t at = 0;
	const struct tp_report_call moved = calls[0];
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child + 1 < count && calls[child + 1].duration < calls[child].duration)
			child++;
		if (child >= count || calls[child].duration >= moved.duration)
			break;
		calls[at] = calls[child];
		at = child;
	}
	calls[at] = moved;
}

static void keep_call(struct recorder *recorder, const struct tp_report_call *call)
{
	struct tp_report_time *time = recorder->time;
	const uint32_t most = recorder->limits->calls;
	if (time->call_count == most) {
		time->calls[0] = *call;
		sift_down(time->calls, most);
		time->least = time->calls[0].duration;
		return;
	}
	uint32_t at = time->call_count++;
	while (at && time->calls[(at - 1) / 2].duration > call->duration) {
		time->calls[at] = time->calls[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	time->calls[at] = *call;
	if (time->call_count == most)
		time->least = time->calls[0].duration;
}

// Calls that are too deep to be drawn count in the deepest row.
static void count_begun(struct recorder *recorder, const struct tp_call *call)
{
	const struct tp_report_time *time = recorder->time;
	const uint32_t item = item_of(recorder, call->node);
	if (!item)
		return;
	const uint32_t row = recorder->tree->items[recorder->shown[item]].depth - 1;
	const uint64_t cell =
	    since(recorder, call->start) / (time->width * (time->buckets / time->cells));
	recorder
	    ->begun[(size_t)row * time->cells + (cell < time->cells ? cell : time->cells - 1)]++;
}

static void on_leave(void *context, const struct tp_call *call)
{
	struct recorder *recorder = context;
	struct tp_report_time *time = recorder->time;
	count_begun(recorder, call);
	if (recorder->limits->watch)
		tp_report_watch_call(recorder->limits->watch, call);
	// It is long enough, whenever its stack was left.
	if (!call->away)
		end(recorder, call->node, since(recorder, call->end));
	time->all_calls++;
	if (call->duration <= time->least || !recorder->limits->calls)
		return;
	// A call that was paused is no rectangle: buckets have it.
	const struct tp_report_item *items = recorder->tree->items;
	const uint32_t item = item_of(recorder, call->node);
	if (!item || items[item].function == TP_REPORT_SMALLER ||
	    items[item].depth > TP_REPORT_ROWS || call->end - call->start != call->duration)
		return;
	const uint64_t start = since(recorder, call->start);
	keep_call(recorder, &(struct tp_report_call){
				start, since(recorder, call->end) - start, item, recorder->thread});
}

static void on_pause(void *context, uint32_t node, uint64_t time)
{
	struct recorder *recorder = context;
	end(recorder, node, since(recorder, time));
}

static void on_resume(void *context, uint32_t node, uint64_t time)
{
	struct recorder *recorder = context;
	begin(recorder, node, since(recorder, time));
}

// ---- all of it

static bool has_any(const uint64_t *numbers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (numbers[i])
			return true;
	return false;
}

static void add_begun(struct recorder *recorder)
{
	const uint32_t cells = recorder->time->cells;
	struct tp_buf *out = &recorder->track->begun;
	uint32_t rows = TP_REPORT_ROWS;
	uint64_t *const all = recorder->begun;
	while (rows && !has_any(&all[(size_t)(rows - 1) * cells], cells))
		rows--;
	tp_varint_add(out, rows);
	for (uint32_t row = 0; row < rows; row++) {
		uint64_t *begun = &all[(size_t)row * cells];
		uint32_t count = 0;
		for (uint32_t i = 0; i < cells; i++)
			count += begun[i] != 0;
		tp_varint_add(out, count);
		for (uint32_t i = 0, last = 0; i < cells; i++) {
			if (!begun[i])
				continue;
			tp_varint_add(out, i - last);
			last = i;
		}
		for (uint32_t i = 0; i < cells; i++)
			if (begun[i])
				tp_varint_add(out, begun[i]);
	}
	memset(all, 0, (size_t)TP_REPORT_ROWS * cells * sizeof(*all));
}

static void finish_thread(struct recorder *recorder)
{
	add_begun(recorder);
	const struct tp_report_time *time = recorder->time;
	recorder->depth = recorder->settled = 0;
	while (recorder->bucket < time->buckets)
		end_one_bucket(recorder);
	struct tp_report_track *track = recorder->track;
	for (uint32_t row = 0; row < track->row_count; row++)
		end_run(recorder, row, time->buckets);
	// Rows that were never anything but empty.
	while (track->row_count && track->rows[track->row_count - 1].size <= 3 &&
	       recorder->runs[track->row_count - 1].item == 0 &&
	       track->runs[track->row_count - 1] == 1)
		track->row_count--;
}

static int record_thread(struct recorder *recorder, const struct tp_paths *paths, uint32_t thread)
{
	const struct tp_analysis *analysis = recorder->analysis;
	recorder->node_count = analysis->threads[thread].profile.node_count;
	recorder->nodes = analysis->threads[thread].profile.nodes;
	recorder->of_node = malloc(((size_t)recorder->node_count + 1) * sizeof(uint32_t));
	if (!recorder->of_node)
		return TP_ERR_MEMORY;
	for (uint32_t i = 0; i < recorder->node_count; i++)
		recorder->of_node[i] = recorder->tree->of_path[paths->of_node[thread][i]];
	recorder->depth = recorder->settled = recorder->bucket = recorder->busy_rows = 0;
	recorder->now = recorder->run_count = 0;
	recorder->edge = recorder->time->width;
	recorder->track->row_count = TP_REPORT_ROWS;
	memset(recorder->runs, 0, sizeof(recorder->runs));
	recorder->sink = (struct tp_call_sink){.context = recorder,
	    .enter = on_enter,
	    .leave = on_leave,
	    .pause = on_pause,
	    .resume = on_resume};
	struct tp_err damage;
	const int code = tp_calls_each(analysis, thread, &recorder->sink, &damage);
	free(recorder->of_node);
	if (code == TP_ERR_MEMORY || recorder->failed)
		return TP_ERR_MEMORY;
	finish_thread(recorder);
	return 0;
}

// Where calls of a thread may end: at its last event, or where recording or the range ends behind
// it.
static uint64_t end_of(const struct tp_analysis *analysis, const struct tp_thread_result *thread)
{
	const struct tp_gaps *gaps = &analysis->trace->gaps;
	uint64_t end = thread->last;
	for (uint32_t i = 0; i < gaps->count; i++)
		if (gaps->items[i].from >= thread->last) {
			end = gaps->items[i].from;
			break;
		}
	if (analysis->ranged) {
		const uint64_t all = analysis->origin + tp_timebase_ticks(&analysis->time,
							    tp_analysis_duration_ns(analysis));
		const uint64_t cut = analysis->to < all ? analysis->to : all;
		end = cut > end ? cut : end;
	}
	return end;
}

static void choose_buckets(struct tp_report_time *time, const struct tp_analysis *analysis,
    const uint32_t *threads, const struct tp_report_limits *limits)
{
	uint64_t to = 0;
	time->from = UINT64_MAX;
	for (uint32_t i = 0; i < time->track_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[threads[i]];
		time->from = thread->first < time->from ? thread->first : time->from;
		const uint64_t end = end_of(analysis, thread);
		to = end > to ? end : to;
	}
	if (time->from > to)
		time->from = to;
	const uint64_t span = to - time->from + 1;
	const uint64_t per_cell = limits->buckets_per_cell;
	const uint64_t most = (uint64_t)limits->cells * per_cell;
	time->width = span / most + (span % most != 0);
	const uint64_t buckets = span / time->width + (span % time->width != 0);
	time->cells = (uint32_t)((buckets + per_cell - 1) / per_cell);
	time->buckets = (uint32_t)(time->cells * per_cell);
}

static bool allocate(struct recorder *recorder, const struct tp_report_limits *limits)
{
	const struct tp_report_tree *tree = recorder->tree;
	struct sums *sums[] = {&recorder->bucket_sums, &recorder->row_sums, &recorder->cell_sums};
	for (int i = 0; i < 3; i++) {
		sums[i]->ticks =
		    tp_arena_alloc(&recorder->arena, tree->count * sizeof(*sums[i]->ticks));
		// When light ones are merged, items may be listed once more.
		sums[i]->touched = tp_arena_alloc(
		    &recorder->arena, (size_t)tree->count * 2 * sizeof(*sums[i]->touched));
		if (!sums[i]->ticks || !sums[i]->touched)
			return false;
	}
	recorder->shown = tp_arena_alloc(&recorder->arena, tree->count * sizeof(*recorder->shown));
	recorder->time->calls = calloc((size_t)limits->calls + 1, sizeof(*recorder->time->calls));
	recorder->time->tracks =
	    calloc((size_t)recorder->time->track_count + 1, sizeof(*recorder->time->tracks));
	if (!recorder->shown || !recorder->time->calls || !recorder->time->tracks)
		return false;
	for (uint32_t i = 1; i < tree->count; i++)
		recorder->shown[i] = tree->items[i].depth <= TP_REPORT_ROWS
					 ? i
					 : recorder->shown[tree->items[i].parent];
	for (uint32_t i = 0; i < recorder->time->track_count; i++) {
		for (uint32_t row = 0; row < TP_REPORT_ROWS; row++)
			tp_buf_init(&recorder->time->tracks[i].rows[row]);
		tp_buf_init(&recorder->time->tracks[i].cells);
		tp_buf_init(&recorder->time->tracks[i].begun);
	}
	return true;
}

int tp_report_time_init(struct tp_report_time *time, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_report_tree *tree, const uint32_t *threads,
    uint32_t thread_count, const struct tp_report_limits *limits, struct tp_err *err)
{
	*time = (struct tp_report_time){.track_count = thread_count};
	struct recorder recorder = {
	    .time = time, .analysis = analysis, .tree = tree, .limits = limits};
	tp_arena_init(&recorder.arena);
	bool ok = allocate(&recorder, limits);
	if (ok && thread_count) {
		choose_buckets(time, analysis, threads, limits);
		const uint64_t pairs = limits->pairs / ((uint64_t)time->cells * thread_count);
		recorder.pair_max = pairs < 16 ? 16 : (uint32_t)pairs;
		recorder.begun = tp_arena_alloc(&recorder.arena,
		    (size_t)TP_REPORT_ROWS * time->cells * sizeof(*recorder.begun));
		ok = recorder.begun &&
		     (!limits->watch || tp_report_watch_begin(limits->watch, time));
	}
	for (uint32_t i = 0; ok && i < thread_count; i++) {
		recorder.thread = i;
		recorder.track = &time->tracks[i];
		if (limits->watch)
			tp_report_watch_thread(limits->watch, threads[i]);
		ok = record_thread(&recorder, paths, threads[i]) == 0;
	}
	if (time->call_count < limits->calls)
		time->least = 0;
	time->longest_count = time->call_count;
	if (ok)
		tp_report_calls_sort(time->calls, time->call_count);
	tp_arena_release(&recorder.arena);
	free(recorder.stack);
	return ok ? 0 : tp_err_memory(err, NULL);
}

void tp_report_time_release(struct tp_report_time *time)
{
	for (uint32_t i = 0; time->tracks && i < time->track_count; i++) {
		for (uint32_t row = 0; row < TP_REPORT_ROWS; row++)
			tp_buf_release(&time->tracks[i].rows[row]);
		tp_buf_release(&time->tracks[i].cells);
		tp_buf_release(&time->tracks[i].begun);
	}
	free(time->tracks);
	free(time->calls);
	*time = (struct tp_report_time){0};
}
