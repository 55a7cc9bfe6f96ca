// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which calls system events belong to, and what each function caused.
#include "system.h"

#include "analyzer/profile/calls.h"
#include "common/array.h"
#include "common/sgx_functions.h"
#include "common/system_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Requests of more devices than this are not distinguished.
#define DEVICES 64
// linux/futex.h
#define FUTEX_COMMAND 127

// A question: what was open at TICKS, and had begun before FROM where it is of a TEE.
struct moment {
	uint32_t thread;
	uint64_t ticks;
	uint64_t from;
	uint32_t *path; // the answer
};

struct open_call {
	uint32_t node;
	uint64_t begun; // 0: before it was resumed
};

// A thread by the host's number.
struct tid {
	uint64_t number;
	uint32_t thread; // index in analysis->threads
};

struct work {
	const struct tp_analysis *analysis;
	const struct tp_paths *paths;
	struct tp_system_items *items;
	struct tid *tids; /* of threads of which it is known */
	uint32_t tid_count;
	struct moment *moments;
	uint64_t moment_count;
	uint64_t moment_room;
	uint64_t at; // the next one to be answered
	uint64_t end;
	uint32_t thread;        // whose calls come
	struct open_call *open; // the innermost last
	uint32_t open_count;
	uint32_t open_room;
	bool failed;
};

// ---- names

static const struct tp_system_call *call_of(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event)
{
	const bool is_of_call =
	    event->kind == TEEPERF_SYSTEM_CALL ||
	    (event->kind == TEEPERF_SYSTEM_ALLOCATION && !(event->flags & TEEPERF_SYSTEM_IN_FAULT));
	return is_of_call ? tp_system_call(analysis->trace->header.machine, event->number) : NULL;
}

const char *tp_system_memory_name(uint32_t detail)
{
	static const char *const names[] = {[TEEPERF_SYSTEM_MEMORY_OTHER] = "other",
	    [TEEPERF_SYSTEM_MEMORY_STACK] = "stack",
	    [TEEPERF_SYSTEM_MEMORY_HEAP] = "heap",
	    [TEEPERF_SYSTEM_MEMORY_ANON] = "anon",
	    [TEEPERF_SYSTEM_MEMORY_FILE] = "file",
	    [TEEPERF_SYSTEM_MEMORY_CODE] = "code"};
	return detail < sizeof(names) / sizeof(names[0]) ? names[detail] : names[0];
}

const char *tp_system_event_cause(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event, char text[32])
{
	const struct tp_system_call *call = call_of(analysis, event);
	if (call)
		return call->name;
	if (event->flags & TEEPERF_SYSTEM_IN_FAULT)
		return "fault";
	snprintf(text, 32, "call %" PRIu32, event->number);
	return text;
}

const char *tp_system_event_name(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event, char text[64])
{
	static const char *const requests[] = {
	    "block read", "block write", "block flush", "block discard"};
	if (event->kind == TEEPERF_SYSTEM_BLOCK)
		return event->detail < 4 ? requests[event->detail] : "block request";
	if (event->kind == TEEPERF_SYSTEM_FAULT) {
		snprintf(text, 64, "%s%s fault",
		    event->flags & TEEPERF_SYSTEM_MAJOR ? "major " : "",
		    tp_system_memory_name(event->detail));
		return text;
	}
	if (event->kind == TEEPERF_SYSTEM_DRIVER) {
		const bool known =
		    event->number < TP_SGX_FUNCTIONS && tp_sgx_functions[event->number];
		snprintf(text, 64, "SGX function %" PRIu32, event->number);
		return known ? tp_sgx_functions[event->number] : text;
	}
	char cause[32];
	if (event->kind == TEEPERF_SYSTEM_ALLOCATION) {
		snprintf(
		    text, 64, "kernel memory: %s", tp_system_event_cause(analysis, event, cause));
		return text;
	}
	return tp_system_event_cause(analysis, event, text);
}

const char *tp_system_item_name(const struct tp_analysis *analysis,
    const struct teeperf_system_event *event, bool sequential, char text[64])
{
	char name[64];
	if (event->kind != TEEPERF_SYSTEM_BLOCK || event->detail > 1 || sequential)
		return tp_system_event_name(analysis, event, text);
	snprintf(text, 64, "random %s", tp_system_event_name(analysis, event, name));
	return text;
}

