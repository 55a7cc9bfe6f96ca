// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options of `teeperf cc` and `teeperf c++`: taken out of the command line, and put into the
// environment.
#define _GNU_SOURCE
#include "driver.h"
#include "list_file.h"
#include "port_names.inc"

#include "allowlists/language/allowlist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TEEPERF_DEFAULT_LLVM
#define TEEPERF_DEFAULT_LLVM 19
#endif
#define TEXT_OF(number) #number
#define TEXT_OF_MACRO(number) TEXT_OF(number)

// The kind of an option's value; in the order in which options are looked at.
enum value { MAJOR, PORT, WORDS, LEVEL, FILES, FOLDER, TEXT, VALUES };

struct row {
	const char *name;
	const char *variable;
	const char *argument;
	const char *fallback;
	enum value value;
};

// clang-format off
#define ROW_OF_DRIVER(row) row,
#define ROW_OF_PASS(row) row,
#define ROW_OF_PLUGIN(row)
#define TP_CC_OPTION(id, name, reader, value, variable, argument, fallback, help, more, \
	plugin_help, plugin_argument) \
	ROW_OF_##reader(ROW(name, value, variable, argument, fallback, help))

#define ROW(name, value, variable, argument, fallback, help) \
	{name, variable, argument, fallback, value}
static const struct row rows[] = {
#include "cc_options.def"
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
#undef ROW

#define ROW(name, value, variable, argument, fallback, help) \
	{TP_OPTION_STRING, 0, name, argument, help, NULL, NULL}
const struct tp_option tp_driver_options[] = {
#include "cc_options.def"
    {0},
};
// clang-format on

enum { ALLOWLISTS_MAX = 64 };

// What was given to the option of each row, NULL: nothing.
struct given {
	const char *values[ROWS];
	const char *allowlists[ALLOWLISTS_MAX];
	uint32_t allowlist_count;
};

// The value in "--NAME=VALUE" if the argument is one of our options, else NULL.
static const char *joined_value(const char *argument, const struct row *row)
{
	const size_t length = strlen(row->name);
	if (strncmp(argument, "--", 2) || strncmp(argument + 2, row->name, length) ||
	    argument[2 + length] != '=')
		return NULL;
	return argument + 3 + length;
}

/*
 * Take our options out of argv: in leading position in either spelling, elsewhere only as
 * --NAME=VALUE, so that nothing of clang's is mistaken for ours. 0 or an exit code.
 */
static int take_options(int *argc, char **argv, struct given *given)
{
	bool leading = true;
	int kept = 0;
	for (int i = 0; i < *argc; i++) {
		const char *value = NULL;
		for (const struct row *row = rows; row < rows + ROWS && !value; row++) {
			value = joined_value(argv[i], row);
			if (!value && leading && !strncmp(argv[i], "--", 2) &&
			    !strcmp(argv[i] + 2, row->name)) {
				if (i + 1 == *argc)
					return tp_options_usage(
					    "option '%s' needs a value", argv[i]);
				value = argv[++i];
			}
			if (!value)
				continue;
			given->values[row - rows] = value;
			if (row->value != FILES)
				continue;
			if (given->allowlist_count == ALLOWLISTS_MAX)
				return tp_options_usage("option '--%s' may be given %u times",
				    row->name, ALLOWLISTS_MAX);
			given->allowlists[given->allowlist_count++] = value;
		}
		if (!value) {
			leading = false;
			argv[kept++] = argv[i];
		}
	}
	argv[kept] = NULL;
	*argc = kept;
	return 0;
}

// One row with what holds: the option's value, else the variable's; NULL if neither says anything.
struct wish {
	const struct row *row;
	const char *text;
	bool is_option;
	char source[64]; // of the text, for messages
};

static struct wish wish_of(const struct given *given, const struct row *row)
{
	struct wish wish = {.row = row, .text = given->values[row - rows]};
	wish.is_option = wish.text != NULL;
	if (wish.is_option)
		snprintf(wish.source, sizeof(wish.source), "option '--%s'", row->name);
	else
		snprintf(wish.source, sizeof(wish.source), "%s", row->variable);
	if (!wish.is_option)
		wish.text = getenv(row->variable);
	if (!wish.is_option && wish.text && !*wish.text)
		wish.text = NULL;
	return wish;
}

static int take_words(const struct wish *wish, struct tp_driver_settings *settings)
{
	const char *text = wish->text && *wish->text ? wish->text : wish->row->fallback;
	char words[128] = "";
	const char *between = "";
	uint32_t count = 0;
	for (const char *word = wish->row->argument; *word; count++) {
		const size_t length = strcspn(word, "|");
		if (strlen(text) == length && !strncmp(word, text, length)) {
			setenv(wish->row->variable, text, 1);
			if (!strcmp(wish->row->name, "check"))
				settings->checks = !strcmp(text, "warn");
			return 0;
		}
		const bool last = !word[length];
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%.*s",
		    last && count > 1 ? " or " : between, (int)length, word);
		between = ", ";
		word += length + !last;
	}
	return tp_options_usage("%s takes %s%s, not '%s'", wish->source, words,
	    count > 2 ? "" : " or nothing else", text);
}

