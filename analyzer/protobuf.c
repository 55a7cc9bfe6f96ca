// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the wire format of protocol buffers.
#include "protobuf.h"

#include "common/clean.h"

#include <string.h>

enum {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
};

#define VARINT_MAX 10 // bytes

static size_t put_varint(unsigned char *at, uint64_t value)
{
	size_t size = 0;
	for (; value >= 0x80; value >>= 7)
		at[size++] = (unsigned char)(value | 0x80);
	at[size++] = (unsigned char)value;
	return size;
}

static size_t put_tag(unsigned char *at, uint32_t field, uint32_t wire)
{
	return put_varint(at, (uint64_t)field << 3 | wire);
}

void tp_protobuf_add_varint(struct tp_buf *message, uint64_t value)
{
	unsigned char bytes[VARINT_MAX];
	tp_buf_add(message, bytes, put_varint(bytes, value));
}

void tp_protobuf_add_number(struct tp_buf *message, uint32_t field, uint64_t value)
{
	unsigned char bytes[2 * VARINT_MAX];
	size_t size = put_tag(bytes, field, WIRE_VARINT);
	size += put_varint(bytes + size, value);
	tp_buf_add(message, bytes, size);
}

static void add_length(struct tp_buf *message, uint32_t field, size_t size)
{
	unsigned char bytes[2 * VARINT_MAX];
	size_t used = put_tag(bytes, field, WIRE_BYTES);
	used += put_varint(bytes + used, size);
	tp_buf_add(message, bytes, used);
}

void tp_protobuf_add_bytes(struct tp_buf *message, uint32_t field, const void *bytes, size_t size)
{
	add_length(message, field, size);
	tp_buf_add(message, bytes, size);
}

void tp_protobuf_add_text(struct tp_buf *message, uint32_t field, const char *text)
{
	add_length(message, field, strlen(text));
	tp_buf_add_clean(message, text); // as long as TEXT
}

void tp_protobuf_add_part(struct tp_buf *message, uint32_t field, struct tp_buf *part)
{
	if (part->failed)
		message->failed = true;
	tp_protobuf_add_bytes(message, field, part->data, part->size);
	tp_buf_reset(part);
}
