// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the text form of inventories.
#include "text.h"

#include "common/array.h"
#include "common/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "line.h"

#define FIRST_LINE "teeperf-inventory\t"
#define VERSION "1"

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
	struct tp_inventory_line line;
	const char *module;
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

static int no_memory(struct parser *parser)
{
	return tp_err_set(parser->line.err, TP_ERR_MEMORY, parser->line.file, TP_ERR_NO_OFFSET,
	    "no memory for the inventory");
}

// "allow", "sample/16", ...
static int option_decision(
    struct parser *parser, uint32_t first, struct tp_inventory_function *function)
{
	function->decision = TP_CATEGORY_SKIP;
	function->sample = 1;
	const char *value = tp_inventory_line_option(&parser->line, first, "did");
	if (!value)
		return 0;
	for (int i = TP_CATEGORY_ALLOW; i <= TP_CATEGORY_SAMPLE; i++) {
		const char *name = tp_category_name((enum tp_category)i);
		const size_t length = strlen(name);
		if (strncmp(value, name, length))
			continue;
		uint64_t sample = 1;
		if (i == TP_CATEGORY_SAMPLE && value[length] == '/' &&
		    (!tp_inventory_line_parse(value + length + 1, &sample) || !sample ||
			sample > UINT32_MAX))
			continue;
		if (i != TP_CATEGORY_SAMPLE && value[length])
			continue;
		function->decision = (enum tp_category)i;
		function->sample = (uint32_t)sample;
		return 0;
	}
	return tp_inventory_line_fail(&parser->line, TP_ERR_FORMAT,
	    "'%.64s' is no decision: allow, force, count, sample/N, "
	    "skip and forbid are known",
	    value);
}

// "hot.allow:3".
static int option_place(
    struct parser *parser, uint32_t first, struct tp_inventory_function *function)
{
	char *value = tp_inventory_line_option(&parser->line, first, "by");
	if (!value)
		return 0;
	char *colon = strrchr(value, ':');
	uint64_t line;
	if (!colon || !tp_inventory_line_parse(colon + 1, &line) || line > UINT32_MAX)
		return tp_inventory_line_fail(&parser->line, TP_ERR_FORMAT,
		    "'%.64s' is no place in a list: FILE:LINE is "
		    "expected",
		    value);
	*colon = '\0';
	function->by_line = (uint32_t)line;
	return tp_inventory_line_string(&parser->line, first, "by", &function->by_file);
}

// "file" names a source file, or a number of one that a line of its own has named.
static int option_file(struct parser *parser, uint32_t first, const char **file)
{
	const char *value = tp_inventory_line_option(&parser->line, first, "file");
	*file = "";
	if (!value || *value != '#')
		return tp_inventory_line_string(&parser->line, first, "file", file);
	uint64_t number;
	if (!tp_inventory_line_parse(value + 1, &number) || number >= parser->file_count)
		return tp_inventory_line_fail(
		    &parser->line, TP_ERR_FORMAT, "there is no 'file' line %.32s", value);
	*file = parser->files[number];
	return 0;
}

static int read_unit(struct parser *parser)
{
	struct tp_inventory_unit unit = {
	    .module = parser->module, .compiler = "", .lists = "", .level = "event"};
	int code = tp_inventory_line_need(&parser->line, 1, "the name of a source file");
	if (!code)
		code = tp_inventory_line_string(&parser->line, 2, "compiler", &unit.compiler);
	if (!code)
		code = tp_inventory_line_string(&parser->line, 2, "lists", &unit.lists);
	if (!code)
		code = tp_inventory_line_string(&parser->line, 2, "level", &unit.level);
	if (!code)
		code = tp_inventory_line_string(&parser->line, 2, "module", &unit.module);
	if (code)
		return code;
	unit.main_file = parser->line.fields[1];
	parser->in_unit = tp_inventory_add_unit(parser->builder, &unit) != NULL;
	parser->function = TP_BUILD_NONE;
	return parser->in_unit ? 0 : no_memory(parser);
}

static int number_entry(struct parser *parser, uint32_t entry)
{
	if (entry == TP_BUILD_NONE ||
	    !TP_GROW(parser->entries, parser->entry_room, parser->entry_count + UINT64_C(1)))
		return no_memory(parser);
	parser->entries[parser->entry_count++] = entry;
	return 0;
}

