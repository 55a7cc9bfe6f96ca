// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command lines against a typed option table, and the help text made from the same table.
#include "options.h"

#include "command.h"

#include "common/array.h"
#include "common/spelling.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	HELP_COLUMN = 26,      // where option sentences start
	LINE_WIDTH = 80,       // help is for terminals of this width
	CHOICES_TEXT_SIZE = 96 // "auto|tsc|soft" with room
};

static bool helped;
static const struct tp_option help_option =
    TP_OPT_BOOL('h', "help", &helped, "show this help and exit");

int tp_options_usage(const char *format, ...)
{
	const struct tp_command *command = tp_command_running;
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "teeperf %s: ", command->name);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\nusage: teeperf %s %s\nTry 'teeperf %s --help'.\n", command->name,
	    command->usage, command->name);
	return TP_EXIT_USAGE;
}

// The word for the option's argument, NULL if it takes none. A choice shows its words.
static const char *argument_word(const struct tp_option *option, char text[CHOICES_TEXT_SIZE])
{
	if (option->type == TP_OPTION_BOOL)
		return NULL;
	if (option->argument || option->type != TP_OPTION_CHOICE)
		return option->argument ? option->argument : "ARG";
	size_t length = 0;
	text[0] = '\0';
	for (const char *const *word = option->choices; *word && length < CHOICES_TEXT_SIZE; word++)
		length += (size_t)snprintf(
		    text + length, CHOICES_TEXT_SIZE - length, "%s%s", length ? "|" : "", *word);
	return text;
}

// Print text from column HELP_COLUMN on, broken at spaces.
static void print_wrapped(const char *text)
{
	const size_t width = LINE_WIDTH - HELP_COLUMN;
	while (strlen(text) > width) {
		size_t length = width;
		while (length && text[length] != ' ')
			length--;
		if (!length)
			break;
		printf("%.*s\n%*s", (int)length, text, HELP_COLUMN, "");
		text += length + 1;
	}
	printf("%s\n", text);
}

static bool has_optional_value(const struct tp_option *option)
{
	return option->type == TP_OPTION_LEVEL || option->type == TP_OPTION_WORD;
}

static void print_option(const struct tp_option *option)
{
	if (option->type == TP_OPTION_GROUP) {
		if (option->help)
			printf("\n%s:\n", option->help);
		return;
	}
	char words[CHOICES_TEXT_SIZE];
	const char *argument = argument_word(option, words);
	char left[160];
	char letter[8] = "";
	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	if (has_optional_value(option))
		snprintf(left, sizeof(left), "  --%s[=%s]", option->name, argument);
	else
		snprintf(left, sizeof(left), "  %s--%s%s%s", letter, option->name,
		    argument ? " " : "", argument ? argument : "");
	if (strlen(left) + 2 > HELP_COLUMN)
		printf("%s\n%*s", left, HELP_COLUMN, "");
	else
		printf("%-*s", HELP_COLUMN, left);
	print_wrapped(option->help);
}

void tp_options_help(const struct tp_command *command)
{
	tp_pager_start(TP_EXIT_DONE);
	printf("usage: teeperf %s %s\n\n", command->name, command->usage);
	// A subcommand's page is named after both of its words.
	const char *blank = strchr(command->name, ' ');
	if (blank)
		printf("teeperf-%.*s-%s - %s\n", (int)(blank - command->name), command->name,
		    blank + 1, command->summary);
	else
		printf("teeperf-%s - %s\n", command->name, command->summary);
	if (command->description)
		printf("\n%s", command->description);
	printf("\nOptions:\n");
	bool headed = false;
	for (const struct tp_option *option = command->options; option && option->type; option++) {
		if (!headed && option->type == TP_OPTION_GROUP && option->help) {
			print_option(&help_option);
			headed = true;
		}
		print_option(option);
	}
	if (!headed)
		print_option(&help_option);
	if (command->examples)
		printf("\nExamples:\n%s", command->examples);
}

