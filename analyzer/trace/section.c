// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sections of a trace file that is made in memory.
#include "section.h"

#include <teeperf/trace.h>

#include "common/chunks/checksum.h"

void tp_trace_section_add(struct tp_buf *out, uint32_t type, const void *payload, uint64_t size)
{
	const struct teeperf_section header = {
	    .magic = TEEPERF_SECTION_MAGIC,
	    .type = type,
	    .size = size,
	    .checksum = tp_checksum(payload, size),
	};
	tp_buf_add(out, &header, sizeof(header));
	tp_buf_add(out, payload, size);
	tp_buf_add(out, "\0\0\0\0\0\0\0", (8 - size % 8) % 8);
}

void tp_trace_section_put(struct tp_buf *out, uint32_t type, struct tp_buf *payload)
{
	tp_trace_section_add(out, type, payload->data, payload->size);
	out->failed |= payload->failed;
	tp_buf_reset(payload);
}
