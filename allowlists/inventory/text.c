// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the text form of inventories: lines of fields between tabs, KEY=VALUE behind the first
// ones.
#include "build.h"

#include "allowlists/language/list.h"
#include "common/array.h"
#include "common/hash.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "teeperf-inventory\t"
#define VERSION "1"

enum { FIELDS = 64 }; // more are not looked at

// An edge that waits for the end of its inventory, as it may refer to what follows.
struct pending {
	struct tp_inventory_edge edge;
	uint32_t from;
	uint64_t number;
	uint32_t line;
	bool into;
};

struct parser {
	struct tp_inventory_builder *builder;
	const char *file;
	const char *module;
	struct tp_err *err;
	int code; // of the first error; nothing is read behind it
	uint32_t number;
	char *fields[FIELDS]; // of the line, in the text, which is changed; [0] is its kind
	uint32_t field_count;
	bool in_unit;
	uint32_t function; // of edges; TP_BUILD_NONE if there is none
	// By number, since the first line of this inventory.
	uint32_t *entries;
	const char **files;
	struct pending *pending;
	uint32_t entry_count, entry_room;
	uint32_t file_count, file_room;
	uint32_t pending_count, pending_room;
};

/* ---- lines ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void fail(
    struct parser *parser, int code, const char *format, ...)
{
	char what[384];
	va_list arguments;
	if (parser->code)
		return;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	parser->code =
	    tp_err_set_line(parser->err, code, parser->file, parser->number, 1, "%s", what);
}

static void no_memory(struct parser *parser)
{
	if (!parser->code)
		parser->code = tp_err_memory(parser->err, parser->file);
}

// The fields are still escaped.
static void split(struct parser *parser, char *text)
{
	parser->field_count = 0;
	while (text && parser->field_count < FIELDS) {
		parser->fields[parser->field_count++] = text;
		text = strchr(text, '\t');
		if (text)
			*text++ = '\0';
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

// Replace the escapes in place; false for one that is none.
static bool unescape(char *text)
{
	const char *from = strchr(text, '\\');
	if (!from)
		return true;
	char *to = text + (from - text);
	while (*from) {
		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		const char kind = from[1];
		if (kind == '\\' || kind == 't' || kind == 'n') {
			*to++ = (char)(kind == 't' ? '\t' : kind == 'n' ? '\n' : '\\');
			from += 2;
			continue;
		}
		const int high = kind == 'x' ? hex_digit(from[2]) : -1;
		const int low = high >= 0 ? hex_digit(from[3]) : -1;
		if (low < 0 || !(high | low))
			return false;
		*to++ = (char)(high << 4 | low);
		from += 4;
	}
	*to = '\0';
	return true;
}

static bool parse_number(const char *text, uint64_t *value)
{
	if (!*text)
		return false;
	uint64_t sum = 0;
	for (; *text; text++) {
		const unsigned digit = (unsigned)(*text - '0');
		if (digit > 9 || sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return true;
}

// The value behind KEY= in the fields from FIRST on, still escaped; NULL without one.
static char *option(const struct parser *parser, uint32_t first, const char *key)
{
	const size_t length = strlen(key);
	for (uint32_t i = first; i < parser->field_count; i++)
		if (!strncmp(parser->fields[i], key, length) && parser->fields[i][length] == '=')
			return parser->fields[i] + length + 1;
	return NULL;
}

// *text is the string behind KEY=, or stays as it is without one.
static void read_string(struct parser *parser, uint32_t first, const char *key, const char **text)
{
	char *value = option(parser, first, key);
	if (!value)
		return;
	*text = value;
	if (!unescape(value))
		fail(parser, TP_ERR_FORMAT,
		    "a bad escape in '%s': \\\\, \\t, \\n and \\xHH are known", key);
}

static void read_number(
    struct parser *parser, uint32_t first, const char *key, uint64_t max, uint64_t *number)
{
	const char *value = option(parser, first, key);
	if (value && !(parse_number(value, number) && *number <= max))
		fail(parser, TP_ERR_FORMAT, "'%s' of '%.64s' is not a number, or too large", key,
		    value);
}

// The COUNT fields that a line must have, besides its kind, each a string. False: the line is
// wrong.
static bool need(struct parser *parser, uint32_t count, const char *what)
{
	if (parser->field_count <= count)
		fail(parser, TP_ERR_FORMAT, "a line '%s' needs %s", parser->fields[0], what);
	for (uint32_t i = 1; i <= count && !parser->code; i++)
		if (!unescape(parser->fields[i]))
			fail(parser, TP_ERR_FORMAT,
			    "a bad escape in '%.64s': \\\\, \\t, \\n and \\xHH are known",
			    parser->fields[i]);
	return !parser->code;
}

/* ---- what they say -------------------------------------------------------------------------- */

