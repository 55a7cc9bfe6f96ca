// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a person who wrote a line of a list may have meant.
#define _GNU_SOURCE
#include "check.h"

#include "allowlists/language/reading.h"
#include "allowlists/convert/text.h"
#include "common/clean.h"
#include "common/spelling.h"
#include "common/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DISTANCE_MOST = 3 };

// The functions that lines of a list which is made up for the question match.
struct answer {
	uint32_t count;
	uint32_t first; // index of a function
};

static struct answer ask(const struct tp_inventory *inventory, const struct tp_buf *text)
{
	struct answer answer = {0};
	struct tp_allowlist *list;
	if (text->failed || tp_allowlist_parse(&list, text->data, text->size, "hint", NULL))
		return answer;
	for (uint32_t i = 0; i < inventory->function_count; i++) {
		const struct tp_subject subject = tp_inventory_subject(&inventory->functions[i]);
		if (!tp_allowlist_match(list, &subject).line)
			continue;
		if (answer.count++ == 0)
			answer.first = i;
	}
	tp_allowlist_free(list);
	return answer;
}

// One line KIND:BEFORE GLOB AFTER for the same.
static struct answer ask_line(const struct tp_inventory *inventory, const char *kind,
    const char *before, const char *glob, size_t size, const char *after)
{
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_addf(&text, "%s:%s%.*s%s=allow\n", kind, before, (int)size, glob, after);
	const struct answer answer = ask(inventory, &text);
	tp_buf_release(&text);
	return answer;
}

static bool has_any(const char *text, size_t size, const char *const *words)
{
	for (; *words; words++)
		if (memmem(text, size, *words, strlen(*words)))
			return true;
	return false;
}

static const struct tp_inventory_function *at(const struct tp_list_use *use, uint32_t index)
{
	return &use->inventory->functions[index];
}

// "'fun:_Z3fooi' is foo(int)".
static void add_linkage(struct tp_buf *hint, const struct tp_inventory_function *function)
{
	tp_buf_addf_clean(hint, "'fun:%s' is %s", function->name, function->demangled);
}

// A way to write a name.
struct attempt {
	const char *before;
	size_t size; // of the name
	const char *after;
};

// The answer to the first of COUNT attempts with name: that matches anything; *FOUND is that, or
// the last.
static struct answer ask_names(const struct tp_inventory *inventory, const char *name,
    const struct attempt *attempts, uint32_t count, struct attempt *found)
{
	struct answer answer = {0};
	for (uint32_t i = 0; i < count && !answer.count; i++) {
		*found = attempts[i];
		answer =
		    ask_line(inventory, "name", found->before, name, found->size, found->after);
	}
	return answer;
}

// fun: with what looks like a demangled name, or with the plain name of a C++ function.
static bool hint_demangled(
    struct tp_buf *hint, const struct tp_list_use *use, const struct tp_line_parts *parts)
{
	const size_t size = parts->glob.size;
	const struct attempt attempts[] = {{"", size, ""}, {"", size, "(*"}, {"*::", size, "(*"}};
	struct attempt found;
	const struct answer answer =
	    ask_names(use->inventory, parts->glob.text, attempts, 3, &found);
	if (answer.count == 1) {
		tp_buf_add_string(hint, "fun: takes linkage names: ");
		add_linkage(hint, at(use, answer.first));
	} else if (answer.count) {
		tp_buf_addf(hint,
		    "fun: takes linkage names; 'name:%s%.*s%s' matches %" PRIu32
		    " functions by their demangled names",
		    found.before, (int)size, parts->glob.text, found.after, answer.count);
	}
	return answer.count > 0;
}

