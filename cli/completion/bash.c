// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Completion for bash 4 and later: works alone, and takes _command_offset of bash-completion where
// that is loaded.
#include "completion.h"

// What a value can be is one word in the script: its first letter says which kind.
static void add_value(struct tp_buf *out, const struct tp_completion_value *value)
{
	static const char letters[] = {
	    [TP_COMPLETE_NOTHING] = '-',
	    [TP_COMPLETE_WORDS] = '=',
	    [TP_COMPLETE_FILES] = '*',
	    [TP_COMPLETE_FOLDERS] = '/',
	    [TP_COMPLETE_PROGRAM] = '!',
	};
	tp_buf_addf(out, "'%c%s'", letters[value->kind], value->text);
}

static void add_case(struct tp_buf *out, const struct tp_completion *completion,
    const struct tp_command *command, const struct tp_option *option)
{
	struct tp_completion_value value;
	if (option->type == TP_OPTION_BOOL || option->type == TP_OPTION_GROUP)
		return;
	tp_completion_value(completion, command, option, &value);
	tp_buf_add_string(out, "\t\t");
	if (option->letter)
		tp_buf_addf(out, "-%c | ", option->letter);
	tp_buf_addf(out, "--%s%s) what=", option->name, tp_completion_joined(option) ? "=" : "");
	add_value(out, &value);
	tp_buf_add_string(out, " ;;\n");
}

static void add_command(
    const struct tp_completion *completion, const struct tp_command *command, struct tp_buf *out)
{
	struct tp_completion_value operands;
	tp_completion_operands(command, &operands);
	tp_buf_addf(out, "\t'%s')\n\t\toptions='", command->name);
	for (const struct tp_option *option = command->options; option && option->type; option++)
		if (option->type != TP_OPTION_GROUP)
			tp_buf_addf(out, "--%s ", option->name);
	tp_buf_add_string(out, "--help'\n\t\tvalued=' ");
	for (const struct tp_option *option = command->options; option && option->type; option++) {
		if (option->type == TP_OPTION_BOOL || option->type == TP_OPTION_GROUP ||
		    tp_completion_joined(option))
			continue;
		tp_buf_addf(out, "--%s ", option->name);
		if (option->letter)
			tp_buf_addf(out, "-%c ", option->letter);
	}
	tp_buf_add_string(out, "'\n\t\toperands=");
	add_value(out, &operands);
	tp_buf_add_string(out, "\n\t\tcase $option in\n");
	for (const struct tp_option *option = command->options; option && option->type; option++)
		add_case(out, completion, command, option);
	tp_buf_add_string(out, "\t\tesac\n\t\t;;\n");
}

static void add_words(struct tp_buf *out, const struct tp_command *const *commands)
{
	for (; *commands; commands++)
		tp_buf_addf(out, " %s", tp_completion_word(*commands));
}

static const char functions[] =
    "# Sets COMPREPLY to what WHAT can be and begins with CUR.\n"
    "_teeperf_reply() # WHAT CUR\n"
    "{\n"
    "\tlocal text=${1:1}\n"
    "\tcase $1 in\n"
    "\t=*) mapfile -t COMPREPLY < <(compgen -W \"$text\" -- \"$2\") ;;\n"
    "\t/*) mapfile -t COMPREPLY < <(compgen -d -- \"$2\") ;;\n"
    "\t!*) mapfile -t COMPREPLY < <(compgen -c -- \"$2\") ;;\n"
    "\t\\**)\n"
    "\t\tlocal found=\n"
    "\t\t[[ $text ]] && found=$(compgen -f -X \"!$text\" -- \"$2\")\n"
    "\t\tif [[ $found ]]; then\n"
    "\t\t\tmapfile -t COMPREPLY < <(printf '%s\\n' \"$found\"; compgen -d -- \"$2\")\n"
    "\t\telse\n"
    "\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$2\")\n"
    "\t\tfi\n"
    "\t\t;;\n"
    "\tesac\n"
    "\t[[ $1 == [*/!]* ]] && compopt -o filenames 2>/dev/null\n"
    "}\n"
    "\n"
    "# Operands from COMP_WORDS[AT] on are a command line of its own.\n"
    "_teeperf_program() # AT\n"
    "{\n"
    "\tif declare -F _command_offset >/dev/null; then\n"
    "\t\t_command_offset \"$1\"\n"
    "\telif ((COMP_CWORD > $1)); then\n"
    "\t\t_teeperf_reply '*' \"${COMP_WORDS[COMP_CWORD]}\"\n"
    "\telse\n"
    "\t\t_teeperf_reply '!' \"${COMP_WORDS[COMP_CWORD]}\"\n"
    "\tfi\n"
    "}\n";

