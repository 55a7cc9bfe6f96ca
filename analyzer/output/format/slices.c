// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls as slices, for exports that have single calls in the order of time.
// In: the calls of all threads. Out: one file, or one for each stretch of time.
// One file: those who feed slices go from file to file, and files end with the last slice.
#include "slices.h"

#include "analyzer/profile/calls.h"
#include "common/array.h"
#include "common/out_file.h"
#include "common/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// More than this are hardly meant, and no one looks at them.
#define TP_SLICE_FILES_MAX 9999

struct tp_slice_files {
	struct tp_slices slices; /* of the current file */
	const struct tp_slice_format *format;
	const char
	    *path; /* of several files; NULL: slices.out or slices.directory is the only one */
	struct tp_marks marks; /* what slices.marks is */
	uint64_t start_ns;
	bool entered;            /* a thread is being written to the current file */
	uint8_t *made;           /* for each file */
	uint32_t *tids;          /* what slices.tids is */
	struct tp_out_file file; /* the current one, if entered */
	struct tp_buf name;      /* its path */
};

// ---- numbers of threads

struct numbered {
	uint64_t tid;
	uint32_t thread;
};

static int compare_numbered(const void *a, const void *b)
{
	const struct numbered *x = a;
	const struct numbered *y = b;
	const int order = TP_COMPARE(x->tid, y->tid);
	return order ? order : TP_COMPARE(x->thread, y->thread);
}

// The first thread of a number has it; those that come later, or without one, get others.
static bool number_threads(struct tp_slice_files *files)
{
	const struct tp_analysis *analysis = files->slices.analysis;
	const uint32_t count = analysis->thread_count;
	struct numbered *order = malloc((count ? count : 1) * sizeof(*order));
	files->tids = calloc(count ? count : 1, sizeof(*files->tids));
	files->slices.tids = files->tids;
	if (!order || !files->tids) {
		free(order);
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct numbered){analysis->threads[i].thread->os_tid, i};
	qsort(order, count, sizeof(*order), compare_numbered);
	uint64_t largest = 0;
	// As many numbers as there may be threads stay free at the end.
	for (uint32_t i = 0; i < count; i++)
		if (order[i].tid && order[i].tid <= INT32_MAX - UINT64_C(0x1000000) &&
		    (!i || order[i].tid != order[i - 1].tid))
			files->tids[order[i].thread] = (uint32_t)(largest = order[i].tid);
	for (uint32_t i = 0; i < count; i++)
		if (!files->tids[i])
			files->tids[i] = (uint32_t)++largest;
	free(order);
	return true;
}

uint32_t tp_slices_tid(const struct tp_slices *slices)
{
	return slices->tids[slices->thread - slices->analysis->threads];
}

uint32_t tp_slices_pid(const struct tp_slices *slices)
{
	return slices->analysis->thread_count ? slices->tids[0] : 1;
}

const char *tp_slices_process(const struct tp_slices *slices)
{
	return tp_tracefile_program(slices->analysis->trace);
}

// ---- times

static uint64_t last_ns_of(const struct tp_analysis *analysis)
{
	uint64_t last = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		if (analysis->threads[i].last > last)
			last = analysis->threads[i].last;
	return tp_analysis_at_ns(analysis, last);
}

// Gap NUMBER of the trace; false: it is not in this file.
static bool get_gap(const struct tp_slices *slices, uint32_t number, struct tp_slice_gap *gap)
{
	const struct tp_analysis *analysis = slices->analysis;
	const struct tp_gap *ticks = &analysis->trace->gaps.items[number];
	const uint64_t last = last_ns_of(analysis);
	gap->from_ns = tp_analysis_at_ns(analysis, ticks->from);
	gap->to_ns = tp_analysis_at_ns(analysis, ticks->to);
	if (gap->from_ns < slices->from_ns)
		gap->from_ns = slices->from_ns;
	gap->ends = ticks->to != UINT64_MAX && gap->to_ns < slices->to_ns;
	// One without an end goes to the end of what there is.
	if (gap->to_ns > slices->to_ns)
		gap->to_ns = slices->to_ns;
	if (gap->to_ns > last)
		gap->to_ns = last > gap->from_ns ? last : gap->from_ns;
	return gap->from_ns <= gap->to_ns && gap->from_ns < slices->to_ns;
}

bool tp_slices_next_gap(const struct tp_slices *slices, uint32_t *at, struct tp_slice_gap *gap)
{
	const struct tp_analysis *analysis = slices->analysis;
	const uint32_t count = analysis->timeless ? 0 : analysis->trace->gaps.count;
	while (*at < count)
		if (get_gap(slices, (*at)++, gap))
			return true;
	return false;
}

