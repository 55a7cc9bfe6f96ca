// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command lines against an option table: every spelling, and every refusal.
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command/command.h"

static struct {
	bool loud, quiet, fast, far, both, late;
	const char *output, *text;
	int color;
	uint64_t size, count, level;
	struct tp_option_list list;
} values;

static const char *const colors[] = {"red", "green", NULL};
static const struct tp_option options[] = {
    TP_OPT_BOOL('l', "loud", &values.loud, "be loud"),
    TP_OPT_BOOL('q', "quiet", &values.quiet, "be quiet"),
    TP_OPT_STRING('o', "output", &values.output, "FILE", "write FILE"),
    TP_OPT_STRING('t', "text", &values.text, "TEXT", "say TEXT"),
    TP_OPT_CHOICE(0, "color", &values.color, colors, NULL, "use a color"),
    TP_OPT_SIZE('s', "size", &values.size, "SIZE", "take SIZE"),
    TP_OPT_COUNT(0, "count", &values.count, "N", "count to N"),
    TP_OPT_LEVEL("press", &values.level, "LEVEL", "press"),
    TP_OPT_LIST('i', "item", &values.list, "ITEM", "add ITEM"),
    TP_OPT_GROUP("Of a file", "FILE"),
    TP_OPT_BOOL(0, "fast", &values.fast, "be fast"),
    TP_OPT_NEEDS("--loud"),
    TP_OPT_BOOL('f', "far", &values.far, "be far"),
    TP_OPT_NEEDS("--color green|--text hello|--size"),
    TP_OPT_BOOL(0, "both", &values.both, "be both"),
    TP_OPT_NEEDS(NULL),
    TP_OPT_BOOL(0, "late", &values.late, "be late"),
    TP_OPT_END,
};
static struct tp_command command = {
    .name = "test", .summary = "test", .usage = "[options] FILE", .options = options};

static char words[16][32];
static char *argv_start[17];
static char **argv;
static int argc, status;

// Parse the words of `line`; -1: the command goes on, else the exit status.
static int parse(const char *line, bool interleave)
{
	free(values.list.items);
	memset(&values, 0, sizeof(values));
	values.list.most = 2;
	command.order = interleave ? TP_OPTIONS_ANYWHERE : TP_OPTIONS_FIRST;
	tp_command_running = &command;
	argc = 0;
	strcpy(words[argc], "test");
	argv_start[argc] = words[argc];
	argc++;
	while (*line) {
		const size_t length = strcspn(line, " ");
		assert_in_range(length, 0, sizeof(words[0]) - 1);
		memcpy(words[argc], line, length);
		words[argc][length] = '\0';
		argv_start[argc] = words[argc];
		argc++;
		line += length + (line[length] == ' ');
	}
	argv = argv_start;
	status = 77;
	return tp_options_parse(&argc, &argv, &status) ? -1 : status;
}

// The operands that are left, joined.
static const char *operands(void)
{
	static char text[256];
	text[0] = '\0';
	for (int i = 0; i < argc; i++) {
		strcat(text, i ? " " : "");
		strcat(text, argv[i]);
	}
	return text;
}

static void spellings(void **state)
{
	(void)state;
	static const char *const lines[] = {
	    "-o x", "-ox", "--output x", "--output=x", "--out=x", "-lo x", "-lqox", "--o x", NULL};
	for (const char *const *line = lines; *line; line++) {
		assert_int_equal(parse(*line, false), -1);
		assert_string_equal(values.output, "x");
		assert_int_equal(argc, 0);
	}
	assert_int_equal(parse("-lq", false), -1);
	assert_true(values.loud && values.quiet);
	assert_int_equal(parse("--loud --quiet --no-loud", false), -1);
	assert_true(!values.loud && values.quiet);
	assert_int_equal(parse("--text=", false), -1);
	assert_string_equal(values.text, "");
	assert_int_equal(parse("--color green", false), -1);
	assert_int_equal(values.color, 1);
	assert_int_equal(parse("-ia --item b", false), -1);
	assert_int_equal(values.list.count, 2);
	assert_string_equal(values.list.items[1], "b");
}

