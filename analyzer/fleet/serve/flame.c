// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the report's viewer shows, of a set or of two: the functions, and the paths without those that are too light.
#include "answers.h"

#include "analyzer/fleet/durations.h"
#include "common/array.h"
#include "common/hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATHS_USUAL = 20000, // that are sent
	PATHS_MOST = 200000,
	FUNCTIONS_MOST = 5000, // that are sent for the table; those on paths come besides
};

struct texts {
	const char **items;
	uint32_t count;
	struct tp_index index;
};

// A path of either set.
struct node {
	const struct tp_serve_path *a;
	const struct tp_serve_path *b;
	uint32_t parent; // TP_SERVE_NONE: it is outermost
	uint32_t shown;  // its number in the answer; TP_SERVE_NONE: it is in "(smaller)"
	double total_a;  // with all below
	double total_b;
	double share; // of the set's time, in the set where it is greater
};

// An item of the answer. Item 0 is the program.
struct item {
	uint32_t parent;
	uint32_t function; // TP_SERVE_NONE: "(smaller)"
	int32_t level;
	double calls[2]; // of the set, of the baseline
	double self[2];
	uint64_t min_ns;
	uint64_t max_ns;
};

struct flame {
	const struct tp_serve_question *question;
	const struct tp_serve_sums *a; // shown; of two sets the second
	const struct tp_serve_sums *b; // the baseline, or NULL
	double runs_a;                 // what sums are divided by
	double runs_b;
	struct node *nodes;
	uint32_t node_count;
	struct item *items;
	uint32_t item_count;
	uint32_t item_room;
	uint32_t *functions_a; // the number in the answer of each function of a, or TP_SERVE_NONE
	uint32_t *functions_b;
	const struct tp_serve_function **shown_a; // functions in the answer; NULL: not there
	const struct tp_serve_function **shown_b;
	uint32_t function_count;
	uint32_t functions_left;
	double least;
	double cut; // paths with a smaller share are in "(smaller)"
	uint64_t folded;
	double folded_share; // of the time of the set, or of the baseline if that is greater
};

// ---- nodes

// Nodes are a's paths, then those that only b has: each of these behind its parent.
static int join(struct flame *flame, struct tp_err *err)
{
	const struct tp_serve_sums *a = flame->a;
	const struct tp_serve_sums *b = flame->b;
	const uint64_t most = (uint64_t)a->path_count + (b ? b->path_count : 0);
	uint32_t *of_b = b ? malloc((b->path_count + (size_t)1) * sizeof(*of_b)) : NULL;
	flame->nodes = calloc(most + 1, sizeof(*flame->nodes));
	if (!flame->nodes || (b && !of_b)) {
		free(of_b);
		return tp_err_memory(err, NULL);
	}
	for (uint32_t i = 0; i < a->path_count; i++)
		flame->nodes[i] = (struct node){.a = &a->paths[i], .parent = a->paths[i].parent};
	flame->node_count = a->path_count;
	for (uint32_t i = 0; b && i < b->path_count; i++) {
		const struct tp_serve_path *it = &b->paths[i];
		const struct tp_serve_path *same = tp_serve_sums_find_path(a, it->key);
		of_b[i] = same ? (uint32_t)(same - a->paths) : flame->node_count++;
		struct node *node = &flame->nodes[of_b[i]];
		node->b = it;
		if (!same)
			node->parent =
			    it->parent == TP_SERVE_NONE ? TP_SERVE_NONE : of_b[it->parent];
	}
	free(of_b);
	return 0;
}

static int compare_shares(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;
	return TP_COMPARE(y, x);
}