// "allow", "sample/16", ...
static void read_decision(struct parser *parser, struct tp_inventory_function *function)
{
	function->decision = TP_CATEGORY_SKIP;
	function->sample = 1;
	const char *value = option(parser, 4, "did");
	if (value && !tp_category_find(tp_span_of(value), &function->decision, &function->sample))
		fail(parser, TP_ERR_FORMAT,
		    "'%.64s' is not a decision: expected allow, force, count, sample/N, skip or "
		    "forbid",
		    value);
}

// "hot.allow:3".
static void read_place(struct parser *parser, struct tp_inventory_function *function)
{
	char *value = option(parser, 4, "by");
	if (!value)
		return;
	char *colon = strrchr(value, ':');
	uint64_t line;
	if (!colon || !parse_number(colon + 1, &line) || line > UINT32_MAX) {
		fail(parser, TP_ERR_FORMAT, "'%.64s' is not a place in a list: expected FILE:LINE",
		    value);
		return;
	}
	*colon = '\0';
	function->by_line = (uint32_t)line;
	read_string(parser, 4, "by", &function->by_file);
}

// "file" names a source file, or a number of one that a line of its own has named.
static void read_source(struct parser *parser, const char **file)
{
	const char *value = option(parser, 4, "file");
	uint64_t number;
	*file = "";
	if (!value || *value != '#')
		read_string(parser, 4, "file", file);
	else if (!parse_number(value + 1, &number) || number >= parser->file_count)
		fail(parser, TP_ERR_FORMAT, "'file' line %.32s does not exist", value);
	else
		*file = parser->files[number];
}

static void read_unit(struct parser *parser)
{
	struct tp_inventory_unit unit = {
	    .module = parser->module, .compiler = "", .lists = "", .level = "event"};
	need(parser, 1, "the name of a source file");
	read_string(parser, 2, "compiler", &unit.compiler);
	read_string(parser, 2, "lists", &unit.lists);
	read_string(parser, 2, "level", &unit.level);
	read_string(parser, 2, "module", &unit.module);
	if (parser->code)
		return;
	unit.main_file = parser->fields[1];
	parser->in_unit = tp_inventory_add_unit(parser->builder, &unit) != NULL;
	parser->function = TP_BUILD_NONE;
	if (!parser->in_unit)
		no_memory(parser);
}

// Edges refer to it by number, and those that follow are its own.
static void number_entry(struct parser *parser, uint32_t entry)
{
	parser->function = entry;
	if (entry == TP_BUILD_NONE ||
	    !TP_GROW(parser->entries, parser->entry_room, parser->entry_count + UINT64_C(1)))
		no_memory(parser);
	else
		parser->entries[parser->entry_count++] = entry;
}

static enum tp_presence read_presence(struct parser *parser, const char *word)
{
	for (enum tp_presence i = TP_PRESENCE_EMITTED; i <= TP_PRESENCE_SOURCE; i++)
		if (!strcmp(tp_presence_words[i], word))
			return i;
	fail(parser, TP_ERR_FORMAT,
	    "'%.64s' is not a state of a function: expected emitted, partly, inlined, removed or "
	    "source",
	    word);
	return TP_PRESENCE_SOURCE;
}

