/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Debug files from servers, by elfutils' command debuginfod-find. Only when the user asks for it. */
#ifndef TP_SYMBOL_FETCH_H
#define TP_SYMBOL_FETCH_H

#include "common/err.h"

#include <stddef.h>

/*
 * Have the debug file of the build ID fetched; its name goes to PATH. 0; TP_ERR_NOT_FOUND if no server
 * is named, the command is not installed, or no server has it; TP_ERR_SYSTEM.
 */
int tp_symbol_fetch(
    const uint8_t *build_id, uint32_t build_id_size, char *path, size_t size, struct tp_err *err);

#endif
