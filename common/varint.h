/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers of seven bits a byte, lowest first, the eighth bit set on all but the last. */
#ifndef TP_VARINT_H
#define TP_VARINT_H

#include "common/buf.h"

#include <stdbool.h>
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

/* Read the number at *AT, and move *AT behind it. False: END, or 64 bits, come before its end. */
static inline bool tp_varint_take(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (uint32_t shift = 0; shift < 64 && *at < end; shift += 7) {
		const uint8_t byte = *(*at)++;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static inline void tp_varint_add(struct tp_buf *buf, uint64_t value)
{
	uint8_t bytes[TP_VARINT_MAX];
	tp_buf_add(buf, bytes, (size_t)(tp_varint_put(bytes, value) - bytes));
}

#endif
