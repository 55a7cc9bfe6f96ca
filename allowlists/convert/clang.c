// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists that Clang itself reads, in the syntax of its SpecialCaseList: sections, and lines
// PREFIX:GLOB or PREFIX:GLOB=CATEGORY. Globs (version 2) are ours as they are; regular expressions
// (version 1), in which '*' means '.*' and '.' any byte, are translated if they hold nothing else.
// Each of the list's consumers has a precedence of its own, in which the order of lines means
// nothing; here lines are written in that order, so that the last that matches is the one that
// Clang would follow.
#include "formats.h"

#include "allowlists/language/glob.h"

#include <string.h>

struct reader {
	struct tp_import *import;
	const char *const *words;
	bool regex;
	uint32_t section; // index in words; if there is none, as many as there are
	uint32_t word_count;
};

static int compile(struct tp_import *import, struct tp_span glob, struct tp_globs *globs)
{
	struct tp_glob_error error;
	const int status = tp_globs_compile(globs, glob.text, glob.size, &error);
	if (status == TP_ERR_SYNTAX)
		return tp_import_syntax(import, glob.text + error.offset, "%s", error.what);
	return status ? tp_err_memory(import->err, import->input->file) : 0;
}

// Of several words that match, the first counts.
static int read_section(struct reader *reader, struct tp_span line)
{
	struct tp_import *import = reader->import;
	if (line.size < 3 || line.text[line.size - 1] != ']')
		return tp_import_syntax(
		    import, line.text, "not a section header; expected '[NAME]'");
	const struct tp_span name = {line.text + 1, line.size - 2};
	struct tp_globs globs;
	const int status = compile(import, name, &globs);
	reader->section = 0;
	while (reader->section < reader->word_count &&
	       !tp_globs_match(
		   &globs, reader->words[reader->section], strlen(reader->words[reader->section])))
		reader->section++;
	tp_globs_release(&globs);
	if (!status && reader->section == reader->word_count)
		tp_list_warn(import->input, import->lines.number,
		    "section '[%.*s]' is not imported: it is not about '%s'",
		    (int)(name.size < 60 ? name.size : 60), name.text, reader->words[0]);
	return status;
}

// A regular expression in which only '*' and '.' are special, as a glob. False if it holds more.
static bool translate(struct tp_buf *out, struct tp_span pattern)
{
	for (size_t i = 0; i < pattern.size; i++) {
		const char c = pattern.text[i];
		if (c == '\\' && i + 1 < pattern.size)
			tp_glob_add_byte(out, (unsigned char)pattern.text[++i]);
		else if (c == '.')
			tp_buf_add_char(out, '?');
		else if (c == '*')
			tp_buf_add_char(out, '*');
		else if ((c == '^' && i == 0) || (c == '$' && i + 1 == pattern.size))
			continue;
		else if (memchr("^$+?()[]{}|\\", c, 12))
			return false;
		else
			tp_glob_add_byte(out, (unsigned char)c);
	}
	return true;
}

// The pattern of LINE becomes a glob of ours; an empty one if it cannot.
static int read_pattern(struct reader *reader, struct tp_span line, struct tp_span *pattern)
{
	struct tp_import *import = reader->import;
	if (!reader->regex) {
		struct tp_globs globs;
		const int status = compile(import, *pattern, &globs);
		tp_globs_release(&globs);
		return status;
	}
	struct tp_buf glob;
	tp_buf_init(&glob);
	if (!translate(&glob, *pattern)) {
		tp_import_lost(import, import->lines.number, line,
		    "a regular expression that no glob can express");
		tp_buf_reset(&glob);
	}
	*pattern = tp_import_keep(import, &glob);
	return 0;
}

