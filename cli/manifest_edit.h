/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Adds to a manifest of Gramine, which is TOML with or without templates of Jinja, what recording
 * needs.
 */
#ifndef TP_MANIFEST_EDIT_H
#define TP_MANIFEST_EDIT_H

#include "common/buf.h"
#include "common/err.h"

/*
 * Copy the manifest TEXT, which was read from FILE, to OUT with the mount of shared memory, the
 * allowed file and the variable for the log LOG. What the manifest has already of these stays as it
 * is, also in other spellings of TOML: an array under a dotted key or in its table, or an array of
 * tables. 0; TP_ERR_SYNTAX where there is no place for a line.
 */
int tp_manifest_edit(
    struct tp_buf *out, const char *text, const char *file, const char *log, struct tp_err *err);

#endif
