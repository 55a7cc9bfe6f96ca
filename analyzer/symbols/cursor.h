/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads the numbers of DWARF. Like common/bytes.h, but inline: millions of entries are passed over.
 */
#ifndef TP_SYMBOL_CURSOR_H
#define TP_SYMBOL_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A place in bytes; what is read beyond the end is 0, and sets `bad`. */
struct tp_cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static inline void tp_cursor_skip(struct tp_cursor *cursor, uint64_t size)
{
	if (size > (uint64_t)(cursor->end - cursor->at)) {
		cursor->bad = true;
		cursor->at = cursor->end;
		return;
	}
	cursor->at += size;
}

/* A number of SIZE bytes, 1 to 8. */
static inline uint64_t tp_cursor_number(struct tp_cursor *cursor, unsigned size)
{
	uint64_t value = 0;
	if (size > (size_t)(cursor->end - cursor->at)) {
		tp_cursor_skip(cursor, size);
		return 0;
	}
	memcpy(&value, cursor->at, size);
	cursor->at += size;
	return value;
}

static inline uint64_t tp_cursor_uleb(struct tp_cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
		const uint8_t byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->bad = true;
	return 0;
}

static inline int64_t tp_cursor_sleb(struct tp_cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0; cursor->at < cursor->end;) {
		const uint8_t byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && byte & 0x40)
			value |= ~UINT64_C(0) << shift;
		return (int64_t)value;
	}
	cursor->bad = true;
	return 0;
}

#endif