static int read_line(struct reader *reader, struct tp_span line)
{
	struct tp_import *import = reader->import;
	if (line.text[0] == '[')
		return read_section(reader, line);
	if (reader->section == reader->word_count)
		return 0;
	struct tp_span rest = line;
	const struct tp_span prefix = tp_span_cut(&rest, ':');
	if (prefix.size == line.size)
		return tp_import_syntax(import, line.text,
		    "'%.*s' has no prefix; expected PREFIX:GLOB",
		    (int)(line.size < 60 ? line.size : 60), line.text);
	struct tp_span pattern = tp_span_trim(tp_span_cut(&rest, '='));
	if (!pattern.size)
		return tp_import_syntax(import, line.text, "nothing to match after the ':'");
	int status = read_pattern(reader, line, &pattern);
	if (status || !pattern.size)
		return status;
	status = tp_import_add(import, pattern, reader->section);
	if (status)
		return status;
	import->entries[import->count - 1].prefix = prefix;
	import->entries[import->count - 1].category = tp_span_trim(rest);
	return 0;
}

// Read the list. The group of an entry is which of WORDS (ended by NULL) its section is; of other
// sections only a warning remains.
static int read_list(struct tp_import *import, const char *const *words)
{
	struct reader reader = {.import = import, .words = words};
	struct tp_span line;
	while (words[reader.word_count])
		reader.word_count++;
	reader.regex = tp_span_starts(
	    (struct tp_span){import->input->text, import->input->size}, "#!special-case-list-v1");
	int status = 0;
	while (!status && tp_import_line(import, &line))
		status = read_line(&reader, line);
	return status;
}

// Write the entries of section, prefix and category that are given as lines KIND:GLOB=BECOMES.
static void write_lines(struct tp_import *import, uint32_t section, const char *prefix,
    const char *category, const char *kind, enum tp_category becomes)
{
	for (uint32_t i = 0; i < import->count; i++) {
		struct tp_import_entry *entry = &import->entries[i];
		if (entry->used || entry->group != section || !tp_span_is(entry->prefix, prefix) ||
		    !tp_span_is(entry->category, category))
			continue;
		entry->used = true;
		tp_list_add_lines(import->out, entry->comment);
		tp_import_rule(import, kind, entry->pattern, becomes);
	}
}

// Report the entries that nothing has used.
static void report_rest(struct tp_import *import, const char *why)
{
	for (uint32_t i = 0; i < import->count; i++) {
		const struct tp_import_entry *entry = &import->entries[i];
		if (entry->used)
			continue;
		struct tp_buf line;
		tp_buf_init(&line);
		tp_buf_add_span(&line, entry->prefix);
		tp_buf_add_char(&line, ':');
		tp_buf_add_span(&line, entry->pattern);
		if (entry->category.size) {
			tp_buf_add_char(&line, '=');
			tp_buf_add_span(&line, entry->category);
		}
		tp_import_lost(import, entry->line, tp_import_keep(import, &line), "%s", why);
	}
}

/*
 * XRay: files before functions, [always] before [never]. What neither names is instrumented if it
 * has 200 instructions, of the machine, or a loop. A section for both, such as [*], is [always].
 */
int tp_import_xray(struct tp_import *import)
{
	static const char *const sections[] = {"always", "never", NULL};
	enum { ALWAYS, NEVER };
	const int status = read_list(import, sections);
	if (status)
		return status;
	tp_buf_add_string(import->out, "default:skip\n"
				       "# As XRay's threshold, for functions that are not listed; "
				       "XRay counts machine instructions.\n"
				       "where:instrs>=200=allow\n"
				       "where:loops>0=allow\n");
	write_lines(import, NEVER, "fun", "", "fun", TP_CATEGORY_SKIP);
	write_lines(import, ALWAYS, "fun", "", "fun", TP_CATEGORY_ALLOW);
	for (uint32_t i = 0; i < import->count; i++)
		if (import->entries[i].group == ALWAYS &&
		    tp_span_is(import->entries[i].category, "arg1"))
			tp_list_warn(import->input, import->entries[i].line,
			    "the first argument is not recorded (arg1)");
	write_lines(import, ALWAYS, "fun", "arg1", "fun", TP_CATEGORY_ALLOW);
	write_lines(import, NEVER, "src", "", "src", TP_CATEGORY_SKIP);
	write_lines(import, ALWAYS, "src", "", "src", TP_CATEGORY_ALLOW);
	report_rest(import, "XRay looks at fun: and src: lines without a category only");
	return 0;
}