// A whole number, and for sizes a suffix. False if it is none or does not fit.
static bool parse_number(const char *text, bool suffixes, uint64_t *value)
{
	if (text[0] < '0' || text[0] > '9')
		return false;
	char *end;
	errno = 0;
	const unsigned long long number = strtoull(text, &end, 10);
	if (errno)
		return false;
	unsigned shift = 0;
	if (suffixes && *end) {
		static const char letters[] = "KMG";
		const char upper = *end >= 'a' && *end <= 'z' ? (char)(*end - 'a' + 'A') : *end;
		const char *found = strchr(letters, upper);
		if (!found)
			return false;
		shift = 10 * (unsigned)(found - letters + 1);
		end++;
	}
	if (*end || number > UINT64_MAX >> shift)
		return false;
	*value = (uint64_t)number << shift;
	return true;
}

// Store `text` as the option's value. 0, or 129 when it has been refused.
static int store(const struct tp_option *option, const char *text)
{
	switch (option->type) {
	case TP_OPTION_STRING:
		// An empty name is a variable that a script has not set, not a wish for the
		// default.
		if (!*text && !strcmp(option->name, "output"))
			return tp_options_usage("option '--%s' needs a name", option->name);
		*(const char **)option->value = text;
		return 0;
	case TP_OPTION_WORD:
		*(const char **)option->value = text;
		return 0;
	case TP_OPTION_LIST: {
		struct tp_option_list *list = option->value;
		const uint32_t most = list->most ? list->most : TP_OPTION_LIST_MOST;
		if (list->count == most)
			return tp_options_usage(
			    "option '--%s' was given more than %u times", option->name, most);
		return tp_option_list_add(list, text);
	}
	case TP_OPTION_CHOICE: {
		for (int i = 0; option->choices[i]; i++) {
			if (!strcmp(option->choices[i], text)) {
				*(int *)option->value = i;
				return 0;
			}
		}
		const struct tp_option bare = {
		    .type = TP_OPTION_CHOICE, .choices = option->choices};
		char words[CHOICES_TEXT_SIZE];
		return tp_options_usage("option '--%s' takes %s, not '%s'", option->name,
		    argument_word(&bare, words), text);
	}
	case TP_OPTION_SIZE:
		if (!parse_number(text, true, option->value))
			return tp_options_usage(
			    "option '--%s' takes a number of bytes such as 512K, "
			    "64M or 1G, not '%s'",
			    option->name, text);
		return 0;
	case TP_OPTION_COUNT:
	case TP_OPTION_LEVEL:
		if (!parse_number(text, false, option->value))
			return tp_options_usage(
			    "option '--%s' takes a whole number, not '%s'", option->name, text);
		return 0;
	case TP_OPTION_BOOL:
	case TP_OPTION_GROUP:
	case TP_OPTION_END:
		break;
	}
	return 0;
}

int tp_option_list_add(struct tp_option_list *list, const char *text)
{
	struct tp_err err;
	if (TP_GROW(list->items, list->room, list->count + UINT64_C(1))) {
		list->items[list->count++] = text;
		return TP_EXIT_DONE;
	}
	tp_err_memory(&err, NULL);
	// Call circle with command.c: it runs commands, whose errors are reported in one way.
	return tp_command_fail(&err);
}

struct match {
	const struct tp_option *option;
	const struct tp_option *rival; // set when a prefix fits two options
	bool negated;                  // --no-NAME
};

static void consider(struct match *match, const struct tp_option *option, bool negated)
{
	if (match->option && match->option != option)
		match->rival = match->option;
	match->option = option;
	match->negated = negated;
}

// The one behind OPTION of the running command, the first of NULL; behind the last one is --help,
// and then NULL.
static const struct tp_option *next_of(const struct tp_option *option)
{
	if (option == &help_option)
		return NULL;
	option = option ? option + 1 : tp_command_running->options;
	return option && option->type ? option : &help_option;
}

