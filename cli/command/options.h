/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Command-line options as a typed table, from which parsing and --help both come.
 */
#ifndef TP_OPTIONS_H
#define TP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum tp_option_type {
	TP_OPTION_END = 0,
	TP_OPTION_BOOL,   /* bool *: --name sets true, --no-name false */
	TP_OPTION_STRING, /* const char ** */
	TP_OPTION_LIST,   /* struct tp_option_list *: may be given several times */
	TP_OPTION_CHOICE, /* int *: one of `choices`; its index is stored */
	TP_OPTION_SIZE,   /* uint64_t *: bytes, with suffix K, M, G (powers of 1024) */
	TP_OPTION_COUNT,  /* uint64_t *: a whole number */
	TP_OPTION_WORD,   /* const char **: --name=TEXT, or --name alone for ""; has no letter */
	TP_OPTION_LEVEL,  /* uint64_t *: --name=N, or --name alone for 1; has no letter */
};

struct tp_option_list {
	const char **items; /* caller's array */
	uint32_t capacity;
	uint32_t count;
};

struct tp_option {
	enum tp_option_type type;
	char letter;                /* 0: no short form */
	const char *name;           /* without dashes */
	const char *argument;       /* word for the argument in help: FILE, N; NULL for BOOL */
	const char *help;           /* one sentence, lower case, no full stop */
	void *value;                /* where it goes; holds the default beforehand */
	const char *const *choices; /* CHOICE: NULL-terminated words */
};

struct tp_command;

/*
 * Parse the options that precede the first operand or "--", and store them. *argc and *argv are left
 * at the first operand. Handles -h and --help itself (prints help to stdout, returns 0 via *status).
 * Returns true to go on; false when the command must return *status at once (0 after help, 129
 * after wrong usage, which has then been reported to stderr with a hint at --help).
 * Accepts -o FILE, -oFILE, --output FILE, --output=FILE, unambiguous prefixes of long names.
 * With `interleave`, options may also follow operands (until "--"); else the first operand ends them.
 */
bool tp_options_parse(
    const struct tp_command *command, int *argc, char ***argv, bool interleave, int *status);

/* Print the command's help, made from its table, to stdout. */
void tp_options_help(const struct tp_command *command);

/* Report wrong usage on stderr ("teeperf record: ...", then the hint) and return 129. */
int tp_options_usage(const struct tp_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