// "default:" as the format has it: allow beats skip, skip beats forbid, wherever they stand.
static const char *default_of(struct tp_import *import)
{
	static const char *const words[] = {"forbid", "skip", "allow"};
	const char *found = NULL;
	bool selects = false;
	for (uint32_t word = 0; word < 3; word++) {
		for (uint32_t i = 0; i < import->count; i++) {
			struct tp_import_entry *entry = &import->entries[i];
			selects |=
			    tp_span_is(entry->prefix, "fun") || tp_span_is(entry->prefix, "src");
			if (!tp_span_is(entry->prefix, "default") ||
			    !tp_span_is(entry->pattern, words[word]))
				continue;
			entry->used = true;
			found = words[word];
		}
	}
	if (found)
		return found == words[2] ? "allow" : "skip";
	return selects ? "skip" : "allow";
}

// Profile lists: functions before files; then function: and source: before the older words.
int tp_import_profile_list(struct tp_import *import)
{
	static const char *const all[] = {"clang", "llvm", "csllvm", NULL};
	static const struct {
		const char *prefix;
		const char *category;
		const char *kind;
		enum tp_category becomes;
	} steps[] = {{"src", "", "src", TP_CATEGORY_ALLOW}, {"!src", "", "src", TP_CATEGORY_SKIP},
	    {"source", "", "src", TP_CATEGORY_ALLOW}, {"source", "forbid", "src", TP_CATEGORY_SKIP},
	    {"source", "skip", "src", TP_CATEGORY_SKIP},
	    {"source", "allow", "src", TP_CATEGORY_ALLOW}, {"fun", "", "fun", TP_CATEGORY_ALLOW},
	    {"!fun", "", "fun", TP_CATEGORY_SKIP}, {"function", "", "fun", TP_CATEGORY_ALLOW},
	    {"function", "forbid", "fun", TP_CATEGORY_SKIP},
	    {"function", "skip", "fun", TP_CATEGORY_SKIP},
	    {"function", "allow", "fun", TP_CATEGORY_ALLOW}};
	const int status = read_list(import, all);
	if (status)
		return status;
	// One kind of instrumentation: the first that the list has lines for.
	uint32_t section = 3;
	for (uint32_t i = 0; i < import->count; i++)
		if (import->entries[i].group < section)
			section = import->entries[i].group;
	tp_buf_addf(import->out, "default:%s\n", default_of(import));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		write_lines(import, section, steps[i].prefix, steps[i].category, steps[i].kind,
		    steps[i].becomes);
	report_rest(import,
	    "Clang ignores it in a profile list, or it is about another kind of instrumentation");
	return 0;
}

static const char *const coverage[] = {"coverage", NULL};

// Of the kinds of lines that a sanitizer's list of either sort has; src: is about the file that is
// compiled.
static bool is_kind(const struct tp_import_entry *entry, const char *prefix)
{
	return tp_span_is(entry->prefix, prefix) && !entry->category.size;
}

// The function of ENTRY in each of the files.
static void write_in_files(struct tp_import *import, const struct tp_import_entry *entry)
{
	const bool star = tp_span_is(entry->pattern, "*");
	for (uint32_t i = 0; i < import->count; i++) {
		const struct tp_import_entry *file = &import->entries[i];
		if (!is_kind(file, "src"))
			continue;
		if (star)
			tp_import_rule(import, "mainfile", file->pattern, TP_CATEGORY_ALLOW);
		else
			tp_import_rule_and(import, "fun", entry->pattern, "mainfile", file->pattern,
			    TP_CATEGORY_ALLOW);
	}
}

