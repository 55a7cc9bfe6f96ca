/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* perf.data as text: runs perf, which alone knows all versions of its format. */
#ifndef TP_PERF_REPORT_H
#define TP_PERF_REPORT_H

#include "common/buf.h"
#include "common/err.h"

/*
 * What `perf report` says of FILE, a line "SAMPLES<TAB>[.] LINKAGE-NAME" for each function. 0, or
 * TP_ERR_SYSTEM if perf cannot be run or does not read the file; the message says what to do.
 */
int tp_perf_report(const char *file, struct tp_buf *report, struct tp_err *err);

#endif
