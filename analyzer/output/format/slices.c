// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls as slices, for exports that have single calls in the order of time. Files are
// slice_files.c's.
#include "slices.h"

#include "analyzer/profile/calls.h"
#include "analyzer/output/format/slice_files.h"
#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// A slice that is open. First come those that are shown, then those too deep, then those held back.
enum kind { SHOWN, DEEP, HELD };

struct open {
	uint64_t start; // ticks
	uint32_t node;
	uint8_t kind;
};

struct feed {
	struct tp_slice_files *files;
	const struct tp_slice_format *format;
	const struct tp_analysis *analysis;
	const struct tp_thread_result *thread;
	struct tp_call_sink sink;
	struct open *open;
	uint32_t count;
	uint32_t capacity;
	uint32_t shown;      // of these
	uint32_t settled;    // of these, those that are not held back
	uint64_t lost;       // events, not reported yet
	uint64_t lost_ticks; // when they were
	uint64_t too_deep;   // slices
	int code;
	struct tp_err err;
};

static void fail(struct feed *feed, int code)
{
	if (!feed->code)
		feed->code = code;
	feed->sink.stop = true;
}

static void no_memory(struct feed *feed)
{
	fail(feed, tp_err_set(&feed->err, TP_ERR_MEMORY, feed->analysis->trace->source.name,
		       "out of memory while reading the open calls of thread %u",
		       feed->thread->thread->number));
}

static struct tp_slice make_slice(const struct feed *feed, uint32_t at, uint64_t ns)
{
	const uint32_t node = feed->open[at].node;
	return (struct tp_slice){
	    .function = tp_analysis_function(
		feed->analysis, feed->thread, &feed->thread->profile.nodes[node]),
	    .node = node,
	    .depth = at,
	    .time = ns,
	};
}

static void write_begin(struct feed *feed, uint32_t at, uint64_t ns)
{
	const struct tp_slice slice = make_slice(feed, at, ns);
	feed->format->begin(&feed->files->slices, &slice);
}

static void write_end(struct feed *feed, uint32_t at, uint64_t ns)
{
	const struct tp_slice slice = make_slice(feed, at, ns);
	feed->format->end(&feed->files->slices, &slice);
}

/*
 * Go on to the file of the time NS. Open slices end where the files before end, and begin again. A
 * slice that ends where a file ends belongs to that one, and one that BEGINS there to the next.
 */
static bool go_to(struct feed *feed, uint64_t ns, bool begins)
{
	struct tp_slice_files *files = feed->files;
	while (!feed->code) {
		const uint64_t end = files->slices.to_ns;
		if (ns < end || (ns == end && !begins) ||
		    files->slices.file + 1 >= files->slices.files)
			break;
		for (uint32_t i = feed->shown; i-- > 0;)
			write_end(feed, i, end);
		int code = tp_slice_files_leave(files, &feed->err);
		if (!code)
			tp_slice_files_go(files,
			    feed->shown ? files->slices.file + 1 : tp_slice_files_of(files, ns));
		if (!code && feed->shown)
			code = tp_slice_files_enter(files, feed->thread, &feed->err);
		if (code)
			fail(feed, code);
		for (uint32_t i = 0; !code && i < feed->shown; i++)
			write_begin(feed, i, end);
	}
	if (!feed->code) {
		const int code = tp_slice_files_enter(files, feed->thread, &feed->err);
		if (code)
			fail(feed, code);
	}
	return !feed->code;
}

/*
 * Report losses up to TICKS. This keeps times from running backwards: those of the stack do not,
 * slices that are held back begin outermost first and before any later slice ends, and the losses
 * before each slice precede it.
 */
static void tell_lost(struct feed *feed, uint64_t ticks)
{
	if (!feed->lost || feed->lost_ticks > ticks)
		return;
	const uint64_t ns = tp_analysis_at_ns(feed->analysis, feed->lost_ticks);
	if (go_to(feed, ns, false) && feed->format->lost)
		feed->format->lost(&feed->files->slices, ns, feed->lost, feed->shown);
	feed->lost = 0;
}

// Show the first slice that is held back.
static void show(struct feed *feed)
{
	struct open *open = &feed->open[feed->settled];
	const uint32_t max = feed->format->depth_max;
	tell_lost(feed, open->start);
	if (max && feed->shown >= max) {
		open->kind = DEEP;
		feed->too_deep++;
	} else {
		const uint64_t ns = tp_analysis_at_ns(feed->analysis, open->start);
		if (go_to(feed, ns, true))
			write_begin(feed, feed->settled, ns);
		open->kind = SHOWN;
		feed->shown++;
	}
	feed->settled++;
}

/*
 * At TICKS, the innermost slice is one of NODE. Other slices that are held back have ended too
 * early to be long enough: only the ends of such slices are not reported. Of the rest, some are
 * long enough now.
 */