bool tp_system_event_bytes(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event, uint64_t *bytes)
{
	const struct tp_system_call *call = call_of(analysis, event);
	*bytes = event->result;
	if (event->kind == TEEPERF_SYSTEM_ALLOCATION)
		*bytes = event->argument;
	if (event->kind == TEEPERF_SYSTEM_BLOCK || event->kind == TEEPERF_SYSTEM_ALLOCATION)
		return true;
	return call && tp_system_call_moves(call) && event->result <= INT64_MAX &&
	       !(event->flags & TEEPERF_SYSTEM_UNFINISHED);
}

bool tp_system_event_woken(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event)
{
	const struct tp_system_call *call = call_of(analysis, event);
	if (event->kind != TEEPERF_SYSTEM_CALL || !event->waker_tid ||
	    (event->flags & TEEPERF_SYSTEM_UNFINISHED))
		return false;
	switch (call ? call->use : TP_SYSTEM_CALL_OTHER) {
	case TP_SYSTEM_CALL_FUTEX: // timers and signals end it as well
		return !event->result;
	case TP_SYSTEM_CALL_SLEEPS: // the timer is no thread's, whichever it interrupted
	case TP_SYSTEM_CALL_POLLS:
		return event->result != 0;
	default:
		return true;
	}
}

static bool is_futex_wait(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event)
{
	const struct tp_system_call *call = call_of(analysis, event);
	if (!call || call->use != TP_SYSTEM_CALL_FUTEX || event->kind != TEEPERF_SYSTEM_CALL)
		return false;
	if (strcmp(call->name, "futex"))
		return true;
	switch (event->detail & FUTEX_COMMAND) {
	case 0:  // WAIT
	case 6:  // LOCK_PI
	case 9:  // WAIT_BITSET
	case 11: // WAIT_REQUEUE_PI
	case 13: // LOCK_PI2
		return true;
	}
	return false;
}

bool tp_system_event_waits(
    const struct tp_analysis *analysis, const struct teeperf_system_event *event)
{
	return tp_system_event_woken(analysis, event) || is_futex_wait(analysis, event);
}

// ---- moments

static uint64_t ticks_of(const struct tp_analysis *analysis, uint64_t ns)
{
	const struct tp_tracefile *trace = analysis->trace;
	return analysis->time.has_origin
		   ? tp_timebase_find(&analysis->time, &trace->clock, trace->points, ns)
		   : 0;
}

static int compare_tids(const void *a, const void *b)
{
	const struct tid *x = a;
	const struct tid *y = b;
	const int order = TP_COMPARE(x->number, y->number);
	return order ? order : TP_COMPARE(x->thread, y->thread);
}

static bool list_tids(struct work *work)
{
	const struct tp_analysis *analysis = work->analysis;
	work->tids = malloc(((size_t)analysis->thread_count + 1) * sizeof(*work->tids));
	if (!work->tids)
		return false;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		if (analysis->threads[i].thread->host_tid)
			work->tids[work->tid_count++] =
			    (struct tid){analysis->threads[i].thread->host_tid, i};
	qsort(work->tids, work->tid_count, sizeof(*work->tids), compare_tids);
	return true;
}

// The system gives numbers again: of several threads, the last one that had begun.
static uint32_t thread_of(const struct work *work, uint32_t os_tid, uint64_t ticks)
{
	const struct tid *tids = work->tids;
	const uint32_t count = work->tid_count;
	uint32_t i = TP_LOWER_BOUND(0U, count, middle, tids[middle].number < os_tid);
	if (i == count || tids[i].number != os_tid)
		return TP_SYSTEM_NOBODY;
	while (i + 1 < count && tids[i + 1].number == os_tid &&
	       work->analysis->threads[tids[i + 1].thread].first <= ticks)
		i++;
	return tids[i].thread;
}

static void ask(struct work *work, struct tp_system_place *place, uint64_t ns, uint64_t from)
{
	if (place->thread == TP_SYSTEM_NOBODY || !work->analysis->time.has_origin)
		return;
	if (!TP_GROW(work->moments, work->moment_room, work->moment_count + 1)) {
		work->failed = true;
		return;
	}
	work->moments[work->moment_count++] =
	    (struct moment){place->thread, ticks_of(work->analysis, ns), from, &place->path};
}

static int compare_moments(const void *a, const void *b)
{
	const struct moment *x = a;
	const struct moment *y = b;
	const int order = TP_COMPARE(x->thread, y->thread);
	return order ? order : TP_COMPARE(x->ticks, y->ticks);
}

