/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the heading of each view says of the cost of recording: compensation.h. */
#ifndef TP_HEADING_COMPENSATION_H
#define TP_HEADING_COMPENSATION_H

#include "analyzer/profile/analysis.h"
#include "common/buf.h"

/* Whether times are as they were recorded, what a call has cost, and how far off that may be. Nothing if it is not known. */
void tp_heading_add_compensation(const struct tp_analysis *analysis, struct tp_buf *out);
/* The same as members of an object: each with a comma before it. */
void tp_heading_add_json_compensation(const struct tp_analysis *analysis, struct tp_buf *out);

#endif
