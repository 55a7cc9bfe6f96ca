/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An export is one file analyzer/output/export/NAME.c that defines `const struct tp_export
 * tp_export_NAME`; the build collects them into a table.
 */
#ifndef TP_EXPORT_H
#define TP_EXPORT_H

#include "analyzer/profile/analysis.h"
#include "common/buf.h"

/* What makes a frame of an export wide. */
enum tp_weight {
	TP_WEIGHT_SELF = 0,
	TP_WEIGHT_CALLS,
};

struct tp_export_options {
	enum tp_weight weight;
	uint64_t split_ns;         /* slices.h: several files of this time each; 0: one */
	struct tp_problems *notes; /* gets what the output leaves out; may be NULL */
	const char *process; /* of families: what the process is called; NULL: as its program is */
	/* of graphs: the part (0 to 1) of all time that a function needs to be drawn */
	double least_share;
	/* Of flame graphs. */
	bool icicle;                        /* the program is at the top */
	bool inverted;                      /* functions by self time, with their callers */
	double least_pixels;                /* narrower frames are left out; 0: default */
	const struct tp_analysis *baseline; /* colours are what has changed since; or NULL */
};

struct tp_slice_format;

struct tp_export {
	const char *name;
	const char *summary;
	const char *suffix; /* of the default output file, or NULL for standard output */
	/*
	 * Has tables: counts and times side by side, so that it needs no weight, and without a
	 * clock only times are missing. A directory may have been written to before: it gets a new
	 * part.
	 */
	bool tables;
	/*
	 * Of one with single calls and their times, as they were recorded (slices.h): it is refused
	 * without a clock, can be split, and has none of the functions below. NULL: an export of
	 * sums, in the times of the analysis.
	 */
	const struct tp_slice_format *slices;
	/* Its other form, with single calls, which is in no table; or NULL. */
	const struct tp_export *calls;
	bool pushed; /* servers of profiles take it */
	/* of several processes: that of each behind those before, with options->process */
	bool families;
	/*
	 * Add the export to OUT, which may forget what it has passed on. 0 or a negative tp_error.
	 */
	int (*render)(const struct tp_analysis *analysis, const struct tp_export_options *options,
	    struct tp_buf *out, struct tp_err *err);
	/* Instead of render: make the file PATH, or empty it and write it. */
	int (*render_file)(const struct tp_analysis *analysis,
	    const struct tp_export_options *options, const char *path, struct tp_err *err);
	/* Instead of render: write files into DIRECTORY, which is there and empty (see tables). */
	int (*render_directory)(const struct tp_analysis *analysis,
	    const struct tp_export_options *options, const char *directory, struct tp_err *err);
};

/* All of them, NULL at the end. */
const struct tp_export *const *tp_exports(void);
/* Whether an export makes a directory. */
bool tp_export_is_directory(const struct tp_export *export);
/* Those that make one file from front to back, into OUT; or those that are a directory. */
int tp_export_render(const struct tp_export *export, const struct tp_analysis *analysis,
    const struct tp_export_options *options, struct tp_buf *out, struct tp_err *err);
int tp_export_render_directory(const struct tp_export *export, const struct tp_analysis *analysis,
    const struct tp_export_options *options, const char *directory, struct tp_err *err);

/* What NODE weighs in an export. */
static inline uint64_t tp_node_weight(const struct tp_node *node, enum tp_weight weight)
{
	return weight == TP_WEIGHT_CALLS ? node->calls : node->self;
}

#endif
