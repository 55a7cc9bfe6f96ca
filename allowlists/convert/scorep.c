// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Score-P filters. Blocks of file names and of region names, each a sequence of INCLUDE and EXCLUDE
// rules of which the last that matches decides; all is included at first. A file that is left out
// stays out whatever the region rules say.
#include "formats.h"

#include <string.h>

// Groups of entries: which block, and flags.
enum {
	REGION = 0,
	FILES = 1,
	EXCLUDE = 2,
	MANGLED = 4,
};

enum { NOT_IN_BLOCK = -1, NO_RULE = -1 };

// The next word of a line; a blank after a backslash is part of it, '#' without one ends the line.
static bool next_word(struct tp_span *rest, struct tp_span *word)
{
	*rest = tp_span_trim(*rest);
	if (!rest->size || rest->text[0] == '#')
		return false;
	size_t size = 0;
	while (size < rest->size && rest->text[size] != ' ' && rest->text[size] != '\t' &&
	       rest->text[size] != '#')
		size += rest->text[size] == '\\' && size + 1 < rest->size ? 2 : 1;
	*word = (struct tp_span){rest->text, size};
	rest->text += size;
	rest->size -= size;
	return true;
}

static int read_word(struct tp_import *import, struct tp_span word, int *block, int *flags)
{
	static const char *const begins[] = {
	    "SCOREP_REGION_NAMES_BEGIN", "SCOREP_FILE_NAMES_BEGIN"};
	static const char *const ends[] = {"SCOREP_REGION_NAMES_END", "SCOREP_FILE_NAMES_END"};
	if (*block == NOT_IN_BLOCK) {
		*flags = NO_RULE;
		for (*block = REGION; *block <= FILES; ++*block)
			if (tp_span_is(word, begins[*block]))
				return 0;
		return tp_import_syntax(import, word.text,
		    "'%.*s' outside of a block; expected SCOREP_REGION_NAMES_BEGIN or "
		    "SCOREP_FILE_NAMES_BEGIN",
		    (int)(word.size < 60 ? word.size : 60), word.text);
	}
	if (tp_span_is(word, ends[*block])) {
		*block = NOT_IN_BLOCK;
		return 0;
	}
	if (tp_span_starts(word, "SCOREP_"))
		return tp_import_syntax(import, word.text, "'%.*s' in a block; expected %s first",
		    (int)(word.size < 60 ? word.size : 60), word.text, ends[*block]);
	if (tp_span_is(word, "INCLUDE")) {
		*flags = 0;
		return 0;
	}
	if (tp_span_is(word, "EXCLUDE")) {
		*flags = EXCLUDE;
		return 0;
	}
	if (*flags == NO_RULE)
		return tp_import_syntax(import, word.text,
		    "'%.*s' without a rule; expected INCLUDE or EXCLUDE first",
		    (int)(word.size < 60 ? word.size : 60), word.text);
	if (tp_span_is(word, "MANGLED") && *block == REGION) {
		*flags |= MANGLED;
		return 0;
	}
	return tp_import_add(import, word, (uint32_t)(*block | *flags));
}

static enum tp_category category_of(const struct tp_import_entry *entry)
{
	return entry->group & EXCLUDE ? TP_CATEGORY_SKIP : TP_CATEGORY_ALLOW;
}

static const char *kind_of(const struct tp_import_entry *entry)
{
	return entry->group & MANGLED ? "fun" : "name";
}

// What an INCLUDE of files lets in again is decided by the region rules, which therefore follow it,
// for these files.
static void write_file(
    struct tp_import *import, const struct tp_import_entry *entry, bool any_excluded)
{
	tp_list_add_lines(import->out, entry->comment);
	if (!(entry->group & EXCLUDE) && !any_excluded) {
		tp_buf_add_string(import->out, "# already included: ");
		tp_buf_add_span(import->out, entry->pattern);
		tp_buf_add_char(import->out, '\n');
		return;
	}
	const struct tp_span source = tp_import_fnmatch(import, entry->pattern);
	tp_import_rule(import, "src", source, category_of(entry));
	for (uint32_t i = 0; !(entry->group & EXCLUDE) && i < import->count; i++) {
		const struct tp_import_entry *region = &import->entries[i];
		if (!(region->group & FILES))
			tp_import_rule_and(import, kind_of(region),
			    tp_import_fnmatch(import, region->pattern), "src", source,
			    category_of(region));
	}
}