// Find the option that `name` (of `length` bytes) names or abbreviates.
static struct match find_long(const char *name, size_t length)
{
	struct match match = {0};
	const bool no = length > 3 && !strncmp(name, "no-", 3);
	for (const struct tp_option *option = next_of(NULL); option; option = next_of(option)) {
		if (!strncmp(option->name, name, length)) {
			if (!option->name[length])
				return (struct match){.option = option};
			consider(&match, option, false);
		}
		if (no && option != &help_option && option->type == TP_OPTION_BOOL &&
		    !strncmp(option->name, name + 3, length - 3)) {
			if (!option->name[length - 3])
				return (struct match){.option = option, .negated = true};
			consider(&match, option, true);
		}
	}
	return match;
}

// Report that there is no option NAME (of LENGTH bytes), and which one is likely to be meant.
static int tell_unknown(const char *name, size_t length)
{
	char word[64];
	snprintf(word, sizeof(word), "%.*s", (int)length, name);
	const bool no = !strncmp(word, "no-", 3);
	struct tp_spelling spelling = {.word = word};
	struct tp_spelling negated = {.word = no ? word + 3 : word};
	for (const struct tp_option *option = next_of(NULL); option; option = next_of(option)) {
		if (option->type == TP_OPTION_GROUP)
			continue;
		tp_spelling_consider(&spelling, option->name);
		if (no && option != &help_option && option->type == TP_OPTION_BOOL)
			tp_spelling_consider(&negated, option->name);
	}
	if (negated.nearest && (!spelling.nearest || negated.distance < spelling.distance))
		return tp_options_usage("unknown option '--%.*s'; did you mean '--no-%s'?",
		    (int)length, name, negated.nearest);
	if (spelling.nearest)
		return tp_options_usage("unknown option '--%.*s'; did you mean '--%s'?",
		    (int)length, name, spelling.nearest);
	return tp_options_usage("unknown option '--%.*s'", (int)length, name);
}

static const struct tp_option *find_letter(char letter)
{
	const struct tp_option *option = next_of(NULL);
	while (option && option->letter != letter)
		option = next_of(option);
	return option;
}

// State of one parse: `at` is the argument being read, operands are gathered at its front.
struct parse {
	char **argv;
	int argc;
	int at;
};

// Which rows of the running command were given.
static uint64_t given[2];

static void mark(const struct tp_option *option, bool set)
{
	const size_t row =
	    option == &help_option ? 0 : (size_t)(option - tp_command_running->options);
	const uint64_t bit = UINT64_C(1) << row % 64;
	assert(row / 64 < sizeof(given) / sizeof(given[0]));
	given[row / 64] = (given[row / 64] & ~bit) | (set ? bit : 0);
}

static bool is_given(const struct tp_option *option)
{
	const size_t row = (size_t)(option - tp_command_running->options);
	return given[row / 64] >> row % 64 & 1;
}

// Whether the LENGTH bytes at NEED hold: one of what TP_OPT_NEEDS has.
static bool holds(const char *need, size_t length, bool program)
{
	if (*need != '-')
		return program;
	const char *blank = memchr(need, ' ', length);
	const size_t end = blank ? (size_t)(blank - need) : length;
	const struct tp_option *option = find_long(need + 2, end - 2).option;
	assert(option);
	if (!blank)
		return is_given(option);
	const int *choice = option->value;
	const char *value = option->type != TP_OPTION_CHOICE ? *(const char *const *)option->value
			    : *choice >= 0                   ? option->choices[*choice]
							     : NULL;
	return value && strlen(value) == length - end - 1 &&
	       !memcmp(value, blank + 1, length - end - 1);
}

// OPTION was given: 0 if one of its NEEDS holds, else 129.
static int check_needs(const struct tp_option *option, const char *needs, bool program)
{
	char text[256];
	size_t used = 0;
	for (const char *need = needs; *need && used < sizeof(text);) {
		const size_t length = strcspn(need, "|");
		const char *next = need + length + (need[length] == '|');
		if (holds(need, length, program))
			return 0;
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    *need == '-' ? "%s'%.*s'" : "%sa %.*s",
		    need == needs ? ""
		    : *next       ? ", "
				  : " or ",
		    (int)length, need);
		need = next;
	}
	return tp_options_usage("option '--%s' needs %s", option->name, text);
}

