/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sections of a trace file that is made in memory. */
#ifndef TP_TRACE_SECTION_H
#define TP_TRACE_SECTION_H

#include <stdint.h>

#include "common/buf.h"

/* Add a section (docs/format.md) of `size` bytes to OUT, with its checksum and what fills it up to a multiple of 8. */
void tp_trace_section_add(struct tp_buf *out, uint32_t type, const void *payload, uint64_t size);
/* The same with what is in PAYLOAD, which is empty then. If that has failed, so has OUT. */
void tp_trace_section_put(struct tp_buf *out, uint32_t type, struct tp_buf *payload);

#endif
