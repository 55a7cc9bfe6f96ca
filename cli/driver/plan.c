// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compiler command line asks for: whether it compiles, whether it links, and into what.
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESPONSE_DEPTH = 8, WORD_SIZE = 4096 };

// What the arguments so far have said.
struct reading {
	struct tp_driver_plan plan;
	bool has_input;  // something to compile or link
	bool has_source; // ... that is compiled
	bool has_linked; // ... that goes on to the linker: not a header
	bool stops;      // -c, -S, -E, ...: no link
	bool only_text;  // -E, -M, ...: no code either
	bool takes_next; // the next argument belongs to an option
	bool next_is_language;
	bool language;        // -x: what follows is source, whatever its name
	bool header;          // ... and is to be precompiled
	bool is_preprocessed; // ... and has been preprocessed
	bool partial;         // -r
	bool has_path;        // --ld-path
	bool no_libraries;    // -nodefaultlibs, -nostdlib
	bool has_libc;        // -lc
	bool as_text;         // -emit-llvm: bitcode or its text
	// 'o', 'L', 'l', 't' (target), 'x' (-Xlinker), 'c' (-Xclang): the option that the next
	// argument belongs to
	char pending;
	struct tp_driver_inputs *inputs; // NULL: not asked for
};

// What -o, -L and -l (the letter) say, and shared libraries that stand alone ('\0').
static void note_input(struct reading *reading, char letter, const char *value)
{
	struct tp_driver_inputs *inputs = reading->inputs;
	if (!inputs)
		return;
	if (letter == 'o')
		snprintf(inputs->output, sizeof(inputs->output), "%s", value);
	else if (letter == 'L')
		tp_buf_add(&inputs->folders, value, strlen(value) + 1);
	else if (letter == 'l' || strstr(value, ".so"))
		tp_buf_add(&inputs->libraries, value, strlen(value) + 1);
}

// The processor of a target triple, by the name that our folders have.
static void note_target(struct reading *reading, const char *triple)
{
	static const char *const names[][2] = {
	    {"amd64", "x86_64"}, {"arm64", "aarch64"}, {"riscv64gc", "riscv64"}};
	char *machine = reading->plan.machine;
	snprintf(machine, sizeof(reading->plan.machine), "%.*s", (int)strcspn(triple, "-"), triple);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(machine, names[i][0]))
			snprintf(machine, sizeof(reading->plan.machine), "%s", names[i][1]);
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (!strcmp(text, *words))
			return true;
	}
	return false;
}

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

// -fuse-ld= and --ld-path=: the latter decides.
static void note_linker(struct reading *reading, const char *name)
{
	struct tp_driver_plan *plan = &reading->plan;
	const char *slash = strrchr(name, '/');
	const char *file = slash ? slash + 1 : name;
	snprintf(plan->linker_name, sizeof(plan->linker_name), "%s", name);
	if (strstr(file, "lld"))
		plan->linker = TP_LINKER_LLD;
	else if (strstr(file, "gold") || strstr(file, "mold") || strstr(file, "bfd"))
		plan->linker = TP_LINKER_NO_PLUGIN;
	else
		plan->linker = TP_LINKER_OTHER;
}

// A word for the linker, which ends at SIZE.
static void read_linker_word(struct reading *reading, const char *word, size_t size)
{
	static const char partitions[] = "--lto-partitions=";
	static const char *const partial[] = {"-r", "-i", "--relocatable", "-relocatable", NULL};
	char text[32];
	snprintf(text, sizeof(text), "%.*s", (int)size, word);
	reading->partial |= is_one_of(text, partial);
	// One dash will do, too.
	if (begins(text, partitions) || begins(text, partitions + 1))
		reading->plan.partitions = true;
}

// -Wl,WORD,WORD
static void read_linker_words(struct reading *reading, const char *words)
{
	for (;;) {
		const size_t size = strcspn(words, ",");
		read_linker_word(reading, words, size);
		if (!words[size])
			return;
		words += size + 1;
	}
}

static void read_frontend_word(struct reading *reading, const char *word)
{
	static const char *const none[] = {"-disable-llvm-passes", "-disable-llvm-optzns", NULL};
	static const char *const text[] = {"-emit-llvm", "-emit-llvm-bc", NULL};
	reading->plan.no_passes |= is_one_of(word, none);
	reading->as_text |= is_one_of(word, text);
}

// -o, -L, -l and --target, with their value joined to them or in the next argument.
static void read_input_option(struct reading *reading, const char *option)
{
	reading->pending = '\0';
	if (!strcmp(option, "-target") || !strcmp(option, "--target"))
		reading->pending = 't';
	else if (!strncmp(option, "--target=", 9))
		note_target(reading, option + 9);
	else if (!strcmp(option, "--output"))
		reading->pending = 'o';
	else if (!strncmp(option, "--output=", 9))
		note_input(reading, 'o', option + 9);
	else if (!strcmp(option, "-Xlinker"))
		reading->pending = 'x';
	else if (!strcmp(option, "-Xclang"))
		reading->pending = 'c';
	else if (!strchr("oLl", option[1]))
		return;
	else if (!option[2])
		reading->pending = option[1];
	else
		note_input(reading, option[1], option + 2);
}

