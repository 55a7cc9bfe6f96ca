// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Completion for fish 3 and later.
#include "completion.h"

// How a value that is no flag's is completed. OPERANDS: words of the command itself.
static void add_action(struct tp_buf *out, const struct tp_completion_value *value, bool operands)
{
	const char *only =
	    operands ? "-f" : "-x"; // no files, and, of an option, a value must follow
	switch (value->kind) {
	case TP_COMPLETE_WORDS:
		tp_buf_addf(out, " %s -a '%s'", only, value->text);
		return;
	case TP_COMPLETE_FOLDERS:
		tp_buf_addf(out, " %s -a '(__fish_complete_directories)'", only);
		return;
	case TP_COMPLETE_FILES:
		if (value->text[0])
			tp_buf_addf(out, " %s -a '(__teeperf_files \"%s\")'", only, value->text);
		else
			tp_buf_add_string(out, operands ? " -F" : " -r -F");
		return;
	case TP_COMPLETE_PROGRAM:
		tp_buf_addf(out, " %s -a '(__fish_complete_subcommand --fcs-skip=2)'", only);
		return;
	case TP_COMPLETE_NOTHING:
		tp_buf_addf(out, " %s", only);
		return;
	}
}

static void add_option(struct tp_buf *out, const struct tp_completion *completion,
    const struct tp_command *command, const struct tp_option *option)
{
	char help[TP_COMPLETION_HELP];
	struct tp_completion_value value;
	tp_buf_addf(out, "complete -c teeperf -n '__teeperf_in %s'", command->name);
	if (option->letter)
		tp_buf_addf(out, " -s %c", option->letter);
	tp_buf_addf(out, " -l %s -d '", option->name);
	tp_completion_add(out, tp_completion_help(help, option), "\\");
	tp_buf_add_char(out, '\'');
	if (option->type != TP_OPTION_BOOL && !tp_completion_joined(option)) {
		tp_completion_value(completion, command, option, &value);
		add_action(out, &value, false);
	}
	tp_buf_add_char(out, '\n');
}

static void add_command(
    const struct tp_completion *completion, const struct tp_command *command, struct tp_buf *out)
{
	struct tp_completion_value operands;
	tp_completion_operands(command, &operands);
	tp_buf_addf(out, "complete -c teeperf -n '__teeperf_in %s'", command->name);
	add_action(out, &operands, true);
	tp_buf_add_char(out, '\n');
	for (const struct tp_option *option = command->options; option && option->type; option++)
		if (option->type != TP_OPTION_GROUP)
			add_option(out, completion, command, option);
	add_option(out, completion, command, &tp_completion_help_option);
}

static void add_commands(
    struct tp_buf *out, const struct tp_command *const *commands, const char *parent)
{
	for (; *commands; commands++) {
		tp_buf_addf(out, "complete -c teeperf -n '__teeperf_at%s' -a '%s' -d '", parent,
		    tp_completion_word(*commands));
		tp_completion_add(out, (*commands)->summary, "\\");
		tp_buf_add_string(out, "'\n");
	}
}

void tp_completion_fish(const struct tp_completion *completion, struct tp_buf *out)
{
	tp_buf_add_string(out,
	    "# Completion of teeperf for fish, made by 'teeperf completion fish'.\n"
	    "\n"
	    "# Whether the words so far are these.\n"
	    "function __teeperf_at\n"
	    "\tset -l words (commandline -opc)\n"
	    "\ttest \"$words[2..-1]\" = \"$argv\"; "
	    "and test (count $words) -eq (math 1 + (count $argv))\n"
	    "end\n"
	    "# Whether they begin so.\n"
	    "function __teeperf_in\n"
	    "\tset -l words (commandline -opc)\n"
	    "\tset -l last (math 1 + (count $argv))\n"
	    "\ttest (count $words) -ge $last; and test \"$words[2..$last]\" = \"$argv\"\n"
	    "end\n"
	    "# Files of a kind and folders, or any files if there are none.\n"
	    "function __teeperf_files\n"
	    "\tset -l found (string match -- $argv[1] (__fish_complete_path (commandline -ct) "
	    "| string split -f 1 \\t))\n"
	    "\tset -q found[1]; and printf '%s\\n' $found; and __fish_complete_directories; "
	    "and return\n"
	    "\t__fish_complete_path (commandline -ct)\n"
	    "end\n"
	    "\n"
	    "complete -c teeperf -f\n"
	    "complete -c teeperf -n __teeperf_at -l version -d 'print the version'\n"
	    "complete -c teeperf -n __teeperf_at -s h -l help -d 'list all commands'\n"
	    "complete -c teeperf -n __teeperf_at -a help -d 'explain a command'\n");
	add_commands(out, completion->commands, "");
	add_commands(out, completion->commands, " help");
	for (const struct tp_command *const *at = completion->commands; *at; at++) {
		char parent[32];
		if (!(*at)->commands)
			continue;
		snprintf(parent, sizeof(parent), " %s", (*at)->name);
		add_commands(out, (*at)->commands, parent);
	}
	tp_completion_each(completion, add_command, out);
}
