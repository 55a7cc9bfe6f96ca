// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// where: lines: predicates on numbers of a function, and on its linkage.
#include "where.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum comparison {
	LESS,
	LESS_OR_EQUAL,
	GREATER,
	GREATER_OR_EQUAL,
	EQUAL,
	NOT_EQUAL,
};

// Longer ones first, so that "<=" is not read as "<".
static const struct {
	const char *text;
	enum comparison comparison;
} comparisons[] = {
    {"<=", LESS_OR_EQUAL},
    {">=", GREATER_OR_EQUAL},
    {"!=", NOT_EQUAL},
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
enum { NUMBER_COUNT = sizeof(numbers) / sizeof(numbers[0]) };

static const char *const linkages[] = {
    "external",
    "available_externally",
    "linkonce",
    "linkonce_odr",
    "weak",
    "weak_odr",
    "appending",
    "internal",
    "private",
    "extern_weak",
    "common",
};

struct predicate {
	const struct fact *number; // NULL: the linkage
	enum comparison comparison;
	uint64_t value;
	const char *linkage;
};

struct tp_where {
	uint32_t count;
	struct predicate predicates[];
};

struct cursor {
	const char *text;
	size_t size;
	size_t at;
	struct tp_where_error *error;
};

__attribute__((format(printf, 3, 4))) static bool fail(
    struct cursor *cursor, size_t offset, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	cursor->error->offset = offset;
	vsnprintf(cursor->error->what, sizeof(cursor->error->what), format, arguments);
	va_end(arguments);
	return false;
}

static void skip_blanks(struct cursor *cursor)
{
	while (cursor->at < cursor->size &&
	       (cursor->text[cursor->at] == ' ' || cursor->text[cursor->at] == '\t'))
		cursor->at++;
}

// The length of the word at the cursor.
static size_t word_size(const struct cursor *cursor)
{
	size_t end = cursor->at;
	while (end < cursor->size) {
		const char c = cursor->text[end];
		const char lower = (char)(c | 0x20);
		if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '_')
			break;
		end++;
	}
	return end - cursor->at;
}

static bool is(const struct cursor *cursor, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(cursor->text + cursor->at, word, size) == 0;
}

static bool parse_fact(struct cursor *cursor, struct predicate *predicate)
{
	const size_t size = word_size(cursor);
	predicate->number = NULL;
	for (size_t i = 0; i < NUMBER_COUNT; i++)
		if (is(cursor, size, numbers[i].name))
			predicate->number = &numbers[i];
	if (!predicate->number && !is(cursor, size, "linkage"))
		return fail(cursor, cursor->at,
		    "'%.*s' is nothing that where: knows of a function; expected instrs, blocks, loops, "
		    "depth, calls or linkage",
		    (int)(size < 40 ? size : 40), cursor->text + cursor->at);
	cursor->at += size;
	return true;
}

static bool parse_comparison(struct cursor *cursor, struct predicate *predicate)
{
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		const size_t length = strlen(comparisons[i].text);
		if (cursor->size - cursor->at < length ||
		    memcmp(cursor->text + cursor->at, comparisons[i].text, length) != 0)
			continue;
		predicate->comparison = comparisons[i].comparison;
		if (!predicate->number && predicate->comparison < EQUAL)
			return fail(
			    cursor, cursor->at, "a linkage has no order; expected '=' or '!='");
		cursor->at += length;
		return true;
	}
	return fail(cursor, cursor->at, "no comparison; expected <, <=, >, >=, = or !=");
}

static bool parse_number(struct cursor *cursor, size_t size, struct predicate *predicate)
{
	predicate->value = 0;
	for (size_t i = 0; i < size; i++) {
		const char c = cursor->text[cursor->at + i];
		if (c < '0' || c > '9')
			return fail(cursor, cursor->at, "'%.*s' is no number; expected digits",
			    (int)(size < 40 ? size : 40), cursor->text + cursor->at);
		// 18 digits always fit, and are more than any function has of anything.
		if (i == 18)
			return fail(cursor, cursor->at, "the number is too large");
		predicate->value = predicate->value * 10 + (uint64_t)(c - '0');
	}
	return true;
}

static bool parse_linkage(struct cursor *cursor, size_t size, struct predicate *predicate)
{
	for (size_t i = 0; i < sizeof(linkages) / sizeof(linkages[0]); i++) {
		if (is(cursor, size, linkages[i])) {
			predicate->linkage = linkages[i];
			return true;
		}
	}
	return fail(cursor, cursor->at,
	    "'%.*s' is no linkage; expected external, internal, linkonce_odr, weak_odr or another "
	    "of LLVM's words",
	    (int)(size < 40 ? size : 40), cursor->text + cursor->at);
}

static bool parse_predicate(struct cursor *cursor, struct predicate *predicate)
{
	skip_blanks(cursor);
	if (!parse_fact(cursor, predicate))
		return false;
	skip_blanks(cursor);
	if (!parse_comparison(cursor, predicate))
		return false;
	skip_blanks(cursor);
	const size_t size = word_size(cursor);
	if (!size)
		return fail(cursor, cursor->at, "nothing to compare with; expected a %s",
		    predicate->number ? "number" : "linkage");
	if (predicate->number ? !parse_number(cursor, size, predicate)
			      : !parse_linkage(cursor, size, predicate))
		return false;
	cursor->at += size;
	skip_blanks(cursor);
	return true;
}

const struct tp_where *tp_where_parse(
    struct tp_arena *arena, const char *text, size_t size, struct tp_where_error *error)
{
	struct cursor cursor = {.text = text, .size = size, .error = error};
	struct predicate predicates[TP_WHERE_MAX];
	uint32_t count = 0;
	error->what[0] = '\0';
	for (;;) {
		if (count == TP_WHERE_MAX) {
			fail(&cursor, cursor.at, "more than %d predicates in one line",
			    TP_WHERE_MAX);
			return NULL;
		}
		if (!parse_predicate(&cursor, &predicates[count]))
			return NULL;
		count++;
		if (cursor.at == size)
			break;
		if (text[cursor.at] == '=') {
			fail(&cursor, cursor.at + 1,
			    "unknown category; expected allow, count, skip or forbid, or sample");
			return NULL;
		}
		if (text[cursor.at] != ',') {
			fail(&cursor, cursor.at,
			    "expected ',' and another predicate, or '=CATEGORY'");
			return NULL;
		}
		cursor.at++;
	}
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
		return same == (predicate->comparison == EQUAL);
	}
	uint64_t value;
	memcpy(&value, (const char *)facts + predicate->number->offset, sizeof(value));
	switch (predicate->comparison) {
	case LESS:
		return value < predicate->value;
	case LESS_OR_EQUAL:
		return value <= predicate->value;
	case GREATER:
		return value > predicate->value;
	case GREATER_OR_EQUAL:
		return value >= predicate->value;
	case EQUAL:
		return value == predicate->value;
	default:
		return value != predicate->value;
	}
}

bool tp_where_holds(const struct tp_where *where, const struct tp_facts *facts)
{
	for (uint32_t i = 0; i < where->count; i++)
		if (!holds(&where->predicates[i], facts))
			return false;
	return true;
}
