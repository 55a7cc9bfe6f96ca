// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes as text.
#include "common/base64.h"

#include <stdint.h>

void tp_base64_add(struct tp_buf *out, const void *data, size_t size)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *bytes = data;
	char text[4096];
	size_t used = 0;
	for (size_t i = 0; i < size; i += 3) {
		const size_t left = size - i;
		const uint32_t group = (uint32_t)bytes[i] << 16 |
				       (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				       (left > 2 ? bytes[i + 2] : 0);
		text[used++] = letters[group >> 18];
		text[used++] = letters[group >> 12 & 63];
		text[used++] = left > 1 ? letters[group >> 6 & 63] : '=';
		text[used++] = left > 2 ? letters[group & 63] : '=';
		if (used == sizeof(text)) {
			tp_buf_add(out, text, used);
			used = 0;
		}
	}
	tp_buf_add(out, text, used);
}
