/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whether a trace has each event that the program recorded, and how many it lacks: what every view
 * says. Missing is what the program lost, what the recorder could not write, and what the file has
 * lost since.
 */
#ifndef TP_COMPLETENESS_H
#define TP_COMPLETENESS_H

#include "analyzer/profile/analysis.h"
#include "common/buf.h"
#include "common/json.h"

bool tp_analysis_is_complete(const struct tp_analysis *analysis);
/* Whether more is missing than the program lost. */
bool tp_analysis_lacks(const struct tp_analysis *analysis);
/* Events that are known to be missing. */
uint64_t tp_analysis_missing(const struct tp_analysis *analysis);
/* The same with all that may be missing besides; false: nobody knows how much that is. */
bool tp_analysis_missing_at_most(const struct tp_analysis *analysis, uint64_t *events);

/* "complete", "incomplete: 1,234 events missing" and the like, without a newline. */
void tp_completeness_add_text(const struct tp_analysis *analysis, struct tp_buf *out);
/* As members of the JSON object that is open. */
void tp_completeness_add_json(struct tp_json *json, const struct tp_analysis *analysis);

#endif