// Of an allowlist for coverage both the file that is compiled and the function must be named.
int tp_import_sancov(struct tp_import *import)
{
	const int status = read_list(import, coverage);
	if (status)
		return status;
	bool any_file = false;
	bool any_function = false;
	bool all_files = false;
	bool all_functions = false;
	for (uint32_t i = 0; i < import->count; i++) {
		const struct tp_import_entry *entry = &import->entries[i];
		const bool star = tp_span_is(entry->pattern, "*");
		any_file |= is_kind(entry, "src");
		all_files |= star && is_kind(entry, "src");
		any_function |= is_kind(entry, "fun");
		all_functions |= star && is_kind(entry, "fun");
	}
	tp_buf_add_string(import->out, "default:skip\n");
	if (!any_file || !any_function)
		tp_list_warn(import->input, 0,
		    "without a line '%s:' Clang instruments nothing; '%s:*' selects all",
		    any_file ? "fun" : "src", any_file ? "fun" : "src");
	for (uint32_t i = 0; i < import->count; i++) {
		struct tp_import_entry *entry = &import->entries[i];
		if (is_kind(entry, "src"))
			entry->used = any_function;
		if (!is_kind(entry, "fun"))
			continue;
		entry->used = any_file;
		if (!any_file || (all_functions && !all_files && !tp_span_is(entry->pattern, "*")))
			continue;
		tp_list_add_lines(import->out, entry->comment);
		if (all_files)
			tp_import_rule(import, "fun", entry->pattern, TP_CATEGORY_ALLOW);
		else
			write_in_files(import, entry);
	}
	report_rest(import, "Clang instruments nothing for it");
	return 0;
}

int tp_import_sancov_ignore(struct tp_import *import)
{
	const int status = read_list(import, coverage);
	if (status)
		return status;
	tp_buf_add_string(import->out, "default:allow\n");
	write_lines(import, 0, "src", "", "mainfile", TP_CATEGORY_SKIP);
	write_lines(import, 0, "fun", "", "fun", TP_CATEGORY_SKIP);
	report_rest(import, "Clang looks at fun: and src: lines without a category only");
	return 0;
}

/* ---- export ---- */

// Our globs are Clang's; what differs is who wins.

#define VERSION_2 "#!special-case-list-v2\n"

static void write_rule(struct tp_export *export, const struct tp_export_rule *rule,
    const char *prefix, const char *end)
{
	struct tp_span glob;
	tp_list_add_lines(export->out, rule->comment);
	for (int dot = tp_export_needs_dot(rule, &glob); dot >= 0; dot--) {
		tp_buf_addf(export->out, "%s:%s", prefix, dot ? "./" : "");
		tp_buf_add_span(export->out, glob);
		tp_buf_addf(export->out, "%s\n", end);
	}
}

// XRay: files before functions, always before never.
static bool xray_wins(const struct tp_export_rule *earlier, const struct tp_export_rule *later)
{
	const int first = 2 * tp_export_is(earlier, "src") + earlier->allow;
	const int second = 2 * tp_export_is(later, "src") + later->allow;
	return first > second;
}

static void write_xray(struct tp_export *export)
{
	if (export->allow) {
		tp_buf_add_string(
		    export->out, "# To be used with -fxray-instruction-threshold=1.\n");
		tp_list_warn(export->input, 0,
		    "functions that no line matches are instrumented if they are above XRay's "
		    "threshold: compile with -fxray-instruction-threshold=1");
	}
	tp_export_check_order(export, xray_wins);
	for (int allow = 1; allow >= 0; allow--) {
		tp_buf_add_string(export->out, allow ? "[always]\n" : "[never]\n");
		if (!allow && !export->allow)
			tp_buf_add_string(export->out, "fun:*\n");
		for (uint32_t i = 0; i < export->count; i++)
			if (export->rules[i].allow == allow)
				write_rule(
				    export, &export->rules[i], export->rules[i].parts.prefix, "");
	}
}

