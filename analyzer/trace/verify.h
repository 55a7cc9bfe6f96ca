/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a trace says about itself, held against what is there: numbering of chunks, counts at the
 * end. Differences become problems of the trace.
 */
#ifndef TP_VERIFY_H
#define TP_VERIFY_H

#include "analyzer/trace/tracefile.h"

/*
 * Sort the chunks by thread and sequence, drop duplicates, report gaps, and fill trace->threads from
 * the chunks and from the COUNT entries of the thread table. 0 or TP_ERR_MEMORY.
 */
int tp_verify_threads(struct tp_tracefile *trace, const struct teeperf_thread *table, size_t count,
    struct tp_err *err);

/*
 * Compare the end section with what was read, and fill trace->lacks. STOPPED: reading broke off, which was
 * reported. After tp_verify_threads.
 */
void tp_verify_end(struct tp_tracefile *trace, bool stopped);

#endif