// The level, whose word may have a number behind it.
static int take_level(const struct wish *wish, struct tp_driver_settings *settings)
{
	const char *text = wish->text && *wish->text ? wish->text : wish->row->fallback;
	char *end = NULL;
	unsigned long number = 0;
	if (!strncmp(text, "sample/", 7))
		number = strtoul(text + 7, &end, 10);
	if (strcmp(text, "event") && strcmp(text, "count") && strcmp(text, "sample") &&
	    strcmp(text, "off") && (!end || *end || !number || number > TP_SAMPLE_MAX))
		return tp_options_usage(
		    "%s takes event, count, off, sample or sample/N with N from 1 to %u, not '%s'",
		    wish->source, TP_SAMPLE_MAX, text);
	setenv(wish->row->variable, text, 1);
	settings->is_off = !strcmp(text, "off");
	return 0;
}

// The folder, made if need be, as an absolute path.
static int take_folder(const struct wish *wish, struct tp_driver_settings *settings)
{
	(void)settings;
	const char *name = wish->text;
	if (!name || !*name) {
		unsetenv(wish->row->variable);
		return 0;
	}
	if (!strcmp(name, "none")) {
		setenv(wish->row->variable, name, 1);
		return 0;
	}
	struct tp_err err;
	const bool made = mkdir(name, 0777) == 0 || errno == EEXIST;
	char *path = made ? realpath(name, NULL) : NULL;
	if (path && access(path, W_OK | X_OK)) {
		free(path);
		path = NULL;
	}
	if (!path) {
		tp_err_system(&err, errno, name, "cannot write inventories there (from %s)",
		    wish->is_option ? "option --inventory" : wish->row->variable);
		return tp_command_fail(&err);
	}
	setenv(wish->row->variable, path, 1);
	free(path);
	return 0;
}

static int take_text(const struct wish *wish, struct tp_driver_settings *settings)
{
	(void)settings;
	if (wish->is_option)
		setenv(wish->row->variable, wish->text, 1);
	return 0;
}

static int take_major(const struct wish *wish, struct tp_driver_settings *settings)
{
	const char *usual = TEXT_OF_MACRO(TEEPERF_DEFAULT_LLVM);
	const char *text = wish->text && *wish->text ? wish->text : usual;
	char *end;
	const unsigned long number = strtoul(text, &end, 10);
	if (*end || number < TP_DRIVER_FIRST_LLVM || number > TP_DRIVER_LAST_LLVM)
		return tp_options_usage(
		    "%s takes an LLVM major such as %s, not '%s'", wish->source, usual, text);
	settings->major = (uint32_t)number;
	return 0;
}

static int take_port(const struct wish *wish, struct tp_driver_settings *settings)
{
	if (!tp_driver_port_find(wish->text, &settings->port))
		return tp_options_usage(
		    "%s takes " TP_PORT_NAMES ", not '%s'", wish->source, wish->text);
	setenv("TEEPERF_THREADS", settings->port.threads, 1);
	return 0;
}

// The allowlists' absolute paths: compilers run in other folders.
static int take_allowlists(const struct wish *wish, const struct given *given)
{
	const char *variable = wish->row->variable;
	struct tp_buf paths;
	struct tp_err err;
	tp_buf_init(&paths);
	int status = 0;
	if (given->allowlist_count)
		status = tp_list_files_resolve(
		    given->allowlists, given->allowlist_count, "option --allowlist", &paths, &err);
	else if (wish->text)
		status = tp_list_files_resolve_joined(wish->text, variable, &paths, &err);
	if (!status && paths.size)
		setenv(variable, paths.data, 1);
	else
		unsetenv(variable);
	tp_buf_release(&paths);
	return status ? tp_command_fail(&err) : 0;
}

int tp_driver_options_take(int *argc, char **argv, struct tp_driver_settings *settings)
{
	static int (*const takes[VALUES])(const struct wish *, struct tp_driver_settings *) = {
	    [MAJOR] = take_major,
	    [PORT] = take_port,
	    [WORDS] = take_words,
	    [LEVEL] = take_level,
	    [FOLDER] = take_folder,
	    [TEXT] = take_text,
	};
	struct given given = {0};
	int status = take_options(argc, argv, &given);
	for (int value = 0; value < VALUES; value++)
		for (const struct row *row = rows; row < rows + ROWS && !status; row++) {
			if (row->value != (enum value)value)
				continue;
			const struct wish wish = wish_of(&given, row);
			status = takes[value] ? takes[value](&wish, settings)
					      : take_allowlists(&wish, &given);
		}
	return status;
}

void tp_driver_options_forget(void)
{
#define FORGET_OF_DRIVER(variable)
#define FORGET_OF_PASS(variable) unsetenv(variable);
#define FORGET_OF_PLUGIN(variable) unsetenv(variable);
#undef TP_CC_OPTION
#define TP_CC_OPTION(id, name, reader, value, variable, ...) FORGET_OF_##reader(variable)
#include "cc_options.def"
}
