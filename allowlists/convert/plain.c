// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain lists of names: AFL++, gcc, Extrae.
#include "formats.h"

#include <string.h>

enum { FUNCTION, FILES };

// AFL++ removes all blanks, also those within a line.
static struct tp_span squeeze(struct tp_buf *buf, struct tp_span line)
{
	tp_buf_reset(buf);
	for (size_t i = 0; i < line.size && line.text[i] != '#'; i++)
		if (line.text[i] != ' ' && line.text[i] != '\t')
			tp_buf_add_char(buf, line.text[i]);
	return (struct tp_span){buf->data, buf->size};
}

// Cut the prefix off and tell what the line is about; without one, a name with '.' or '/' is a
// file's.
static uint32_t afl_kind(struct tp_span *line)
{
	static const char *const prefixes[] = {"fun:", "function:", "src:", "source:"};
	for (uint32_t i = 0; i < 4; i++) {
		if (tp_span_starts(*line, prefixes[i])) {
			line->text += strlen(prefixes[i]);
			line->size -= strlen(prefixes[i]);
			return i < 2 ? FUNCTION : FILES;
		}
	}
	return memchr(line->text, '.', line->size) || memchr(line->text, '/', line->size)
		   ? FILES
		   : FUNCTION;
}

/*
 * One pattern: a file's may begin anywhere, as if with '*'; a function's is compared with the
 * mangled and the demangled name. (Before 2026 AFL++ put '*' before functions, too.)
 */
static void afl_rule(struct tp_import *import, uint32_t kind, struct tp_span pattern, bool deny)
{
	const enum tp_category category = deny ? TP_CATEGORY_SKIP : TP_CATEGORY_ALLOW;
	struct tp_buf glob;
	tp_buf_init(&glob);
	if (kind == FILES && pattern.size && pattern.text[0] != '*')
		tp_buf_add_char(&glob, '*');
	tp_glob_add_fnmatch(&glob, pattern);
	const struct tp_span whole = tp_import_keep(import, &glob);
	tp_import_rule(import, kind == FILES ? "src" : "fun", whole, category);
	// A mangled name has no demangled name that looks like it.
	if (kind == FUNCTION && !tp_span_starts(pattern, "_Z"))
		tp_import_rule(import, "name", whole, category);
}

static int import_afl(struct tp_import *import, bool deny)
{
	struct tp_span line;
	struct tp_buf squeezed;
	bool first = true;
	tp_buf_init(&squeezed);
	tp_buf_addf(import->out, "default:%s\n", deny ? "allow" : "skip");
	while (tp_import_line(import, &line)) {
		struct tp_span pattern = squeeze(&squeezed, line);
		const uint32_t kind = afl_kind(&pattern);
		// Lists for Clang begin with it; AFL++ then takes what else is listed.
		const bool ignored = first && !deny && kind == FILES && tp_span_is(pattern, "*");
		first = false;
		if (!pattern.size)
			continue;
		tp_import_own_comment(import);
		if (!ignored)
			afl_rule(import, kind, pattern, deny);
	}
	import->out->failed |= squeezed.failed;
	tp_buf_release(&squeezed);
	return 0;
}

int tp_import_afl(struct tp_import *import)
{
	return import_afl(import, false);
}

int tp_import_afl_deny(struct tp_import *import)
{
	return import_afl(import, true);
}

// The parts of a list that gcc takes for substrings; "\," is a comma.
static void gcc_list(struct tp_import *import, struct tp_span value, bool files)
{
	size_t at = 0;
	while (at < value.size) {
		struct tp_buf glob;
		tp_buf_init(&glob);
		tp_buf_add_char(&glob, '*');
		for (; at < value.size && value.text[at] != ','; at++) {
			at += value.text[at] == '\\' && at + 1 < value.size;
			tp_glob_add_byte(&glob, (unsigned char)value.text[at], TP_DIALECT_OWN);
		}
		at++;
		const bool any = glob.size > 1;
		tp_buf_add_char(&glob, '*');
		const struct tp_span part = tp_import_keep(import, &glob);
		if (any)
			tp_import_rule(import, files ? "src" : "name", part, TP_CATEGORY_SKIP);
	}
}