// Options whose value is the next argument when it is not joined to them.
static bool takes_value(const char *option)
{
	static const char *const words[] = {"-o", "-I", "-L", "-D", "-U", "-F", "-B", "-G", "-T",
	    "-u", "-z", "-e", "-A", "-include", "-imacros", "-isystem", "-iquote", "-idirafter",
	    "-iprefix", "-iwithprefix", "-iwithprefixbefore", "-isysroot", "-iframework",
	    "-isystem-after", "-cxx-isystem", "-stdlib++-isystem", "-ivfsoverlay", "-Xlinker",
	    "-Xclang", "-Xassembler", "-Xpreprocessor", "-Xopenmp-target", "-mllvm", "-mmlir",
	    "-MF", "-MT", "-MQ", "-MJ", "-arch", "-target", "--target", "--sysroot", "--param",
	    "-rpath", "-dumpbase", "-dumpdir", "-working-directory", "-aux-info",
	    "-serialize-diagnostics", "--serialize-diagnostics", "-install_name", "-framework",
	    "-wrapper", "-fplugin-arg", "--output", NULL};
	return is_one_of(option, words);
}

// Whether a file of this name is handed to the linker as it is.
static bool is_linker_input(const char *name)
{
	static const char *const suffixes[] = {
	    ".o", ".a", ".so", ".obj", ".lo", ".ld", ".lds", NULL};
	const char *dot = strrchr(name, '.');
	if (!dot || strchr(dot, '/'))
		return true;
	// A version follows .so in libm.so.6.
	return is_one_of(dot, suffixes) || strstr(name, ".so.");
}

// Whether a file of this name becomes a precompiled header.
static bool is_header(const char *name)
{
	static const char *const suffixes[] = {".h", ".hh", ".hpp", ".hxx", ".H", NULL};
	const char *dot = strrchr(name, '.');
	return dot && is_one_of(dot, suffixes);
}

// What -x says.
static void read_language(struct reading *reading, const char *language)
{
	static const char header[] = "-header";
	const size_t length = strlen(language);
	reading->language = strcmp(language, "none") != 0;
	reading->header =
	    length >= strlen(header) && !strcmp(language + length - strlen(header), header);
	reading->is_preprocessed = strstr(language, "cpp-output") != NULL;
}

// Whether a file of this name has been preprocessed.
static bool is_preprocessed(const char *name)
{
	static const char *const suffixes[] = {".i", ".ii", ".mi", ".mii", NULL};
	const char *dot = strrchr(name, '.');
	return dot && is_one_of(dot, suffixes);
}

static void read_input(struct reading *reading, const char *name)
{
	reading->has_input = true;
	if (!(reading->language ? reading->header : is_header(name)))
		reading->has_linked = true;
	reading->plan.preprocessed |=
	    reading->language ? reading->is_preprocessed : is_preprocessed(name);
	note_input(reading, '\0', name);
	if (reading->language || !strcmp(name, "-") || !is_linker_input(name))
		reading->has_source = true;
}

static void read_option(struct reading *reading, const char *option)
{
	static const char *const only_text[] = {"-E", "-M", "-MM", "-fsyntax-only", "--version",
	    "-version", "--help", "-help", "-dumpversion", "-dumpmachine", "-dumpspecs",
	    "--analyze", "-emit-ast", NULL};
	static const char *const stops[] = {
	    "-c", "-S", "--precompile", "-emit-pch", "--compile", "--assemble", NULL};
	static const char *const no_libraries[] = {"-nodefaultlibs", "-nostdlib", NULL};
	static const char *const old_passes[] = {
	    "-flegacy-pass-manager", "-fno-experimental-new-pass-manager", NULL};
	struct tp_driver_plan *plan = &reading->plan;
	plan->preprocesses |= !strcmp(option, "-E");
	read_input_option(reading, option);
	if (!strcmp(option, "-x")) {
		reading->takes_next = true;
		reading->next_is_language = true;
	} else if (!strncmp(option, "-x", 2)) {
		read_language(reading, option + 2);
	} else if (!strcmp(option, "-l")) {
		reading->takes_next = true;
		reading->has_input = true;
		reading->has_linked = true;
	} else if (takes_value(option)) {
		reading->takes_next = true;
	} else if (is_one_of(option, only_text) || !strncmp(option, "-print-", 7) ||
		   !strncmp(option, "--print-", 8)) {
		reading->only_text = true;
	} else if (is_one_of(option, stops)) {
		reading->stops = true;
	} else if (!strcmp(option, "-r")) {
		reading->partial = true;
	} else if (begins(option, "-Wl,")) {
		read_linker_words(reading, option + 4);
	} else if (!strcmp(option, "-emit-llvm")) {
		reading->as_text = true;
	} else if (begins(option, "-fthinlto-index=")) {
		plan->thin_backend = true;
	} else if (is_one_of(option, old_passes)) {
		plan->no_passes = true;
	} else if (is_one_of(option, no_libraries)) {
		reading->no_libraries = true;
	} else if (!strcmp(option, "-shared") || !strcmp(option, "--shared")) {
		plan->shared = true;
	} else if (!strcmp(option, "-static") || !strcmp(option, "--static") ||
		   !strcmp(option, "-static-pie")) {
		plan->is_static = true;
	} else if (!strcmp(option, "-flto") || !strncmp(option, "-flto=", 6)) {
		plan->lto = true;
	} else if (!strcmp(option, "-fno-lto")) {
		plan->lto = false;
	} else if (!strncmp(option, "-O", 2)) {
		plan->zero = !strcmp(option, "-O0");
	} else if (begins(option, "-fuse-ld=") && !reading->has_path) {
		note_linker(reading, option + 9);
	} else if (begins(option, "--ld-path=")) {
		reading->has_path = true;
		note_linker(reading, option + 10);
	} else if (!strcmp(option, "-femulated-tls") || !strcmp(option, "-fno-emulated-tls")) {
		plan->emulated_tls = option[2] == 'e';
	} else if (!strncmp(option, "-l", 2)) {
		reading->has_libc |= !strcmp(option, "-lc");
		reading->has_input = true;
		reading->has_linked = true;
	}
}

