/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the heading says of a joined trace; nothing of others. */
#ifndef TP_HEADING_JOINED_H
#define TP_HEADING_JOINED_H

#include "analyzer/output/notes.h"
#include "analyzer/trace/tracefile.h"
#include "common/buf.h"

/* How many calls are joined. */
void tp_heading_add_joined(const struct tp_tracefile *trace, struct tp_buf *out);
/* What is not where it belongs. */
void tp_heading_note_apart(struct tp_notes *notes, const struct tp_tracefile *trace);

#endif
