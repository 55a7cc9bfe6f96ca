/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Data in the page of a report: numbers of seven bits a byte, lowest first, the eighth bit set on all
 * but the last; whole blocks deflated (zlib) and in base64, so that nothing in them can be markup.
 */
#ifndef TP_REPORT_BLOCK_H
#define TP_REPORT_BLOCK_H

#include "common/buf.h"
#include "common/err.h"

#include <stdint.h>

static inline void tp_varint_add(struct tp_buf *buf, uint64_t value)
{
	char bytes[10];
	size_t size = 0;
	for (; value > 127; value >>= 7)
		bytes[size++] = (char)(value | 128);
	bytes[size++] = (char)value;
	tp_buf_add(buf, bytes, size);
}

/* Add DATA to the page as the block NAME. 0 or TP_ERR_MEMORY. */
int tp_report_block_add(
    struct tp_buf *page, const char *name, const struct tp_buf *data, struct tp_err *err);

#endif
