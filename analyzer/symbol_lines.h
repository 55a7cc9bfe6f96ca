/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where functions are in the source, by DWARF that may be damaged or hostile. */
#ifndef TP_SYMBOL_LINES_H
#define TP_SYMBOL_LINES_H

#include "analyzer/symbol_dwarf.h"

/*
 * tp_symbol_dwarf_find in a process of its own: whatever the file makes libdwarf do, it costs the source
 * lines and no more. TP_ERR_FORMAT also if that process crashed, or took more than its share of time or
 * memory; TP_ERR_SYSTEM if it cannot be started.
 */
int64_t tp_symbol_lines_find(const char *path, struct tp_source_place *places, uint32_t count,
    struct tp_arena *arena, struct tp_err *err);

#endif