static void read_function(struct parser *parser)
{
	struct tp_inventory_function function = {0};
	uint64_t definitions = 1;
	if (!need(parser, 3, "a name, a linkage and a state"))
		return;
	function.name = parser->fields[1];
	function.linkage = parser->fields[2];
	function.presence = read_presence(parser, parser->fields[3]);
	const struct {
		const char *key;
		uint64_t *value;
	} numbers[] = {{"line", &function.line}, {"start", &function.instrs_start},
	    {"instrs", &function.facts.instrs}, {"blocks", &function.facts.blocks},
	    {"loops", &function.facts.loops}, {"depth", &function.facts.depth},
	    {"calls", &function.facts.calls}, {"indirect", &function.indirect_calls},
	    {"trips", &function.constant_trips}, {"definitions", &definitions}};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		read_number(parser, 4, numbers[i].key, UINT64_MAX, numbers[i].value);
	read_decision(parser, &function);
	read_place(parser, &function);
	read_source(parser, &function.file);
	read_string(parser, 4, "of", &function.origin);
	if (!parser->in_unit)
		fail(parser, TP_ERR_FORMAT, "a function before the first line 'unit'");
	if (parser->code)
		return;
	function.definitions = definitions < UINT32_MAX ? (uint32_t)definitions : UINT32_MAX;
	number_entry(parser, tp_inventory_add_function(parser->builder, &function));
}

static void read_external(struct parser *parser)
{
	if (!need(parser, 1, "the name of a function"))
		return;
	if (parser->in_unit)
		number_entry(parser, tp_inventory_add_name(parser->builder, parser->fields[1]));
	else
		fail(parser, TP_ERR_FORMAT, "a name before the first line 'unit'");
}

// "#3", a number that may be that of what follows, or a name.
static void add_edge(struct parser *parser, const struct tp_inventory_edge *edge, bool into)
{
	char *to = parser->fields[1];
	if (*to != '#') {
		if (!need(parser, 1, "a function"))
			return;
		const uint32_t entry = tp_inventory_add_name(parser->builder, to);
		if (entry == TP_BUILD_NONE)
			no_memory(parser);
		else
			tp_inventory_add_edge(parser->builder, parser->function, entry, edge, into);
		return;
	}
	if (!TP_GROW(parser->pending, parser->pending_room, parser->pending_count + UINT64_C(1))) {
		no_memory(parser);
		return;
	}
	struct pending *pending = &parser->pending[parser->pending_count++];
	*pending = (struct pending){
	    .edge = *edge, .from = parser->function, .line = parser->number, .into = into};
	if (!parse_number(to + 1, &pending->number))
		fail(parser, TP_ERR_FORMAT, "'%.64s' is not the number of a function", to);
}

static void read_edge(struct parser *parser, bool into)
{
	uint64_t sites = 1;
	uint64_t guessed = 0;
	struct tp_inventory_edge edge = {0};
	if (parser->function == TP_BUILD_NONE)
		fail(parser, TP_ERR_FORMAT, "a line '%s' before the first function of its unit",
		    parser->fields[0]);
	if (parser->field_count < 2)
		fail(parser, TP_ERR_FORMAT, "a line '%s' needs a function", parser->fields[0]);
	read_number(parser, 2, "sites", UINT32_MAX, &sites);
	read_number(parser, 2, "guessed", 1, &guessed);
	const char *frequency = option(parser, 2, "freq");
	if (frequency) {
		char *end;
		edge.frequency = strtod(frequency, &end);
		if (end == frequency || *end || !isfinite(edge.frequency) || edge.frequency < 0)
			fail(parser, TP_ERR_FORMAT, "'freq' of '%.64s' is not a number", frequency);
	}
	edge.sites = (uint32_t)sites;
	edge.guessed = guessed != 0;
	if (!parser->code)
		add_edge(parser, &edge, into);
}