// With all below, and what share of the set that is.
static int weigh(struct flame *flame, uint64_t most, struct tp_err *err)
{
	double all_a = 0;
	double all_b = 0;
	for (uint32_t i = 0; i < flame->node_count; i++) {
		struct node *node = &flame->nodes[i];
		node->total_a = node->a ? (double)node->a->self_ns : 0;
		node->total_b = node->b ? (double)node->b->self_ns : 0;
		all_a += node->total_a;
		all_b += node->total_b;
	}
	for (uint32_t i = flame->node_count; i-- > 0;) {
		const struct node *node = &flame->nodes[i];
		if (node->parent != TP_SERVE_NONE) {
			flame->nodes[node->parent].total_a += node->total_a;
			flame->nodes[node->parent].total_b += node->total_b;
		}
	}
	double *shares = malloc((flame->node_count + (size_t)1) * sizeof(*shares));
	if (!shares)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < flame->node_count; i++) {
		struct node *node = &flame->nodes[i];
		const double a = all_a > 0 ? node->total_a / all_a : 0;
		const double b = all_b > 0 ? node->total_b / all_b : 0;
		node->share = shares[i] = a > b ? a : b;
	}
	flame->cut = flame->least;
	// All of the same share stay or go, so that the answer does not depend on their order.
	if (flame->node_count > most) {
		qsort(shares, flame->node_count, sizeof(*shares), compare_shares);
		const double next = nextafter(shares[most], 2);
		flame->cut = next > flame->cut ? next : flame->cut;
	}
	double folded_a = 0;
	double folded_b = 0;
	for (uint32_t i = 0; i < flame->node_count; i++) {
		const struct node *node = &flame->nodes[i];
		if (node->share >= flame->cut)
			continue;
		flame->folded++;
		folded_a += node->a ? (double)node->a->self_ns : 0;
		folded_b += node->b ? (double)node->b->self_ns : 0;
	}
	folded_a = all_a > 0 ? folded_a / all_a : 0;
	folded_b = all_b > 0 ? folded_b / all_b : 0;
	flame->folded_share = folded_a > folded_b ? folded_a : folded_b;
	free(shares);
	return 0;
}

// ---- functions

static int compare_functions(const void *a, const void *b)
{
	const struct tp_serve_function *x = *(const struct tp_serve_function *const *)a;
	const struct tp_serve_function *y = *(const struct tp_serve_function *const *)b;
	const int by_time = TP_COMPARE(y->self_ns, x->self_ns);
	return by_time ? by_time : TP_COMPARE(x->key, y->key);
}

// Have the function in the answer.
static uint32_t show_function(struct flame *flame, int64_t key)
{
	const uint32_t a = tp_serve_sums_find(flame->a, key);
	const uint32_t b = flame->b ? tp_serve_sums_find(flame->b, key) : TP_SERVE_NONE;
	uint32_t *slot_a = a == TP_SERVE_NONE ? NULL : &flame->functions_a[a];
	uint32_t *slot_b = b == TP_SERVE_NONE ? NULL : &flame->functions_b[b];
	if (!slot_a && !slot_b)
		return TP_SERVE_NONE; // a path of a function that no file has
	uint32_t shown = slot_a ? *slot_a : *slot_b;
	if (shown == TP_SERVE_NONE) {
		shown = flame->function_count++;
		flame->shown_a[shown] = slot_a ? &flame->a->functions[a] : NULL;
		flame->shown_b[shown] = slot_b ? &flame->b->functions[b] : NULL;
		if (slot_a)
			*slot_a = shown;
		if (slot_b)
			*slot_b = shown;
	}
	return shown;
}

static int choose_functions(struct flame *flame, struct tp_err *err)
{
	const uint32_t count_a = flame->a->function_count;
	const uint32_t count_b = flame->b ? flame->b->function_count : 0;
	const size_t all = (size_t)count_a + count_b + 1;
	flame->functions_a = malloc((count_a + (size_t)1) * sizeof(*flame->functions_a));
	flame->functions_b = malloc((count_b + (size_t)1) * sizeof(*flame->functions_b));
	flame->shown_a = calloc(all, sizeof(*flame->shown_a));
	flame->shown_b = calloc(all, sizeof(*flame->shown_b));
	const struct tp_serve_function **sorted = malloc(all * sizeof(*sorted));
	if (!flame->functions_a || !flame->functions_b || !flame->shown_a || !flame->shown_b ||
	    !sorted) {
		free(sorted);
		return tp_err_memory(err, NULL);
	}
	memset(flame->functions_a, 0xff, count_a * sizeof(*flame->functions_a));
	memset(flame->functions_b, 0xff, count_b * sizeof(*flame->functions_b));
	for (uint32_t i = 0; i < count_a; i++)
		sorted[i] = &flame->a->functions[i];
	for (uint32_t i = 0; i < count_b; i++)
		sorted[count_a + i] = &flame->b->functions[i];
	qsort(sorted, all - 1, sizeof(const struct tp_serve_function *), compare_functions);
	for (size_t i = 0; i < all - 1 && flame->function_count < FUNCTIONS_MOST; i++)
		show_function(flame, sorted[i]->key);
	free(sorted);
	for (uint32_t i = 0; i < flame->node_count; i++) {
		const struct node *node = &flame->nodes[i];
		if (node->share >= flame->cut)
			show_function(flame, (node->a ? node->a : node->b)->function_key);
	}
	uint32_t different = count_a;
	for (uint32_t i = 0; i < count_b; i++)
		different +=
		    tp_serve_sums_find(flame->a, flame->b->functions[i].key) == TP_SERVE_NONE;
	flame->functions_left = different - flame->function_count;
	return 0;
}

