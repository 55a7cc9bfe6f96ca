/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Traces as text, and text as traces. The text form is documented in teeperf-dump(1). Nothing is
 * lost: what has no form of its own (damage, unknown sections) is written as hexadecimal bytes.
 */
#ifndef TP_DUMP_TEXT_H
#define TP_DUMP_TEXT_H

#include "common/err.h"
#include "analyzer/trace/source.h"
#include "common/buf.h"

#include <stddef.h>

/*
 * Add the text of the trace in SOURCE to OUT. Damage is written as bytes and listed in PROBLEMS.
 * Fails if the file header cannot be used.
 */
int tp_dump_text(const struct tp_source *source, struct tp_buf *out, struct tp_problems *problems,
    struct tp_err *err);

/*
 * Add the trace that TEXT, named FILE in errors, describes to OUT. 0, or TP_ERR_SYNTAX with a line.
 */
int tp_dump_assemble(
    const char *text, size_t size, const char *file, struct tp_buf *out, struct tp_err *err);

#endif