static void read_file(struct parser *parser)
{
	if (!need(parser, 1, "the name of a source file"))
		return;
	if (TP_GROW(parser->files, parser->file_room, parser->file_count + UINT64_C(1)))
		parser->files[parser->file_count++] = parser->fields[1];
	else
		no_memory(parser);
}

// The end of one inventory: what its numbers meant.
static void finish(struct parser *parser)
{
	for (uint32_t i = 0; i < parser->pending_count && !parser->code; i++) {
		const struct pending *pending = &parser->pending[i];
		if (pending->number < parser->entry_count) {
			tp_inventory_add_edge(parser->builder, pending->from,
			    parser->entries[pending->number], &pending->edge, pending->into);
			continue;
		}
		parser->number = pending->line;
		fail(parser, TP_ERR_FORMAT, "function #%llu does not exist: %u are listed",
		    (unsigned long long)pending->number, parser->entry_count);
	}
	parser->in_unit = false;
	parser->function = TP_BUILD_NONE;
	parser->pending_count = parser->entry_count = parser->file_count = 0;
}

static void read_line(struct parser *parser, char *line, size_t length)
{
	// Several units may have the same name; their contents show whether they are the same.
	const uint64_t hash = tp_hash_bytes(TEEPERF_HASH_START, line, length);
	split(parser, line);
	const char *kind = parser->fields[0];
	if (!strcmp(kind, "fun"))
		read_function(parser);
	else if (!strcmp(kind, "call") || !strcmp(kind, "into"))
		read_edge(parser, *kind == 'i');
	else if (!strcmp(kind, "ext"))
		read_external(parser);
	else if (!strcmp(kind, "file"))
		read_file(parser);
	else if (!strcmp(kind, "unit"))
		read_unit(parser);
	if (!parser->code && parser->in_unit) {
		struct tp_build_unit *unit =
		    &parser->builder->units[parser->builder->unit_count - 1];
		unit->identity = (unit->identity ^ hash) * TEEPERF_HASH_PRIME;
	}
}

// A line that begins an inventory: its version must be ours.
static void begin(struct parser *parser, const char *line)
{
	finish(parser);
	const char *version = line + strlen(FIRST_LINE);
	const size_t length = strcspn(version, "\t");
	if (length != strlen(VERSION) || strncmp(version, VERSION, length) != 0)
		fail(parser, TP_ERR_VERSION,
		    "inventory version '%.*s', but this teeperf reads version " VERSION
		    ": use the teeperf that came with the compiler plugin",
		    (int)(length < 32 ? length : 32), version);
}

int tp_inventory_parse(struct tp_inventory_builder *builder, char *text, size_t size,
    const char *file, const char *module, struct tp_err *err)
{
	struct parser parser = {.builder = builder,
	    .file = file,
	    .err = err,
	    .module = module,
	    .function = TP_BUILD_NONE};
	bool begun = false;
	char *const end = text + size;
	for (char *line = text, *next; !parser.code && line < end; line = next) {
		// A linker may fill up between inventories.
		while (line < end && !*line)
			line++;
		if (line == end)
			break;
		char *stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			stop = end;
		next = stop < end ? stop + 1 : end;
		*stop = '\0';
		parser.number++;
		if (strlen(line) != (size_t)(stop - line)) {
			fail(&parser, TP_ERR_FORMAT, "a NUL byte within a line");
		} else if (!strncmp(line, FIRST_LINE, strlen(FIRST_LINE))) {
			begun = true;
			begin(&parser, line);
		} else if (!begun) {
			fail(&parser, TP_ERR_FORMAT,
			    "not an inventory: it does not begin with 'teeperf-inventory' and a "
			    "version");
		} else if (*line && *line != '#') {
			read_line(&parser, line, (size_t)(stop - line));
		}
	}
	finish(&parser);
	free(parser.entries);
	free(parser.files);
	free(parser.pending);
	return parser.code;
}