static int check_groups(bool program)
{
	const struct tp_option *option = tp_command_running->options;
	const char *needs = NULL;
	int status = 0;
	for (; option && option->type && !status; option++) {
		if (option->type == TP_OPTION_GROUP)
			needs = option->argument;
		else if (needs && is_given(option))
			status = check_needs(option, needs, program);
	}
	return status;
}

static int parse_long(struct parse *parse, const char *text)
{
	const char *equals = strchr(text, '=');
	const size_t length = equals ? (size_t)(equals - text) : strlen(text);
	const struct match match = find_long(text, length);
	if (!match.option)
		return tell_unknown(text, length);
	if (match.rival)
		return tp_options_usage("option '--%.*s' is ambiguous: '--%s' or '--%s'",
		    (int)length, text, match.option->name, match.rival->name);
	const char *value = equals ? equals + 1 : NULL;
	if (match.option->type == TP_OPTION_BOOL) {
		if (value)
			return tp_options_usage("option '--%s' takes no value", match.option->name);
		*(bool *)match.option->value = !match.negated;
		mark(match.option, !match.negated);
		return 0;
	}
	// Its value is optional, so the next word is not it.
	if (!value && has_optional_value(match.option))
		value = match.option->type == TP_OPTION_LEVEL ? "1" : "";
	if (!value) {
		if (parse->at + 1 >= parse->argc)
			return tp_options_usage("option '--%s' needs a value", match.option->name);
		value = parse->argv[++parse->at];
	}
	mark(match.option, true);
	return store(match.option, value);
}

static int parse_letters(struct parse *parse, const char *letters)
{
	for (; *letters; letters++) {
		const struct tp_option *option = find_letter(*letters);
		if (!option)
			return tp_options_usage("unknown option '-%c'", *letters);
		mark(option, true);
		if (option->type == TP_OPTION_BOOL)
			*(bool *)option->value = true;
		else if (letters[1])
			return store(option, letters + 1);
		else if (parse->at + 1 < parse->argc)
			return store(option, parse->argv[++parse->at]);
		else
			return tp_options_usage("option '-%c' needs a value", *letters);
	}
	return 0;
}

bool tp_options_parse(int *argc, char ***argv, int *status)
{
	struct parse parse = {.argv = *argv, .argc = *argc, .at = 1};
	int operands = 0; // gathered in argv[0 .. operands)
	helped = false;
	// Such a command may parse its line in pieces.
	if (tp_command_running->order != TP_OPTIONS_OWN)
		memset(given, 0, sizeof(given));
	for (; parse.at < parse.argc; parse.at++) {
		char *text = parse.argv[parse.at];
		if (!strcmp(text, "--")) {
			parse.at++;
			break;
		}
		if (text[0] != '-' || !text[1]) {
			if (tp_command_running->order == TP_OPTIONS_FIRST)
				break;
			parse.argv[operands++] = text;
			continue;
		}
		*status =
		    text[1] == '-' ? parse_long(&parse, text + 2) : parse_letters(&parse, text + 1);
		if (*status)
			return false;
		if (helped) {
			tp_options_help(tp_command_running);
			*status = TP_EXIT_DONE;
			return false;
		}
	}
	// Move the gathered operands up against the rest, so that all stand in one run.
	const int start = parse.at - operands;
	memmove(parse.argv + start, parse.argv, (size_t)operands * sizeof(*parse.argv));
	*argv = parse.argv + start;
	*argc = parse.argc - start;
	*status = check_groups(*argc > 0);
	return !*status;
}

bool tp_parse_limit(const char *text, uint64_t without, uint64_t *limit)
{
	char *end;
	*limit = without;
	if (!text)
		return true;
	*limit = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end;
}

bool tp_parse_real(const char *text, double most, double *value)
{
	char *end;
	if (!text)
		return true;
	*value = strtod(text, &end);
	return end != text && !*end && *value >= 0 && *value <= most;
}

pid_t tp_parse_pid(const char *text)
{
	char *end;
	errno = 0;
	const long pid = strtol(text, &end, 10);
	return *text && !*end && !errno && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}
