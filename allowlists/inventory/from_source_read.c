// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads one source file with libclang, and writes its functions as the text of an inventory.
#define _GNU_SOURCE
#include "from_source_clang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/linkage_name.h"

struct reader {
	const struct tp_clang *clang;
	struct tp_from_source_counts *counts;
	struct tp_buf *text;
	uint32_t dependent; // templates that the cursor is in
};

// Options that make files, load plugins, or are another tool's. With '*' any word that begins so.
static const char *const dropped[] = {"-c", "-S", "-o*", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG",
    "-MF*", "-MT*", "-MQ*", "-fplugin=*", "-fpass-plugin=*", "-save-temps*", "--save-temps*",
    "-Werror*", "--allowlist=*", "--inventory=*", "--level=*", "--clock=*", "--exits=*",
    "--shape=*", "--tail-calls=*", "--llvm=*", "--port=*", "--module=*", "--switches=*",
    "--check=*", NULL};
// These have their value in the next word.
static const char *const dropped_with_next[] = {"-o", "-MF", "-MT", "-MQ", "-MJ", "--allowlist",
    "--inventory", "--level", "--clock", "--exits", "--shape", "--tail-calls", "--llvm", "--port",
    "--module", "--switches", "--check", NULL};

static bool is_one_of(const char *word, const char *const *options)
{
	for (; *options; options++) {
		const size_t size = strlen(*options);
		if ((*options)[size - 1] == '*' ? !strncmp(word, *options, size - 1)
						: !strcmp(word, *options))
			return true;
	}
	return false;
}

// How many words the option takes that is not for us.
static uint32_t dropped_words(const char *word)
{
	return is_one_of(word, dropped_with_next) ? 2 : is_one_of(word, dropped);
}

// Programs that run the compiler that is named behind them. "teeperf cc" becomes clang.
static uint32_t skip_launchers(const char **argv, uint32_t argc)
{
	static const char *const launchers[] = {
	    "ccache", "sccache", "distcc", "icecc", "nice", NULL};
	uint32_t at = 0;
	while (at + 1 < argc && is_one_of(basename(argv[at]), launchers))
		at++;
	if (at + 1 < argc && !strcmp(basename(argv[at]), "teeperf")) {
		at++;
		argv[at] = strstr(argv[at], "++") ? "clang++" : "clang";
	}
	return at;
}

// The command's words, those that matter; to be freed, while the words stay libclang's.
static const char **make_argv(const struct tp_clang *clang, void *command, int *count)
{
	const uint32_t argc = clang->CompileCommand_getNumArgs(command);
	const char **argv = calloc(2 * ((size_t)argc + 1), sizeof(*argv));
	if (!argv || !argc) {
		free(argv);
		return NULL;
	}
	const char **words = argv + argc + 1;
	for (uint32_t i = 0; i < argc; i++)
		words[i] = clang->getCString(clang->CompileCommand_getArg(command, i));
	uint32_t from = skip_launchers(words, argc);
	*count = 0;
	argv[(*count)++] = words[from++];
	argv[(*count)++] = "-w"; // warnings about style are of no use here
	while (from < argc) {
		const uint32_t dropped_count = dropped_words(words[from]);
		// "-Xclang -load" and its like: plugins.
		if (!strcmp(words[from], "-Xclang") && from + 3 < argc &&
		    (!strcmp(words[from + 1], "-load") || !strcmp(words[from + 1], "-add-plugin")))
			from += 4;
		else if (dropped_count)
			from += dropped_count;
		else
			argv[(*count)++] = words[from++];
	}
	return argv;
}

struct size {
	const struct tp_clang *clang;
	uint64_t nodes;
	bool body;
};

static enum tp_clang_visit count_node(tp_clang_cursor cursor, tp_clang_cursor parent, void *context)
{
	struct size *size = context;
	(void)parent;
	// A lambda's body is a function of its own.
	if (cursor.kind == TP_CLANG_LAMBDA)
		return TP_CLANG_CONTINUE;
	if (size->clang->isStatement(cursor.kind) || size->clang->isExpression(cursor.kind))
		size->nodes++;
	return TP_CLANG_RECURSE;
}

