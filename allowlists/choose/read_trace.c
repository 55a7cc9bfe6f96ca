// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, opened and analysed for the chooser.
#include "allowlists/choose/generate_internal.h"

#include "analyzer/import/open.h"

#include <string.h>

static void move_problems(struct tp_problems *to, const struct tp_problems *from)
{
	const uint32_t kept = tp_problems_kept(from);
	for (uint32_t i = 0; i < kept; i++) {
		const struct tp_err *err = &from->kept[i];
		tp_problems_add(to, err->code, err->file, err->offset, "%s", err->what);
	}
}

int tp_read_trace(struct tp_read_trace *read, struct tp_generated *generated, const char *file,
    struct tp_err *err)
{
	memset(read, 0, sizeof(*read));
	read->trace.source.fd = -1;
	const struct tp_analysis_options options = {
	    .symbols.debug_dirs = generated->options.debug_dirs,
	    .symbols.debug_dir_count = generated->options.debug_dir_count,
	};
	const struct tp_original_options original = {
	    .programs = generated->options.programs,
	    .program_count = generated->options.program_count,
	    .symbols = options.symbols,
	};
	int code = tp_import_open(&read->trace, file, &original, NULL, 0, err);
	move_problems(&generated->damage, &read->trace.problems);
	move_problems(&generated->notes, &read->trace.notes);
	if (code)
		return code;
	code = tp_analysis_init(&read->analysis, &read->trace, &options, err);
	move_problems(&generated->damage, &read->analysis.damage);
	move_problems(&generated->notes, &read->analysis.notes);
	if (!code && read->analysis.lost)
		tp_problems_add(&generated->notes, TP_ERR_TRUNCATED, file, TP_ERR_NO_OFFSET,
		    "lost %llu events, so that calls and times are too low: record again with a "
		    "larger --size",
		    (unsigned long long)read->analysis.lost);
	return code;
}

void tp_read_trace_release(struct tp_read_trace *read)
{
	tp_analysis_release(&read->analysis);
	tp_tracefile_close(&read->trace);
}
