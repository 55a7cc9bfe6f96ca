/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opening a file that may be a trace, or a log of another tool that can be translated into one. */
#ifndef TP_IMPORT_OPEN_H
#define TP_IMPORT_OPEN_H

#include "analyzer/symbols/files.h"
#include "analyzer/trace/tracefile.h"
#include "common/buf.h"

/* Facts about a log of the original TEE-Perf, which names no file. All zero: none. */
struct tp_original_options {
	const char *const *programs; /* files, one of which may be the program that was recorded */
	uint32_t program_count;
	struct tp_symbol_options symbols; /* where its debug file may be */
};

/*
 * If SOURCE is a log of the original TEE-Perf, put a trace in its place that says the same; its
 * name remains. The translation goes into a file without a name, a third to half as large as the
 * log; memory does not grow with the log. Anything else stays as it is. Damage becomes a problem,
 * what limits the result a note. 0, or a negative tp_error.
 */
int tp_original_open(struct tp_source *source, const struct tp_original_options *options,
    struct tp_problems *problems, struct tp_problems *notes, struct tp_err *err);

/*
 * The translation alone: add the trace to OUT. 1; 0 if SOURCE is something else; or a negative
 * tp_error. That OUT failed is for the caller to see.
 */
int tp_original_translate(const struct tp_source *source, const struct tp_original_options *options,
    struct tp_buf *out, struct tp_problems *problems, struct tp_problems *notes,
    struct tp_err *err);

/*
 * As tp_tracefile_open; a log of the original TEE-Perf is translated first, by what ORIGINAL knows
 * of it (NULL: nothing). MORE sections, or NULL: see tp_tracefile_begin. Close the trace in any
 * case.
 */
int tp_import_open(struct tp_tracefile *trace, const char *file,
    const struct tp_original_options *original, const void *more, size_t more_size,
    struct tp_err *err);
/* The same up to tp_tracefile_load. */
int tp_import_begin(struct tp_tracefile *trace, const char *file,
    const struct tp_original_options *original, const void *more, size_t more_size,
    struct tp_err *err);

#endif
