// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// where: lines: predicates on numbers of a function, and on its linkage.
#include "list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// What a comparison is true for.
enum { LESS = 1, EQUAL = 2, GREATER = 4 };

// Longer ones first, so that "<=" is not read as "<".
static const struct {
	const char *text;
	unsigned int accepts;
} comparisons[] = {
    {"<=", LESS | EQUAL},
    {">=", GREATER | EQUAL},
    {"!=", LESS | GREATER},
    {"<", LESS},
    {">", GREATER},
    {"=", EQUAL},
};

static const struct fact {
	const char *name;
	size_t offset; // in struct tp_facts
} numbers[] = {
    {"instrs", offsetof(struct tp_facts, instrs)},
    {"blocks", offsetof(struct tp_facts, blocks)},
    {"loops", offsetof(struct tp_facts, loops)},
    {"depth", offsetof(struct tp_facts, depth)},
    {"calls", offsetof(struct tp_facts, calls)},
};

static const char *const linkages[] = {"external", "available_externally", "linkonce",
    "linkonce_odr", "weak", "weak_odr", "appending", "internal", "private", "extern_weak",
    "common"};

struct predicate {
	const struct fact *number; // NULL: the linkage
	unsigned int accepts;
	uint64_t value;
	const char *linkage;
};

struct tp_where {
	uint32_t count;
	struct predicate predicates[];
};

struct cursor {
	const char *start;
	struct tp_span rest; // without blanks around it
	struct tp_where_error *error;
};

__attribute__((format(printf, 2, 3))) static bool fail(
    struct cursor *cursor, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	cursor->error->offset = (size_t)(cursor->rest.text - cursor->start);
	vsnprintf(cursor->error->what, sizeof(cursor->error->what), format, arguments);
	va_end(arguments);
	return false;
}

static void skip(struct cursor *cursor, size_t size)
{
	cursor->rest =
	    tp_span_trim((struct tp_span){cursor->rest.text + size, cursor->rest.size - size});
}

// The word at the cursor.
static struct tp_span word_at(const struct cursor *cursor)
{
	struct tp_span word = {cursor->rest.text, 0};
	while (word.size < cursor->rest.size && word.text[word.size] != '-' &&
	       tp_span_is_word((struct tp_span){word.text + word.size, 1}))
		word.size++;
	return word;
}

static bool parse_fact(struct cursor *cursor, struct predicate *predicate)
{
	const struct tp_span word = word_at(cursor);
	predicate->number = NULL;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (tp_span_is(word, numbers[i].name))
			predicate->number = &numbers[i];
	if (!predicate->number && !tp_span_is(word, "linkage"))
		return fail(cursor,
		    "unknown fact '%.*s' in where:; expected instrs, blocks, loops, depth, calls "
		    "or linkage",
		    tp_span_shown(word), word.text);
	skip(cursor, word.size);
	return true;
}

static bool parse_comparison(struct cursor *cursor, struct predicate *predicate)
{
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		if (!tp_span_starts(cursor->rest, comparisons[i].text))
			continue;
		predicate->accepts = comparisons[i].accepts;
		if (!predicate->number && predicate->accepts != EQUAL &&
		    predicate->accepts != (LESS | GREATER))
			return fail(cursor, "a linkage has no order; expected '=' or '!='");
		skip(cursor, strlen(comparisons[i].text));
		return true;
	}
	return fail(cursor, "missing comparison; expected <, <=, >, >=, = or !=");
}

static bool parse_number(struct cursor *cursor, struct tp_span word, struct predicate *predicate)
{
	predicate->value = 0;
	for (size_t i = 0; i < word.size; i++) {
		const char c = word.text[i];
		if (c < '0' || c > '9')
			return fail(cursor, "'%.*s' is not a number; expected digits",
			    tp_span_shown(word), word.text);
		// 18 digits always fit, and are more than any function has of anything.
		if (i == 18)
			return fail(cursor, "the number is too large");
		predicate->value = predicate->value * 10 + (uint64_t)(c - '0');
	}
	return true;
}

static bool parse_linkage(struct cursor *cursor, struct tp_span word, struct predicate *predicate)
{
	for (size_t i = 0; i < sizeof(linkages) / sizeof(linkages[0]); i++) {
		if (tp_span_is(word, linkages[i])) {
			predicate->linkage = linkages[i];
			return true;
		}
	}
	return fail(cursor,
	    "unknown linkage '%.*s'; expected external, internal, linkonce_odr, weak_odr or "
	    "another of LLVM's names",
	    tp_span_shown(word), word.text);
}

static bool parse_predicate(struct cursor *cursor, struct predicate *predicate)
{
	if (!parse_fact(cursor, predicate) || !parse_comparison(cursor, predicate))
		return false;
	const struct tp_span word = word_at(cursor);
	if (!word.size)
		return fail(cursor, "nothing to compare with; expected a %s",
		    predicate->number ? "number" : "linkage");
	if (predicate->number ? !parse_number(cursor, word, predicate)
			      : !parse_linkage(cursor, word, predicate))
		return false;
	skip(cursor, word.size);
	return true;
}

// False, and the error is set, if they are wrong.
static bool parse_all(struct cursor *cursor, struct predicate *predicates, uint32_t *count)
{
	for (*count = 0; *count < TP_WHERE_MAX; skip(cursor, 1)) {
		if (!parse_predicate(cursor, &predicates[(*count)++]))
			return false;
		if (!cursor->rest.size)
			return true;
		if (*cursor->rest.text == '=') {
			cursor->rest.text++;
			return fail(cursor,
			    "unknown category; expected allow, count, skip or forbid, or sample");
		}
		if (*cursor->rest.text != ',')
			return fail(cursor, "expected ',' and another predicate, or '=CATEGORY'");
	}
	return fail(cursor, "more than %d predicates in one line", TP_WHERE_MAX);
}

const struct tp_where *tp_where_parse(
    struct tp_arena *arena, const char *text, size_t size, struct tp_where_error *error)
{
	struct cursor cursor = {text, tp_span_trim((struct tp_span){text, size}), error};
	struct predicate predicates[TP_WHERE_MAX];
	uint32_t count;
	error->what[0] = '\0';
	if (!parse_all(&cursor, predicates, &count))
		return NULL;
	struct tp_where *where =
	    tp_arena_alloc(arena, sizeof(*where) + count * sizeof(predicates[0]));
	if (!where)
		return NULL;
	where->count = count;
	memcpy(where->predicates, predicates, count * sizeof(predicates[0]));
	return where;
}

static bool holds(const struct predicate *predicate, const struct tp_facts *facts)
{
	if (!predicate->number) {
		const bool same = facts->linkage && !strcmp(facts->linkage, predicate->linkage);
		return same == (predicate->accepts == EQUAL);
	}
	uint64_t value;
	memcpy(&value, (const char *)facts + predicate->number->offset, sizeof(value));
	return predicate->accepts & (value < predicate->value      ? LESS
					: value > predicate->value ? GREATER
								   : EQUAL);
}

bool tp_where_holds(const struct tp_where *where, const struct tp_facts *facts)
{
	for (uint32_t i = 0; i < where->count; i++)
		if (!holds(&where->predicates[i], facts))
			return false;
	return true;
}