static uint32_t path_of(const struct work *work, uint32_t node)
{
	const struct tp_profile *profile = &work->analysis->threads[work->thread].profile;
	return node && node < profile->node_count ? work->paths->of_node[work->thread][node] : 0;
}

static bool is_of_tee(const struct work *work, uint32_t path)
{
	const struct tp_analysis *analysis = work->analysis;
	return path && tp_analysis_is_inside(analysis,
			   &analysis->functions[work->paths->items[path].function].symbol);
}

// The system call by which a host enters its TEE is not of what runs there: that began later.
static uint32_t owner_of(const struct work *work, const struct moment *moment)
{
	for (uint32_t i = work->open_count; i--;) {
		const uint32_t path = path_of(work, work->open[i].node);
		if (work->open[i].begun <= moment->from || !is_of_tee(work, path))
			return path;
	}
	return 0;
}

static void answer(struct work *work, uint64_t before)
{
	for (; work->at < work->end && work->moments[work->at].ticks < before; work->at++)
		*work->moments[work->at].path = owner_of(work, &work->moments[work->at]);
}

static void push(struct work *work, uint32_t node, uint64_t begun)
{
	if (!TP_GROW(work->open, work->open_room, work->open_count + UINT64_C(1)))
		work->failed = true;
	else
		work->open[work->open_count++] = (struct open_call){node, begun};
}

static void pop(struct work *work, uint32_t node)
{
	if (work->open_count && work->open[work->open_count - 1].node == node)
		work->open_count--;
}

static void on_enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	(void)id;
	answer(context, time);
	push(context, node, time);
}

static void on_leave(void *context, const struct tp_call *call)
{
	if (call->away)
		return; // its stack was left before
	answer(context, call->end);
	pop(context, call->node);
}

static void on_pause(void *context, uint32_t node, uint64_t time)
{
	answer(context, time);
	pop(context, node);
}

static void on_resume(void *context, uint32_t node, uint64_t time)
{
	answer(context, time);
	push(context, node, 0);
}

static int replay(struct work *work, struct tp_err *err)
{
	struct tp_call_sink sink = {
	    .context = work,
	    .enter = on_enter,
	    .leave = on_leave,
	    .pause = on_pause,
	    .resume = on_resume,
	};
	if (work->moment_count)
		qsort(work->moments, work->moment_count, sizeof(*work->moments), compare_moments);
	while (work->at < work->moment_count && !work->failed) {
		work->thread = work->moments[work->at].thread;
		work->end = work->at;
		while (work->end < work->moment_count &&
		       work->moments[work->end].thread == work->thread)
			work->end++;
		work->open_count = 0;
		// What there is of a damaged thread counts.
		if (tp_calls_each(work->analysis, work->thread, &sink, err) == TP_ERR_MEMORY)
			return TP_ERR_MEMORY;
		work->at = work->end;
	}
	return 0;
}

// ---- items

static int compare_items(const void *a, const void *b)
{
	const struct teeperf_system_event *x = ((const struct tp_system_item *)a)->event;
	const struct teeperf_system_event *y = ((const struct tp_system_item *)b)->event;
	int order = TP_COMPARE(x->start_ns, y->start_ns);
	order = order ? order : TP_COMPARE(x->os_tid, y->os_tid);
	return order ? order : TP_COMPARE(x, y);
}

// Those of the analysis.
static bool collect(struct work *work)
{
	const struct tp_analysis *analysis = work->analysis;
	const struct tp_system *system = &analysis->trace->system;
	struct tp_system_items *items = work->items;
	items->items = calloc(system->count + 1, sizeof(*items->items));
	if (!items->items)
		return false;
	for (uint64_t i = 0; i < system->count; i++) {
		const struct teeperf_system_event *event = &system->events[i];
		if (event->kind == TEEPERF_SYSTEM_START)
			continue;
		const uint64_t start = ticks_of(analysis, event->start_ns);
		const uint32_t thread = thread_of(work, event->os_tid, start);
		if (analysis->options.one_thread && thread == TP_SYSTEM_NOBODY)
			continue;
		if (analysis->ranged && (start < analysis->from || start >= analysis->to))
			continue;
		items->items[items->count++] = (struct tp_system_item){
		    .event = event,
		    .start = start,
		    .at = {.thread = thread},
		    .waker = {.thread = TP_SYSTEM_NOBODY},
		};
	}
	qsort(items->items, items->count, sizeof(*items->items), compare_items);
	return true;
}

