/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a check of an allowlist found, as a compiler would print it and as JSON. */
#ifndef TP_FINDINGS_H
#define TP_FINDINGS_H

#include "common/json.h"
#include "allowlists/check/check.h"

/* One finding, several lines: the message, the line with a mark, what to do. */
void tp_finding_add_text(struct tp_buf *out, const struct tp_finding *finding,
    const struct tp_list_use *use, bool color);

/* "3 warnings and 1 note", "nothing to complain about". */
void tp_findings_add_counts(struct tp_buf *out, const struct tp_list_check *check);

/* Members with the place and the text of line INDEX of LIST, nulls for TP_LINE_NONE. */
void tp_list_line_add_json(
    struct tp_json *json, const struct tp_allowlist *list, uint32_t index, bool with_column);

/* The findings as an array of JSON objects, member KEY. */
void tp_findings_add_json(struct tp_json *json, const char *key, const struct tp_list_check *check,
    const struct tp_list_use *use);

#endif
