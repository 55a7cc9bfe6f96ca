// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bounded cursor over untrusted bytes.
#include "bytes.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the file formats are little-endian and need a little-endian host"
#endif

void tp_bytes_init(struct tp_bytes *bytes, const void *data, size_t size)
{
	*bytes = (struct tp_bytes){.data = data, .size = size};
}

size_t tp_bytes_left(const struct tp_bytes *bytes)
{
	return bytes->size - bytes->at;
}

const void *tp_bytes_take(struct tp_bytes *bytes, size_t size)
{
	if (size > tp_bytes_left(bytes)) {
		bytes->underflow = true;
		bytes->at = bytes->size;
		return NULL;
	}
	const void *data = bytes->data + bytes->at;
	bytes->at += size;
	return data;
}

void tp_bytes_copy(struct tp_bytes *bytes, void *to, size_t size)
{
	const void *from = tp_bytes_take(bytes, size);
	if (from)
		memcpy(to, from, size);
	else
		memset(to, 0, size);
}

uint32_t tp_bytes_u32(struct tp_bytes *bytes)
{
	uint32_t value;
	tp_bytes_copy(bytes, &value, sizeof(value));
	return value;
}

uint64_t tp_bytes_u64(struct tp_bytes *bytes)
{
	uint64_t value;
	tp_bytes_copy(bytes, &value, sizeof(value));
	return value;
}

const char *tp_bytes_string(struct tp_bytes *bytes)
{
	const size_t left = tp_bytes_left(bytes);
	const char *text = left ? (const char *)bytes->data + bytes->at : NULL;
	const char *end = left ? memchr(text, '\0', left) : NULL;
	if (!end) {
		bytes->underflow = true;
		bytes->at = bytes->size;
		return NULL;
	}
	bytes->at += (size_t)(end - text) + 1;
	return text;
}
