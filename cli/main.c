// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The teeperf command: finds the subcommand in the generated table and runs it.
#include "command.h"

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
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const struct tp_command *find(const char *name)
{
	for (unsigned i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

// Levenshtein distance, of names cut to the table's width.
static unsigned edit_distance(const char *a, const char *b)
{
	enum { WIDTH = 32 };
	unsigned row[WIDTH + 1];
	const size_t columns = strnlen(b, WIDTH);
	for (unsigned j = 0; j <= columns; j++)
		row[j] = j;
	for (unsigned i = 0; a[i] && i < WIDTH; i++) {
		unsigned diagonal = row[0];
		row[0] = i + 1;
		for (unsigned j = 0; j < columns; j++) {
			unsigned best = diagonal + (a[i] != b[j]);
			diagonal = row[j + 1];
			if (best > diagonal + 1)
				best = diagonal + 1;
			if (best > row[j] + 1)
				best = row[j] + 1;
			row[j + 1] = best;
		}
	}
	return row[columns];
}

static int unknown_command(const char *name)
{
	const struct tp_command *nearest = NULL;
	unsigned least = 3; // further away is no likely slip
	for (unsigned i = 0; i < COMMAND_COUNT; i++) {
		const unsigned distance = edit_distance(name, commands[i]->name);
		if (distance < least && distance < strlen(commands[i]->name)) {
			least = distance;
			nearest = commands[i];
		}
	}
	fprintf(stderr, "teeperf: unknown command '%s'", name);
	if (nearest)
		fprintf(stderr, "; did you mean '%s'?", nearest->name);
	fprintf(stderr, "\nTry 'teeperf --help'.\n");
	return TP_EXIT_USAGE;
}

static void print_overview(FILE *to)
{
	fprintf(to, "usage: teeperf COMMAND [options] [arguments]\n"
		    "       teeperf help COMMAND\n"
		    "       teeperf --version\n"
		    "\n"
		    "teeperf - profile functions of programs inside and outside TEEs\n"
		    "\n"
		    "Commands:\n");
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		fprintf(to, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(to, "\n"
		    "Start with:\n"
		    "  teeperf cc -O2 -g -o app app.c\n"
		    "  teeperf record -- ./app\n"
		    "  teeperf analyze teeperf.trace\n");
}

static int run_help(int argc, char **argv)
{
	if (argc < 2) {
		print_overview(stdout);
		return TP_EXIT_DONE;
	}
	const struct tp_command *command = find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	tp_options_help(command);
	return TP_EXIT_DONE;
}

static int dispatch(int argc, char **argv)
{
	if (argc < 2) {
		print_overview(stderr);
		return TP_EXIT_USAGE;
	}
	const char *name = argv[1];
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
		return run_help(argc - 1, argv + 1);
	if (!strcmp(name, "--version") || !strcmp(name, "version")) {
		printf("teeperf %s\n", TEEPERF_VERSION);
		return TP_EXIT_DONE;
	}
	if (name[0] == '-') {
		fprintf(stderr,
		    "teeperf: unknown option '%s': a command comes first\n"
		    "Try 'teeperf --help'.\n",
		    name);
		return TP_EXIT_USAGE;
	}
	const struct tp_command *command = find(name);
	if (!command)
		return unknown_command(name);
	return command->run(argc - 1, argv + 1);
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
	return status;
}
