// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An allowlist against an inventory: what each line matches, which line decides about each
// function, what it costs, and what another list changes.
#include "use.h"

#include "allowlists/language/reading.h"
#include "common/array.h"
#include "common/clean.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum tp_fate tp_fate_of(const struct tp_inventory_function *function)
{
	static const enum tp_fate fates[] = {
	    [TP_PRESENCE_EMITTED] = TP_FATE_THERE,
	    [TP_PRESENCE_SOURCE] = TP_FATE_THERE,
	    [TP_PRESENCE_PARTLY] = TP_FATE_PARTLY,
	    [TP_PRESENCE_INLINED] = TP_FATE_INLINED,
	    [TP_PRESENCE_REMOVED] = TP_FATE_REMOVED,
	};
	return fates[function->presence];
}

bool tp_category_instruments(enum tp_category category)
{
	return category != TP_CATEGORY_SKIP && category != TP_CATEGORY_FORBID;
}

// The lines that match one function.
struct matches {
	uint32_t *items;
	uint32_t count;
	uint32_t capacity;
	bool failed;
};

static void add_match(void *context, uint32_t index)
{
	struct matches *matches = context;
	if (!TP_GROW(matches->items, matches->capacity, matches->count + UINT64_C(1))) {
		matches->failed = true;
		return;
	}
	matches->items[matches->count++] = index;
}

// Which line decided. The list's own answer shows it, so that the rules stand in one place only.
static uint32_t find_decider(const struct tp_allowlist *list, const struct matches *matches,
    const struct tp_verdict *verdict)
{
	if (!verdict->line)
		return TP_LINE_NONE;
	for (uint32_t i = matches->count; i--;) {
		const struct tp_allowlist_line line = tp_allowlist_line(list, matches->items[i]);
		if (line.line == verdict->line && strcmp(line.file, verdict->file) == 0)
			return matches->items[i];
	}
	return TP_LINE_NONE;
}

static bool says_the_same(
    const struct tp_allowlist *list, uint32_t index, const struct tp_verdict *verdict)
{
	const struct tp_allowlist_line line = tp_allowlist_line(list, index);
	return line.category == verdict->category &&
	       (line.category != TP_CATEGORY_SAMPLE || line.sample == verdict->sample);
}

bool tp_line_names(
    const struct tp_allowlist_line *line, const struct tp_inventory_function *function)
{
	return line->exact && (!strcmp(function->name, line->exact) ||
				  tp_name_is_renamed(function->name, line->exact));
}

static void note_function(
    struct tp_list_use *use, uint32_t index, const struct matches *matches, uint32_t decider)
{
	const enum tp_fate fate = tp_fate_of(&use->inventory->functions[index]);
	for (uint32_t i = 0; i < matches->count; i++) {
		struct tp_line_use *line = &use->lines[matches->items[i]];
		if (line->fates[fate] < TP_LINE_EXAMPLES)
			line->examples[fate][line->fates[fate]] = index;
		const struct tp_allowlist_line text =
		    tp_allowlist_line(use->list, matches->items[i]);
		line->fates[fate]++;
		line->matched++;
		line->named += tp_line_names(&text, &use->inventory->functions[index]);
		if (matches->items[i] == decider) {
			line->decided++;
			continue;
		}
		if (line->beaten_by == TP_LINE_NONE)
			line->beaten_by = decider;
		if (!says_the_same(use->list, matches->items[i], &use->verdicts[index]))
			line->contradicted = true;
	}
}

int tp_list_use_init(struct tp_list_use *use, const struct tp_allowlist *list,
    const struct tp_inventory *inventory, struct tp_err *err)
{
	*use = (struct tp_list_use){.list = list, .inventory = inventory};
	tp_arena_init(&use->arena);
	use->line_count = tp_allowlist_line_count(list);
	const size_t functions = inventory->function_count;
	use->lines = tp_arena_alloc(&use->arena, use->line_count * sizeof(*use->lines) + 1);
	use->verdicts = tp_arena_alloc(&use->arena, functions * sizeof(*use->verdicts) + 1);
	use->deciders = tp_arena_alloc(&use->arena, functions * sizeof(*use->deciders) + 1);
	struct matches matches = {0};
	if (!use->lines || !use->verdicts || !use->deciders)
		goto no_memory;
	for (uint32_t i = 0; i < use->line_count; i++)
		use->lines[i].beaten_by = TP_LINE_NONE;
	for (uint32_t i = 0; i < functions; i++) {
		const struct tp_subject subject = tp_inventory_subject(&inventory->functions[i]);
		use->verdicts[i] = tp_allowlist_match(list, &subject);
		matches.count = 0;
		tp_allowlist_matches(list, &subject, add_match, &matches);
		if (matches.failed)
			goto no_memory;
		use->deciders[i] = find_decider(list, &matches, &use->verdicts[i]);
		note_function(use, i, &matches, use->deciders[i]);
	}
	free(matches.items);
	return 0;
no_memory:
	free(matches.items);
	return tp_err_memory(err, NULL);
}

void tp_list_use_release(struct tp_list_use *use)
{
	tp_arena_release(&use->arena);
}

void tp_list_add_category_json(
    struct tp_json *json, const char *key, enum tp_category category, uint32_t sample)
{
	tp_json_value(json, key);
	tp_buf_add_char(json->out, '"');
	tp_category_add(json->out, category, sample);
	tp_buf_add_char(json->out, '"');
}

