/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A bounded cursor over untrusted bytes. A read beyond the end yields zeroes or NULL and sets
 * `underflow`, which stays set: read a whole structure, then check once. Little-endian.
 */
#ifndef TP_BYTES_H
#define TP_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_bytes {
	const uint8_t *data; /* the caller's; must outlive the cursor */
	size_t size;
	size_t at;      /* next byte to read, never above size */
	bool underflow; /* a read went beyond the end; sticky */
};

void tp_bytes_init(struct tp_bytes *bytes, const void *data, size_t size);
size_t tp_bytes_left(const struct tp_bytes *bytes);
/* The next SIZE bytes, in place; NULL if there are not as many. */
const void *tp_bytes_take(struct tp_bytes *bytes, size_t size);
/* Copy the next SIZE bytes to TO, or zeroes. */
void tp_bytes_copy(struct tp_bytes *bytes, void *to, size_t size);
uint32_t tp_bytes_u32(struct tp_bytes *bytes);
uint64_t tp_bytes_u64(struct tp_bytes *bytes);
/* The string up to the next NUL, in place, and move past the NUL; NULL if there is none. */
const char *tp_bytes_string(struct tp_bytes *bytes);

#endif