static int read_function(struct parser *parser)
{
	static const char *const states[] = {"emitted", "partly", "inlined", "removed", "source"};
	struct tp_inventory_function function = {0};
	uint64_t definitions = 1;
	int code = tp_inventory_line_need(&parser->line, 3, "a name, a linkage and a state");
	if (code)
		return code;
	function.name = parser->line.fields[1];
	function.linkage = parser->line.fields[2];
	size_t state = 0;
	while (state < sizeof(states) / sizeof(states[0]) &&
	       strcmp(states[state], parser->line.fields[3]))
		state++;
	if (state == sizeof(states) / sizeof(states[0]))
		return tp_inventory_line_fail(&parser->line, TP_ERR_FORMAT,
		    "'%.64s' is no state of a function: emitted, "
		    "partly, inlined, removed and source are known",
		    parser->line.fields[3]);
	function.presence = (enum tp_presence)state;
	const struct {
		const char *key;
		uint64_t *value;
	} numbers[] = {{"line", &function.line}, {"start", &function.instrs_start},
	    {"instrs", &function.facts.instrs}, {"blocks", &function.facts.blocks},
	    {"loops", &function.facts.loops}, {"depth", &function.facts.depth},
	    {"calls", &function.facts.calls}, {"indirect", &function.indirect_calls},
	    {"trips", &function.constant_trips}, {"definitions", &definitions}};
	for (size_t i = 0; !code && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		code = tp_inventory_line_number(
		    &parser->line, 4, numbers[i].key, UINT64_MAX, numbers[i].value);
	if (!code)
		code = option_decision(parser, 4, &function);
	if (!code)
		code = option_place(parser, 4, &function);
	if (!code)
		code = option_file(parser, 4, &function.file);
	if (!code)
		code = tp_inventory_line_string(&parser->line, 4, "of", &function.origin);
	if (code)
		return code;
	if (!parser->in_unit)
		return tp_inventory_line_fail(
		    &parser->line, TP_ERR_FORMAT, "a function before the first line 'unit'");
	function.definitions = definitions < UINT32_MAX ? (uint32_t)definitions : UINT32_MAX;
	parser->function = tp_inventory_add_function(parser->builder, &function);
	return number_entry(parser, parser->function);
}

static int read_external(struct parser *parser)
{
	const int code = tp_inventory_line_need(&parser->line, 1, "the name of a function");
	if (code)
		return code;
	if (!parser->in_unit)
		return tp_inventory_line_fail(
		    &parser->line, TP_ERR_FORMAT, "a name before the first line 'unit'");
	parser->function = tp_inventory_add_name(parser->builder, parser->line.fields[1]);
	return number_entry(parser, parser->function);
}

static int read_edge(struct parser *parser, bool into)
{
	uint64_t sites = 1;
	uint64_t guessed = 0;
	struct tp_inventory_edge edge = {0};
	if (parser->function == TP_BUILD_NONE)
		return tp_inventory_line_fail(&parser->line, TP_ERR_FORMAT,
		    "a line '%s' before the first function of its unit", parser->line.fields[0]);
	if (parser->line.count < 2)
		return tp_inventory_line_fail(&parser->line, TP_ERR_FORMAT,
		    "a line '%s' needs a function", parser->line.fields[0]);
	int code = tp_inventory_line_number(&parser->line, 2, "sites", UINT32_MAX, &sites);
	if (!code)
		code = tp_inventory_line_number(&parser->line, 2, "guessed", 1, &guessed);
	if (code)
		return code;
	const char *frequency = tp_inventory_line_option(&parser->line, 2, "freq");
	if (frequency) {
		char *end;
		edge.frequency = strtod(frequency, &end);
		if (end == frequency || *end || !isfinite(edge.frequency) || edge.frequency < 0)
			return tp_inventory_line_fail(&parser->line, TP_ERR_FORMAT,
			    "'freq' of '%.64s' is no number", frequency);
	}
	edge.sites = (uint32_t)sites;
	edge.guessed = guessed != 0;
	char *to = parser->line.fields[1];
	if (*to != '#') {
		code = tp_inventory_line_need(&parser->line, 1, "a function");
		if (code)
			return code;
		const uint32_t entry = tp_inventory_add_name(parser->builder, to);
		if (entry == TP_BUILD_NONE)
			return no_memory(parser);
		tp_inventory_add_edge(parser->builder, parser->function, entry, &edge, into);
		return 0;
	}
	if (!TP_GROW(parser->pending, parser->pending_room, parser->pending_count + UINT64_C(1)))
		return no_memory(parser);
	struct pending *pending = &parser->pending[parser->pending_count];
	*pending = (struct pending){
	    .edge = edge, .from = parser->function, .line = parser->line.number, .into = into};
	if (!tp_inventory_line_parse(to + 1, &pending->number))
		return tp_inventory_line_fail(
		    &parser->line, TP_ERR_FORMAT, "'%.64s' is no number of a function", to);
	parser->pending_count++;
	return 0;
}

static int read_file(struct parser *parser)
{
	const int code = tp_inventory_line_need(&parser->line, 1, "the name of a source file");
	if (code)
		return code;
	if (!TP_GROW(parser->files, parser->file_room, parser->file_count + UINT64_C(1)))
		return no_memory(parser);
	parser->files[parser->file_count++] = parser->line.fields[1];
	return 0;
}

// The end of one inventory: what its numbers meant.
static int finish(struct parser *parser)
{
	for (uint32_t i = 0; i < parser->pending_count; i++) {
		const struct pending *pending = &parser->pending[i];
		parser->line.number = pending->line;
		if (pending->number >= parser->entry_count)
			return tp_inventory_line_fail(&parser->line, TP_ERR_FORMAT,
			    "there is no function #%llu: %u are listed",
			    (unsigned long long)pending->number, parser->entry_count);
		tp_inventory_add_edge(parser->builder, pending->from,
		    parser->entries[pending->number], &pending->edge, pending->into);
	}
	parser->in_unit = false;
	parser->function = TP_BUILD_NONE;
	parser->pending_count = parser->entry_count = parser->file_count = 0;
	return 0;
}

static int read_line(struct parser *parser, char *line, size_t length)
{
	// Several units may have the same name; what is in them tells whether they are the same.
	const uint64_t hash = tp_hash_bytes(TEEPERF_HASH_START, line, length);
	tp_inventory_line_split(&parser->line, line);
	const char *kind = parser->line.fields[0];
	int code = 0;
	if (!strcmp(kind, "fun"))
		code = read_function(parser);
	else if (!strcmp(kind, "call"))
		code = read_edge(parser, false);
	else if (!strcmp(kind, "into"))
		code = read_edge(parser, true);
	else if (!strcmp(kind, "ext"))
		code = read_external(parser);
	else if (!strcmp(kind, "file"))
		code = read_file(parser);
	else if (!strcmp(kind, "unit"))
		code = read_unit(parser);
	if (!code && parser->in_unit) {
		struct tp_build_unit *unit =
		    &parser->builder->units[parser->builder->unit_count - 1];
		unit->identity = (unit->identity ^ hash) * TEEPERF_HASH_PRIME;
	}
	return code;
}

// A line that begins an inventory: its version must be ours.
static int begin(struct parser *parser, const char *line)
{
	const int code = finish(parser);
	if (code)
		return code;
	const char *version = line + strlen(FIRST_LINE);
	const size_t length = strcspn(version, "\t");
	if (length == strlen(VERSION) && !strncmp(version, VERSION, length))
		return 0;
	return tp_inventory_line_fail(&parser->line, TP_ERR_VERSION,
	    "an inventory of version '%.*s', and this teeperf reads "
	    "version " VERSION ": use the teeperf that came with the compiler plugin",
	    (int)(length < 32 ? length : 32), version);
}

int tp_inventory_parse(struct tp_inventory_builder *builder, char *text, size_t size,
    const char *file, const char *module, struct tp_err *err)
{
	struct parser parser = {.builder = builder,
	    .line = {.file = file, .err = err},
	    .module = module,
	    .function = TP_BUILD_NONE};
	bool begun = false;
	int code = 0;
	char *const end = text + size;
	for (char *line = text, *next; !code && line < end; line = next) {
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
		parser.line.number++;
		if (strlen(line) != (size_t)(stop - line)) {
			code = tp_inventory_line_fail(
			    &parser.line, TP_ERR_FORMAT, "a NUL byte within a line");
		} else if (!strncmp(line, FIRST_LINE, strlen(FIRST_LINE))) {
			begun = true;
			code = begin(&parser, line);
		} else if (!begun) {
			code = tp_inventory_line_fail(&parser.line, TP_ERR_FORMAT,
			    "no inventory: it does not begin with 'teeperf-inventory' and a version");
		} else if (*line && *line != '#') {
			code = read_line(&parser, line, (size_t)(stop - line));
		}
	}
	if (!code)
		code = finish(&parser);
	free(parser.entries);
	free(parser.files);
	free(parser.pending);
	return code;
}