// The statement among a function's children is its body.
static enum tp_clang_visit find_body(tp_clang_cursor cursor, tp_clang_cursor parent, void *context)
{
	struct size *size = context;
	if (!size->clang->isStatement(cursor.kind)) {
		// What a constructor initialises members with.
		if (size->clang->isExpression(cursor.kind)) {
			count_node(cursor, parent, size);
			size->clang->visitChildren(cursor, count_node, size);
		}
		return TP_CLANG_CONTINUE;
	}
	size->body = true;
	size->clang->visitChildren(cursor, count_node, size);
	return TP_CLANG_BREAK;
}

static const char *linkage_of(const struct tp_clang *clang, tp_clang_cursor cursor)
{
	const int linkage = clang->getCursorLinkage(cursor);
	if (linkage == TP_CLANG_INTERNAL || linkage == TP_CLANG_UNIQUE_EXTERNAL)
		return "internal";
	return clang->Cursor_isFunctionInlined(cursor) ? "linkonce_odr" : "external";
}

static void write_function(
    struct reader *reader, tp_clang_cursor cursor, const char *name, uint64_t nodes)
{
	const struct tp_clang *clang = reader->clang;
	void *file = NULL;
	unsigned line = 0;
	clang->getExpansionLocation(clang->getCursorLocation(cursor), &file, &line, NULL, NULL);
	tp_buf_add_string(reader->text, "fun\t");
	tp_inventory_add_escaped(reader->text, name);
	tp_buf_addf(reader->text, "\t%s\tsource", linkage_of(clang, cursor));
	if (file) {
		const tp_clang_string path = clang->getFileName(file);
		tp_buf_add_string(reader->text, "\tfile=");
		tp_inventory_add_escaped(reader->text, clang->getCString(path));
		clang->disposeString(path);
	}
	tp_buf_addf(reader->text, "\tline=%u\tstart=%llu\n", line, (unsigned long long)nodes);
	reader->counts->functions++;
}

// The name of another variant of a constructor or destructor ('C1' -> 'C2'), to be freed, or NULL.
// The demangler shows which "C1" of the name is the right one: all variants have the same demangled
// name.
static char *variant_of(const char *name, char kind, char variant)
{
	char *wanted = tp_demangle(name);
	char *other = strdup(name);
	bool same = false;
	for (char *at = other; wanted && other && !same && (at = strchr(at, kind)); at++) {
		if (at[1] != '1')
			continue;
		at[1] = variant;
		char *got = tp_demangle(other);
		same = got && !strcmp(got, wanted);
		free(got);
		if (!same)
			at[1] = '1';
	}
	free(wanted);
	if (same)
		return other;
	free(other);
	return NULL;
}

/*
 * Of constructors and destructors the name of the complete object's is known (C1, D1), while
 * compilers mostly keep only the base object's (C2, D2) and make the other an alias of it; virtual
 * destructors also delete (D0). Write all.
 */
static void write_structor(
    struct reader *reader, tp_clang_cursor cursor, const char *name, uint64_t nodes)
{
	const bool constructor = cursor.kind == TP_CLANG_CONSTRUCTOR;
	const bool deletes = !constructor && reader->clang->CXXMethod_isVirtual(cursor);
	const uint64_t functions = reader->counts->functions + 1; // one of the source
	write_function(reader, cursor, name, nodes);
	for (const char *variant = deletes ? "20" : "2"; *variant; variant++) {
		char *other = variant_of(name, constructor ? 'C' : 'D', *variant);
		if (other)
			write_function(reader, cursor, other, nodes);
		free(other);
	}
	reader->counts->functions = functions;
}

static void read_function(struct reader *reader, tp_clang_cursor cursor)
{
	const struct tp_clang *clang = reader->clang;
	struct size size = {.clang = clang};
	clang->visitChildren(cursor, find_body, &size);
	if (reader->dependent || cursor.kind == TP_CLANG_FUNCTION_TEMPLATE) {
		reader->counts->templates += size.body;
		return;
	}
	if (!size.body) {
		reader->counts->implied += clang->CXXMethod_isDefaulted(cursor) != 0;
		return;
	}
	const tp_clang_string mangled = clang->Cursor_getMangling(cursor);
	const char *name = clang->getCString(mangled);
	if (!name || !*name)
		reader->counts->templates++; // depends on one in a way that its place does not tell
	else if (cursor.kind == TP_CLANG_CONSTRUCTOR || cursor.kind == TP_CLANG_DESTRUCTOR)
		write_structor(reader, cursor, name, size.nodes);
	else
		write_function(reader, cursor, name, size.nodes);
	clang->disposeString(mangled);
}