static void add(struct work *work, enum tp_system_list_id id, uint64_t number)
{
	struct tp_system_list *list = &work->items->lists[id];
	if (TP_GROW(list->numbers, list->room, list->count + 1))
		list->numbers[list->count++] = number;
	else
		work->failed = true;
}

// Where the last request to each device ended.
struct device {
	uint32_t number;
	uint64_t end;
};

static bool follows(
    struct device *devices, uint32_t *count, const struct teeperf_system_event *event)
{
	uint32_t i = 0;
	while (i < *count && devices[i].number != event->number)
		i++;
	if (i == DEVICES)
		return false;
	const bool known = i < *count;
	const bool result = known && devices[i].end == event->argument;
	*count += !known;
	devices[i] = (struct device){event->number, event->argument + event->result / 512};
	return result;
}

static void list(struct work *work)
{
	const struct tp_analysis *analysis = work->analysis;
	struct device devices[DEVICES];
	uint32_t device_count = 0;
	for (uint64_t i = 0; i < work->items->count; i++) {
		struct tp_system_item *item = &work->items->items[i];
		const struct teeperf_system_event *event = item->event;
		const struct tp_system_call *call = call_of(analysis, event);
		const bool is_block = event->kind == TEEPERF_SYSTEM_BLOCK;
		if (event->kind == TEEPERF_SYSTEM_CALL)
			add(work, TP_SYSTEM_CALLS, i);
		if (event->kind == TEEPERF_SYSTEM_FAULT)
			add(work, TP_SYSTEM_FAULTS, i);
		if (event->kind == TEEPERF_SYSTEM_DRIVER)
			add(work, TP_SYSTEM_SGX, i);
		if (event->kind == TEEPERF_SYSTEM_ALLOCATION)
			add(work, TP_SYSTEM_ALLOCATIONS, i);
		else if (is_block || (call && tp_system_call_moves(call)))
			add(work, TP_SYSTEM_IO, i);
		if (is_block)
			item->sequential = follows(devices, &device_count, event);
		// The thread makes no calls while it is in the kernel: clocks that do not quite
		// agree hurt least in the middle. A request goes on without the thread, and is
		// perhaps given to the device by another one later.
		const uint64_t begun =
		    is_block && event->woken_ns ? event->woken_ns : event->start_ns;
		ask(work, &item->at, begun + (is_block ? 0 : event->duration_ns / 2), item->start);
		if (!tp_system_event_waits(analysis, event))
			continue;
		add(work, TP_SYSTEM_WAITS, i);
		if (tp_system_event_woken(analysis, event)) {
			item->waker.thread =
			    thread_of(work, event->waker_tid, ticks_of(analysis, event->woken_ns));
			ask(work, &item->waker, event->woken_ns, UINT64_MAX);
		}
	}
}

// ---- sums

// What the events of a row have in common.
static uint64_t what_of(const struct teeperf_system_event *event)
{
	const bool is_of_call = event->kind == TEEPERF_SYSTEM_CALL ||
				event->kind == TEEPERF_SYSTEM_ALLOCATION ||
				event->kind == TEEPERF_SYSTEM_DRIVER;
	const uint64_t flags = event->flags & (TEEPERF_SYSTEM_MAJOR | TEEPERF_SYSTEM_IN_FAULT);
	return (uint64_t)event->kind << 36 | flags << 32 |
	       (is_of_call ? event->number : event->detail);
}

struct key {
	uint32_t function;
	bool outside;
	bool sequential;
	uint32_t waker;
	uint64_t what;
	const struct tp_system_item *item;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a;
	const struct key *y = b;
	int order = TP_COMPARE(x->function, y->function);
	order = order ? order : TP_COMPARE(x->outside, y->outside);
	order = order ? order : TP_COMPARE(x->sequential, y->sequential);
	order = order ? order : TP_COMPARE(x->waker, y->waker);
	return order ? order : TP_COMPARE(x->what, y->what);
}

static int compare_rows(const void *a, const void *b)
{
	const struct tp_system_row *x = a;
	const struct tp_system_row *y = b;
	int order = TP_COMPARE(y->total_ns, x->total_ns);
	order = order ? order : TP_COMPARE(y->count, x->count);
	order = order ? order : TP_COMPARE(x->function, y->function);
	order = order ? order : TP_COMPARE(x->sequential, y->sequential);
	order = order ? order : TP_COMPARE(x->waker, y->waker);
	return order ? order : TP_COMPARE(what_of(&x->event), what_of(&y->event));
}