// GLOB as it would be if it was meant as a regular expression.
static void add_from_regex(struct tp_buf *to, const char *glob, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const bool more = i + 1 < size;
		if ((i == 0 && glob[i] == '^') || (!more && glob[i] == '$'))
			continue;
		if (glob[i] == '.' && more && (glob[i + 1] == '*' || glob[i + 1] == '+')) {
			tp_buf_add_char(to, '*');
			i++;
		} else if (glob[i] == '\\' && more && glob[i + 1] == '.') {
			tp_buf_add_char(to, '.');
			i++;
		} else if (glob[i] == '(' || glob[i] == ')') {
			tp_buf_add_char(to, glob[i] == '(' ? '{' : '}');
		} else {
			tp_buf_add_char(to, glob[i] == '|' ? ',' : glob[i]);
		}
	}
}

static bool hint_regex(
    struct tp_buf *hint, const struct tp_list_use *use, const struct tp_line_parts *parts)
{
	static const char *const marks[] = {".*", ".+", "\\.", "^", "$", "|", NULL};
	if (!has_any(parts->glob.text, parts->glob.size, marks))
		return false;
	struct tp_buf glob;
	tp_buf_init(&glob);
	add_from_regex(&glob, parts->glob.text, parts->glob.size);
	const char *kind = parts->prefix;
	const struct answer answer = ask_line(use->inventory, kind, "", glob.data, glob.size, "");
	if (answer.count)
		tp_buf_addf(hint,
		    "lists have globs, not regular expressions: '%s:%s' matches %" PRIu32
		    " function%s",
		    kind, glob.data, answer.count, tp_plural(answer.count));
	tp_buf_release(&glob);
	return answer.count > 0;
}

// The glob as text, if it stands for one text only.
static bool literal(const struct tp_line_parts *parts, struct tp_buf *text)
{
	for (size_t i = 0; i < parts->glob.size; i++) {
		if (strchr("*?[]{}", parts->glob.text[i]))
			return false;
		if (parts->glob.text[i] == '\\' && i + 1 < parts->glob.size)
			i++;
		tp_buf_add_char(text, parts->glob.text[i]);
	}
	return !text->failed && text->size;
}

// A name of this length may be mistyped so often before it is another one.
static uint32_t tolerance(size_t size)
{
	return size < 3 ? 0 : size < 8 ? 1 : size < 16 ? 2 : DISTANCE_MOST;
}

// Which of the function's names to compare; as bits.
enum { LINKAGE = 1, DEMANGLED = 2 };

// The function whose name is nearly WORD; of demangled names with parameters and return type, or
// without.
static const struct tp_inventory_function *nearest_to(
    const struct tp_inventory *inventory, const char *word, int names)
{
	const struct tp_inventory_function *nearest = NULL;
	uint32_t most = tolerance(strlen(word));
	struct tp_buf name;
	tp_buf_init(&name);
	for (uint32_t i = 0; most && i < inventory->function_count; i++) {
		const struct tp_inventory_function *function = &inventory->functions[i];
		uint32_t distance = most + 1;
		if (names & LINKAGE)
			distance = tp_spelling_distance(word, function->name, most);
		struct tp_readings readings = {.count = 0};
		if (names & DEMANGLED)
			tp_readings_of_name(&readings, function->demangled, NULL);
		for (uint32_t r = 0; r < readings.count && distance > most; r++) {
			tp_buf_reset(&name);
			tp_buf_add(&name, readings.items[r].text, readings.items[r].size);
			if (!name.failed)
				distance = tp_spelling_distance(word, name.data, most);
		}
		if (distance > most)
			continue;
		nearest = function;
		most = distance - (distance > 0); // only nearer ones from here on
	}
	tp_buf_release(&name);
	return nearest;
}

const struct tp_inventory_function *tp_list_nearest(
    const struct tp_inventory *inventory, const char *word)
{
	return nearest_to(inventory, word, LINKAGE | DEMANGLED);
}

// "did you mean 'name:X' (x.cc:3)?", or 'fun:X'.
static void add_meant(
    struct tp_buf *hint, const struct tp_inventory_function *function, bool demangled)
{
	tp_buf_addf(hint, "did you mean '%s:", demangled ? "name" : "fun");
	tp_glob_add_literal(hint, tp_span_of(demangled ? function->demangled : function->name));
	tp_buf_add_char(hint, '\'');
	if (!demangled && strcmp(function->name, function->demangled) != 0)
		tp_buf_addf_clean(hint, ", which is %s", function->demangled);
	if (*function->file)
		tp_buf_addf_clean(hint, " (%s:%" PRIu64 ")", function->file, function->line);
	tp_buf_add_char(hint, '?');
}