static void read_response_file(struct reading *reading, const char *path, int depth);

static void read_argument(struct reading *reading, const char *argument, int depth)
{
	if (reading->takes_next) {
		reading->takes_next = false;
		if (reading->pending == 't')
			note_target(reading, argument);
		else if (reading->pending == 'x')
			read_linker_word(reading, argument, strlen(argument));
		else if (reading->pending == 'c')
			read_frontend_word(reading, argument);
		else if (reading->pending)
			note_input(reading, reading->pending, argument);
		reading->pending = '\0';
		if (reading->next_is_language)
			read_language(reading, argument);
		reading->next_is_language = false;
	} else if (argument[0] == '@' && depth < RESPONSE_DEPTH) {
		read_response_file(reading, argument + 1, depth + 1);
	} else if (argument[0] == '-' && argument[1]) {
		read_option(reading, argument);
	} else {
		read_input(reading, argument);
	}
}

// Words of a response file: separated by white space, quoted by ', " and backslash.
static void read_response_file(struct reading *reading, const char *path, int depth)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return; // clang will say so
	char word[WORD_SIZE];
	size_t length = 0;
	bool inside = false;
	int quote = 0;
	for (;;) {
		int c = getc(file);
		const bool ends = c == EOF || (!quote && strchr(" \t\n\r\v\f", c));
		if (ends) {
			word[length] = '\0';
			if (inside)
				read_argument(reading, word, depth);
			inside = false;
			length = 0;
			if (c == EOF)
				break;
			continue;
		}
		inside = true;
		if (c == quote) {
			quote = 0;
			continue;
		}
		if (!quote && (c == '"' || c == '\'')) {
			quote = c;
			continue;
		}
		if (c == '\\' && quote != '\'') {
			c = getc(file);
			if (c == EOF)
				continue;
		}
		if (length < WORD_SIZE - 1)
			word[length++] = (char)c;
	}
	fclose(file);
}

struct tp_driver_plan tp_driver_plan(int argc, char *const *argv)
{
	struct reading reading = {0};
	for (int i = 0; i < argc; i++)
		read_argument(&reading, argv[i], 0);
	struct tp_driver_plan plan = reading.plan;
	const bool stops = reading.stops || reading.only_text || !reading.has_linked;
	plan.compiles = reading.has_source && !reading.only_text;
	plan.links = !stops && !reading.partial;
	plan.combines = !stops && reading.partial;
	plan.libc_again = reading.no_libraries && reading.has_libc;
	plan.preprocesses = plan.preprocesses && !plan.compiles;
	// Who asks for LLVM's own code runs the passes later; with LTO the linker does.
	plan.no_passes = plan.no_passes && plan.compiles && !plan.lto && !reading.as_text;
	return plan;
}

void tp_driver_inputs_read(struct tp_driver_inputs *inputs, int argc, char *const *argv)
{
	snprintf(inputs->output, sizeof(inputs->output), "a.out");
	tp_buf_init(&inputs->folders);
	tp_buf_init(&inputs->libraries);
	struct reading reading = {.inputs = inputs};
	for (int i = 0; i < argc; i++)
		read_argument(&reading, argv[i], 0);
}

void tp_driver_inputs_release(struct tp_driver_inputs *inputs)
{
	tp_buf_release(&inputs->folders);
	tp_buf_release(&inputs->libraries);
}
