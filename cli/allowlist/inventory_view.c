// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shows an inventory: counts of all, then the functions that were asked for.
#define _GNU_SOURCE
#include "lists.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/output/text.h"
#include "common/clean.h"
#include "allowlists/check/use.h"

// The functions that are shown, in their order.
struct rows {
	const struct tp_inventory_function **items; // NULL: no memory
	uint32_t count;                             // shown
	uint32_t found;                             // that match
};

static bool is_shown(
    const struct tp_inventory_view *view, const struct tp_inventory_function *function)
{
	return (view->state < 0 || function->presence == (enum tp_presence)view->state) &&
	       (view->system || !function->system) &&
	       (!view->name || !fnmatch(view->name, function->name, 0) ||
		   !fnmatch(view->name, function->demangled, 0));
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b); // the largest first
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct tp_inventory_function *x = *(const struct tp_inventory_function *const *)a;
	const struct tp_inventory_function *y = *(const struct tp_inventory_function *const *)b;
	const enum tp_inventory_sort sort = ((const struct tp_inventory_view *)context)->sort;
	const uint64_t numbers[][2] = {
	    [TP_INVENTORY_SORT_INSTRS] = {x->facts.instrs, y->facts.instrs},
	    [TP_INVENTORY_SORT_START] = {x->instrs_start, y->instrs_start},
	    [TP_INVENTORY_SORT_LOOPS] = {x->facts.loops, y->facts.loops},
	    [TP_INVENTORY_SORT_CALLS] = {x->facts.calls, y->facts.calls},
	};
	int order = sort == TP_INVENTORY_SORT_NAME ? strcmp(x->demangled, y->demangled)
		    : sort == TP_INVENTORY_SORT_FILE
			? strcmp(x->file, y->file)
			: compare_numbers(numbers[sort][0], numbers[sort][1]);
	if (!order && sort == TP_INVENTORY_SORT_FILE)
		order = (x->line > y->line) - (x->line < y->line);
	if (!order)
		order = compare_numbers(x->instrs_start, y->instrs_start);
	return order ? order : (x > y) - (x < y);
}

static struct rows choose_rows(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out)
{
	struct rows rows = {
	    .items = calloc(inventory->function_count + (size_t)1, sizeof(*rows.items))};
	if (!rows.items) {
		out->failed = true;
		return rows;
	}
	for (uint32_t i = 0; i < inventory->function_count; i++)
		if (is_shown(view, &inventory->functions[i]))
			rows.items[rows.found++] = &inventory->functions[i];
	qsort_r(rows.items, rows.found, sizeof(struct tp_inventory_function *), compare_rows,
	    (void *)(uintptr_t)view);
	rows.count = view->limit && view->limit < rows.found ? (uint32_t)view->limit : rows.found;
	return rows;
}

// How many functions there are of each kind.
struct sums {
	uint32_t states[TP_PRESENCE_SOURCE + 1];
	uint32_t levels[TP_CATEGORY_SAMPLE + 1]; // of those that are there
	uint32_t ambiguous;
	uint32_t system;
};

static struct sums add_up(const struct tp_inventory *inventory)
{
	struct sums sums = {0};
	for (uint32_t i = 0; i < inventory->function_count; i++) {
		const struct tp_inventory_function *function = &inventory->functions[i];
		sums.states[function->presence]++;
		sums.ambiguous += function->ambiguous;
		sums.system += function->system;
		if (function->presence <= TP_PRESENCE_PARTLY)
			sums.levels[function->decision]++;
	}
	return sums;
}

static void add_heading(const struct tp_inventory *inventory, struct tp_buf *out)
{
	const struct sums sums = add_up(inventory);
	const uint32_t emitted = sums.states[TP_PRESENCE_EMITTED] + sums.states[TP_PRESENCE_PARTLY];
	tp_buf_addf(out, "%" PRIu32 " function%s of %" PRIu32 " source file%s",
	    inventory->function_count, tp_plural(inventory->function_count), inventory->unit_count,
	    tp_plural(inventory->unit_count));
	if (sums.system)
		tp_buf_addf(out, ", %" PRIu32 " from system headers", sums.system);
	tp_buf_addf(out, "\n%" PRIu32 " emitted", emitted);
	if (sums.states[TP_PRESENCE_PARTLY])
		tp_buf_addf(out, " (%" PRIu32 " also inlined)", sums.states[TP_PRESENCE_PARTLY]);
	tp_buf_addf(out, ", %" PRIu32 " inlined, %" PRIu32 " removed",
	    sums.states[TP_PRESENCE_INLINED], sums.states[TP_PRESENCE_REMOVED]);
	if (sums.states[TP_PRESENCE_SOURCE])
		tp_buf_addf(
		    out, ", %" PRIu32 " only in the source", sums.states[TP_PRESENCE_SOURCE]);
	if (sums.ambiguous)
		tp_buf_addf(
		    out, "; %" PRIu32 " that share their name with another", sums.ambiguous);
	tp_buf_addf(out,
	    "\ninstrumented: %" PRIu32 " with events, %" PRIu32 " sampled, %" PRIu32
	    " counted; %" PRIu32 " not\n\n",
	    sums.levels[TP_CATEGORY_ALLOW] + sums.levels[TP_CATEGORY_FORCE],
	    sums.levels[TP_CATEGORY_SAMPLE], sums.levels[TP_CATEGORY_COUNT],
	    sums.levels[TP_CATEGORY_SKIP] + sums.levels[TP_CATEGORY_FORBID]);
}

