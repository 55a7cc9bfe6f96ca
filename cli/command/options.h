/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Command-line options as a typed table, from which parsing and --help both come.
 */
#ifndef TP_OPTIONS_H
#define TP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
	TP_OPTION_GROUP,  /* no option: what the rows after it need, and their heading */
};

enum { TP_OPTION_LIST_MOST = 16 };

/* Starts as {0}; its contents stay to the end of the process. */
struct tp_option_list {
	const char **items;
	uint32_t count;
	uint32_t room;
	uint32_t most; /* values that may be given; 0: TP_OPTION_LIST_MOST */
};

/* 0, or an exit code after a report: no memory. */
int tp_option_list_add(struct tp_option_list *list, const char *text);

struct tp_option {
	enum tp_option_type type;
	char letter;                /* 0: no short form */
	const char *name;           /* without dashes */
	const char *argument;       /* word for the argument in help: FILE, N; NULL for BOOL */
	const char *help;           /* one sentence, lower case, no full stop */
	void *value;                /* where it goes; holds the default beforehand */
	const char *const *choices; /* CHOICE: NULL-terminated words */
};

/* Rows of a table, which TP_OPT_END ends. */
#define TP_OPT_ROW(type, letter, name, value, choices, argument, help) \
	{                                                              \
		type, letter, name, argument, help, value, choices     \
	}
#define TP_OPT_BOOL(letter, name, value, help) \
	TP_OPT_ROW(TP_OPTION_BOOL, letter, name, value, NULL, NULL, help)
#define TP_OPT_STRING(letter, name, value, argument, help) \
	TP_OPT_ROW(TP_OPTION_STRING, letter, name, value, NULL, argument, help)
#define TP_OPT_LIST(letter, name, value, argument, help) \
	TP_OPT_ROW(TP_OPTION_LIST, letter, name, value, NULL, argument, help)
#define TP_OPT_CHOICE(letter, name, value, choices, argument, help) \
	TP_OPT_ROW(TP_OPTION_CHOICE, letter, name, value, choices, argument, help)
#define TP_OPT_SIZE(letter, name, value, argument, help) \
	TP_OPT_ROW(TP_OPTION_SIZE, letter, name, value, NULL, argument, help)
#define TP_OPT_COUNT(letter, name, value, argument, help) \
	TP_OPT_ROW(TP_OPTION_COUNT, letter, name, value, NULL, argument, help)
#define TP_OPT_WORD(name, value, argument, help) \
	TP_OPT_ROW(TP_OPTION_WORD, 0, name, value, NULL, argument, help)
#define TP_OPT_LEVEL(name, value, argument, help) \
	TP_OPT_ROW(TP_OPTION_LEVEL, 0, name, value, NULL, argument, help)
/* Rows that several commands have. */
#define TP_OPT_LIMIT(value)                   \
	TP_OPT_STRING(0, "limit", value, "N", \
	    "show at most N rows, or all if N is 0 (default: 40 in tables)")
#define TP_OPT_FULL_NAMES(value)               \
	TP_OPT_BOOL(0, "full-names", &(value), \
	    "do not shorten function names on a terminal: show parameters and template arguments")
#define TP_OPT_OUTPUT(value) \
	TP_OPT_STRING('o', "output", value, "OUT", "write to OUT instead of standard output")
/*
 * The rows after it, up to the next group, need one of NEEDS, which '|' parts: "--all" (an option
 * that is given), "--mode ring" (one with this value, given or by default), "PROGRAM" (an operand).
 * NULL: nothing.
 */
#define TP_OPT_NEEDS(needs) TP_OPT_ROW(TP_OPTION_GROUP, 0, "", NULL, NULL, needs, NULL)
/* The same, with a heading in help. */
#define TP_OPT_GROUP(heading, needs) TP_OPT_ROW(TP_OPTION_GROUP, 0, "", NULL, NULL, needs, heading)
#define TP_OPT_END                    \
	{                             \
		.type = TP_OPTION_END \
	}

/* Where a command has its options. */
enum tp_options_order {
	TP_OPTIONS_ANYWHERE = 0, /* before and behind operands, until "--" */
	TP_OPTIONS_FIRST,        /* the first operand, or "--", ends them */
	TP_OPTIONS_OWN, /* the command parses them itself; tp_options_parse takes them anywhere */
};

struct tp_command;

/*
 * Parse the options of the running command, and store them. *argc and *argv, which begin with its
 * name, are left at the operands. Handles -h and --help itself (prints help to stdout, returns 0
 * via *status). Returns true to go on; false when the command must return *status at once (0 after
 * help, 129 after wrong usage, which has then been reported to stderr with a hint at --help).
 * Accepts -o FILE, -oFILE, --output FILE, --output=FILE, unambiguous prefixes of long names.
 */
bool tp_options_parse(int *argc, char ***argv, int *status);

/* Print the command's help, made from its table, to stdout. */
void tp_options_help(const struct tp_command *command);

/* Report wrong usage on stderr ("teeperf record: ...", then the hint) and return 129. */
int tp_options_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* TEXT as a number of rows, or what it is WITHOUT one. False: it is no whole number. */
bool tp_parse_limit(const char *text, uint64_t without, uint64_t *limit);
/* TEXT as a number from 0 to MOST; without one *VALUE stays. False: it is none. */
bool tp_parse_real(const char *text, double most, double *value);
/* 0: it is no process id. */
pid_t tp_parse_pid(const char *text);

#endif
