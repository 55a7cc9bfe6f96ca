// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Deciding about one function: forbid, else the last matching line, else the default.
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "reading.h"

// The function in question, in the form that the indexes take.
struct question {
	const struct tp_allowlist *list;
	const struct tp_facts *facts;
	struct tp_readings readings[TP_RULE_INDEXED_COUNT];
};

// How much a line weighs among those of its party; its index + 1 is in the low half.
static uint64_t rank_of(const struct tp_entry *entry, uint32_t index)
{
	const uint64_t strength =
	    entry->party ? (uint64_t)entry->party : entry->line.category == TP_CATEGORY_FORBID;
	return strength << 32 | (index + 1);
}

static uint32_t index_of(uint64_t rank)
{
	return (uint32_t)rank - 1;
}

int tp_allowlist_build(struct tp_allowlist *list)
{
	int status = 0;
	for (uint32_t i = 0; i < list->entry_count && !status; i++) {
		const struct tp_entry *entry = &list->entries[i];
		const struct tp_condition *first = &entry->first;
		struct tp_rule_index *indexes = entry->party ? list->xray : list->ordinary;
		for (uint32_t g = 0; g < first->globs.count && !status; g++) {
			status = tp_rule_index_add(
			    &indexes[first->kind], first->globs.items[g], rank_of(entry, i));
			if (!status && entry->any_name)
				status = tp_rule_index_add(&indexes[TP_RULE_NAME],
				    first->globs.items[g], rank_of(entry, i));
		}
		list->where_count += first->kind == TP_RULE_WHERE;
	}
	for (int kind = 0; kind < TP_RULE_INDEXED_COUNT && !status; kind++) {
		status = tp_rule_index_build(&list->ordinary[kind]);
		if (!status)
			status = tp_rule_index_build(&list->xray[kind]);
	}
	if (status || !list->where_count)
		return status;
	list->wheres = tp_arena_alloc(&list->arena, list->where_count * sizeof(*list->wheres));
	if (!list->wheres)
		return TP_ERR_MEMORY;
	uint32_t count = 0;
	for (uint32_t i = 0; i < list->entry_count; i++)
		if (list->entries[i].first.kind == TP_RULE_WHERE)
			list->wheres[count++] = i;
	return 0;
}

static bool holds(const struct question *question, const struct tp_condition *condition)
{
	if (condition->kind == TP_RULE_WHERE)
		return question->facts && tp_where_holds(condition->where, question->facts);
	const struct tp_readings *readings = &question->readings[condition->kind];
	for (uint32_t i = 0; i < readings->count; i++)
		if (tp_globs_match(
			&condition->globs, readings->items[i].text, readings->items[i].size))
			return true;
	return false;
}

// Whether the conditions hold that are not in an index.
static bool rest_holds(const struct question *question, uint32_t index)
{
	const struct tp_condition *condition = question->list->entries[index].first.next;
	while (condition && holds(question, condition))
		condition = condition->next;
	return !condition;
}

static void ask(
    struct question *question, const struct tp_allowlist *list, const struct tp_subject *subject)
{
	question->list = list;
	question->facts = subject->facts;
	const bool names = list->needs & TP_NEEDS_NAMES;
	tp_readings_of_function(
	    &question->readings[TP_RULE_FUNCTION], subject->function, subject->origin);
	tp_readings_of_name(&question->readings[TP_RULE_NAME], names ? subject->demangled : NULL,
	    names ? subject->origin_demangled : NULL);
	tp_readings_of_file(&question->readings[TP_RULE_SOURCE], subject->source);
	tp_readings_of_file(&question->readings[TP_RULE_MAIN_FILE], subject->main_file);
	tp_readings_of_module(&question->readings[TP_RULE_MODULE], subject->module);
}

// Search `indexes` and, for the ordinary ones, the where: lines.
static uint64_t search(const struct question *question, const struct tp_rule_index *indexes,
    uint64_t floor, uint64_t (*found)(void *context, uint64_t rank, uint64_t floor), void *context)
{
	const struct tp_allowlist *list = question->list;
	for (int kind = 0; kind < TP_RULE_INDEXED_COUNT; kind++)
		floor = tp_rule_index_search(&indexes[kind], question->readings[kind].items,
		    question->readings[kind].count, floor, found, context);
	if (indexes == list->xray || !question->facts)
		return floor;
	for (uint32_t i = list->where_count; i-- > 0;) {
		const struct tp_entry *entry = &list->entries[list->wheres[i]];
		const uint64_t rank = rank_of(entry, list->wheres[i]);
		if (rank > floor && tp_where_holds(entry->first.where, question->facts))
			floor = found(context, rank, floor);
	}
	return floor;
}

// A line that outweighs the best one so far: it is the best if the rest of it matches, too.
static uint64_t take_best(void *context, uint64_t rank, uint64_t floor)
{
	return rest_holds(context, index_of(rank)) ? rank : floor;
}

static struct tp_verdict verdict_of(const struct tp_entry *entry)
{
	return (struct tp_verdict){
	    .category = entry->line.category,
	    .sample = entry->line.sample,
	    .line = entry->line.line,
	    .file = entry->line.file,
	};
}

struct tp_verdict tp_allowlist_match(
    const struct tp_allowlist *list, const struct tp_subject *subject)
{
	struct question question;
	ask(&question, list, subject);
	const uint64_t ordinary = search(&question, list->ordinary, 0, take_best, &question);
	const uint64_t xray = search(&question, list->xray, 0, take_best, &question);
	if (!ordinary && !xray)
		return list->by_default;
	const bool forbidden = ordinary >> 32 != 0;
	if (!xray || forbidden || (ordinary && index_of(ordinary) > index_of(xray)))
		return verdict_of(&list->entries[index_of(ordinary)]);
	return verdict_of(&list->entries[index_of(xray)]);
}

// Lines that match, a batch at a time: those with the lowest indexes that are not known yet.
enum { BATCH = 64 };

struct batch {
	struct question question;
	uint32_t start; // lines before it are known
	uint32_t count;
	uint32_t indexes[BATCH]; // ascending
};

static uint64_t take_lowest(void *context, uint64_t rank, uint64_t floor)
{
	struct batch *batch = context;
	const uint32_t index = index_of(rank);
	uint32_t at = batch->count;
	if (index < batch->start || (batch->count == BATCH && index >= batch->indexes[BATCH - 1]))
		return floor;
	while (at && batch->indexes[at - 1] > index)
		at--;
	if ((at && batch->indexes[at - 1] == index) || !rest_holds(&batch->question, index))
		return floor;
	batch->count += batch->count < BATCH;
	memmove(&batch->indexes[at + 1], &batch->indexes[at],
	    (batch->count - at - 1) * sizeof(batch->indexes[0]));
	batch->indexes[at] = index;
	return floor;
}

void tp_allowlist_matches(const struct tp_allowlist *list, const struct tp_subject *subject,
    void (*found)(void *context, uint32_t index), void *context)
{
	struct batch batch = {.start = 0};
	ask(&batch.question, list, subject);
	do {
		batch.count = 0;
		search(&batch.question, list->ordinary, 0, take_lowest, &batch);
		search(&batch.question, list->xray, 0, take_lowest, &batch);
		for (uint32_t i = 0; i < batch.count; i++)
			found(context, batch.indexes[i]);
		if (batch.count)
			batch.start = batch.indexes[batch.count - 1] + 1;
	} while (batch.count == BATCH);
}
