/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What headings say of self times that are smaller than what is not known of them: +/- above 100 %. */
#ifndef TP_HEADING_UNSURE_H
#define TP_HEADING_UNSURE_H

#include "analyzer/profile/analysis.h"
#include "common/buf.h"

/* How many functions have such a self time, and what to do instead. Nothing if there are none. */
void tp_heading_add_unsure(const struct tp_analysis *analysis, struct tp_buf *out);
/* The same as members of an object: each with a comma before it. */
void tp_heading_add_json_unsure(const struct tp_analysis *analysis, struct tp_buf *out);

#endif
