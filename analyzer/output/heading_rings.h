/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the heading of each view says of a flight recorder's trace (mode ring); nothing of others. */
#ifndef TP_HEADING_RINGS_H
#define TP_HEADING_RINGS_H

#include "analyzer/profile/analysis.h"
#include "analyzer/output/notes.h"
#include "common/buf.h"

/* How far back each thread goes, and how much was before. */
void tp_heading_note_rings(struct tp_notes *notes, const struct tp_analysis *analysis);
/* The same as members of an object: each with a comma before it. */
void tp_heading_add_json_rings(const struct tp_analysis *analysis, struct tp_buf *out);

#endif
