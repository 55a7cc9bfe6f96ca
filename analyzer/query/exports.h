/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Exports that need SQLite: analyzer/query/export_NAME.c with tp_export_NAME, as those of the analyzer (view.h). */
#ifndef TP_QUERY_EXPORTS_H
#define TP_QUERY_EXPORTS_H

#include "analyzer/output/format/export.h"

/* NULL at the end. */
extern const struct tp_export *const tp_query_exports[];

#endif
