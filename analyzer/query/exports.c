// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of exports that need SQLite.
#include "exports.h"

#define TP_EXPORT(export) extern const struct tp_export export;
#include "query_exports.inc"
#undef TP_EXPORT

const struct tp_export *const tp_query_exports[] = {
#define TP_EXPORT(export) &export,
#include "query_exports.inc"
#undef TP_EXPORT
    NULL,
};