// ---- items

static uint32_t add_item(struct flame *flame, uint32_t parent, uint32_t function)
{
	if (!TP_GROW(flame->items, flame->item_room, flame->item_count + UINT64_C(1)))
		return TP_SERVE_NONE;
	flame->items[flame->item_count] =
	    (struct item){.parent = parent, .function = function, .min_ns = UINT64_MAX};
	return flame->item_count++;
}

static void add_paths(struct item *item, const struct node *node)
{
	const struct tp_serve_path *sides[2] = {node->a, node->b};
	for (int i = 0; i < 2; i++) {
		item->calls[i] += sides[i] ? (double)sides[i]->calls : 0;
		item->self[i] += sides[i] ? (double)sides[i]->self_ns : 0;
	}
}

// Each kept path is an item; what is light below one is another item, with the calls from there and the time of all below.
static int make_items(struct flame *flame, struct tp_err *err)
{
	uint32_t *smaller = NULL; // of each item its "(smaller)", 0: none yet
	uint32_t room = 0;
	if (add_item(flame, TP_SERVE_NONE, TP_SERVE_NONE) == TP_SERVE_NONE)
		return tp_err_memory(err, NULL);
	bool ok = true;
	for (uint32_t i = 0; ok && i < flame->node_count; i++) {
		struct node *node = &flame->nodes[i];
		const struct node *above =
		    node->parent == TP_SERVE_NONE ? NULL : &flame->nodes[node->parent];
		const uint32_t parent = above ? above->shown : 0;
		const struct tp_serve_path *it = node->a ? node->a : node->b;
		const uint32_t function = show_function(flame, it->function_key);
		node->shown = TP_SERVE_NONE;
		if (parent == TP_SERVE_NONE)
			continue; // its sums are with those of what it is in
		if (node->share >= flame->cut && function != TP_SERVE_NONE) {
			node->shown = add_item(flame, parent, function);
			ok = node->shown != TP_SERVE_NONE;
			if (!ok)
				break;
			struct item *item = &flame->items[node->shown];
			add_paths(item, node);
			item->level = it->recursion > 0 ? it->recursion : 0;
			item->min_ns = it->min_ns;
			item->max_ns = it->max_ns;
			continue;
		}
		const uint32_t before = room;
		ok = TP_GROW(smaller, room, flame->item_count + UINT64_C(1));
		if (!ok)
			break;
		memset(smaller + before, 0, (room - before) * sizeof(*smaller));
		if (!smaller[parent])
			smaller[parent] = add_item(flame, parent, TP_SERVE_NONE);
		ok = smaller[parent] != TP_SERVE_NONE;
		if (!ok)
			break;
		struct item *item = &flame->items[smaller[parent]];
		add_paths(item, node);
		// Of time all that is below.
		item->self[0] += node->total_a - (node->a ? (double)node->a->self_ns : 0);
		item->self[1] += node->total_b - (node->b ? (double)node->b->self_ns : 0);
	}
	free(smaller);
	return ok ? 0 : tp_err_memory(err, NULL);
}

// ---- JSON

// Sums of one set are whole; of two they are means of a run.
static void put(const struct flame *flame, struct tp_json *json, double sum, double runs)
{
	if (flame->b)
		tp_json_real(json, NULL, 1, runs > 0 ? sum / runs : 0);
	else
		tp_json_uint(json, NULL, (uint64_t)sum);
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

static void add_column(const struct flame *flame, struct tp_json *json, const char *name,
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
    const struct flame *flame, struct tp_json *json, const char *name, double quantile)
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
static uint32_t add_histograms(const struct flame *flame, struct tp_json *json)
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
				calls += flame->a->buckets[at].calls;
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
		const uint32_t above = bucket >> TP_FLEET_BITS;
		const uint32_t shift = above ? above - 1 : 0;
		tp_json_real(
		    json, NULL, 0, ldexp((double)(bucket - (shift << TP_FLEET_BITS)), (int)shift));
	}
	tp_json_end(json);
}

