// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Completion for zsh, by its _arguments.
#include "completion.h"

#include <string.h>

// ":MESSAGE:ACTION" of what a value can be.
static void add_action(
    struct tp_buf *out, const char *message, const struct tp_completion_value *value)
{
	tp_buf_add_char(out, ':');
	tp_completion_add(out, message, ":\\");
	tp_buf_add_char(out, ':');
	switch (value->kind) {
	case TP_COMPLETE_WORDS:
		tp_buf_addf(out, "(%s)", value->text);
		return;
	case TP_COMPLETE_FOLDERS:
		tp_buf_add_string(out, "_files -/");
		return;
	case TP_COMPLETE_FILES:
		if (value->text[0])
			tp_buf_addf(out, "_teeperf_files \"%s\"", value->text);
		else
			tp_buf_add_string(out, "_files");
		return;
	case TP_COMPLETE_PROGRAM:
		tp_buf_add_string(out, "_command_names -e");
		return;
	case TP_COMPLETE_NOTHING:
		tp_buf_add_char(out, ' ');
		return;
	}
}

static void add_option(struct tp_buf *out, const struct tp_completion *completion,
    const struct tp_command *command, const struct tp_option *option)
{
	char help[TP_COMPLETION_HELP];
	struct tp_completion_value value;
	const bool flag = option->type == TP_OPTION_BOOL;
	const bool repeats = option->type == TP_OPTION_LIST;
	const char *sign = flag ? "" : tp_completion_joined(option) ? "=-" : "=";
	tp_buf_add_string(out, " \\\n\t\t");
	if (option->letter && repeats)
		tp_buf_addf(out, "'*'{-%c+,--%s%s}'[", option->letter, option->name, sign);
	else if (option->letter)
		tp_buf_addf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name,
		    option->letter, flag ? "" : "+", option->name, sign);
	else
		tp_buf_addf(out, "'%s--%s%s[", repeats ? "*" : "", option->name, sign);
	tp_completion_add(out, tp_completion_help(help, option), "[]\\");
	tp_buf_add_char(out, ']');
	if (!flag) {
		tp_completion_value(completion, command, option, &value);
		if (tp_completion_joined(option))
			tp_buf_add_char(out, ':');
		add_action(out, option->argument ? option->argument : "value", &value);
	}
	tp_buf_add_char(out, '\'');
}

static void add_command(
    const struct tp_completion *completion, const struct tp_command *command, struct tp_buf *out)
{
	struct tp_completion_value operands;
	tp_completion_operands(command, &operands);
	tp_buf_addf(out, "\t'%s')\n\t\t_arguments -s -S :", command->name);
	for (const struct tp_option *option = command->options; option && option->type; option++)
		if (option->type != TP_OPTION_GROUP)
			add_option(out, completion, command, option);
	add_option(out, completion, command, &tp_completion_help_option);
	if (operands.kind == TP_COMPLETE_PROGRAM)
		tp_buf_add_string(out, " \\\n\t\t'(-)1:program:_command_names -e' "
				       "\\\n\t\t'*::arguments:_normal'");
	else if (operands.kind != TP_COMPLETE_NOTHING) {
		tp_buf_add_string(out, " \\\n\t\t'*");
		add_action(out, operands.kind == TP_COMPLETE_WORDS ? "word" : "file", &operands);
		tp_buf_add_char(out, '\'');
	}
	tp_buf_add_string(out, "\n\t\t;;\n");
}

static void add_commands(struct tp_buf *out, const struct tp_command *const *commands)
{
	for (; *commands; commands++) {
		tp_buf_addf(out, "\t\t\t'%s:", tp_completion_word(*commands));
		tp_completion_add(out, (*commands)->summary, "\\");
		tp_buf_add_string(out, "'\n");
	}
}

void tp_completion_zsh(const struct tp_completion *completion, struct tp_buf *out)
{
	tp_buf_add_string(out,
	    "#compdef teeperf\n"
	    "# Completion of teeperf for zsh, made by 'teeperf completion zsh'.\n"
	    "\n"
	    "# Files of a kind, or any if there are none.\n"
	    "_teeperf_files()\n"
	    "{\n"
	    "\t_files \"${@[1,-2]}\" -g \"${@[-1]}\" || _files \"${@[1,-2]}\"\n"
	    "}\n"
	    "\n"
	    "_teeperf_command()\n"
	    "{\n"
	    "\tcase $1 in\n");
	tp_completion_each(completion, add_command, out);
	tp_buf_add_string(out, "\tesac\n"
			       "}\n"
			       "\n"
			       "_teeperf()\n"
			       "{\n"
			       "\tlocal curcontext=$curcontext command=$words[2] state line\n"
			       "\tlocal -a commands\n"
			       "\tlocal -A opt_args\n"
			       "\tif (( CURRENT == 2 )) || [[ $command == help ]]; then\n"
			       "\t\tcommands=(\n");
	add_commands(out, completion->commands);
	tp_buf_add_string(out, "\t\t\t'help:explain a command'\n"
			       "\t\t\t'--version:print the version'\n"
			       "\t\t\t'--help:list all commands'\n"
			       "\t\t)\n"
			       "\t\t_describe -t commands 'teeperf command' commands\n"
			       "\t\treturn\n"
			       "\tfi\n"
			       "\tshift words\n"
			       "\t(( CURRENT-- ))\n"
			       "\tcase $command in\n");
	for (const struct tp_command *const *at = completion->commands; *at; at++) {
		if (!(*at)->commands)
			continue;
		tp_buf_addf(out, "\t%s)\n\t\tcommands=(\n", (*at)->name);
		add_commands(out, (*at)->commands);
		tp_buf_addf(out,
		    "\t\t)\n\t\tif (( CURRENT == 2 )); then\n"
		    "\t\t\t_describe -t commands 'teeperf %s command' commands\n"
		    "\t\t\treturn\n"
		    "\t\tfi\n"
		    "\t\tcommand+=\" $words[2]\"\n"
		    "\t\tshift words\n"
		    "\t\t(( CURRENT-- ))\n"
		    "\t\t;;\n",
		    (*at)->name);
	}
	tp_buf_add_string(out, "\tesac\n\t_teeperf_command \"$command\"\n}\n\n"
			       "if [[ $funcstack[1] == _teeperf ]]; then\n\t_teeperf \"$@\"\n"
			       "else\n\tcompdef _teeperf teeperf\nfi\n");
}