static bool is_function(int kind)
{
	return kind == TP_CLANG_FUNCTION || kind == TP_CLANG_METHOD ||
	       kind == TP_CLANG_CONSTRUCTOR || kind == TP_CLANG_DESTRUCTOR ||
	       kind == TP_CLANG_CONVERSION || kind == TP_CLANG_FUNCTION_TEMPLATE;
}

static enum tp_clang_visit visit(tp_clang_cursor cursor, tp_clang_cursor parent, void *context)
{
	struct reader *reader = context;
	const struct tp_clang *clang = reader->clang;
	(void)parent;
	const bool function = is_function(cursor.kind);
	if (function && clang->Location_isInSystemHeader(clang->getCursorLocation(cursor))) {
		reader->counts->system += clang->isCursorDefinition(cursor) != 0;
		return TP_CLANG_CONTINUE;
	}
	reader->counts->lambdas += cursor.kind == TP_CLANG_LAMBDA;
	if (function)
		read_function(reader, cursor);
	const bool dependent = cursor.kind == TP_CLANG_FUNCTION_TEMPLATE ||
			       cursor.kind == TP_CLANG_CLASS_TEMPLATE ||
			       cursor.kind == TP_CLANG_PARTIAL_SPECIALIZATION;
	if (!dependent)
		return TP_CLANG_RECURSE;
	reader->dependent++;
	clang->visitChildren(cursor, visit, reader);
	reader->dependent--;
	return TP_CLANG_CONTINUE;
}

// The first error, and whether there are any.
static void read_errors(
    const struct tp_clang *clang, void *unit, struct tp_from_source_report *report)
{
	const unsigned count = clang->getNumDiagnostics(unit);
	for (unsigned i = 0; i < count && !report->counts.erroneous; i++) {
		void *diagnostic = clang->getDiagnostic(unit, i);
		if (clang->getDiagnosticSeverity(diagnostic) >= TP_CLANG_ERROR) {
			const tp_clang_string text =
			    clang->formatDiagnostic(diagnostic, TP_CLANG_SHOW_PLACE);
			snprintf(
			    report->error, sizeof(report->error), "%s", clang->getCString(text));
			clang->disposeString(text);
			report->counts.erroneous = 1;
		}
		clang->disposeDiagnostic(diagnostic);
	}
}

void tp_from_source_read(const struct tp_clang *clang, void *command,
    struct tp_from_source_report *report, struct tp_buf *text)
{
	*report = (struct tp_from_source_report){.counts = {.lost = 1}};
	const char *folder = clang->getCString(clang->CompileCommand_getDirectory(command));
	if (folder && *folder && chdir(folder)) {
		snprintf(
		    report->error, sizeof(report->error), "its folder '%s' does not exist", folder);
		return;
	}
	int argc = 0;
	const char **argv = make_argv(clang, command, &argc);
	void *unit = NULL;
	void *index = clang->createIndex(0, 0);
	clang->toggleCrashRecovery(0); // which the index has switched on: a crash is to end us
	const int code = argv && index ? clang->parseTranslationUnit2FullArgv(index, NULL, argv,
					     argc, NULL, 0, TP_CLANG_KEEP_GOING, &unit)
				       : 1;
	free(argv);
	if (code || !unit) {
		snprintf(report->error, sizeof(report->error),
		    "libclang cannot read it with the options of its compile command");
		return;
	}
	report->counts.lost = 0;
	read_errors(clang, unit, report);
	const tp_clang_string spelling = clang->getTranslationUnitSpelling(unit);
	const tp_clang_string file = clang->CompileCommand_getFilename(command);
	const char *name = clang->getCString(spelling);
	tp_buf_add_string(text, "teeperf-inventory\t1\nunit\t");
	tp_inventory_add_escaped(text, name && *name ? name : clang->getCString(file));
	tp_buf_add_string(text, "\tcompiler=");
	tp_inventory_add_escaped(text, clang->name);
	tp_buf_add_char(text, '\n');
	struct reader reader = {.clang = clang, .counts = &report->counts, .text = text};
	clang->visitChildren(clang->getTranslationUnitCursor(unit), visit, &reader);
	report->text_size = text->size;
}