static bool texts_init(struct texts *texts, uint32_t most)
{
	*texts = (struct texts){.items = calloc((size_t)most + 1, sizeof(*texts->items))};
	return tp_index_init(&texts->index, most + UINT64_C(1)) && texts->items;
}

static uint32_t texts_find(struct texts *texts, const char *text)
{
	uint32_t *slot = tp_index_first(&texts->index, tp_hash_text(text));
	while (*slot && strcmp(texts->items[*slot - 1], text) != 0)
		slot = tp_index_next(&texts->index, slot);
	if (!*slot) {
		texts->items[texts->count++] = text;
		*slot = texts->count;
	}
	return *slot - 1;
}

static void texts_release(struct texts *texts)
{
	free(texts->items);
	tp_index_release(&texts->index);
}

static const struct tp_serve_function *any_side(const struct flame *flame, uint32_t function)
{
	return flame->shown_a[function] ? flame->shown_a[function] : flame->shown_b[function];
}

// The column NAME of numbers in the column NAMEs, each text once; the first is empty.
static bool add_texts(const struct flame *flame, struct tp_json *json, const char *name,
    const char *names, bool modules)
{
	struct texts texts;
	const bool ok = texts_init(&texts, flame->function_count + 1);
	if (ok) {
		texts_find(&texts, "");
		tp_json_array(json, name);
		for (uint32_t i = 0; i < flame->function_count; i++) {
			const struct tp_serve_function *it = any_side(flame, i);
			tp_json_uint(
			    json, NULL, texts_find(&texts, modules ? it->module : it->file));
		}
		tp_json_end(json);
		tp_json_array(json, names);
		for (uint32_t i = 0; i < texts.count; i++)
			tp_json_text(json, NULL, texts.items[i]);
		tp_json_end(json);
	}
	texts_release(&texts);
	return ok;
}

static bool add_functions(const struct flame *flame, struct tp_json *json)
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

static void add_paths_json(const struct flame *flame, struct tp_json *json)
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
			const struct item *item = &flame->items[i];
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
static const char *program_of(const struct flame *flame)
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

static bool add_all(const struct flame *flame, struct tp_buf *out)
{
	const struct tp_serve_question *question = flame->question;
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_text(&json, "program", program_of(flame));
	tp_json_text(&json, "unit", "ns");
	tp_json_array(&json, "threads");
	tp_json_end(&json);
	tp_json_text(
	    &json, "no_timeline", "A fleet has sums of runs, so that there is no timeline.");
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

int tp_serve_answer_flame(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err)
{
	const uint32_t parts = TP_SERVE_FUNCTIONS | TP_SERVE_PATHS | TP_SERVE_BUCKETS;
	const bool two = question->has_b;
	struct flame flame = {.question = question};
	uint64_t most;
	int code =
	    tp_serve_argument_count(question->request, "most", PATHS_USUAL, PATHS_MOST, &most, err);
	if (!code)
		code = tp_serve_argument_real(
		    question->request, "least", 0.0001, 0, 1, &flame.least, err);
	if (code)
		return code;
	flame.a =
	    tp_serve_store_sums(question->store, two ? &question->b : &question->a, parts, err);
	if (flame.a && two)
		flame.b = tp_serve_store_sums(
		    question->store, &question->a, TP_SERVE_FUNCTIONS | TP_SERVE_PATHS, err);
	if (!flame.a || (two && !flame.b))
		return err->code;
	flame.runs_a = two ? question->b.count : 1;
	flame.runs_b = question->a.count;
	code = join(&flame, err);
	if (!code)
		code = weigh(&flame, most, err);
	if (!code)
		code = choose_functions(&flame, err);
	if (!code)
		code = make_items(&flame, err);
	if (!code && !add_all(&flame, out))
		code = tp_err_memory(err, NULL);
	free(flame.nodes);
	free(flame.items);
	free(flame.functions_a);
	free(flame.functions_b);
	free(flame.shown_a);
	free(flame.shown_b);
	return code;
}
