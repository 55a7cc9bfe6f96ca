/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A subcommand is one file cli/cmd_NAME.c that defines `const struct tp_command tp_cmd_NAME`; the
 * build collects them into a table. It needs docs/man/teeperf-NAME.1 and a test beside it.
 */
#ifndef TP_COMMAND_H
#define TP_COMMAND_H

#include "options.h"

#include "common/err.h"

/* Exit codes besides the recorded program's own. */
enum {
	TP_EXIT_DONE = 0,
	TP_EXIT_FAILED = 1,
	TP_EXIT_USAGE = 129,
};

struct tp_command {
	const char *name;
	const char *summary;     /* one line for the list of commands and the man page's NAME */
	const char *usage;       /* after "teeperf NAME ", e.g. "[options] FILE" */
	const char *description; /* a paragraph or two for --help; lines end in \n */
	const char *examples;    /* lines of example commands for --help, or NULL */
	const struct tp_option *options; /* ended by type TP_OPTION_END; NULL for none */
	/* argv[0] is the command's name. Returns the exit code. */
	int (*run)(int argc, char **argv);
};

/* Report "teeperf COMMAND: ERROR" on stderr; returns TP_EXIT_FAILED. */
int tp_command_fail(const struct tp_command *command, const struct tp_err *err);

/* Forget what standard output did not take: the command tells of it, and main() is not to do so again. */
void tp_command_drop_output(void);

/* "teeperf COMMAND: warning: ..." on stderr. */
/* Tell such a one as compilers do, so that editors find the place: FILE:LINE:COLUMN: SEVERITY: ... */
void tp_command_tell_place(const struct tp_err *err, const char *severity);

void tp_command_warn(const struct tp_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