const struct tp_list_writer tp_export_xray = {
    "XRay", VERSION_2, tp_export_needs_linkage_names, write_xray};

// Profile lists: functions before files, allow before skip.
static bool profile_wins(const struct tp_export_rule *earlier, const struct tp_export_rule *later)
{
	const int first = 2 * tp_export_is(earlier, "fun") + earlier->allow;
	const int second = 2 * tp_export_is(later, "fun") + later->allow;
	return first > second;
}

static void write_profile_list(struct tp_export *export)
{
	tp_export_check_order(export, profile_wins);
	tp_buf_addf(export->out, "default:%s\n", export->allow ? "allow" : "skip");
	for (uint32_t i = 0; i < export->count; i++)
		write_rule(export, &export->rules[i],
		    tp_export_is(&export->rules[i], "fun") ? "function" : "source",
		    export->rules[i].allow ? "=allow" : "=skip");
}

const struct tp_list_writer tp_export_profile_list = {
    "-fprofile-list", VERSION_2, tp_export_needs_linkage_names, write_profile_list};

static bool is_file(const struct tp_export_rule *rule)
{
	return tp_export_is(rule, "src") || tp_export_is(rule, "mainfile");
}

static const char *sancov_cannot(const struct tp_export_rule *rule)
{
	if (!is_file(rule) && !tp_export_is(rule, "fun"))
		return tp_export_needs_linkage_names(rule);
	return rule->allow ? NULL
			   : "it has no exceptions; its ignorelist is '--format sancov-ignore'";
}

static const char *ignore_cannot(const struct tp_export_rule *rule)
{
	if (!is_file(rule) && !tp_export_is(rule, "fun"))
		return tp_export_needs_linkage_names(rule);
	return rule->allow ? "it has no exceptions; its allowlist is '--format sancov'" : NULL;
}

static void write_sancov_rules(struct tp_export *export)
{
	for (uint32_t i = 0; i < export->count; i++)
		write_rule(
		    export, &export->rules[i], is_file(&export->rules[i]) ? "src" : "fun", "");
}

static void warn_of_sources(struct tp_export *export)
{
	for (uint32_t i = 0; i < export->count; i++)
		if (tp_export_is(&export->rules[i], "src"))
			tp_list_warn(export->input, export->rules[i].line,
			    "there, src: means the compiled file, not the file of the function");
}

// Both a file and a function must be named: lists of one kind only can be said.
static void write_sancov(struct tp_export *export)
{
	bool any_function = export->allow;
	bool any_file = export->allow;
	for (uint32_t i = 0; i < export->count; i++) {
		any_file |= is_file(&export->rules[i]);
		any_function |= !is_file(&export->rules[i]);
	}
	warn_of_sources(export);
	if (any_function && any_file && export->count)
		tp_list_warn(export->input, 0,
		    "Clang instruments only functions that both a file line and a function line "
		    "name");
	if (!any_file || export->allow)
		tp_buf_add_string(export->out, "src:*\n");
	if (!any_function || export->allow)
		tp_buf_add_string(export->out, "fun:*\n");
	write_sancov_rules(export);
}

const struct tp_list_writer tp_export_sancov = {
    "-fsanitize-coverage-allowlist", VERSION_2, sancov_cannot, write_sancov};

static void write_sancov_ignore(struct tp_export *export)
{
	warn_of_sources(export);
	if (!export->allow)
		tp_list_warn(export->input, 0,
		    "functions that no line matches are instrumented there; the allowlist is "
		    "'--format sancov'");
	write_sancov_rules(export);
}

const struct tp_list_writer tp_export_sancov_ignore = {
    "-fsanitize-coverage-ignorelist", VERSION_2, ignore_cannot, write_sancov_ignore};
