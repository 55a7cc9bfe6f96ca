/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Protocol buffers, written field by field, by the chapter "Encoding" of their specification.
 * A message that is part of another is made in a tp_buf of its own, then added and reset. Fields
 * that are 0 are written, too: do not add fields that are not wanted.
 */
#ifndef TP_PROTOBUF_H
#define TP_PROTOBUF_H

#include "common/buf.h"

#include <stdint.h>

/*
 * Fields of type uint32, uint64, int32, int64, bool, enum; negative numbers as (uint64_t)(int64_t).
 */
void tp_protobuf_add_number(struct tp_buf *message, uint32_t field, uint64_t value);
void tp_protobuf_add_fixed64(struct tp_buf *message, uint32_t field, uint64_t value);
/* string, bytes, messages, packed fields */
void tp_protobuf_add_bytes(struct tp_buf *message, uint32_t field, const void *bytes, size_t size);
/* A string field has to be UTF-8, or readers refuse the whole: other bytes become '?'. */
void tp_protobuf_add_text(struct tp_buf *message, uint32_t field, const char *text);
/* Add PART, a message or a packed field, and reset it; if it failed, so has MESSAGE. */
void tp_protobuf_add_part(struct tp_buf *message, uint32_t field, struct tp_buf *part);

#endif
