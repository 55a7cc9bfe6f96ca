// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The files that slices are written to, and what formats ask about them.
#include "slice_files.h"

#include "common/array.h"
#include "common/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

uint32_t tp_slice_files_of(const struct tp_slice_files *files, uint64_t ns)
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

void tp_slice_files_go(struct tp_slice_files *files, uint32_t number)
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

int tp_slice_files_begin(
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

int tp_slice_files_leave(struct tp_slice_files *files, struct tp_err *err)
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
		tp_slice_files_go(files, i);
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

static int write_all(struct tp_slice_files *files, int code, struct tp_err *err)
{
	if (!code)
		code = tp_slices_feed(files, files->format, err);
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