void tp_list_add_place(struct tp_buf *buf, const struct tp_verdict *verdict)
{
	if (verdict->line)
		tp_buf_addf_clean(buf, "%s:%" PRIu32, verdict->file, verdict->line);
	else
		tp_buf_add_string(buf, "the default");
}

void tp_list_add_into(struct tp_buf *buf, const struct tp_inventory *inventory,
    const struct tp_inventory_function *function, uint32_t limit)
{
	const uint32_t shown = function->into_count < limit ? function->into_count : limit;
	for (uint32_t i = 0; i < shown; i++) {
		const struct tp_inventory_edge *edge = &function->into[i];
		const bool last = i + 1 == shown && shown == function->into_count;
		tp_buf_add_string(buf, i == 0 ? "" : last ? " and " : ", ");
		tp_buf_addf_clean(buf, "'%s'", inventory->functions[edge->function].demangled);
		if (edge->guessed)
			tp_buf_add_string(buf, " (probably)");
		else if (edge->sites > 1)
			tp_buf_addf(buf, " (%" PRIu32 " times)", edge->sites);
	}
	if (shown < function->into_count)
		tp_buf_addf(buf, " and %" PRIu32 " more", function->into_count - shown);
}

/* ---- cost ---- */

// What the list says of a function: that of the inventory has been asked about already.
static struct tp_verdict verdict_of(
    const struct tp_list_use *use, const struct tp_workload_function *function)
{
	if (function->inventory)
		return use->verdicts[function->inventory - use->inventory->functions];
	const struct tp_subject subject = tp_workload_subject(function);
	return tp_allowlist_match(use->list, &subject);
}

void tp_list_cost(struct tp_list_cost *sum, const struct tp_list_use *use,
    const struct tp_workload *workload, const struct tp_cost *cost)
{
	*sum = (struct tp_list_cost){.time_ns = workload->time_ns};
	for (uint32_t i = 0; i < workload->function_count; i++) {
		const struct tp_workload_function *function = &workload->functions[i];
		const struct tp_verdict verdict = verdict_of(use, function);
		sum->all_ns += function->self_ns;
		if (!tp_category_instruments(verdict.category))
			continue;
		const double calls = (double)function->calls;
		sum->calls += function->calls;
		sum->overhead_ns += calls * tp_cost_call_ns(cost, verdict.category, verdict.sample);
		sum->log_bytes += calls * tp_cost_call_bytes(verdict.category, verdict.sample);
		if (verdict.category == TP_CATEGORY_COUNT) {
			sum->counted += function->calls;
		} else if (verdict.category == TP_CATEGORY_SAMPLE) {
			sum->events += calls / verdict.sample;
			sum->sampled_ns += function->sure_ns;
		} else {
			sum->events += calls;
			sum->named_ns += function->sure_ns;
		}
	}
}

uint64_t tp_list_calls(
    const struct tp_workload *workload, const struct tp_inventory_function *function)
{
	const uint32_t index = tp_workload_find(workload, function->name);
	return index == UINT32_MAX ? 0 : workload->functions[index].calls;
}

/* ---- two lists ---- */

const char *tp_change_kind_name(enum tp_change_kind kind)
{
	static const char *const names[] = {"added", "removed", "changed"};
	return names[kind];
}

// Whether the two verdicts make a difference, and which.
static bool differ(
    const struct tp_verdict *a, const struct tp_verdict *b, enum tp_change_kind *kind)
{
	const bool before = tp_category_instruments(a->category);
	const bool after = tp_category_instruments(b->category);
	*kind = before && after ? TP_CHANGE_LEVEL : after ? TP_CHANGE_ADDED : TP_CHANGE_REMOVED;
	if (before != after)
		return true;
	return before && (a->category != b->category ||
			     (a->category == TP_CATEGORY_SAMPLE && a->sample != b->sample));
}

static int by_cost(const void *a, const void *b)
{
	const struct tp_change *x = a;
	const struct tp_change *y = b;
	const double x_ns = x->delta_ns < 0 ? -x->delta_ns : x->delta_ns;
	const double y_ns = y->delta_ns < 0 ? -y->delta_ns : y->delta_ns;
	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

int tp_list_diff_init(struct tp_list_diff *diff, const struct tp_list_use *a,
    const struct tp_list_use *b, const struct tp_workload *workload, const struct tp_cost *cost,
    struct tp_err *err)
{
	*diff = (struct tp_list_diff){0};
	const struct tp_inventory *inventory = a->inventory;
	diff->changes = calloc((size_t)inventory->function_count + 1, sizeof(*diff->changes));
	if (!diff->changes)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < inventory->function_count; i++) {
		const struct tp_verdict *from = &a->verdicts[i];
		const struct tp_verdict *to = &b->verdicts[i];
		struct tp_change change = {.function = i};
		if (!differ(from, to, &change.kind))
			continue;
		change.effective = tp_fate_of(&inventory->functions[i]) <= TP_FATE_PARTLY ||
				   from->category == TP_CATEGORY_FORCE ||
				   to->category == TP_CATEGORY_FORCE;
		if (workload && cost) {
			change.calls = tp_list_calls(workload, &inventory->functions[i]);
			change.delta_ns = (double)change.calls *
					  (tp_cost_call_ns(cost, to->category, to->sample) -
					      tp_cost_call_ns(cost, from->category, from->sample));
		}
		if (change.effective)
			diff->effective[change.kind]++;
		else
			diff->without_effect++;
		diff->changes[diff->count++] = change;
	}
	qsort(diff->changes, diff->count, sizeof(*diff->changes), by_cost);
	return 0;
}

void tp_list_diff_release(struct tp_list_diff *diff)
{
	free(diff->changes);
}