static void numbers(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		uint64_t size;
	} good[] = {{"-s 0", 0}, {"-s 7", 7}, {"-s 3K", 3072}, {"-s 2m", 2 << 20},
	    {"-s 1G", 1 << 30}, {"-s 18446744073709551615", UINT64_MAX}};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(parse(good[i].line, false), -1);
		assert_int_equal(values.size, good[i].size);
	}
	static const char *const bad[] = {"-s -1", "-s x", "-s 1T", "-s 1KB",
	    "--size= ", "-s 18446744073709551616", "-s 18014398509481984K", "--count 1K",
	    "--count=-1", "--count +1", NULL};
	for (const char *const *line = bad; *line; line++)
		assert_int_equal(parse(*line, false), TP_EXIT_USAGE);
}

static void refusals(void **state)
{
	(void)state;
	static const char *const lines[] = {"--nothing", "-z", "--output", "-o", "--color blue",
	    "--co green", "--loud=1", "--no-output", "-ia -ib -ic", "--output=", "--out=", "-o ",
	    "--output ", "--", NULL};
	for (const char *const *line = lines; strcmp(*line, "--") != 0; line++)
		assert_int_equal(parse(*line, false), TP_EXIT_USAGE);
}

static void where_options_end(void **state)
{
	(void)state;
	assert_int_equal(parse("-l a -q b", false), -1);
	assert_string_equal(operands(), "a -q b");
	assert_true(!values.quiet);
	assert_int_equal(parse("-l a -q b", true), -1);
	assert_string_equal(operands(), "a b");
	assert_true(values.quiet);
	assert_int_equal(parse("-l -- -q b", false), -1);
	assert_string_equal(operands(), "-q b");
	assert_int_equal(parse("a -l -- -q -- b", true), -1);
	assert_string_equal(operands(), "a -q -- b");
	assert_int_equal(parse("-", false), -1);
	assert_string_equal(operands(), "-");
	assert_int_equal(parse("", true), -1);
	assert_int_equal(argc, 0);
}

// A value that may be left out never takes the next word.
static void levels(void **state)
{
	(void)state;
	assert_int_equal(parse("--press FILE", false), -1);
	assert_int_equal(values.level, 1);
	assert_int_equal(argc, 1);
	assert_int_equal(parse("--press=7 FILE", false), -1);
	assert_int_equal(values.level, 7);
	assert_int_equal(argc, 1);
	assert_int_equal(parse("--pr 3", false), -1);
	assert_int_equal(values.level, 1);
	assert_int_equal(argc, 1);
	assert_int_equal(parse("--press= FILE", false), TP_EXIT_USAGE);
	assert_int_equal(parse("--press=x FILE", false), TP_EXIT_USAGE);
	assert_int_equal(parse("FILE", false), -1);
	assert_int_equal(values.level, 0);
}

static void groups(void **state)
{
	(void)state;
	static const char *const good[] = {"--fast FILE", "--far --loud", "-lf", "-f -l",
	    "--both --color green", "--both --text hello", "--text=hello --both", "--both -s 1",
	    "--late", "--no-fast", NULL};
	static const char *const bad[] = {"--fast", "--far FILE", "-f", "-f -l --no-loud",
	    "--both --color red", "--both --text hell", "--both --text hello2", "--both", NULL};
	for (const char *const *line = good; *line; line++)
		assert_int_equal(parse(*line, false), -1);
	for (const char *const *line = bad; *line; line++)
		assert_int_equal(parse(*line, false), TP_EXIT_USAGE);
}

static void help(void **state)
{
	(void)state;
	assert_int_equal(parse("--help", false), TP_EXIT_DONE);
	assert_int_equal(parse("-lh", false), TP_EXIT_DONE);
	assert_int_equal(parse("a --help", true), TP_EXIT_DONE);
	assert_int_equal(parse("a --help", false), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spellings),
	    cmocka_unit_test(numbers),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(where_options_end),
	    cmocka_unit_test(levels),
	    cmocka_unit_test(groups),
	    cmocka_unit_test(help),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
