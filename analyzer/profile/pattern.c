// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns that name functions.
#define _GNU_SOURCE // strcasestr
#include "pattern.h"

#include "common/buf.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

// Names that an error offers, and how long they may be.
#define NEAR_NAMES 3
#define NEAR_SIZE 80

int tp_pattern_init(struct tp_pattern *pattern, const char *text, struct tp_err *err)
{
	*pattern = (struct tp_pattern){.text = text};
	const size_t length = strlen(text);
	if (length < 2 || text[0] != '/' || text[length - 1] != '/')
		return 0;
	char *copy = strndup(text + 1, length - 2);
	if (!copy)
		return tp_err_memory(err, NULL);
	const int failed = regcomp(&pattern->regex, copy, REG_EXTENDED | REG_NOSUB);
	free(copy);
	if (failed) {
		char why[128];
		regerror(failed, &pattern->regex, why, sizeof(why));
		return tp_err_set(
		    err, TP_ERR_SYNTAX, NULL, "'%s' is not a regular expression: %s", text, why);
	}
	pattern->is_regex = true;
	return 0;
}

void tp_pattern_release(struct tp_pattern *pattern)
{
	if (pattern->is_regex)
		regfree(&pattern->regex);
	*pattern = (struct tp_pattern){0};
}

// Where the parameters of a demangled name begin: at the parenthesis that the last one closes.
static size_t without_parameters(const char *name)
{
	const char *end = strrchr(name, ')');
	if (!end)
		return 0;
	int open = 0;
	for (const char *at = end; at >= name; at--) {
		open += *at == ')';
		open -= *at == '(';
		if (!open)
			return (size_t)(at - name);
	}
	return 0;
}

// Whether a name has the word "operator", behind which blanks and <> mean other things.
static bool has_operator(const char *name)
{
	for (const char *at = name; (at = strstr(at, "operator")); at++) {
		const unsigned char before = at == name ? ' ' : (unsigned char)at[-1];
		const unsigned char behind = (unsigned char)at[strlen("operator")];
		if (!isalnum(before) && before != '_' && !isalnum(behind) && behind != '_')
			return true;
	}
	return false;
}

// Where the name itself begins, of SIZE bytes without its parameters: demangled templates have what
// they return before.
static size_t without_result(const char *name, size_t size)
{
	size_t begin = 0;
	int angles = 0;
	int others = 0;
	if (has_operator(name))
		return 0;
	for (size_t i = 0; i < size; i++) {
		const char c = name[i];
		others += c == '(' || c == '{';
		others -= c == ')' || c == '}';
		// Inside of parentheses these may be comparisons.
		angles += c == '<' && !others;
		angles -= c == '>' && !others && !(i && name[i - 1] == '-');
		if (angles < 0 || others < 0)
			return 0;
		if (c == ' ' && !angles && !others)
			begin = i + 1;
	}
	return angles || others || begin == size ? 0 : begin;
}

static bool matches_text(const struct tp_pattern *pattern, const char *name)
{
	if (!name[0])
		return false;
	if (pattern->is_regex)
		return regexec(&pattern->regex, name, 0, NULL, 0) == 0;
	return fnmatch(pattern->text, name, 0) == 0;
}

bool tp_pattern_matches(const struct tp_pattern *pattern, const struct tp_symbol *symbol)
{
	if (matches_text(pattern, symbol->name) || matches_text(pattern, symbol->linkage))
		return true;
	if (pattern->is_regex)
		return false;
	const char *name = symbol->name;
	const size_t length = without_parameters(name);
	const size_t size = length ? length : strlen(name);
	// Only what was demangled has more than a name.
	const size_t begin = symbol->linkage[0] && strcmp(symbol->linkage, name) != 0
				 ? without_result(name, size)
				 : 0;
	char *base = length ? strndup(name, length) : NULL;
	const bool matches = (base && matches_text(pattern, base)) ||
			     (begin && matches_text(pattern, name + begin)) ||
			     (begin && base && matches_text(pattern, base + begin));
	free(base);
	return matches;
}

// The longest piece of a pattern that stands for itself. Returns how long it is.
static size_t plain_piece(const char *text, const char **piece)
{
	size_t longest = 0;
	for (const char *at = text; *at;) {
		const size_t size = strcspn(at, "*?[]/^$.()|\\+{}");
		if (size > longest) {
			longest = size;
			*piece = at;
		}
		at += size ? size : 1;
	}
	return longest;
}

int tp_pattern_fail(const char *text, const struct tp_analysis *analysis, struct tp_err *err)
{
	const char *near[NEAR_NAMES] = {NULL};
	const char *piece = text;
	const size_t size = plain_piece(text, &piece);
	char *plain = size > 1 ? strndup(piece, size) : NULL;
	// The shortest, which are the least accidental.
	for (uint32_t i = 0; plain && i < analysis->function_count; i++) {
		const char *name = analysis->functions[i].symbol.name;
		if (strlen(name) > NEAR_SIZE || !strcasestr(name, plain))
			continue;
		for (uint32_t j = 0; name && j < NEAR_NAMES; j++)
			if (!near[j] || strlen(name) < strlen(near[j])) {
				const char *longer = near[j];
				near[j] = name;
				name = longer;
			}
	}
	free(plain);
	struct tp_buf names;
	tp_buf_init(&names);
	for (uint32_t i = 0; i < NEAR_NAMES && near[i]; i++)
		tp_buf_addf(&names, "%s'%s'", i ? ", " : "; similar names: ", near[i]);
	tp_err_set(err, TP_ERR_NOT_FOUND, analysis->trace->source.name,
	    "no function of this trace matches '%.100s': * stands for any text, and /REGEX/ "
	    "matches a part of a name%s",
	    text, names.failed || !names.size ? "" : names.data);
	tp_buf_release(&names);
	return TP_ERR_NOT_FOUND;
}
