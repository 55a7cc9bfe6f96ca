/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opening a file that may be a trace, or a log of another tool that can be translated into one. */
#ifndef TP_IMPORT_OPEN_H
#define TP_IMPORT_OPEN_H

#include "analyzer/import/original_trace.h"
#include "analyzer/trace/tracefile.h"

/*
 * As tp_tracefile_open; a log of the original TEE-Perf is translated first, by what ORIGINAL knows of it (NULL: nothing).
 * MORE sections, or NULL: see tp_tracefile_begin. Close the trace in any case.
 */
int tp_import_open(struct tp_tracefile *trace, const char *file,
    const struct tp_original_options *original, const void *more, size_t more_size,
    struct tp_err *err);

#endif