static void write_all(struct tp_import *import)
{
	bool any_files = false;
	tp_buf_add_string(import->out, "default:allow\n");
	for (uint32_t i = 0; i < import->count; i++) {
		const struct tp_import_entry *entry = &import->entries[i];
		if (entry->group & FILES) {
			any_files = true;
			continue;
		}
		tp_list_add_lines(import->out, entry->comment);
		tp_import_rule(import, kind_of(entry), tp_import_fnmatch(import, entry->pattern),
		    category_of(entry));
	}
	if (any_files)
		tp_buf_add_string(import->out, "\n# Files, which decide over regions.\n");
	bool any_excluded = false;
	for (uint32_t i = 0; i < import->count; i++) {
		const struct tp_import_entry *entry = &import->entries[i];
		if (!(entry->group & FILES))
			continue;
		write_file(import, entry, any_excluded);
		any_excluded |= (entry->group & EXCLUDE) != 0;
	}
}

int tp_import_scorep(struct tp_import *import)
{
	struct tp_span line;
	struct tp_span word;
	int block = NOT_IN_BLOCK;
	int flags = NO_RULE;
	int status = 0;
	while (!status && tp_import_line(import, &line)) {
		while (!status && next_word(&line, &word))
			status = read_word(import, word, &block, &flags);
		// A comment behind a pattern, often the name that it is the linkage name of.
		struct tp_import_entry *last =
		    import->count ? &import->entries[import->count - 1] : NULL;
		if (last && last->line == import->lines.number && !last->comment.size)
			last->comment = line;
	}
	if (status)
		return status;
	if (block != NOT_IN_BLOCK)
		tp_list_warn(import->input, import->lines.number,
		    "the last block has no end: the end of the file is taken for it");
	write_all(import);
	return 0;
}

/* ---- export ---- */

static const char *cannot(const struct tp_export_rule *rule)
{
	if (tp_export_is(rule, "fun") || tp_export_is(rule, "name") || tp_export_is(rule, "src"))
		return NULL;
	return "it supports files and regions only";
}

static bool earlier_wins(const struct tp_export_rule *earlier, const struct tp_export_rule *later)
{
	const bool first = tp_export_is(earlier, "src");
	const bool second = tp_export_is(later, "src");
	return first != second && (first ? !earlier->allow : later->allow);
}

static void write_block(struct tp_export *export, const char *block, bool files, bool skip_all)
{
	tp_buf_addf(export->out, "SCOREP_%s_NAMES_BEGIN\n", block);
	if (skip_all)
		tp_buf_add_string(export->out, "  EXCLUDE *\n");
	for (uint32_t i = 0; i < export->count; i++) {
		const struct tp_export_rule *rule = &export->rules[i];
		if (tp_export_is(rule, "src") != files)
			continue;
		tp_list_add_lines(export->out, rule->comment);
		const bool mangled = tp_export_is(rule, "fun");
		tp_export_fnmatch(export,
		    rule->allow ? (mangled ? "  INCLUDE MANGLED " : "  INCLUDE ")
				: (mangled ? "  EXCLUDE MANGLED " : "  EXCLUDE "),
		    rule);
	}
	tp_buf_addf(export->out, "SCOREP_%s_NAMES_END\n", block);
}

static void write(struct tp_export *export)
{
	bool any_file = false;
	bool file_allowed = false;
	for (uint32_t i = 0; i < export->count; i++) {
		const bool file = tp_export_is(&export->rules[i], "src");
		any_file |= file;
		file_allowed |= file && export->rules[i].allow;
	}
	// The default is a rule of the block whose rules make exceptions of it.
	const bool by_file = !export->allow && file_allowed;
	for (uint32_t i = 0; by_file && i < export->count; i++) {
		const struct tp_export_rule *rule = &export->rules[i];
		if (!tp_export_is(rule, "src") && rule->allow)
			tp_list_warn(export->input, rule->line,
			    "'%.*s' counts in Score-P only for files that are included",
			    (int)(rule->text.size < 100 ? rule->text.size : 100), rule->text.text);
	}
	tp_export_check_order(export, earlier_wins);
	if (any_file)
		write_block(export, "FILE", true, by_file);
	write_block(export, "REGION", false, !export->allow && !by_file);
}

const struct tp_list_writer tp_export_scorep = {"Score-P", "", cannot, write};
