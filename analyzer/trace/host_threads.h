/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which thread of the host ran which recorded thread, where the log has numbers of its own for them
 * (a library OS such as Gramine) and each recorded thread is one of the host's (ids=virtual). A
 * thread records nothing while the kernel has taken its processor away, before it was born, and
 * after its end: of the host's threads, all but one contradict what a recorded thread did. A thread
 * for which several of them are left, or none, stays without.
 */
#ifndef TP_TRACE_HOST_THREADS_H
#define TP_TRACE_HOST_THREADS_H

#include "analyzer/trace/tracefile.h"

/*
 * Fill `host_tid` and `off` of the trace's threads, all else of which is there. 0 or TP_ERR_MEMORY.
 */
int tp_host_threads_find(struct tp_tracefile *trace, struct tp_err *err);

/* Recorded threads of which the host's is not known. */
uint32_t tp_host_threads_unknown(const struct tp_tracefile *trace);

#endif