static const char beginning[] =
    "_teeperf()\n"
    "{\n"
    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "\tlocal command=${COMP_WORDS[1]} at=2 option= prefix= what= options= "
    "valued= operands= words=\n"
    "\tCOMPREPLY=()\n"
    "\tcase $command in\n";

static const char middle[] =
    "\tesac\n"
    "\tif [[ $words ]]; then\n"
    "\t\tif ((COMP_CWORD == at)); then\n"
    "\t\t\t_teeperf_reply \"=$words\" \"$cur\"\n"
    "\t\t\treturn\n"
    "\t\tfi\n"
    "\t\tcommand+=\" ${COMP_WORDS[at]}\"\n"
    "\t\t((at++))\n"
    "\tfi\n"
    "\t# --NAME=VALUE is three words, unless '=' is no border of words here.\n"
    "\tif [[ $cur == = ]]; then\n"
    "\t\toption=$previous= cur=\n"
    "\telif [[ $previous == = ]]; then\n"
    "\t\toption=${COMP_WORDS[COMP_CWORD - 2]}=\n"
    "\telif [[ $cur == --*=* ]]; then\n"
    "\t\toption=${cur%%=*}= prefix=${cur%%=*}= cur=${cur#*=}\n"
    "\telse\n"
    "\t\toption=$previous\n"
    "\tfi\n"
    "\t_teeperf_command\n"
    "\tif [[ ! $what && $option == *= ]]; then\n"
    "\t\toption=${option%=}\n"
    "\t\t_teeperf_command\n"
    "\tfi\n"
    "\tlocal i word ended=\n"
    "\tfor ((i = at; i < COMP_CWORD; i++)); do\n"
    "\t\tword=${COMP_WORDS[i]}\n"
    "\t\tif [[ $word == -- ]]; then\n"
    "\t\t\tended=$((i + 1))\n"
    "\t\t\tbreak\n"
    "\t\telif [[ ${COMP_WORDS[i + 1]} == = ]]; then\n"
    "\t\t\t((i += 2))\n"
    "\t\telif [[ $valued == *\" $word \"* ]]; then\n"
    "\t\t\t((i++))\n"
    "\t\telif [[ $word != -* && $operands == !* ]]; then\n"
    "\t\t\tended=$i\n"
    "\t\t\tbreak\n"
    "\t\tfi\n"
    "\tdone\n"
    "\tif [[ $ended ]]; then\n"
    "\t\tif [[ $operands == !* ]]; then\n"
    "\t\t\t_teeperf_program \"$ended\"\n"
    "\t\telse\n"
    "\t\t\t_teeperf_reply '*' \"$cur\"\n"
    "\t\tfi\n"
    "\telif [[ $what ]]; then\n"
    "\t\t_teeperf_reply \"$what\" \"$cur\"\n"
    "\t\t[[ $prefix ]] && COMPREPLY=(\"${COMPREPLY[@]/#/$prefix}\")\n"
    "\telif [[ $cur == -* ]]; then\n"
    "\t\t_teeperf_reply \"=$options\" \"$cur\"\n"
    "\telif [[ $operands == !* ]]; then\n"
    "\t\t_teeperf_program \"$COMP_CWORD\"\n"
    "\telse\n"
    "\t\t_teeperf_reply \"$operands\" \"$cur\"\n"
    "\tfi\n"
    "}\n"
    "complete -F _teeperf teeperf\n";

void tp_completion_bash(const struct tp_completion *completion, struct tp_buf *out)
{
	tp_buf_add_string(
	    out, "# Completion of teeperf for bash, made by 'teeperf completion bash'.\n\n");
	tp_buf_add_string(out, functions);
	tp_buf_add_string(out, "\n_teeperf_command()\n{\n\tcase $command in\n");
	tp_completion_each(completion, add_command, out);
	tp_buf_add_string(out, "\tesac\n}\n\n");
	tp_buf_add_string(out, beginning);
	for (const struct tp_command *const *at = completion->commands; *at; at++) {
		if (!(*at)->commands)
			continue;
		tp_buf_addf(out, "\t%s) words='--help", (*at)->name);
		add_words(out, (*at)->commands);
		tp_buf_add_string(out, "' ;;\n");
	}
	tp_buf_add_string(out, "\thelp) words='");
	add_words(out, completion->commands);
	tp_buf_add_string(
	    out, "' ;;\n\tesac\n\tcase $COMP_CWORD in\n\t1) at=1 words='help --help --version");
	add_words(out, completion->commands);
	tp_buf_add_string(out, "' ;;\n");
	tp_buf_add_string(out, middle);
}
