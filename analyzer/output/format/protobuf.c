// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the wire format of protocol buffers.
#include "protobuf.h"

#include "common/clean.h"
#include "common/varint.h"

#include <string.h>

enum {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

// FIELD of type WIRE, and behind it a number.
static void add_tag(struct tp_buf *message, uint32_t field, uint32_t wire, uint64_t value)
{
	uint8_t bytes[2 * TP_VARINT_MAX];
	uint8_t *end = tp_varint_put(bytes, (uint64_t)field << 3 | wire);
	tp_buf_add(message, bytes, (size_t)(tp_varint_put(end, value) - bytes));
}

void tp_protobuf_add_number(struct tp_buf *message, uint32_t field, uint64_t value)
{
	add_tag(message, field, WIRE_VARINT, value);
}

void tp_protobuf_add_fixed64(struct tp_buf *message, uint32_t field, uint64_t value)
{
	uint8_t bytes[TP_VARINT_MAX + 8];
	uint8_t *end = tp_varint_put(bytes, (uint64_t)field << 3 | WIRE_FIXED64);
	for (uint32_t i = 0; i < 8; i++)
		*end++ = (uint8_t)(value >> (8 * i));
	tp_buf_add(message, bytes, (size_t)(end - bytes));
}

void tp_protobuf_add_bytes(struct tp_buf *message, uint32_t field, const void *bytes, size_t size)
{
	add_tag(message, field, WIRE_BYTES, size);
	tp_buf_add(message, bytes, size);
}

void tp_protobuf_add_text(struct tp_buf *message, uint32_t field, const char *text)
{
	add_tag(message, field, WIRE_BYTES, strlen(text));
	tp_buf_add_clean(message, text); // as long as TEXT
}

void tp_protobuf_add_part(struct tp_buf *message, uint32_t field, struct tp_buf *part)
{
	if (part->failed)
		message->failed = true;
	tp_protobuf_add_bytes(message, field, part->data, part->size);
	tp_buf_reset(part);
}
