// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single calls, by one more replay.
#include "calls.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// Check the counters once per this number of calls.
#define STEP 4096

struct search {
	const struct tp_analysis *analysis;
	struct tp_tui_reading *reading;
	struct tp_call_sink sink;
	struct tp_kept_calls kept;
	uint32_t thread;                  // whose calls come
	uint32_t function;                // that is wanted,
	const struct tp_kept_call *outer; // or in which call
	uint64_t seen;
};

static uint32_t function_of(const struct search *search, const struct tp_call *call)
{
	const struct tp_thread_result *thread = &search->analysis->threads[search->thread];
	const struct tp_profile *profile = &thread->profile;
	// Not of a path that a filter has left out.
	if (call->node >= profile->node_count || !profile->nodes[call->node].function)
		return UINT32_MAX;
	return thread->functions[profile->nodes[call->node].function];
}

static void on_call(void *context, const struct tp_call *call)
{
	struct search *search = context;
	const struct tp_kept_call kept = {*call, search->thread};
	if (++search->seen % STEP == 0) {
		atomic_fetch_add_explicit(&search->reading->at, STEP, memory_order_relaxed);
		search->sink.stop =
		    atomic_load_explicit(&search->reading->stop, memory_order_relaxed);
	}
	const uint32_t function = function_of(search, call);
	if (function == UINT32_MAX)
		return;
	if (search->outer ? tp_call_is_inside(call, &search->outer->call)
			  : function == search->function)
		tp_kept_calls_add(&search->kept, &kept);
}

static bool has_function(const struct tp_thread_result *thread, uint32_t function)
{
	for (uint32_t i = 1; i < thread->profile.function_count; i++)
		if (thread->functions[i] == function)
			return true;
	return false;
}

// Replay thread number THREAD.
static int replay(struct search *search, uint32_t thread, struct tp_err *err)
{
	search->thread = thread;
	search->sink = (struct tp_call_sink){.context = search, .leave = on_call};
	const int code = tp_calls_each(search->analysis, thread, &search->sink, err);
	if (atomic_load(&search->reading->stop))
		return tp_err_set(err, TP_ERR_LIMIT, NULL, "stopped");
	// What there is of a damaged thread is shown.
	return code == TP_ERR_MEMORY ? code : 0;
}

static int take(struct tp_tui_calls *calls, struct search *search, struct tp_err *err)
{
	struct tp_kept_calls *kept = &search->kept;
	if (kept->code)
		return tp_err_memory(err, search->analysis->trace->source.name);
	tp_kept_calls_sort(kept);
	calls->seen = kept->seen;
	calls->time = kept->time;
	calls->items = calloc(kept->count + 1, sizeof(*calls->items));
	if (!calls->items)
		return tp_err_memory(err, search->analysis->trace->source.name);
	for (uint64_t i = 0; i < kept->count; i++) {
		search->thread = kept->items[i].thread;
		calls->items[calls->count++] = (struct tp_tui_call){
		    .kept = kept->items[i],
		    .function = function_of(search, &kept->items[i].call),
		};
	}
	return 0;
}

int tp_tui_calls_slowest(struct tp_tui_calls *calls, const struct tp_analysis *analysis,
    uint32_t function, struct tp_tui_reading *reading, struct tp_err *err)
{
	struct search search = {
	    .analysis = analysis,
	    .reading = reading,
	    .kept = {.most = TP_TUI_SLOWEST,
		.slowest = true,
		.time = tp_analysis_check_parts(analysis, err) ? TP_TIME_WALL : TP_TIME_CPU},
	    .function = function,
	};
	uint64_t all = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		if (has_function(&analysis->threads[i], function))
			all += analysis->threads[i].call_count;
	atomic_store(&reading->at, 0);
	atomic_store(&reading->all, all);
	int code = 0;
	for (uint32_t i = 0; !code && i < analysis->thread_count; i++)
		if (has_function(&analysis->threads[i], function))
			code = replay(&search, i, err);
	if (!code)
		code = take(calls, &search, err);
	free(search.kept.items);
	return code;
}

static int compare_ids(const void *a, const void *b)
{
	const struct tp_tui_call *x = a;
	const struct tp_tui_call *y = b;
	return TP_COMPARE(x->kept.call.id, y->kept.call.id);
}

/*
 * Sort the calls as they began, and tell which is in which: each is in the call of the last ones
 * that are still open which has made it. A caller is kept if a callee is, as it takes as long at
 * least.
 */
static bool nest(struct tp_tui_calls *calls)
{
	uint32_t *open = calloc((size_t)calls->count + 1, sizeof(*open));
	uint32_t depth = 0;
	if (!open)
		return false;
	if (calls->count)
		qsort(calls->items, calls->count, sizeof(*calls->items), compare_ids);
	for (uint32_t i = 0; i < calls->count; i++) {
		struct tp_tui_call *item = &calls->items[i];
		// The outermost stays, for calls of which the caller is not known.
		while (depth > 1 &&
		       calls->items[open[depth - 1]].kept.call.id != item->kept.call.parent)
			calls->items[open[--depth]].last = i - 1;
		item->parent = depth ? open[depth - 1] : 0;
		open[depth++] = i;
	}
	while (depth)
		calls->items[open[--depth]].last = calls->count - 1;
	free(open);
	return true;
}

int tp_tui_calls_inside(struct tp_tui_calls *calls, const struct tp_analysis *analysis,
    const struct tp_kept_call *outer, struct tp_tui_reading *reading, struct tp_err *err)
{
	struct search search = {
	    .analysis = analysis,
	    .reading = reading,
	    .kept = {.most = TP_TUI_INSIDE, .slowest = true},
	    .outer = outer,
	};
	atomic_store(&reading->at, 0);
	atomic_store(&reading->all, analysis->threads[outer->thread].call_count);
	int code = replay(&search, outer->thread, err);
	if (!code)
		code = take(calls, &search, err);
	free(search.kept.items);
	if (!code && !nest(calls))
		code = tp_err_memory(err, analysis->trace->source.name);
	return code;
}

void tp_tui_calls_release(struct tp_tui_calls *calls)
{
	free(calls->items);
	memset(calls, 0, sizeof(*calls));
}
