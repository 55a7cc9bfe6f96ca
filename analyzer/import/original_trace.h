/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Logs of the original TEE-Perf as traces: what reads traces reads these as well. The translation goes
 * into a file without a name, a third to half as large as the log; memory does not grow with the log.
 */
#ifndef TP_ORIGINAL_TRACE_H
#define TP_ORIGINAL_TRACE_H

#include "analyzer/trace/problems.h"
#include "analyzer/trace/source.h"
#include "analyzer/symbols/files.h"
#include "common/buf.h"

/* All zero: nothing is known. */
struct tp_original_options {
	const char *const *programs; /* files, one of which may be the program that was recorded */
	uint32_t program_count;
	struct tp_symbol_options symbols; /* where its debug file may be */
};

/*
 * If SOURCE is a log of the original TEE-Perf, put a trace in its place that says the same; its name remains.
 * Anything else stays as it is. Damage becomes a problem, what limits the result a note. 0, or a negative
 * tp_error.
 */
int tp_original_open(struct tp_source *source, const struct tp_original_options *options,
    struct tp_problems *problems, struct tp_problems *notes, struct tp_err *err);

/*
 * The translation alone: add the trace to OUT. 1; 0 if SOURCE is something else; or a negative tp_error. That
 * OUT failed is for the caller to see.
 */
int tp_original_translate(const struct tp_source *source, const struct tp_original_options *options,
    struct tp_buf *out, struct tp_problems *problems, struct tp_problems *notes,
    struct tp_err *err);

#endif
