/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the heading of each view says of a clock that stood still, and of a program without a processor: starvation.h. */
#ifndef TP_HEADING_STARVATION_H
#define TP_HEADING_STARVATION_H

#include "analyzer/profile/analysis.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/text.h"
#include "common/buf.h"

/* A part of the run in percent. */
char *tp_heading_percent(char text[TP_TEXT_NUMBER], double share);

/* For how long the program had a processor; nothing if it is not known. */
void tp_heading_add_processor(const struct tp_analysis *analysis, struct tp_buf *out);
/* What is wrong with times for that. */
void tp_heading_note_starved(struct tp_notes *notes, const struct tp_analysis *analysis);
/* The same as members of an object: each with a comma before it. */
void tp_heading_add_json_starvation(const struct tp_analysis *analysis, struct tp_buf *out);

#endif
