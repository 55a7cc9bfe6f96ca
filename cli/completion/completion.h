/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Scripts by which shells complete command lines of teeperf, made from the tables of commands and
 * options. What a value or an operand can be is decided here (values.c); bash.c, zsh.c and fish.c
 * only say it in the shell's language.
 */
#ifndef TP_COMPLETION_H
#define TP_COMPLETION_H

#include "cli/command/command.h"

#include "common/buf.h"

/*
 * The words that an option of a command takes where its table does not have them. Lists end with no
 * option.
 */
struct tp_completion_set {
	const char *command; /* NULL: of each */
	const char *option;
	const char *(*word)(size_t i); /* NULL behind the last */
};

struct tp_completion {
	const struct tp_command *const *commands; /* NULL ends them */
	const struct tp_completion_set *sets;
};

enum tp_completion_kind {
	TP_COMPLETE_NOTHING = 0,
	TP_COMPLETE_WORDS, /* those of the text, with blanks between */
	TP_COMPLETE_FILES, /* with the glob of the text; "" any */
	TP_COMPLETE_FOLDERS,
	TP_COMPLETE_PROGRAM, /* a command, and its arguments */
};

struct tp_completion_value {
	enum tp_completion_kind kind;
	char text[1024];
};

/* What the option's value may be. */
void tp_completion_value(const struct tp_completion *completion, const struct tp_command *command,
    const struct tp_option *option, struct tp_completion_value *value);
void tp_completion_operands(const struct tp_command *command, struct tp_completion_value *value);
/* Whether the value can only be in the option's own word: --NAME=VALUE. */
static inline bool tp_completion_joined(const struct tp_option *option)
{
	return option->type == TP_OPTION_LEVEL || option->type == TP_OPTION_WORD;
}
/* The first part of the option's help. Returns text. */
enum { TP_COMPLETION_HELP = 96 };
const char *tp_completion_help(char text[TP_COMPLETION_HELP], const struct tp_option *option);
/* The last word of the command's name. */
const char *tp_completion_word(const struct tp_command *command);
/*
 * TEXT with a backslash before each of SPECIAL, for the inside of single quotes of any shell; a
 * quote becomes a typographic one.
 */
void tp_completion_add(struct tp_buf *out, const char *text, const char *special);
/* Call EACH for all commands that have options of their own, also those of groups. */
void tp_completion_each(const struct tp_completion *completion,
    void (*each)(const struct tp_completion *completion, const struct tp_command *command,
	struct tp_buf *out),
    struct tp_buf *out);
extern const struct tp_option tp_completion_help_option;

void tp_completion_bash(const struct tp_completion *completion, struct tp_buf *out);
void tp_completion_zsh(const struct tp_completion *completion, struct tp_buf *out);
void tp_completion_fish(const struct tp_completion *completion, struct tp_buf *out);

#endif
