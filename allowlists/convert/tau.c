// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selective instrumentation files of TAU. A list of routines (or files) to include excludes all
// others; those on a list to exclude are excluded in any case. Routines are prototypes with '#' for
// any text, files have '*' and '?'.
#include "formats.h"

#include <string.h>

enum block {
	ROUTINES_IN,
	ROUTINES_OUT,
	FILES_IN,
	FILES_OUT,
	BLOCK_COUNT,
	OTHER, // begins and ends as a block, and selects what TeePerf has not
	OUTSIDE,
};

static const char *const names[BLOCK_COUNT] = {
    "INCLUDE_LIST", "EXCLUDE_LIST", "FILE_INCLUDE_LIST", "FILE_EXCLUDE_LIST"};

/*
 * What stands for the routine in its demangled name. TAU's names begin with the type that is
 * returned, and end in " C" for C: "int sort(int *, int) C" is sort, "void N::f(int &)#" is
 * N::f(int&)*.
 */
static void add_routine(struct tp_buf *out, struct tp_span text)
{
	if (text.size >= 2 && text.text[0] == '"' && text.text[text.size - 1] == '"')
		text = (struct tp_span){text.text + 1, text.size - 2};
	const bool is_c = text.size > 2 && !memcmp(text.text + text.size - 2, " C", 2);
	if (is_c)
		text = tp_span_trim((struct tp_span){text.text, text.size - 2});
	const char *paren = memchr(text.text, '(', text.size);
	const size_t name_end = paren ? (size_t)(paren - text.text) : text.size;
	// The name begins behind the last blank or '*' that is not within template arguments.
	size_t start = 0;
	int depth = 0;
	for (size_t i = 0; i < name_end; i++) {
		const char c = text.text[i];
		depth += (c == '<') - (c == '>');
		if (depth <= 0 && paren && (c == ' ' || c == '*' || c == '&') && i + 1 < name_end &&
		    !(i >= 8 && !memcmp(text.text + i - 8, "operator", 8)))
			start = i + 1;
	}
	const size_t end = is_c ? name_end : text.size;
	for (size_t i = start; i < end; i++) {
		const char c = text.text[i];
		if (c == '#')
			tp_buf_add_char(out, '*');
		else if (c == ' ' && i + 1 < end && strchr("*&(", text.text[i + 1]))
			continue; // demanglers write "int*"
		else
			tp_glob_add_byte(out, (unsigned char)c, TP_DIALECT_OWN);
	}
	if (!paren && !is_c && (!text.size || text.text[text.size - 1] != '#'))
		tp_buf_add_string(out, "{,(*}");
}

// TAU compares with the name that the compiler was given; a name without folders is found in any.
static void add_file(struct tp_buf *out, struct tp_span text)
{
	const bool bare = !memchr(text.text, '/', text.size) && text.size && text.text[0] != '*';
	if (bare)
		tp_buf_add_string(out, "{,*/}");
	for (size_t i = 0; i < text.size; i++) {
		const char c = text.text[i];
		if (c == '*' || c == '?')
			tp_buf_add_char(out, c);
		else
			tp_glob_add_byte(out, (unsigned char)c, TP_DIALECT_OWN);
	}
}

static int begin(struct tp_import *import, struct tp_span line, enum block *block)
{
	if (!tp_span_starts(line, "BEGIN_"))
		return tp_import_syntax(import, line.text,
		    "'%.*s' outside of a block; expected BEGIN_EXCLUDE_LIST, BEGIN_INCLUDE_LIST, "
		    "BEGIN_FILE_EXCLUDE_LIST or BEGIN_FILE_INCLUDE_LIST",
		    (int)(line.size < 60 ? line.size : 60), line.text);
	for (int i = 0; i < BLOCK_COUNT; i++) {
		if (tp_span_is((struct tp_span){line.text + 6, line.size - 6}, names[i])) {
			*block = (enum block)i;
			return 0;
		}
	}
	*block = OTHER;
	return 0;
}

static int read_line(struct tp_import *import, struct tp_span line, enum block *block)
{
	if (*block == OUTSIDE)
		return begin(import, line, block);
	if (tp_span_starts(line, "BEGIN_"))
		return tp_import_syntax(
		    import, line.text, "a block within a block; expected its END_ line first");
	if (tp_span_starts(line, "END_")) {
		const struct tp_span name = {line.text + 4, line.size - 4};
		if (*block < BLOCK_COUNT && !tp_span_is(name, names[*block]))
			return tp_import_syntax(
			    import, line.text, "expected END_%s", names[*block]);
		*block = OUTSIDE;
		return 0;
	}
	return tp_import_add(import, line, (uint32_t)*block);
}

static void write_entry(struct tp_import *import, const struct tp_import_entry *entry,
    const struct tp_import_entry *file, enum tp_category category)
{
	const bool is_file = entry->group == FILES_IN || entry->group == FILES_OUT;
	struct tp_buf glob;
	tp_buf_init(&glob);
	(is_file ? add_file : add_routine)(&glob, entry->pattern);
	const struct tp_span own = tp_import_keep(import, &glob);
	tp_list_add_lines(import->out, entry->comment);
	if (!file) {
		tp_import_rule(import, is_file ? "src" : "name", own, category);
		return;
	}
	add_file(&glob, file->pattern);
	tp_import_rule_and(import, "name", own, "src", tp_import_keep(import, &glob), category);
}

static void write_group(struct tp_import *import, enum block group, enum tp_category category)
{
	for (uint32_t i = 0; i < import->count; i++)
		if (import->entries[i].group == group)
			write_entry(import, &import->entries[i], NULL, category);
}

static void write_all(struct tp_import *import)
{
	bool any[OTHER + 1] = {0};
	for (uint32_t i = 0; i < import->count; i++)
		any[import->entries[i].group] = true;
	const bool only = any[ROUTINES_IN] || any[FILES_IN];
	tp_buf_addf(import->out, "default:%s\n", only ? "skip" : "allow");
	if (any[ROUTINES_IN] && any[FILES_IN]) {
		// Both must include it.
		for (uint32_t i = 0; i < import->count; i++)
			for (uint32_t k = 0;
			     import->entries[i].group == ROUTINES_IN && k < import->count; k++)
				if (import->entries[k].group == FILES_IN)
					write_entry(import, &import->entries[i],
					    &import->entries[k], TP_CATEGORY_ALLOW);
	} else {
		write_group(import, ROUTINES_IN, TP_CATEGORY_ALLOW);
		write_group(import, FILES_IN, TP_CATEGORY_ALLOW);
	}
	write_group(import, ROUTINES_OUT, TP_CATEGORY_SKIP);
	write_group(import, FILES_OUT, TP_CATEGORY_SKIP);
	for (uint32_t i = 0; i < import->count; i++)
		if (import->entries[i].group == OTHER)
			tp_import_lost(import, import->entries[i].line, import->entries[i].pattern,
			    "TeePerf instruments whole functions only");
}

int tp_import_tau(struct tp_import *import)
{
	struct tp_span line;
	enum block block = OUTSIDE;
	int status = 0;
	while (!status && tp_import_line(import, &line))
		status = read_line(import, line, &block);
	if (status)
		return status;
	if (block != OUTSIDE)
		tp_list_warn(import->input, import->lines.number,
		    "the last block has no end: the end of the file is taken for it");
	write_all(import);
	return 0;
}
