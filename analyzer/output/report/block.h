/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Data in the page of a report: numbers as of common/varint.h; whole blocks deflated (zlib) and in base64, so that nothing in them can be markup.
 */
#ifndef TP_REPORT_BLOCK_H
#define TP_REPORT_BLOCK_H

#include "common/buf.h"
#include "common/err.h"
#include "common/varint.h"

#include <stdint.h>

/* Add DATA to the page as the block NAME. 0 or TP_ERR_MEMORY. */
int tp_report_block_add(
    struct tp_buf *page, const char *name, const struct tp_buf *data, struct tp_err *err);

#endif