static void hint_near(struct tp_buf *hint, const struct tp_list_use *use,
    const struct tp_line_parts *parts, bool demangled)
{
	struct tp_buf wanted;
	tp_buf_init(&wanted);
	const struct tp_inventory_function *nearest = NULL;
	if (literal(parts, &wanted))
		nearest = nearest_to(use->inventory, wanted.data, demangled ? DEMANGLED : LINKAGE);
	tp_buf_release(&wanted);
	if (nearest)
		add_meant(hint, nearest, demangled);
}

// src: of which a part of the path is missing, or too much of it is there.
static bool hint_source(
    struct tp_buf *hint, const struct tp_list_use *use, const struct tp_line_parts *parts)
{
	const char *kind = parts->prefix;
	const char *glob = parts->glob.text;
	const char *end = glob + parts->glob.size;
	if (*glob != '*' && *glob != '/') {
		const struct answer answer =
		    ask_line(use->inventory, kind, "*/", glob, parts->glob.size, "");
		if (answer.count) {
			tp_buf_addf(hint, "the whole path must match: '%s:*/%.*s' matches", kind,
			    (int)parts->glob.size, glob);
			tp_buf_addf(hint, " %s", at(use, answer.first)->file);
			return true;
		}
	}
	// Sources have the names that the compiler was given, so a leading folder may be missing.
	for (const char *slash = memchr(glob, '/', parts->glob.size); slash;
	     slash = memchr(slash + 1, '/', (size_t)(end - slash - 1))) {
		const char *tail = slash + 1;
		if (tail == end || *tail == '*')
			break;
		const char *const before[] = {"", "*/"};
		for (int i = 0; i < 2; i++) {
			const struct answer answer = ask_line(
			    use->inventory, kind, before[i], tail, (size_t)(end - tail), "");
			if (!answer.count)
				continue;
			tp_buf_addf(hint,
			    "paths are those of the compiler's command line: '%s:%s%.*s' "
			    "matches %s",
			    kind, before[i], (int)(end - tail), tail, at(use, answer.first)->file);
			return true;
		}
	}
	return false;
}

// fun:X@src:Y of which X alone matches.
static bool hint_joined(
    struct tp_buf *hint, const struct tp_list_use *use, const struct tp_line_parts *parts)
{
	const char *kind = parts->prefix;
	const struct answer answer =
	    ask_line(use->inventory, kind, "", parts->glob.text, parts->glob.size, "");
	if (!answer.count)
		return false;
	const struct tp_inventory_function *function = at(use, answer.first);
	tp_buf_addf_clean(hint, "'%s:%.*s' alone matches %" PRIu32 " function%s: %s in %s", kind,
	    (int)parts->glob.size, parts->glob.text, answer.count, tp_plural(answer.count),
	    function->demangled, *function->file ? function->file : "an unknown file");
	return true;
}

// In a demangled name these are letters, in a glob they are not.
static const char *const name_brackets[] = {
    "[abi:", "[clone", "operator[]", "operator new[]", "operator delete[]", "[]", NULL};
static const char *const name_braces[] = {"{lambda", "{unnamed", "{default arg", NULL};