// "parse.c:12, into main and 2 more".
static void add_place(const struct tp_inventory *inventory,
    const struct tp_inventory_function *function, struct tp_buf *out)
{
	const char *file = *function->file ? function->file : function->main_file;
	tp_buf_add_string(out, basename(file));
	if (function->line)
		tp_buf_addf(out, ":%" PRIu64, function->line);
	if (!function->into_count)
		return;
	tp_buf_addf_clean(out, ", %sinto %s", function->into[0].guessed ? "probably " : "",
	    inventory->functions[function->into[0].function].demangled);
	if (function->into_count > 1)
		tp_buf_addf(out, " and %" PRIu32 " more", function->into_count - 1);
}

void tp_inventory_view_table(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out)
{
	static const char *const titles[] = {
	    "instrs", "before", "loops", "calls", "state", "level", "function", "source"};
	enum { COLUMNS = sizeof(titles) / sizeof(titles[0]) };
	struct tp_table table;
	struct tp_buf cell;
	tp_buf_init(&cell);
	tp_table_init(&table, "rrrrllll", COLUMNS - 2);
	table.width = view->width;
	table.color = view->color;
	struct rows rows = choose_rows(inventory, view, out);
	add_heading(inventory, out);
	tp_table_add_titles(&table, titles);
	for (uint32_t i = 0; i < rows.count; i++) {
		const struct tp_inventory_function *function = rows.items[i];
		const bool there = function->presence <= TP_PRESENCE_PARTLY;
		const uint64_t numbers[] = {function->facts.instrs, function->instrs_start,
		    function->facts.loops, function->facts.calls};
		char text[TP_TEXT_NUMBER];
		for (int j = 0; j < 4; j++)
			tp_table_add(&table,
			    there || (j == 1 && numbers[j]) ? tp_text_count(text, numbers[j]) : "");
		tp_table_add(&table, tp_presence_name(function->presence));
		tp_buf_reset(&cell);
		if (there)
			tp_category_add(&cell, function->decision, function->sample);
		tp_table_add(&table, cell.data);
		tp_table_add(&table, function->demangled);
		tp_buf_reset(&cell);
		add_place(inventory, function, &cell);
		tp_table_add(&table, cell.data);
	}
	if (rows.found)
		tp_table_render(&table, out);
	else
		tp_buf_add_string(out, "no function matches\n");
	if (rows.count < rows.found)
		tp_buf_addf(
		    out, "(%" PRIu32 " more: --limit 0 shows all)\n", rows.found - rows.count);
	out->failed |= cell.failed || table.cells.failed;
	free(rows.items);
	tp_buf_release(&cell);
	tp_table_release(&table);
}

static void add_json_edges(struct tp_json *json, const char *key,
    const struct tp_inventory *inventory, const struct tp_inventory_edge *edges, uint32_t count,
    bool calls)
{
	tp_json_array(json, key);
	for (uint32_t i = 0; i < count; i++) {
		tp_json_object(json, NULL);
		tp_json_text(json, "function", inventory->functions[edges[i].function].name);
		tp_json_uint(json, "sites", edges[i].sites);
		if (calls) {
			tp_json_value(json, "frequency");
			tp_buf_addf(json->out, "%.6g", edges[i].frequency);
		} else {
			tp_json_bool(json, "guessed", edges[i].guessed);
		}
		tp_json_end(json);
	}
	tp_json_end(json);
}

void tp_inventory_view_add_origin(
    struct tp_json *json, const struct tp_inventory_function *function)
{
	tp_json_text(json, "file", function->file);
	tp_json_uint(json, "line", function->line);
	tp_json_text(json, "main_file", function->main_file);
	tp_json_text(json, "module", function->module);
	tp_json_uint(json, "definitions", function->definitions);
	tp_json_bool(json, "ambiguous", function->ambiguous);
	tp_json_bool(json, "system", function->system);
}

