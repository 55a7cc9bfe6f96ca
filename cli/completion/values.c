// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the values of options and the operands of commands can be, by the tables and by the words
// that stand for them.
#include "completion.h"

#include <stdio.h>
#include <string.h>

const struct tp_option tp_completion_help_option =
    TP_OPT_BOOL('h', "help", NULL, "show this help and exit");

// What the word for an argument says. The option's name counts first.
static const struct {
	const char *option;
	const char *argument;
	enum tp_completion_kind kind;
	const char *text;
} kinds[] = {
    {"columns", NULL, TP_COMPLETE_NOTHING, ""},
    {"counters", NULL, TP_COMPLETE_NOTHING, ""},
    {"events", NULL, TP_COMPLETE_WORDS, "sched syscalls io faults mem sgx"},
    {"build", NULL, TP_COMPLETE_NOTHING, ""},
    {"output", "DIR", TP_COMPLETE_FOLDERS, ""},
    {"output", NULL, TP_COMPLETE_FILES, ""},
    {"program", NULL, TP_COMPLETE_FILES, ""},
    {"costs", NULL, TP_COMPLETE_FILES, "*.trace*"},
    {"allowlist", NULL, TP_COMPLETE_FILES, "*.allow"},
    {NULL, "DIR", TP_COMPLETE_FOLDERS, ""},
    {NULL, "DIR|none", TP_COMPLETE_FOLDERS, ""},
    {NULL, "FILE", TP_COMPLETE_FILES, ""},
    {NULL, "OUT", TP_COMPLETE_FILES, ""},
    {NULL, "OTHER", TP_COMPLETE_FILES, "*.trace*"},
    {NULL, "TRACE", TP_COMPLETE_FILES, "*.trace*"},
    {NULL, "LIST", TP_COMPLETE_FILES, "*.allow"},
};

static void add_word(struct tp_completion_value *value, const char *word, size_t length)
{
	const size_t used = strlen(value->text);
	if (used + length + 2 <= sizeof(value->text))
		snprintf(value->text + used, sizeof(value->text) - used, "%s%.*s", used ? " " : "",
		    (int)length, word);
}

// Whether the word for the argument is a list of what it can be: "warn|off".
static bool is_alternatives(const char *argument)
{
	return argument && strchr(argument, '|') &&
	       !argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789-|")];
}

void tp_completion_value(const struct tp_completion *completion, const struct tp_command *command,
    const struct tp_option *option, struct tp_completion_value *value)
{
	*value = (struct tp_completion_value){.kind = TP_COMPLETE_WORDS};
	for (const char *const *word = option->choices; word && *word; word++)
		add_word(value, *word, strlen(*word));
	for (const struct tp_completion_set *set = completion->sets; set->option; set++) {
		if (strcmp(set->option, option->name) != 0 ||
		    (set->command && strcmp(set->command, command->name) != 0))
			continue;
		for (size_t i = 0; set->word(i); i++)
			add_word(value, set->word(i), strlen(set->word(i)));
	}
	if (value->text[0])
		return;
	if (is_alternatives(option->argument)) {
		for (const char *at = option->argument;; at++) {
			const size_t length = strcspn(at, "|");
			add_word(value, at, length);
			at += length;
			if (!*at)
				return;
		}
	}
	value->kind = TP_COMPLETE_NOTHING;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((kinds[i].option && strcmp(kinds[i].option, option->name) != 0) ||
		    (kinds[i].argument &&
			(!option->argument || strcmp(kinds[i].argument, option->argument) != 0)))
			continue;
		value->kind = kinds[i].kind;
		add_word(value, kinds[i].text, strlen(kinds[i].text));
		return;
	}
}

void tp_completion_operands(const struct tp_command *command, struct tp_completion_value *value)
{
	const char *operands = command->operands;
	*value = (struct tp_completion_value){.kind = TP_COMPLETE_FILES};
	if (!operands)
		return;
	if (!strcmp(operands, TP_OPERANDS_NONE))
		value->kind = TP_COMPLETE_NOTHING;
	else if (!strcmp(operands, TP_OPERANDS_FOLDERS))
		value->kind = TP_COMPLETE_FOLDERS;
	else if (!strcmp(operands, TP_OPERANDS_PROGRAM))
		value->kind = TP_COMPLETE_PROGRAM;
	else if (operands[0] != '*')
		value->kind = TP_COMPLETE_WORDS;
	if (operands[0] == '*' || value->kind == TP_COMPLETE_WORDS)
		add_word(value, operands, strlen(operands));
}

const char *tp_completion_help(char text[TP_COMPLETION_HELP], const struct tp_option *option)
{
	size_t length = strcspn(option->help, ";:(");
	if (length >= TP_COMPLETION_HELP) {
		length = TP_COMPLETION_HELP - 1;
		while (length && option->help[length] != ' ')
			length--;
	}
	while (length && strchr(" ,", option->help[length - 1]))
		length--;
	snprintf(text, TP_COMPLETION_HELP, "%.*s", (int)length, option->help);
	return text;
}

const char *tp_completion_word(const struct tp_command *command)
{
	const char *blank = strrchr(command->name, ' ');
	return blank ? blank + 1 : command->name;
}

void tp_completion_add(struct tp_buf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			tp_buf_add_string(out, "’");
			continue;
		}
		if (strchr(special, *text))
			tp_buf_add_char(out, '\\');
		tp_buf_add_char(out, *text);
	}
}

void tp_completion_each(const struct tp_completion *completion,
    void (*each)(const struct tp_completion *completion, const struct tp_command *command,
	struct tp_buf *out),
    struct tp_buf *out)
{
	for (const struct tp_command *const *at = completion->commands; *at; at++) {
		if (!(*at)->commands)
			each(completion, *at, out);
		for (const struct tp_command *const *sub = (*at)->commands; sub && *sub; sub++)
			each(completion, *sub, out);
	}
}
