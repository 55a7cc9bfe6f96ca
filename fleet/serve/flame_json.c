// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The flame graph of a set or of two, in columns as the report's viewer reads them.
#include "flame.h"

#include "fleet/durations.h"
#include "common/index.h"

#include <math.h>
#include <string.h>

// Sums of one set are whole; of two they are means of a run.
static void put(const struct tp_flame *flame, struct tp_json *json, double sum, double runs)
{
	if (flame->b)
		tp_json_real(json, NULL, 1, runs > 0 ? sum / runs : 0);
	else
		tp_json_uint(json, NULL, sum < 0x1p64 ? (uint64_t)sum : UINT64_MAX);
}

enum column {
	CALLS,
	TIMED,
	SELF,
	INCLUSIVE,
	TOTAL,
	MIN,
	MAX,
	COLUMNS,
};

static double value_of(const struct tp_serve_function *it, enum column column)
{
	const uint64_t values[COLUMNS] = {it->calls, it->timed_calls, it->self_ns, it->inclusive_ns,
	    it->total_ns, it->min_ns == UINT64_MAX ? 0 : it->min_ns, it->max_ns};
	return (double)values[column];
}

static void add_column(const struct tp_flame *flame, struct tp_json *json, const char *name,
    const struct tp_serve_function *const *functions, enum column column, double runs)
{
	tp_json_array(json, name);
	for (uint32_t i = 0; i < flame->function_count; i++) {
		const double value = functions[i] ? value_of(functions[i], column) : 0;
		// The extremes are no sums.
		if (column == MIN || column == MAX)
			tp_json_uint(json, NULL, (uint64_t)value);
		else
			put(flame, json, value, runs);
	}
	tp_json_end(json);
}

static void add_quantile(
    const struct tp_flame *flame, struct tp_json *json, const char *name, double quantile)
{
	tp_json_array(json, name);
	for (uint32_t i = 0; i < flame->function_count; i++) {
		const struct tp_serve_function *it = flame->shown_a[i];
		const uint32_t count = it ? it->bucket_to - it->bucket_from : 0;
		const int64_t value =
		    count ? tp_serve_quantile(&flame->a->buckets[it->bucket_from], count, quantile)
			  : 0;
		tp_json_uint(json, NULL, value > 0 ? (uint64_t)value : 0);
	}
	tp_json_end(json);
}

// Two of a fleet's buckets are one of the viewer, whose bars are a sixteenth of a doubling.
static uint32_t add_histograms(const struct tp_flame *flame, struct tp_json *json)
{
	uint32_t highest = 0;
	tp_json_array(json, "histogram");
	for (uint32_t i = 0; i < flame->function_count; i++) {
		const struct tp_serve_function *it = flame->shown_a[i];
		tp_json_array(json, NULL);
		for (uint32_t at = it ? it->bucket_from : 0; it && at < it->bucket_to;) {
			const uint32_t bin = (uint32_t)flame->a->buckets[at].bucket / 2;
			uint64_t calls = 0;
			for (; at < it->bucket_to &&
			       (uint32_t)flame->a->buckets[at].bucket / 2 == bin;
			     at++)
				tp_serve_add(&calls, flame->a->buckets[at].calls);
			// A file may say anything.
			if (bin >= 1024 || !calls)
				continue;
			tp_json_uint(json, NULL, bin);
			tp_json_uint(json, NULL, calls);
			highest = bin > highest ? bin : highest;
		}
		tp_json_end(json);
	}
	tp_json_end(json);
	return highest;
}

static void add_bounds(struct tp_json *json, uint32_t highest)
{
	tp_json_array(json, "bounds");
	for (uint32_t bin = 0; bin <= highest + 1; bin++) {
		const uint32_t bucket = 2 * bin;
		const uint32_t above = bucket >> TP_HISTOGRAM_FINE_BITS;
		const uint32_t shift = above ? above - 1 : 0;
		tp_json_real(json, NULL, 0,
		    ldexp((double)(bucket - (shift << TP_HISTOGRAM_FINE_BITS)), (int)shift));
	}
	tp_json_end(json);
}

static const struct tp_serve_function *any_side(const struct tp_flame *flame, uint32_t function)
{
	return flame->shown_a[function] ? flame->shown_a[function] : flame->shown_b[function];
}

// The column NAME of numbers in the column NAMEs, each text once; the first is empty.
static bool add_texts(const struct tp_flame *flame, struct tp_json *json, const char *name,
    const char *names, bool modules)
{
	struct tp_texts texts;
	const bool ok = tp_texts_init(&texts, flame->function_count + 1);
	if (ok) {
		tp_texts_number(&texts, "");
		tp_json_array(json, name);
		for (uint32_t i = 0; i < flame->function_count; i++) {
			const struct tp_serve_function *it = any_side(flame, i);
			tp_json_uint(
			    json, NULL, tp_texts_number(&texts, modules ? it->module : it->file));
		}
		tp_json_end(json);
		tp_json_array(json, names);
		for (uint32_t i = 0; i < texts.count; i++)
			tp_json_text(json, NULL, texts.items[i]);
		tp_json_end(json);
	}
	tp_texts_release(&texts);
	return ok;
}