static void add_json_function(struct tp_json *json, const struct tp_inventory *inventory,
    const struct tp_inventory_function *function)
{
	const struct tp_facts *facts = &function->facts;
	tp_json_object(json, NULL);
	tp_json_text(json, "function", function->name);
	tp_json_text(json, "demangled", function->demangled);
	if (function->origin)
		tp_json_text(json, "of", function->origin);
	tp_json_text(json, "state", tp_presence_words[function->presence]);
	tp_json_text(json, "linkage", function->linkage);
	tp_inventory_view_add_origin(json, function);
	tp_json_uint(json, "start", function->instrs_start);
	tp_json_uint(json, "instrs", facts->instrs);
	tp_json_uint(json, "blocks", facts->blocks);
	tp_json_uint(json, "loops", facts->loops);
	tp_json_uint(json, "depth", facts->depth);
	tp_json_uint(json, "trips", function->constant_trips);
	tp_json_uint(json, "call_sites", facts->calls);
	tp_json_uint(json, "indirect", function->indirect_calls);
	tp_list_add_category_json(json, "level", function->decision, function->sample);
	if (function->by_file) {
		tp_json_object(json, "by");
		tp_json_text(json, "file", function->by_file);
		tp_json_uint(json, "line", function->by_line);
		tp_json_end(json);
	} else {
		tp_json_null(json, "by");
	}
	add_json_edges(json, "calls", inventory, function->calls, function->call_count, true);
	add_json_edges(json, "into", inventory, function->into, function->into_count, false);
	tp_json_end(json);
}

static void add_json_units(struct tp_json *json, const struct tp_inventory *inventory)
{
	tp_json_array(json, "units");
	tp_json_lines(json);
	for (uint32_t i = 0; i < inventory->unit_count; i++) {
		const struct tp_inventory_unit *unit = &inventory->units[i];
		const char *const members[][2] = {{"main_file", unit->main_file},
		    {"module", unit->module}, {"compiler", unit->compiler}, {"level", unit->level},
		    {"lists", unit->lists}};
		tp_json_object(json, NULL);
		for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++)
			tp_json_text(json, members[m][0], members[m][1]);
		tp_json_end(json);
	}
	tp_json_end(json);
}

void tp_inventory_view_json(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out)
{
	const struct sums sums = add_up(inventory);
	struct rows rows = choose_rows(inventory, view, out);
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_SPACED);
	tp_json_object(&json, NULL);
	tp_json_lines(&json);
	tp_json_value(&json, "hash");
	tp_buf_addf(out, "\"%016" PRIx64 "\"", inventory->hash);
	tp_json_uint(&json, "functions", inventory->function_count);
	for (int i = 0; i <= TP_PRESENCE_SOURCE; i++)
		tp_json_uint(&json, tp_presence_words[i], sums.states[i]);
	tp_json_object(&json, "levels");
	for (int i = 0; i <= TP_CATEGORY_SAMPLE; i++)
		tp_json_uint(&json, tp_category_name((enum tp_category)i), sums.levels[i]);
	tp_json_end(&json);
	add_json_units(&json, inventory);
	tp_json_array(&json, "rows");
	tp_json_lines(&json);
	for (uint32_t i = 0; i < rows.count; i++)
		add_json_function(&json, inventory, rows.items[i]);
	tp_json_end(&json);
	tp_json_end(&json);
	tp_buf_add_char(out, '\n');
	free(rows.items);
}

static void add_cell(struct tp_buf *out, const char *text)
{
	tp_text_add_csv(out, text);
	tp_buf_add_char(out, ',');
}

void tp_inventory_view_csv(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out)
{
	struct rows rows = choose_rows(inventory, view, out);
	tp_buf_add_string(out,
	    "function,state,linkage,start,instrs,blocks,loops,depth,trips,calls,indirect,level,by,"
	    "definitions,ambiguous,system,into,module,main_file,file,line,demangled,of\n");
	for (uint32_t i = 0; i < rows.count; i++) {
		const struct tp_inventory_function *function = rows.items[i];
		const struct tp_facts *facts = &function->facts;
		add_cell(out, function->name);
		add_cell(out, tp_presence_words[function->presence]);
		add_cell(out, function->linkage);
		tp_buf_addf(out,
		    "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		    ",%" PRIu64 ",%" PRIu64 ",",
		    function->instrs_start, facts->instrs, facts->blocks, facts->loops,
		    facts->depth, function->constant_trips, facts->calls, function->indirect_calls);
		tp_category_add(out, function->decision, function->sample);
		tp_buf_add_char(out, ',');
		if (function->by_file) {
			struct tp_buf place;
			tp_buf_init(&place);
			tp_buf_addf_clean(
			    &place, "%s:%" PRIu32, function->by_file, function->by_line);
			tp_text_add_csv(out, place.data);
			tp_buf_release(&place);
		}
		tp_buf_addf(out, ",%" PRIu32 ",%d,%d,%" PRIu32 ",", function->definitions,
		    function->ambiguous, function->system, function->into_count);
		add_cell(out, function->module);
		add_cell(out, function->main_file);
		add_cell(out, function->file);
		tp_buf_addf(out, "%" PRIu64 ",", function->line);
		add_cell(out, function->demangled);
		tp_text_add_csv(out, function->origin ? function->origin : "");
		tp_buf_add_char(out, '\n');
	}
	free(rows.items);
}