static void settle(struct feed *feed, uint32_t node, uint64_t ticks)
{
	while (feed->count > feed->settled && feed->open[feed->count - 1].node != node)
		feed->count--;
	while (feed->settled < feed->count && !feed->code &&
	       ticks - feed->open[feed->settled].start >= feed->analysis->least)
		show(feed);
}

// The replay may also report a path that the analysis leaves out.
static bool is_path(const struct feed *feed, uint32_t node)
{
	const struct tp_profile *profile = &feed->thread->profile;
	return node && node < profile->node_count && profile->nodes[node].function && !feed->code;
}

static void begin(struct feed *feed, uint32_t node, uint64_t ticks)
{
	if (!is_path(feed, node))
		return;
	settle(feed, feed->thread->profile.nodes[node].parent, ticks);
	if (!TP_GROW(feed->open, feed->capacity, feed->count + UINT64_C(1))) {
		no_memory(feed);
		return;
	}
	feed->open[feed->count++] = (struct open){ticks, node, HELD};
	if (!feed->analysis->least && !feed->code)
		show(feed);
}

static void end(struct feed *feed, uint32_t node, uint64_t ticks)
{
	if (!is_path(feed, node))
		return;
	settle(feed, node, ticks);
	if (!feed->count || feed->open[feed->count - 1].node != node || feed->code)
		return;
	feed->count--;
	if (feed->settled <= feed->count)
		return;
	feed->settled--;
	if (feed->open[feed->count].kind != SHOWN)
		return;
	tell_lost(feed, ticks);
	const uint64_t ns = tp_analysis_at_ns(feed->analysis, ticks);
	if (go_to(feed, ns, false))
		write_end(feed, feed->count, ns);
	feed->shown--;
	if (feed->files->slices.out && feed->files->slices.out->failed)
		feed->sink.stop = true;
}

// ---- what the stack tells

static void on_enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	(void)id;
	begin(context, node, time);
}

static void on_resume(void *context, uint32_t node, uint64_t time)
{
	begin(context, node, time);
}

static void on_leave(void *context, const struct tp_call *call)
{
	// One that is away has ended when its stack was left.
	if (!call->away)
		end(context, call->node, call->end);
}

static void on_pause(void *context, uint32_t node, uint64_t time)
{
	end(context, node, time);
}

static void on_lost(void *context, uint64_t count, uint64_t time)
{
	struct feed *feed = context;
	if (feed->code || !count)
		return;
	if (!feed->lost)
		feed->lost_ticks = time;
	feed->lost += count < UINT64_MAX - feed->lost ? count : 0;
	if (feed->settled == feed->count)
		tell_lost(feed, time);
}

static int feed_thread(struct tp_slice_files *files, const struct tp_slice_format *format,
    uint32_t number, uint64_t *too_deep, struct tp_err *err)
{
	const struct tp_analysis *analysis = files->slices.analysis;
	struct feed feed = {
	    .files = files,
	    .format = format,
	    .analysis = analysis,
	    .thread = &analysis->threads[number],
	    .sink =
		{
		    .enter = on_enter,
		    .leave = on_leave,
		    .pause = on_pause,
		    .resume = on_resume,
		    .lost = on_lost,
		},
	};
	feed.sink.context = &feed;
	int code = 0;
	tp_slice_files_go(files, 0);
	// All that is one file has all threads.
	if (files->slices.files == 1)
		code = tp_slice_files_enter(files, feed.thread, err);
	if (!code)
		code = tp_calls_each(analysis, number, &feed.sink, err);
	if (!feed.code)
		tell_lost(&feed, UINT64_MAX);
	if (feed.code) {
		*err = feed.err;
		code = feed.code;
	}
	if (!code)
		code = tp_slice_files_leave(files, err);
	*too_deep += feed.too_deep;
	free(feed.open);
	return code;
}

int tp_slices_feed(
    struct tp_slice_files *files, const struct tp_slice_format *format, struct tp_err *err)
{
	const struct tp_analysis *analysis = files->slices.analysis;
	uint64_t too_deep = 0;
	const uint32_t passes = format->passes ? format->passes : 1;
	int code = 0;
	for (uint64_t i = 0; !code && i < (uint64_t)analysis->thread_count * passes; i++) {
		const uint32_t thread = (uint32_t)(i / passes);
		files->slices.pass = (uint32_t)(i % passes);
		// A thread with damaged records has been reported already; its undamaged records
		// are in the output.
		code = feed_thread(files, format, thread, &too_deep, err);
		if (code && analysis->threads[thread].code == code && code != TP_ERR_MEMORY)
			code = tp_slice_files_leave(files, err);
	}
	too_deep /= passes;
	if (too_deep && files->slices.options->notes)
		tp_problems_add(files->slices.options->notes, TP_ERR_LIMIT, NULL,
		    "%llu calls deeper than %u levels, the limit of this format, are left out",
		    (unsigned long long)too_deep, format->depth_max);
	return code;
}
