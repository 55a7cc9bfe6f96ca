// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No logs of the original TEE-Perf, whose names take the analyzer's search for symbols: they are no traces here. In
// place of analyzer/original_trace.c.
#include "analyzer/original_trace.h"

int tp_original_open(struct tp_source *source, const struct tp_original_options *options,
    struct tp_problems *problems, struct tp_problems *notes, struct tp_err *err)
{
	(void)source;
	(void)options;
	(void)problems;
	(void)notes;
	(void)err;
	return 0;
}