// name: without the class or namespace, with other parameters, or with a linkage name.
static bool hint_name(
    struct tp_buf *hint, const struct tp_list_use *use, const struct tp_line_parts *parts)
{
	const char *glob = parts->glob.text;
	const size_t size = parts->glob.size;
	struct answer answer = ask_line(use->inventory, "fun", "", glob, size, "");
	if (answer.count) {
		tp_buf_addf(hint, "name: takes demangled names: ");
		add_linkage(hint, at(use, answer.first));
		return true;
	}
	// The class is missing, other parameters are there, or the arguments of its template are
	// missing.
	const char *open = memchr(glob, '(', size);
	const size_t plain = open && open > glob ? (size_t)(open - glob) : size;
	const struct attempt attempts[] = {{"*::", size, ""}, {"", plain, ""}, {"*::", plain, ""},
	    {"", plain, "<*"}, {"*::", plain, "<*"}};
	struct attempt found;
	answer =
	    ask_names(use->inventory, glob, attempts, memchr(glob, '<', plain) ? 3 : 5, &found);
	if (answer.count == 1)
		add_meant(hint, at(use, answer.first), true);
	else if (answer.count)
		tp_buf_addf_clean(hint, "'name:%s%.*s%s' matches %" PRIu32 " functions, such as %s",
		    found.before, (int)found.size, glob, found.after, answer.count,
		    at(use, answer.first)->demangled);
	return answer.count > 0;
}

static bool hint_escaped(
    struct tp_buf *hint, const struct tp_list_use *use, const struct tp_line_parts *parts)
{
	struct tp_buf glob;
	tp_buf_init(&glob);
	for (size_t i = 0; i < parts->glob.size; i++) {
		if (parts->glob.text[i] != '*' && strchr("?[]{}", parts->glob.text[i]) &&
		    (i == 0 || parts->glob.text[i - 1] != '\\'))
			tp_buf_add_char(&glob, '\\');
		tp_buf_add_char(&glob, parts->glob.text[i]);
	}
	const bool changed = glob.size != parts->glob.size;
	const struct answer answer =
	    changed ? ask_line(use->inventory, "name", "", glob.data, glob.size, "")
		    : (struct answer){0};
	if (answer.count)
		tp_buf_addf_clean(hint, "brackets of a name need a backslash: 'name:%s' matches %s",
		    glob.data, at(use, answer.first)->demangled);
	tp_buf_release(&glob);
	return answer.count > 0;
}

void tp_list_hint(struct tp_buf *hint, const struct tp_list_use *use, uint32_t line)
{
	const struct tp_allowlist_line told = tp_allowlist_line(use->list, line);
	const struct tp_line_parts parts = tp_line_split(tp_span_of(told.text));
	if (!parts.prefix || !parts.glob.size || strcmp(parts.prefix, "where") == 0)
		return;
	if (parts.more_count && hint_joined(hint, use, &parts))
		return;
	const bool function = strcmp(parts.prefix, "fun") == 0;
	const bool name = strcmp(parts.prefix, "name") == 0;
	if (function && hint_demangled(hint, use, &parts))
		return;
	if (hint_regex(hint, use, &parts))
		return;
	if (name && (hint_escaped(hint, use, &parts) || hint_name(hint, use, &parts)))
		return;
	if (function || name)
		hint_near(hint, use, &parts, name);
	else if (strcmp(parts.prefix, "mod") != 0)
		hint_source(hint, use, &parts);
}

bool tp_list_suspicious(
    struct tp_buf *what, struct tp_buf *hint, const struct tp_allowlist_line *line)
{
	const struct tp_line_parts parts = tp_line_split(tp_span_of(line->text));
	if (!parts.prefix || strcmp(parts.prefix, "name") != 0)
		return false;
	const char *const *const groups[] = {name_brackets, name_braces};
	for (int group = 0; group < 2; group++) {
		for (const char *const *word = groups[group]; *word; word++) {
			const char *found =
			    memmem(parts.glob.text, parts.glob.size, *word, strlen(*word));
			if (!found)
				continue;
			const char *bracket = strchr(found, group ? '{' : '[');
			if (bracket > parts.glob.text && bracket[-1] == '\\')
				continue;
			tp_buf_addf(what, "in a glob, '%s' starts a %s", *word,
			    group ? "choice of words" : "set of letters, of which one matches");
			tp_buf_addf(hint, "to match the name, write a backslash before %s",
			    group ? "'{' and '}'" : "'[' and ']'");
			return true;
		}
	}
	return false;
}
