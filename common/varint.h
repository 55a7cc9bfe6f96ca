/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers of seven bits a byte, lowest first, the eighth bit set on all but the last. */
#ifndef TP_VARINT_H
#define TP_VARINT_H

#include "common/buf.h"

#include <stdint.h>

#define TP_VARINT_MAX 10 /* bytes that any number takes */

/* Write VALUE at AT; returns where it ends. */
static inline uint8_t *tp_varint_put(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static inline void tp_varint_add(struct tp_buf *buf, uint64_t value)
{
	uint8_t bytes[TP_VARINT_MAX];
	tp_buf_add(buf, bytes, (size_t)(tp_varint_put(bytes, value) - bytes));
}

#endif
