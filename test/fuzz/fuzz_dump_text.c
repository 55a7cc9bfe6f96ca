// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text as a trace: what assembles must come back from its dump byte by byte.
#include "analyzer/trace/text/dump_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_buf trace;
	struct tp_buf text;
	struct tp_buf again;
	struct tp_err err;
	static struct tp_problems problems;
	tp_buf_init(&trace);
	tp_buf_init(&text);
	tp_buf_init(&again);
	problems.count = 0;
	if (tp_dump_assemble((const char *)data, size, "fuzz", &trace, &err) == 0) {
		struct tp_source source;
		tp_source_from_memory(&source, "fuzz", trace.data, trace.size);
		if (tp_dump_text(&source, &text, &problems, &err) == 0 &&
		    (tp_dump_assemble(text.data, text.size, "dump", &again, &err) != 0 ||
			again.size != trace.size ||
			memcmp(again.data, trace.data, trace.size) != 0))
			abort();
	}
	tp_buf_release(&trace);
	tp_buf_release(&text);
	tp_buf_release(&again);
	return 0;
}