static uint32_t files_of(const struct tp_slice_files *files, uint64_t ns)
{
	const uint64_t split = files->slices.options->split_ns;
	if (!files->path || ns <= files->start_ns)
		return 0;
	const uint64_t number = (ns - files->start_ns) / split;
	return number < files->slices.files ? (uint32_t)number : files->slices.files - 1;
}

// ---- files

static int init(struct tp_slice_files *files, const struct tp_slice_format *format,
    const struct tp_analysis *analysis, const struct tp_export_options *options, struct tp_err *err)
{
	*files = (struct tp_slice_files){
	    .format = format,
	    .slices = {.analysis = analysis, .options = options, .files = 1, .to_ns = UINT64_MAX},
	};
	tp_buf_init(&files->name);
	files->start_ns = analysis->ranged ? tp_analysis_at_ns(analysis, analysis->from) : 0;
	files->slices.from_ns = files->start_ns;
	files->slices.state = calloc(1, format->state_size ? format->state_size : 1);
	files->made = calloc(1, 1);
	if (!files->slices.state || !files->made || !number_threads(files))
		return tp_err_memory(err, analysis->trace->source.name);
	const int code = tp_analysis_marks(analysis, &files->marks, err);
	files->slices.marks = &files->marks;
	if (code)
		return code;
	return format->init ? format->init(&files->slices, err) : 0;
}

static int split_init(struct tp_slice_files *files, const char *path, struct tp_err *err)
{
	const struct tp_analysis *analysis = files->slices.analysis;
	const uint64_t split = files->slices.options->split_ns;
	const uint64_t last = last_ns_of(analysis);
	const uint64_t span = last > files->start_ns ? last - files->start_ns : 0;
	const uint64_t count = span / split + 1;
	if (count > TP_SLICE_FILES_MAX)
		return tp_err_set(err, TP_ERR_LIMIT, path,
		    "would become %llu files, but %u is the limit: split it into longer pieces, "
		    "or select a part with --time-range",
		    (unsigned long long)count, TP_SLICE_FILES_MAX);
	files->path = path;
	files->slices.files = (uint32_t)count;
	free(files->made);
	files->made = calloc(count, 1);
	if (!files->made)
		return tp_err_memory(err, path);
	return 0;
}

static void release(struct tp_slice_files *files)
{
	struct tp_err ignored;
	if (files->path && !files->format->directory && files->entered)
		tp_out_file_close(&files->file, &ignored);
	if (files->slices.state && files->format->release)
		files->format->release(&files->slices);
	free(files->slices.state);
	tp_marks_release(&files->marks);
	free(files->made);
	free(files->tids);
	tp_buf_release(&files->name);
}

static void files_go(struct tp_slice_files *files, uint32_t number)
{
	struct tp_slices *slices = &files->slices;
	slices->file = number;
	if (!files->path)
		return;
	const uint64_t split = slices->options->split_ns;
	slices->from_ns = tp_add_capped(files->start_ns, split * number);
	slices->to_ns =
	    number + 1 < slices->files ? tp_add_capped(slices->from_ns, split) : UINT64_MAX;
}

// Whether this file is the trace that is read: to write it would lose both.
static bool is_input(const struct tp_slice_files *files)
{
	struct stat output;
	struct stat input;
	return stat(files->name.data, &output) == 0 &&
	       fstat(files->slices.analysis->trace->source.fd, &input) == 0 &&
	       output.st_dev == input.st_dev && output.st_ino == input.st_ino;
}

// Make or open the current file.
static int open_current(struct tp_slice_files *files, struct tp_err *err)
{
	struct tp_slices *slices = &files->slices;
	const bool made = files->made[slices->file];
	int code = 0;
	if (files->path) {
		tp_buf_reset(&files->name);
		tp_buf_addf(&files->name, "%s.%04u", files->path, slices->file + 1);
		if (files->name.failed)
			return tp_err_memory(err, files->path);
		if (!made && is_input(files))
			return tp_err_set(err, TP_ERR_LIMIT, files->name.data,
			    "is an input, and would be overwritten: give another name with -o");
	}
	if (files->path && files->format->directory) {
		slices->directory = files->name.data;
		if (!made && mkdir(files->name.data, 0777) != 0)
			return tp_err_system(
			    err, errno, files->name.data, "cannot create the directory");
	} else if (files->path) {
		code = made ? tp_out_file_append(&files->file, files->name.data, err)
			    : tp_out_file_open(&files->file, files->name.data, err);
		slices->out = &files->file.buf;
	}
	return code;
}

