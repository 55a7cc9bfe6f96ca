/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* teeperf tui, as the command calls it. */
#ifndef TP_TUI_RUN_H
#define TP_TUI_RUN_H

#include "cli/analyze/open_trace.h"

struct tp_tui_options {
	const struct tp_open_options *open;
	bool follow; /* a trace that is being recorded */
	uint64_t interval_ms;
	bool mouse;
};

/*
 * Show WHAT, a trace or the process id of a recording, until the user leaves. Returns an exit code.
 */
int tp_tui_run(const char *what, const struct tp_tui_options *options);

#endif
