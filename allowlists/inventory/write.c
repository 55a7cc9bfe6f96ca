// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a merged inventory in its text form.
#include "build.h"
#include "common/array.h"

#include <stdlib.h>
#include <string.h>

void tp_inventory_add_escaped(struct tp_buf *out, const char *text)
{
	for (const char *at = text; *at; at++) {
		if (*at == '\\')
			tp_buf_add_string(out, "\\\\");
		else if ((unsigned char)*at < ' ' || (*at == '#' && at == text))
			tp_buf_addf(out, "\\x%02x", (unsigned char)*at);
		else
			tp_buf_add_char(out, *at);
	}
}

static void add_string(struct tp_buf *out, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	tp_buf_addf(out, "\t%s=", key);
	tp_inventory_add_escaped(out, text);
}

static void add_number(struct tp_buf *out, const char *key, uint64_t number, uint64_t without)
{
	if (number != without)
		tp_buf_addf(out, "\t%s=%llu", key, (unsigned long long)number);
}

// By number functions refer to one another.
struct writer {
	const struct tp_inventory *inventory;
	struct tp_buf *out;
	uint32_t *numbers; // of functions, as they are written
	uint32_t count;
};

// Whether the unit is the last of its source file.
static bool is_last(const struct tp_inventory *inventory, uint32_t unit)
{
	return unit + 1 == inventory->unit_count ||
	       strcmp(inventory->units[unit].main_file, inventory->units[unit + 1].main_file) != 0;
}

struct keyed {
	const char *main_file;
	uint32_t function;
	uint32_t twin; // how many like it before it have its name and source file
};

static int compare_keyed(const void *a, const void *b)
{
	const struct keyed *x = a;
	const struct keyed *y = b;
	const int order = strcmp(x->main_file, y->main_file);
	if (order)
		return order;
	return x->twin != y->twin ? TP_COMPARE(x->twin, y->twin)
				  : TP_COMPARE(x->function, y->function);
}

// `twin`: how many units before it are of the same file; these must not read as the same unit
// again.
static void add_unit(struct tp_buf *out, const struct tp_inventory_unit *unit, uint32_t twin)
{
	tp_buf_add_string(out, "unit\t");
	tp_inventory_add_escaped(out, unit->main_file);
	add_string(out, "compiler", unit->compiler);
	add_string(out, "level", unit->level);
	add_string(out, "lists", unit->lists);
	add_string(out, "module", unit->module);
	add_number(out, "twin", twin, 0);
	tp_buf_add_char(out, '\n');
}

static void add_edges(const struct writer *writer, const char *kind,
    const struct tp_inventory_edge *edges, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		tp_buf_addf(writer->out, "%s\t#%u", kind, writer->numbers[edges[i].function]);
		add_number(writer->out, "sites", edges[i].sites, 1);
		if (edges[i].frequency > 0)
			tp_buf_addf(writer->out, "\tfreq=%.6g", edges[i].frequency);
		add_number(writer->out, "guessed", edges[i].guessed, 0);
		tp_buf_add_char(writer->out, '\n');
	}
}

static void add_function(const struct writer *writer, const struct tp_inventory_function *function)
{
	struct tp_buf *out = writer->out;
	tp_buf_add_string(out, "fun\t");
	tp_inventory_add_escaped(out, function->name);
	tp_buf_add_char(out, '\t');
	tp_inventory_add_escaped(out, function->linkage);
	tp_buf_addf(out, "\t%s", tp_presence_words[function->presence]);
	add_string(out, "of", function->origin);
	add_string(out, "file", function->file);
	add_number(out, "line", function->line, 0);
	add_number(out, "start", function->instrs_start, 0);
	add_number(out, "instrs", function->facts.instrs, 0);
	add_number(out, "blocks", function->facts.blocks, 0);
	add_number(out, "loops", function->facts.loops, 0);
	add_number(out, "depth", function->facts.depth, 0);
	add_number(out, "calls", function->facts.calls, 0);
	add_number(out, "indirect", function->indirect_calls, 0);
	add_number(out, "trips", function->constant_trips, 0);
	if (!function->ambiguous)
		add_number(out, "definitions", function->definitions, 1);
	if (function->decision != TP_CATEGORY_SKIP) {
		tp_buf_add_string(out, "\tdid=");
		tp_category_add(out, function->decision, function->sample);
	}
	if (function->by_file) {
		tp_buf_add_string(out, "\tby=");
		tp_inventory_add_escaped(out, function->by_file);
		tp_buf_addf(out, ":%u", function->by_line);
	}
	tp_buf_add_char(out, '\n');
	add_edges(writer, "call", function->calls, function->call_count);
	add_edges(writer, "into", function->into, function->into_count);
}

static void write_all(const struct writer *writer, const struct keyed *keyed)
{
	const struct tp_inventory *inventory = writer->inventory;
	uint32_t at = 0;
	uint32_t unit_twin = 0;
	tp_buf_add_string(writer->out, "teeperf-inventory\t1\n");
	for (uint32_t unit = 0; unit < inventory->unit_count; unit++) {
		const char *main_file = inventory->units[unit].main_file;
		unit_twin = unit && is_last(inventory, unit - 1) ? 0 : unit_twin + (unit != 0);
		add_unit(writer->out, &inventory->units[unit], unit_twin);
		// Twins go to different units of their file, so that they stay apart.
		const uint32_t twin = at < writer->count ? keyed[at].twin : 0;
		while (at < writer->count && !strcmp(keyed[at].main_file, main_file) &&
		       (keyed[at].twin == twin || is_last(inventory, unit)))
			add_function(writer, &inventory->functions[keyed[at++].function]);
	}
}

void tp_inventory_write(const struct tp_inventory *inventory, struct tp_buf *out)
{
	struct writer writer = {
	    .inventory = inventory, .out = out, .count = inventory->function_count};
	struct keyed *keyed = malloc((writer.count + (size_t)1) * sizeof(*keyed));
	writer.numbers = malloc((writer.count + (size_t)1) * sizeof(*writer.numbers));
	if (!keyed || !writer.numbers) {
		out->failed = true;
		goto out;
	}
	for (uint32_t i = 0; i < writer.count; i++) {
		const struct tp_inventory_function *function = &inventory->functions[i];
		const struct tp_inventory_function *before = function - 1;
		const bool twin = i && !strcmp(before->name, function->name) &&
				  !tp_inventory_is_mergeable(before->linkage) &&
				  !strcmp(before->main_file, function->main_file);
		keyed[i] = (struct keyed){function->main_file, i, twin ? keyed[i - 1].twin + 1 : 0};
	}
	qsort(keyed, writer.count, sizeof(*keyed), compare_keyed);
	for (uint32_t i = 0; i < writer.count; i++)
		writer.numbers[keyed[i].function] = i;
	write_all(&writer, keyed);
out:
	free(keyed);
	free(writer.numbers);
}
