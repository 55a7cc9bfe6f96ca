// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of a statement: its verb, which is the first one that says what it does, past comments,
// EXPLAIN and WITH; and those of its HAVING.
#include "analyzer/query/sql.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct word {
	const char *at;
	int length; // 0: the statement ends here
};

bool tp_sql_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c & 0x80;
}

// Past a text in quotes, where the quote is doubled to stand for itself.
static const char *skip_quoted(const char *at, char quote)
{
	for (at++; *at; at++)
		if (*at == quote && *++at != quote)
			return at;
	return at;
}

static const char *skip_to(const char *at, const char *end)
{
	const char *found = strstr(at, end);
	return found ? found + strlen(end) : at + strlen(at);
}

// The next word that is in no brackets, quotes or comment.
static struct word next_word(const char *at)
{
	int depth = 0;
	while (*at) {
		if (*at == ';' && !depth)
			return (struct word){at, 0};
		if (at[0] == '-' && at[1] == '-') {
			at = skip_to(at, "\n");
		} else if (at[0] == '/' && at[1] == '*') {
			at = skip_to(at + 2, "*/");
		} else if (*at == '\'' || *at == '"' || *at == '`') {
			at = skip_quoted(at, *at);
		} else if (*at == '[') {
			at = skip_to(at, "]");
		} else if (tp_sql_is_word(*at)) {
			const char *from = at;
			while (tp_sql_is_word(*at))
				at++;
			if (!depth)
				return (struct word){from, (int)(at - from)};
		} else {
			depth += (*at == '(') - (*at == ')');
			at++;
		}
	}
	return (struct word){at, 0};
}

static struct word word_behind(struct word word)
{
	return next_word(word.at + word.length);
}

// Which of WORDS, ended by NULL, WORD is; NULL: none.
static const char *find(const char *const *words, struct word word)
{
	for (; word.length && *words; words++)
		if ((int)strlen(*words) == word.length &&
		    sqlite3_strnicmp(*words, word.at, word.length) == 0)
			return *words;
	return NULL;
}

static const char *const reading[] = {"SELECT", "VALUES", "PRAGMA", NULL};
static const char *const writing[] = {"INSERT", "REPLACE", "UPDATE", "DELETE", "REINDEX", "ANALYZE",
    "VACUUM", "ATTACH", "DETACH", "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE",
    NULL};
static const char *const making[] = {"CREATE", "DROP", "ALTER", NULL};
static const char *const made[] = {"TABLE", "VIEW", "INDEX", "TRIGGER", NULL};
static const char *const attributes[] = {"TEMP", "TEMPORARY", "UNIQUE", "VIRTUAL", NULL};
static const char *const explain[] = {"EXPLAIN", NULL};
static const char *const plan[] = {"QUERY", "PLAN", NULL};
static const char *const with[] = {"WITH", NULL};
static const char *const behind_with[] = {
    "SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE", NULL};

void tp_sql_verb_find(struct tp_sql_verb *verb, const char *sql)
{
	struct word word = next_word(sql);
	*verb = (struct tp_sql_verb){.offset = -1};
	if (find(explain, word))
		do
			word = word_behind(word);
		while (find(plan, word));
	if (find(with, word))
		do
			word = word_behind(word);
		while (word.length && !find(behind_with, word));
	const char *name = find(reading, word);
	if (!name) {
		name = find(writing, word);
		name = name ? name : find(making, word);
		verb->writes = name != NULL;
	}
	if (!name)
		return;
	verb->offset = (int)(word.at - sql);
	const char *object = NULL;
	if (find(making, word)) {
		do
			word = word_behind(word);
		while (find(attributes, word));
		object = find(made, word);
	}
	snprintf(verb->name, sizeof(verb->name), "%s%s%s", name, object ? " " : "",
	    object ? object : "");
}

// Where an expression is read.
struct place {
	const char *at;
	// the bracket from which on nothing is a column of the result: arguments, a SELECT; 0: none
	struct word last; // what stands just before, if it is a word
	int depth;        // of brackets
	int hidden;
};

static const char *const before_expressions[] = {"HAVING", "AND", "OR", "NOT", "IN", "IS",
    "BETWEEN", "LIKE", "GLOB", "CASE", "WHEN", "THEN", "ELSE", NULL};

static void read_sign(struct place *place)
{
	const char c = *place->at++;
	if (c == '(' && ++place->depth && !place->hidden && place->last.length &&
	    !find(before_expressions, place->last))
		place->hidden = place->depth;
	if (c == ')' && place->hidden == place->depth)
		place->hidden = 0;
	place->depth -= c == ')';
	if (!isspace((unsigned char)c))
		place->last.length = 0;
}

// A word, or a name in quotes, which is handed out without them.
static struct word read_name(struct place *place)
{
	const char *from = place->at;
	if (tp_sql_is_word(*from)) {
		while (tp_sql_is_word(*place->at))
			place->at++;
		return (struct word){from, (int)(place->at - from)};
	}
	place->at = *from == '[' ? skip_to(from, "]") : skip_quoted(from, *from);
	const int length = (int)(place->at - from) - 2;
	return (struct word){from + 1, length > 0 ? length : 0};
}

// A name before a parenthesis is a function, and one with a dot at either side is not a whole name.
static bool is_alone(const char *from, const char *to)
{
	to += strspn(to, " \t\n");
	return from[-1] != '.' && *to != '.' && *to != '(';
}

bool tp_sql_having_names(const char *sql, const char *name)
{
	static const char *const having[] = {"HAVING", NULL};
	static const char *const select[] = {"SELECT", NULL};
	static const char *const behind[] = {
	    "ORDER", "LIMIT", "WINDOW", "UNION", "INTERSECT", "EXCEPT", NULL};
	const char *const wanted[] = {name, NULL};
	struct word word = next_word(sql);
	while (word.length && !find(having, word))
		word = word_behind(word);
	struct place place = {.at = word.at + word.length, .last = word};
	while (word.length && *place.at && place.depth >= 0 && (*place.at != ';' || place.depth)) {
		const char *from = place.at;
		const bool is_word = tp_sql_is_word(*from);
		if (from[0] == '-' && from[1] == '-') {
			place.at = skip_to(from, "\n");
		} else if (from[0] == '/' && from[1] == '*') {
			place.at = skip_to(from + 2, "*/");
		} else if (*from == '\'') {
			place.at = skip_quoted(from, '\'');
			place.last.length = 0;
		} else if (is_word || strchr("\"`[", *from)) {
			place.last = read_name(&place);
			if (is_word && !place.depth && find(behind, place.last))
				return false;
			if (is_word && place.depth && !place.hidden && find(select, place.last))
				place.hidden = place.depth;
			if (!place.hidden && find(wanted, place.last) && is_alone(from, place.at))
				return true;
		} else {
			read_sign(&place);
		}
	}
	return false;
}
