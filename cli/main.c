// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The teeperf command: finds the subcommand in the generated table and runs it.
#include "cli/command/command.h"

#include <teeperf/version.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TP_COMMAND(symbol) extern const struct tp_command symbol;
#include "commands.inc"
#undef TP_COMMAND

static const struct tp_command *const commands[] = {
#define TP_COMMAND(symbol) &symbol,
#include "commands.inc"
#undef TP_COMMAND
    NULL,
};

static void print_overview(FILE *to)
{
	fprintf(to,
	    "usage: teeperf COMMAND [options] [arguments]\n"
	    "       teeperf help COMMAND\n"
	    "       teeperf --version\n"
	    "       teeperf [--no-pager] [--color=auto|always|never] COMMAND ...\n"
	    "\n"
	    "teeperf - %s\n"
	    "\n"
	    "Commands:\n",
	    tp_edition.summary);
	tp_command_list(commands, to);
	fprintf(to, "\n%s", tp_edition.start);
}

// What 'teeperf' alone says: how to begin.
static void print_beginning(FILE *to)
{
	fprintf(to, "usage: teeperf COMMAND [options] [arguments]\n\nteeperf - %s\n\n",
	    tp_edition.summary);
	for (const char *const *name = tp_edition.first; *name; name++)
		for (const struct tp_command *const *at = commands; *at; at++)
			if (!strcmp((*at)->name, *name))
				tp_command_list((const struct tp_command *const[]){*at, NULL}, to);
	fprintf(to,
	    "\n%s\n'teeperf help' lists all commands, 'teeperf help COMMAND' explains one.\n",
	    tp_edition.start);
}

static int run_help(int argc, char **argv)
{
	if (argc < 2) {
		tp_pager_start(TP_EXIT_DONE);
		print_overview(stdout);
		return TP_EXIT_DONE;
	}
	const struct tp_command *command = tp_command_find("teeperf", commands, argv[1]);
	if (!command)
		return TP_EXIT_USAGE;
	// A command that has subcommands shows their help itself.
	if (!command->options) {
		static char help[] = "--help";
		char *words[] = {argv[1], argc > 2 ? argv[2] : help, help, NULL};
		return tp_command_run(command, argc > 2 ? 3 : 2, words);
	}
	tp_options_help(command);
	return TP_EXIT_DONE;
}

// Take options of all commands, which stand before the command, out of *ARGV. False: wrong usage.
static bool take_options(int *argc, char ***argv)
{
	for (; *argc > 1; (*argc)--, (*argv)++) {
		const char *text = (*argv)[1];
		if (!strcmp(text, "--no-pager")) {
			tp_terminal_options.no_pager = true;
			continue;
		}
		if (strncmp(text, "--color=", 8) != 0)
			return true;
		int word = 0;
		while (tp_color_words[word] && strcmp(tp_color_words[word], text + 8) != 0)
			word++;
		if (!tp_color_words[word]) {
			fprintf(stderr,
			    "teeperf: option '--color' takes auto, always or never, not '%s'\n",
			    text + 8);
			return false;
		}
		tp_terminal_options.color = word;
	}
	return true;
}

static int dispatch(int argc, char **argv)
{
	if (!take_options(&argc, &argv))
		return TP_EXIT_USAGE;
	if (argc < 2) {
		print_beginning(stderr);
		return TP_EXIT_USAGE;
	}
	const char *name = argv[1];
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
		return run_help(argc - 1, argv + 1);
	if (!strcmp(name, "--version") || !strcmp(name, "version")) {
		printf("teeperf %s\n", TEEPERF_VERSION);
		return TP_EXIT_DONE;
	}
	const struct tp_command *command = tp_command_find("teeperf", commands, name);
	return command ? tp_command_run(command, argc - 1, argv + 1) : TP_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int status = dispatch(argc, argv);
	// A result that did not reach its reader must not look like success.
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
		fprintf(stderr, "teeperf: cannot write to standard output: %s\n", strerror(errno));
		if (status == TP_EXIT_DONE)
			status = TP_EXIT_FAILED;
	}
	tp_pager_end();
	return status;
}