static void sum(const struct tp_analysis *analysis, struct tp_system_row *row,
    const struct teeperf_system_event *event)
{
	uint64_t bytes;
	const uint64_t left = UINT64_MAX - row->total_ns;
	row->count++;
	row->total_ns += event->duration_ns < left ? event->duration_ns : left;
	row->max_ns = event->duration_ns > row->max_ns ? event->duration_ns : row->max_ns;
	row->min_ns = event->duration_ns < row->min_ns ? event->duration_ns : row->min_ns;
	tp_histogram_add(&row->times, event->duration_ns, NULL);
	if (tp_system_event_bytes(analysis, event, &bytes) &&
	    !(row->is_total && event->kind != TEEPERF_SYSTEM_CALL))
		row->bytes += bytes;
}

static uint32_t function_at(const struct work *work, struct tp_system_place place)
{
	return place.path ? work->paths->items[place.path].function : TP_SYSTEM_NOBODY;
}

static bool sum_up(struct work *work)
{
	struct tp_system_items *items = work->items;
	struct key *keys = malloc((items->count + 1) * sizeof(*keys));
	bool done = keys != NULL;
	items->total = (struct tp_system_row){
	    .is_total = true, .min_ns = UINT64_MAX, .waker = TP_SYSTEM_NOBODY};
	for (uint64_t i = 0; done && i < items->count; i++) {
		const struct tp_system_item *item = &items->items[i];
		keys[i] = (struct key){
		    .function = function_at(work, item->at),
		    .outside = item->at.thread == TP_SYSTEM_NOBODY,
		    .sequential = item->sequential,
		    .waker = function_at(work, item->waker),
		    .what = what_of(item->event),
		    .item = item,
		};
		// The time of those of SGX is that of calls and faults, too.
		if (item->event->kind != TEEPERF_SYSTEM_ALLOCATION &&
		    item->event->kind != TEEPERF_SYSTEM_DRIVER)
			sum(work->analysis, &items->total, item->event);
	}
	if (done)
		qsort(keys, items->count, sizeof(*keys), compare_keys);
	for (uint64_t i = 0; done && i < items->count; i++) {
		if (!i || compare_keys(&keys[i - 1], &keys[i])) {
			done =
			    TP_GROW(items->rows, items->row_room, items->row_count + UINT64_C(1));
			if (!done)
				break;
			items->rows[items->row_count++] = (struct tp_system_row){
			    .function = keys[i].function,
			    .outside = keys[i].outside,
			    .sequential = keys[i].sequential,
			    .waker = keys[i].waker,
			    .min_ns = UINT64_MAX,
			    .event = *keys[i].item->event,
			};
		}
		sum(work->analysis, &items->rows[items->row_count - 1], keys[i].item->event);
	}
	if (done && items->row_count)
		qsort(items->rows, items->row_count, sizeof(*items->rows), compare_rows);
	free(keys);
	return done;
}

const char *tp_system_row_function(
    const struct tp_analysis *analysis, const struct tp_system_row *row)
{
	if (row->function != TP_SYSTEM_NOBODY)
		return analysis->functions[row->function].symbol.name;
	return row->outside ? "(no recorded thread)" : "(no recorded call)";
}

int tp_system_items_init(struct tp_system_items *items, const struct tp_analysis *analysis,
    const struct tp_paths *paths, struct tp_err *err)
{
	*items = (struct tp_system_items){0};
	struct work work = {.analysis = analysis, .paths = paths, .items = items};
	work.failed = !list_tids(&work) || !collect(&work);
	if (!work.failed)
		list(&work);
	int code = work.failed ? TP_ERR_MEMORY : replay(&work, err);
	if (!code && !work.failed)
		work.failed = !sum_up(&work);
	free(work.tids);
	free(work.moments);
	free(work.open);
	return code || work.failed ? tp_err_memory(err, analysis->trace->source.name) : 0;
}

void tp_system_items_release(struct tp_system_items *items)
{
	for (uint32_t i = 0; i < items->row_count; i++)
		tp_histogram_release(&items->rows[i].times);
	tp_histogram_release(&items->total.times);
	free(items->items);
	free(items->rows);
	for (int i = 0; i < TP_SYSTEM_LISTS; i++)
		free(items->lists[i].numbers);
	*items = (struct tp_system_items){0};
}
