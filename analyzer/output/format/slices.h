/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls as slices, for exports that have single calls in the order of time: per thread, slices that
 * begin and end, properly nested, with times that never run backwards. What all these exports share
 * is here: ranges of time, least times, losses, threads with several stacks (a call is a slice for
 * each stay on its stack), and writing several files of a time each.
 *
 * With a least time, slices that are shorter are left out. That is known when such a time has
 * passed, so slices are begun late, but in order: at most the open ones are held back.
 */
#ifndef TP_SLICES_H
#define TP_SLICES_H

#include "analyzer/output/format/export.h"

struct tp_slice {
	const struct tp_function *function;
	uint32_t node;  /* of the thread's profile */
	uint32_t depth; /* 0: outermost */
	uint64_t time;  /* of its begin or end: ns since the first record, as recorded */
};

/* What a format has to work with. */
struct tp_slices {
	const struct tp_analysis *analysis;
	const struct tp_export_options *options;
	const struct tp_thread_result *thread; /* whose slices come */
	const struct tp_marks *marks;          /* of the trace; NULL: they are not read */
	const uint32_t *tids;                  /* of each thread, see tp_slices_tid */
	struct tp_buf *out;                    /* of formats that are a file */
	const char *directory;                 /* of those that are a directory */
	void *state;                           /* of the format, zeroes at first */
	bool first;                            /* no other thread has begun in this file */
	uint32_t pass;                         /* of format->passes over the thread, from 0 on */
	uint32_t files;                        /* into which all is split, 1: it is not */
	uint32_t file;                         /* this one, from 0 on */
	uint64_t from_ns;                      /* the time of this file */
	uint64_t to_ns;                        /* UINT64_MAX: to the end */
};

/*
 * How a format writes: init, then for each file head, threads (in each pass), tail, then release.
 * When there are several files, a thread is written to all of them before the next one is, and only
 * to those where it has slices. Functions may be NULL; those that return an int return 0 or a
 * negative tp_error.
 */
struct tp_slice_format {
	bool directory; /* slices->directory is written to, else slices->out */
	size_t state_size;
	uint32_t passes;    /* how often each thread is gone through; 0: once */
	uint32_t depth_max; /* slices this deep or deeper are left out; 0: none are */
	int (*init)(struct tp_slices *slices, struct tp_err *err);
	int (*head)(struct tp_slices *slices, struct tp_err *err);
	int (*thread_begin)(struct tp_slices *slices, struct tp_err *err);
	void (*begin)(struct tp_slices *slices, const struct tp_slice *slice);
	void (*end)(struct tp_slices *slices, const struct tp_slice *slice);
	/* COUNT events are missing somewhere around TIME; DEPTH slices are open. */
	void (*lost)(struct tp_slices *slices, uint64_t time, uint64_t count, uint32_t depth);
	int (*thread_end)(struct tp_slices *slices, struct tp_err *err);
	const char *tail; /* what ends a file */
	void (*release)(struct tp_slices *slices);
};

/* What every format has, under these names in its file. */
#define TP_SLICE_FORMAT                                                                 \
	.state_size = sizeof(struct state), .head = head, .thread_begin = thread_begin, \
	.begin = begin, .end = end

/* All of it as one file, or into one directory. 0 or a negative tp_error. */
int tp_slices_render(const struct tp_slice_format *format, const struct tp_analysis *analysis,
    const struct tp_export_options *options, struct tp_buf *out, struct tp_err *err);
int tp_slices_render_directory(const struct tp_slice_format *format,
    const struct tp_analysis *analysis, const struct tp_export_options *options,
    const char *directory, struct tp_err *err);
/*
 * As files (or directories) PATH.0001, PATH.0002, ... of options->split_ns each. A slice that is
 * open where a file ends is ended there, and begun again in the next. TP_ERR_LIMIT if there would
 * be too many files.
 */
int tp_slices_split(const struct tp_slice_format *format, const struct tp_analysis *analysis,
    const struct tp_export_options *options, const char *path, struct tp_err *err);

/*
 * A number for the current thread that no other has: that of the operating system if it can be, 1
 * to INT32_MAX.
 */
uint32_t tp_slices_tid(const struct tp_slices *slices);
/* That of the process: the first thread's. */
uint32_t tp_slices_pid(const struct tp_slices *slices);
/* What the process is called. */
const char *tp_slices_process(const struct tp_slices *slices);

/*
 * When recording was switched off, as far as it lies in this file. *AT is 0 at first; false: there
 * is no more.
 */
struct tp_slice_gap {
	uint64_t from_ns;
	uint64_t to_ns;
	bool ends; /* recording went on, in this file */
};
bool tp_slices_next_gap(const struct tp_slices *slices, uint32_t *at, struct tp_slice_gap *gap);

/* A counter or a domain of energy that was read while the program ran. */
struct tp_slice_track {
	const struct teeperf_trace_meter *meter;
	const struct tp_meter_table *table; /* that it is in */
	const char *unit; /* of the points: of what grows by the second, "uW" of energy */
};
/* From TIME_NS on to the next point. */
struct tp_slice_point {
	uint64_t time_ns; /* as in tp_slice */
	uint64_t value;   /* at most INT64_MAX */
};
/* Both as tp_slices_next_gap; points are those that lie in this file. */
bool tp_slices_next_track(
    const struct tp_slices *slices, uint64_t *at, struct tp_slice_track *track);
bool tp_slices_next_point(const struct tp_slices *slices, const struct tp_slice_track *track,
    uint64_t *at, struct tp_slice_point *point);

/* A mark, or a phase, as far as it lies in this file. */
struct tp_slice_mark {
	const char *name;
	uint32_t thread; /* index in analysis->threads; their number: it is from outside */
	bool phase;
	bool ends; /* the phase does, in this file */
	/* as in tp_slice; of a phase that began in an earlier file, this one's begin */
	uint64_t from_ns;
	uint64_t to_ns; /* of a phase that ends */
};
/* By time, as tp_slices_next_gap. */
bool tp_slices_next_mark(const struct tp_slices *slices, uint64_t *at, struct tp_slice_mark *mark);

/* What happens with marks at one moment. */
struct tp_slice_moment {
	uint64_t ns;
	uint64_t number; /* of those at one time the lower one comes first */
	uint32_t thread; /* as in tp_slice_mark */
	enum { TP_MOMENT_MARK, TP_MOMENT_BEGIN, TP_MOMENT_END } what;
	const char *name;
};
/* All of this file, in order; to be freed. NULL: no memory. */
struct tp_slice_moment *tp_slices_moments(const struct tp_slices *slices, uint64_t *count);

#endif
