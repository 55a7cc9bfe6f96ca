/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A subcommand is one file cli/cmd_NAME.c that defines `const struct tp_command tp_cmd_NAME`; the
 * build collects them into a table. It needs docs/man/teeperf-NAME.1 and a test beside it. A
 * command with subcommands has a table of its own, of files cli/COMMAND/cmd_NAME.c with `const
 * struct tp_command tp_COMMAND_NAME` whose name is "COMMAND NAME".
 */
#ifndef TP_COMMAND_H
#define TP_COMMAND_H

#include "options.h"
#include "terminal.h"

#include "common/err.h"

#include <limits.h>
#include <stdio.h>

/* Exit codes besides the recorded program's own. */
enum {
	TP_EXIT_DONE = 0,
	TP_EXIT_FAILED = 1,
	TP_EXIT_USAGE = 129,
};

#define TP_OPERANDS_TRACES "*.trace*"
#define TP_OPERANDS_LISTS "*.allow"
#define TP_OPERANDS_FOLDERS "/"
#define TP_OPERANDS_PROGRAM "!" /* a command line of its own */
#define TP_OPERANDS_NONE ""

struct tp_command {
	const char *name;
	const char *summary; /* one line for the list of commands and the man page's NAME */
	const char *usage;   /* after "teeperf NAME ", e.g. "[options] FILE" */
	/* what shells complete them to: TP_OPERANDS_..., a glob, words; NULL: files */
	const char *operands;
	const char *description;         /* a paragraph or two for --help; lines end in \n */
	const char *examples;            /* lines of example commands for --help, or NULL */
	const struct tp_option *options; /* ended by type TP_OPTION_END; NULL for none */
	enum tp_options_order order;
	const struct tp_command *const *commands; /* that it has, ended by NULL; NULL: none */
	/*
	 * Gets its operands; with TP_OPTIONS_OWN all words, of which the first is its name. Returns
	 * the exit code.
	 */
	int (*run)(int argc, char **argv);
};

/* The one that runs: errors and warnings are its. */
extern const struct tp_command *tp_command_running;

/* Run COMMAND with its name and the words behind that. Returns the exit code. */
int tp_command_run(const struct tp_command *command, int argc, char **argv);

/* Report "teeperf COMMAND: ERROR" on stderr; returns TP_EXIT_FAILED. */
int tp_command_fail(const struct tp_err *err);

/* The same of an error without a place in the file; FILE may be NULL. */
int tp_command_refuse(int code, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Forget what standard output did not take: the command tells of it, and main() is not to do so
 * again.
 */
void tp_command_drop_output(void);

/*
 * Tell such a one as compilers do, so that editors find the place: FILE:LINE:COLUMN: SEVERITY: ...
 */
void tp_command_tell_place(const struct tp_err *err, const char *severity);

/* No warnings are wanted: set by a command whose user says so. */
extern bool tp_command_no_warnings;
/* "teeperf COMMAND: warning: ..." on stderr. */
void tp_command_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for each of the LINES, which end in \n. */
void tp_command_warn_lines(const char *lines);
/* "teeperf COMMAND: ..." on stderr, without an end of the line. */
void tp_command_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The path NAME as a terminal may see it. Returns text. */
const char *tp_shown_name(char text[PATH_MAX], const char *name);

/*
 * The command of PARENT's table, which NULL ends, that WORD calls; NULL if there is none, which has
 * been reported: wrong usage.
 */
const struct tp_command *tp_command_find(
    const char *parent, const struct tp_command *const *table, const char *word);

/* A line for each command: its word and its summary. */
void tp_command_list(const struct tp_command *const *table, FILE *to);

/*
 * Run of a command that has commands of its own: the one that ARGV[1] names. Returns its exit code.
 */
int tp_command_group(int argc, char **argv);

/*
 * The trace that is meant when none is named: the one that 'teeperf record' writes when it is given
 * no name.
 */
#define TP_DEFAULT_TRACE "teeperf.trace"

/*
 * If there is no argument and TP_DEFAULT_TRACE is in this folder, let *argv be that one. Several
 * are wrong usage, as ONLY_ONE says; NULL: they are not. Returns an exit code: on anything but
 * TP_EXIT_DONE an error has been printed.
 */
int tp_default_trace(int *argc, char ***argv, const char *only_one);

enum { TP_SHELL_WORD_SIZE = 4 * PATH_MAX + 8 };

/*
 * A file's NAME, in a command that is shown to be typed or pasted, as one word of a shell, and no
 * option: in quotes if it needs them, with ./ if it begins with a dash. Control characters are '?',
 * as a terminal must not see them. A text longer than any path is cut. Returns text.
 */
const char *tp_shell_word(char text[TP_SHELL_WORD_SIZE], const char *name);

/*
 * What differs between the complete command and the recorder for targets, which is linked without
 * the analyzer: that one takes the files of target/ in place of those of cli/ that are named there.
 */
struct tp_edition {
	const char *summary;       /* the command in one line */
	const char *start;         /* the end of the list of commands; lines end in \n */
	const char *const *first;  /* commands to begin with, ended by NULL */
	const char *unknown;       /* printed after an unknown command; "" or a line */
	const char *next;          /* before the command line that a recording goes on with */
	const char *no_inventory;  /* after a program's name: why its inventory is not known */
	const char *get_inventory; /* "" or what to do about it, after a semicolon */
};

extern const struct tp_edition tp_edition;

#endif
