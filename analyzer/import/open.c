// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opening traces and what can become one. The reader of traces knows nothing of it.
#include "open.h"

int tp_import_open(struct tp_tracefile *trace, const char *file,
    const struct tp_original_options *original, const void *more, size_t more_size,
    struct tp_err *err)
{
	const struct tp_original_options none = {0};
	int code = tp_tracefile_begin(trace, file, err);
	trace->source.more = more;
	trace->source.more_size = more_size;
	if (!code)
		code = tp_original_open(&trace->source, original ? original : &none,
		    &trace->problems, &trace->notes, err);
	return code ? code : tp_tracefile_load(trace, err);
}