// The options in a line of any text, such as a makefile's; their values end at a quote they began
// in.
static bool gcc_line(struct tp_import *import, struct tp_span line)
{
	static const char *const options[] = {"-finstrument-functions-exclude-function-list=",
	    "-finstrument-functions-exclude-file-list="};
	bool any = false;
	for (size_t i = 0; i < line.size; i++) {
		for (int kind = 0; kind < 2; kind++) {
			const struct tp_span rest = {line.text + i, line.size - i};
			if (!tp_span_starts(rest, options[kind]))
				continue;
			size_t start = i + strlen(options[kind]);
			char stop = i && (line.text[i - 1] == '"' || line.text[i - 1] == '\'')
					? line.text[i - 1]
					: ' ';
			if (start < line.size &&
			    (line.text[start] == '"' || line.text[start] == '\''))
				stop = line.text[start++];
			size_t end = start;
			while (end < line.size && line.text[end] != stop &&
			       (stop != ' ' || line.text[end] != '\t'))
				end++;
			gcc_list(
			    import, (struct tp_span){line.text + start, end - start}, kind == 1);
			any = true;
		}
	}
	return any;
}

int tp_import_gcc(struct tp_import *import)
{
	struct tp_span line;
	bool any = false;
	tp_buf_add_string(import->out,
	    "# gcc leaves out each name that has one of these anywhere in it.\n"
	    "default:allow\n");
	while (tp_import_line(import, &line))
		any |= gcc_line(import, line);
	if (any)
		return 0;
	return tp_err_set(import->err, TP_ERR_FORMAT, import->input->file,
	    "it has neither -finstrument-functions-exclude-function-list= nor "
	    "-finstrument-functions-exclude-file-list=");
}

static bool is_address(struct tp_span text)
{
	if (tp_span_starts(text, "0x"))
		text = (struct tp_span){text.text + 2, text.size - 2};
	for (size_t i = 0; i < text.size; i++)
		if (!memchr("0123456789abcdefABCDEF", text.text[i], 22))
			return false;
	return text.size >= 4;
}

// "ADDRESS#NAME" for gcc's hooks, "NAME" for Dyninst, with blanks around the parts; "NAME+loops".
int tp_import_extrae(struct tp_import *import)
{
	struct tp_span line;
	tp_buf_add_string(import->out, "default:skip\n");
	while (tp_import_line(import, &line)) {
		struct tp_span rest = line;
		struct tp_span name = tp_span_trim(tp_span_cut(&rest, '#'));
		if (is_address(name) && rest.size)
			name = tp_span_trim(rest);
		else if (is_address(tp_span_trim(rest)) || !rest.size)
			rest.size = 0;
		struct tp_span loops = name;
		// operator+ has no '+' behind a letter.
		const struct tp_span base = tp_span_cut(&loops, '+');
		if (base.size && loops.size && !tp_span_starts(base, "_Z") &&
		    memchr(base.text, ':', base.size) == NULL &&
		    !memchr(base.text, '(', base.size)) {
			tp_import_lost(import, import->lines.number, line,
			    "TeePerf instruments whole functions only, and uses '%.*s'",
			    (int)(base.size < 60 ? base.size : 60), base.text);
			name = base;
		}
		struct tp_buf glob;
		tp_buf_init(&glob);
		tp_glob_add_literal(&glob, name);
		const bool demangled =
		    memchr(name.text, '(', name.size) || memchr(name.text, ':', name.size);
		const struct tp_span kept = tp_import_keep(import, &glob);
		tp_import_own_comment(import);
		if (name.size)
			tp_import_rule(import, demangled ? "name" : "fun", kept, TP_CATEGORY_ALLOW);
	}
	return 0;
}

/* ---- export ---- */

static const char *afl_cannot(const struct tp_export_rule *rule)
{
	if (!tp_export_is(rule, "fun") && !tp_export_is(rule, "src") && !tp_export_is(rule, "name"))
		return "it does not support such a line";
	return rule->allow ? NULL : "it has no exceptions";
}

// AFL++ puts '*' before files, and compares functions with both of their names.
static void write_afl(struct tp_export *export)
{
	if (export->allow)
		tp_buf_add_string(export->out, "fun:*\n");
	for (uint32_t i = 0; i < export->count; i++) {
		const struct tp_export_rule *rule = &export->rules[i];
		tp_list_add_lines(export->out, rule->comment);
		tp_export_fnmatch(export, tp_export_is(rule, "src") ? "src:" : "fun:", rule);
	}
}

const struct tp_list_writer tp_export_afl = {"AFL++", "", afl_cannot, write_afl};
