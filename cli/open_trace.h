/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What analyze and export share: open a trace, analyse it, say what is wrong with it, write out. */
#ifndef TP_OPEN_TRACE_H
#define TP_OPEN_TRACE_H

#include "analyzer/analysis.h"
#include "cli/command.h"
#include "common/buf.h"

#define TP_DEBUG_DIRS_MAX 16

struct tp_open_options {
	bool compensate;                     /* see tp_analysis_options */
	const char *thread;                  /* number as text, NULL: all */
	const char *dirs[TP_DEBUG_DIRS_MAX]; /* --debug-dir */
	struct tp_option_list debug_dirs;
};

struct tp_open_trace {
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	bool damaged; /* exit with TP_EXIT_FAILED in the end, though there are results */
};

/*
 * Open and analyse FILE, with progress on a terminal, and print its problems as warnings. Returns
 * an exit code: on anything but TP_EXIT_DONE an error has been printed. Release it in any case.
 */
int tp_open_trace(struct tp_open_trace *open, const struct tp_command *command, const char *file,
    const struct tp_open_options *options);
void tp_open_trace_release(struct tp_open_trace *open);

/* What a heading would say of the clock and of what limits the numbers, on standard error. */
void tp_open_trace_warn(const struct tp_open_trace *open, const struct tp_command *command);

/* Write BUF to PATH, or to standard output if it is NULL or "-". Returns an exit code. */
int tp_write_out(const struct tp_command *command, const struct tp_buf *buf, const char *path);

#endif
