// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verb of a statement: the first word that says what it does, past comments, EXPLAIN and WITH.
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
