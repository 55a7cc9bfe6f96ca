// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands: how they are found and run, how they report errors and warnings, and what they show
// names with.
#define _GNU_SOURCE
#include "command.h"

#include "common/clean.h"
#include "common/spelling.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct tp_command *tp_command_running;

int tp_command_run(const struct tp_command *command, int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	tp_command_running = command;
	if (command->order != TP_OPTIONS_OWN && !tp_options_parse(&argc, &argv, &status))
		return status;
	return command->run(argc, argv);
}

// Whether the error has a place in a text file that is there.
static bool has_place(const struct tp_err *err)
{
	return err->line && access(err->file, F_OK) == 0;
}

int tp_command_fail(const struct tp_err *err)
{
	char text[TP_ERR_TEXT_SIZE];
	if (has_place(err))
		tp_command_tell_place(err, "error");
	else
		fprintf(stderr, "teeperf %s: %s\n", tp_command_running->name,
		    tp_err_render(err, text, sizeof(text)));
	return TP_EXIT_FAILED;
}

int tp_command_refuse(int code, const char *file, const char *format, ...)
{
	struct tp_err err;
	char what[sizeof(err.what)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	tp_err_set(&err, code, file, "%s", what);
	return tp_command_fail(&err);
}

void tp_command_tell_place(const struct tp_err *err, const char *severity)
{
	char text[TP_ERR_TEXT_SIZE];
	char place[sizeof(err->file) + 32];
	snprintf(
	    place, sizeof(place), "%s:%" PRIu32 ":%" PRIu32 ":", err->file, err->line, err->column);
	tp_clean(place, strlen(place));
	struct tp_err message = *err;
	message.file[0] = '\0';
	fprintf(
	    stderr, "%s %s: %s\n", place, severity, tp_err_render(&message, text, sizeof(text)));
}

// In one write: the program that is recorded may write there, too.
static void say(const char *severity, const char *format, va_list arguments, const char *end)
{
	char *text = NULL;
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	fprintf(stderr, "teeperf %s: %s%s%s", tp_command_running->name, severity,
	    text ? text : "out of memory", end);
	free(text);
}

bool tp_command_no_warnings;

void tp_command_warn(const char *format, ...)
{
	if (tp_command_no_warnings)
		return;
	va_list arguments;
	va_start(arguments, format);
	say("warning: ", format, arguments, "\n");
	va_end(arguments);
}

void tp_command_tell(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say("", format, arguments, "");
	va_end(arguments);
}

void tp_command_warn_lines(const char *lines)
{
	for (const char *end; *lines; lines = end + 1) {
		end = strchr(lines, '\n');
		tp_command_warn("%.*s", (int)(end - lines), lines);
	}
}

void tp_command_drop_output(void)
{
	__fpurge(stdout);
	clearerr(stdout);
}

// ---- tables

// The last word of a command's name, by which it is called.
static const char *word_of(const struct tp_command *command)
{
	const char *blank = strrchr(command->name, ' ');
	return blank ? blank + 1 : command->name;
}

static void tell_unknown(
    const char *parent, const struct tp_command *const *table, const char *word)
{
	struct tp_spelling spelling = {.word = word};
	for (; *table; table++)
		tp_spelling_consider(&spelling, word_of(*table));
	fprintf(stderr, "%s: unknown command '%s'", parent, word);
	if (spelling.nearest)
		fprintf(stderr, "; did you mean '%s'?", spelling.nearest);
	fprintf(stderr, "\nTry '%s --help'.\n%s", parent, tp_edition.unknown);
}

const struct tp_command *tp_command_find(
    const char *parent, const struct tp_command *const *table, const char *word)
{
	for (const struct tp_command *const *at = table; *at; at++)
		if (!strcmp(word_of(*at), word))
			return *at;
	if (word[0] != '-')
		tell_unknown(parent, table, word);
	else
		fprintf(stderr,
		    "%s: unknown option '%s': a command comes first\nTry '%s --help'.\n", parent,
		    word, parent);
	return NULL;
}

void tp_command_list(const struct tp_command *const *table, FILE *to)
{
	for (; *table; table++)
		fprintf(to, "  %-12s %s\n", word_of(*table), (*table)->summary);
}

int tp_command_group(int argc, char **argv)
{
	const struct tp_command *group = tp_command_running;
	const bool helps = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
	char parent[64];
	snprintf(parent, sizeof(parent), "teeperf %s", group->name);
	if (argc < 2 || helps) {
		FILE *to = helps ? stdout : stderr;
		if (helps)
			tp_pager_start(TP_EXIT_DONE);
		fprintf(to, "usage: %s %s\n\nteeperf-%s - %s\n\nCommands:\n", parent, group->usage,
		    group->name, group->summary);
		tp_command_list(group->commands, to);
		fprintf(to, "\nOptions:\n  -h, --help   show the list of commands and exit\n");
		fprintf(to, "\n'%s COMMAND --help' explains each.\n", parent);
		return helps ? TP_EXIT_DONE : TP_EXIT_USAGE;
	}
	const struct tp_command *command = tp_command_find(parent, group->commands, argv[1]);
	return command ? tp_command_run(command, argc - 1, argv + 1) : TP_EXIT_USAGE;
}

// ---- what commands share

int tp_default_trace(int *argc, char ***argv, const char *only_one)
{
	static char name[] = TP_DEFAULT_TRACE;
	static char *names[] = {name, NULL};
	if (*argc)
		return *argc > 1 && only_one ? tp_options_usage("%s", only_one) : TP_EXIT_DONE;
	if (access(name, F_OK))
		return tp_options_usage(
		    "which trace? Name its FILE: this folder has no '%s', the default of 'teeperf "
		    "record'",
		    name);
	*argc = 1;
	*argv = names;
	return TP_EXIT_DONE;
}

const char *tp_shown_name(char text[PATH_MAX], const char *name)
{
	snprintf(text, PATH_MAX, "%s", name);
	tp_clean(text, strlen(text));
	return text;
}

// Letters beyond ASCII are plain to every shell.
static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c >= 0x80 || (c && strchr("_./-+:,@%=", c));
}

const char *tp_shell_word(char text[TP_SHELL_WORD_SIZE], const char *name)
{
	// A quote becomes four characters; around all are two, "./" and the end.
	const size_t length = strnlen(name, (TP_SHELL_WORD_SIZE - 5) / 4);
	char *to = text;
	bool plain = length != 0;
	for (size_t i = 0; i < length; i++)
		plain &= is_plain((unsigned char)name[i]);
	if (!plain)
		*to++ = '\'';
	if (name[0] == '-') {
		*to++ = '.';
		*to++ = '/';
	}
	for (size_t i = 0; i < length; i++) {
		if (name[i] == '\'') {
			memcpy(to, "'\\''", 4);
			to += 4;
		} else {
			*to++ = name[i];
		}
	}
	if (!plain)
		*to++ = '\'';
	*to = '\0';
	tp_clean(text, (size_t)(to - text));
	return text;
}