static bool add_functions(const struct tp_flame *flame, struct tp_json *json)
{
	static const char *const names[COLUMNS] = {
	    "calls", "timed_calls", "self_ns", "inclusive_ns", "total_ns", "min_ns", "max_ns"};
	tp_json_object(json, "functions");
	tp_json_array(json, "name");
	for (uint32_t i = 0; i < flame->function_count; i++)
		tp_json_text(json, NULL, any_side(flame, i)->name);
	tp_json_end(json);
	tp_json_array(json, "fn_key");
	for (uint32_t i = 0; i < flame->function_count; i++)
		tp_serve_add_key(json, NULL, any_side(flame, i)->key);
	tp_json_end(json);
	tp_json_array(json, "line");
	for (uint32_t i = 0; i < flame->function_count; i++) {
		const int64_t line = any_side(flame, i)->line;
		tp_json_uint(json, NULL, line > 0 ? (uint64_t)line : 0);
	}
	tp_json_end(json);
	const bool ok = add_texts(flame, json, "file", "files", false) &&
			add_texts(flame, json, "module", "modules", true);
	for (int i = 0; i < COLUMNS; i++)
		add_column(flame, json, names[i], flame->shown_a, (enum column)i, flame->runs_a);
	if (flame->b) {
		add_column(flame, json, "base_self_ns", flame->shown_b, SELF, flame->runs_b);
		add_column(flame, json, "base_calls", flame->shown_b, CALLS, flame->runs_b);
	}
	add_quantile(flame, json, "p50_ns", 0.5);
	add_quantile(flame, json, "p90_ns", 0.9);
	add_quantile(flame, json, "p99_ns", 0.99);
	const uint32_t highest = add_histograms(flame, json);
	tp_json_end(json);
	add_bounds(json, highest);
	return ok;
}

static void add_paths_json(const struct tp_flame *flame, struct tp_json *json)
{
	static const char *const names[2][2] = {{"calls", "baseCalls"}, {"self", "baseSelf"}};
	const double runs[2] = {flame->runs_a, flame->runs_b};
	tp_json_object(json, "paths");
	tp_json_array(json, "parent");
	// The program has no parent: 0 stands for none.
	for (uint32_t i = 0; i < flame->item_count; i++)
		tp_json_uint(json, NULL, i ? flame->items[i].parent : 0);
	tp_json_end(json);
	tp_json_array(json, "fn");
	for (uint32_t i = 0; i < flame->item_count; i++)
		tp_json_uint(json, NULL,
		    flame->items[i].function == TP_SERVE_NONE ? flame->function_count
							      : flame->items[i].function);
	tp_json_end(json);
	tp_json_array(json, "level");
	for (uint32_t i = 0; i < flame->item_count; i++)
		tp_json_uint(json, NULL, (uint64_t)flame->items[i].level);
	tp_json_end(json);
	for (int side = 0; side < (flame->b ? 2 : 1); side++) {
		tp_json_array(json, names[0][side]);
		for (uint32_t i = 0; i < flame->item_count; i++)
			put(flame, json, flame->items[i].calls[side], runs[side]);
		tp_json_end(json);
		tp_json_array(json, names[1][side]);
		for (uint32_t i = 0; i < flame->item_count; i++)
			put(flame, json, flame->items[i].self[side], runs[side]);
		tp_json_end(json);
	}
	for (int max = 0; max < 2; max++) {
		tp_json_array(json, max ? "max" : "min");
		for (uint32_t i = 0; i < flame->item_count; i++) {
			const struct tp_flame_item *item = &flame->items[i];
			const bool known = item->min_ns != UINT64_MAX;
			tp_json_uint(json, NULL, !known ? 0 : max ? item->max_ns : item->min_ns);
		}
		tp_json_end(json);
	}
	tp_json_end(json);
}

static void add_set(struct tp_json *json, const char *name,
    const struct tp_serve_question *question, const struct tp_serve_set *set,
    const struct tp_serve_sums *sums)
{
	uint64_t untimed = 0;
	uint64_t incomplete = 0;
	for (uint32_t i = 0; i < set->count; i++) {
		const struct tp_serve_run *run = &question->store->runs.items[set->items[i]];
		untimed += strcmp(run->unit, "ns") != 0;
		incomplete += run->complete.value == 0;
	}
	tp_json_object(json, name);
	tp_json_uint(json, "runs", set->count);
	tp_json_uint(json, "untimed", untimed);
	tp_json_uint(json, "incomplete", incomplete);
	tp_json_uint(json, "lost_paths", sums->lost_paths);
	tp_json_end(json);
}

// The program of the runs, if it is one.
static const char *program_of(const struct tp_flame *flame)
{
	const struct tp_serve_question *question = flame->question;
	const struct tp_serve_set *sets[2] = {&question->a, &question->b};
	const char *program = NULL;
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < sets[side]->count; i++) {
			const char *its = question->store->runs.items[sets[side]->items[i]].program;
			if (program && strcmp(program, its) != 0)
				return "all programs";
			program = its;
		}
	return program ? program : "no runs";
}

bool tp_flame_add(const struct tp_flame *flame, struct tp_buf *out)
{
	const struct tp_serve_question *question = flame->question;
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_text(&json, "program", program_of(flame));
	tp_json_text(&json, "unit", "ns");
	tp_json_array(&json, "threads");
	tp_json_end(&json);
	tp_json_text(&json, "no_timeline", "A fleet has sums of runs, so it has no timeline.");
	if (flame->b) {
		add_set(&json, "before", question, &question->a, flame->b);
		add_set(&json, "shown", question, &question->b, flame->a);
	} else {
		add_set(&json, "shown", question, &question->a, flame->a);
	}
	tp_json_object(&json, "pruned");
	tp_json_uint(&json, "all", flame->node_count);
	tp_json_uint(&json, "paths", flame->folded);
	tp_json_real(&json, "share", 6, flame->folded_share);
	tp_json_real(&json, "least", 9, flame->cut);
	tp_json_uint(&json, "functions", flame->functions_left);
	tp_json_end(&json);
	const bool ok = add_functions(flame, &json);
	add_paths_json(flame, &json);
	tp_json_end(&json);
	return ok;
}