static int close_current(struct tp_slice_files *files, int code, struct tp_err *err)
{
	struct tp_err close_err;
	if (!files->path || files->format->directory)
		return code;
	const int closed = tp_out_file_close(&files->file, &close_err);
	files->slices.out = NULL;
	if (code || !closed)
		return code;
	*err = close_err;
	return closed;
}

static int files_begin(
    struct tp_slice_files *files, const struct tp_thread_result *thread, struct tp_err *err)
{
	struct tp_slices *slices = &files->slices;
	int code = open_current(files, err);
	if (code)
		return code;
	files->entered = true;
	slices->thread = thread;
	slices->first = !files->made[slices->file];
	files->made[slices->file] = 1;
	if (slices->first && files->format->head)
		code = files->format->head(slices, err);
	if (!code && files->format->thread_begin)
		code = files->format->thread_begin(slices, err);
	return code;
}

static int files_leave(struct tp_slice_files *files, struct tp_err *err)
{
	int code = 0;
	if (!files->entered)
		return 0;
	if (files->format->thread_end)
		code = files->format->thread_end(&files->slices, err);
	files->entered = false;
	return close_current(files, code, err);
}

static int finish(struct tp_slice_files *files, struct tp_err *err)
{
	struct tp_slices *slices = &files->slices;
	int code = 0;
	bool any = false;
	for (uint32_t i = 0; i < slices->files; i++)
		any = any || files->made[i];
	for (uint32_t i = 0; !code && i < slices->files; i++) {
		// Without any thread there is a file all the same.
		if (!files->made[i] && (any || i))
			continue;
		files_go(files, i);
		code = open_current(files, err);
		if (code)
			break;
		if (!files->made[i] && files->format->head)
			code = files->format->head(slices, err);
		files->made[i] = 1;
		if (!code && files->format->tail)
			tp_buf_add_string(slices->out, files->format->tail);
		code = close_current(files, code, err);
	}
	return code;
}

// ---- all of it

static inline int files_enter(
    struct tp_slice_files *files, const struct tp_thread_result *thread, struct tp_err *err)
{
	return files->entered ? 0 : files_begin(files, thread, err);
}

// ---- calls

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
		int code = files_leave(files, &feed->err);
		if (!code)
			files_go(files, feed->shown ? files->slices.file + 1 : files_of(files, ns));
		if (!code && feed->shown)
			code = files_enter(files, feed->thread, &feed->err);
		if (code)
			fail(feed, code);
		for (uint32_t i = 0; !code && i < feed->shown; i++)
			write_begin(feed, i, end);
	}
	if (!feed->code) {
		const int code = files_enter(files, feed->thread, &feed->err);
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
	files_go(files, 0);
	// All that is one file has all threads.
	if (files->slices.files == 1)
		code = files_enter(files, feed.thread, err);
	if (!code)
		code = tp_calls_each(analysis, number, &feed.sink, err);
	if (!feed.code)
		tell_lost(&feed, UINT64_MAX);
	if (feed.code) {
		*err = feed.err;
		code = feed.code;
	}
	if (!code)
		code = files_leave(files, err);
	*too_deep += feed.too_deep;
	free(feed.open);
	return code;
}

static int feed_all(
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
			code = files_leave(files, err);
	}
	too_deep /= passes;
	if (too_deep && files->slices.options->notes)
		tp_problems_add(files->slices.options->notes, TP_ERR_LIMIT, NULL,
		    "%llu calls deeper than %u levels, the limit of this format, are left out",
		    (unsigned long long)too_deep, format->depth_max);
	return code;
}

static int write_all(struct tp_slice_files *files, int code, struct tp_err *err)
{
	if (!code)
		code = feed_all(files, files->format, err);
	if (!code)
		code = finish(files, err);
	release(files);
	return code;
}

int tp_slices_render(const struct tp_slice_format *format, const struct tp_analysis *analysis,
    const struct tp_export_options *options, struct tp_buf *out, struct tp_err *err)
{
	struct tp_slice_files files;
	const int code = init(&files, format, analysis, options, err);
	files.slices.out = out;
	return write_all(&files, code, err);
}

int tp_slices_render_directory(const struct tp_slice_format *format,
    const struct tp_analysis *analysis, const struct tp_export_options *options,
    const char *directory, struct tp_err *err)
{
	struct tp_slice_files files;
	const int code = init(&files, format, analysis, options, err);
	files.slices.directory = directory;
	return write_all(&files, code, err);
}

int tp_slices_split(const struct tp_slice_format *format, const struct tp_analysis *analysis,
    const struct tp_export_options *options, const char *path, struct tp_err *err)
{
	struct tp_slice_files files;
	int code = init(&files, format, analysis, options, err);
	if (!code)
		code = split_init(&files, path, err);
	return write_all(&files, code, err);
}
