// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists the functions that records name, without a replay, and which were not always recorded.
// In: the chunks of all threads, names, selections. Out: functions of the analysis.
#include "analysis_steps.h"

#include "analyzer/profile/workers.h"
#include "common/array.h"
#include "common/chunks/records.h"
#include "common/hash.h"
#include "common/index.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// ---- functions that records name

// Names, each once; as records have them.
struct names {
	struct tp_symbol_key *items;
	uint32_t count;
	uint32_t room;
	struct tp_index index;
};

struct scan {
	const struct tp_tracefile *trace;
	pthread_mutex_t lock;
	struct names all; // under lock
};

static uint32_t hash_name(const void *context, uint32_t number)
{
	const struct names *names = context;
	return tp_hash_number(names->items[number - 1].address);
}

static uint32_t *place_of(const struct names *names, uint32_t name)
{
	uint32_t *slot = tp_index_first(&names->index, tp_hash_number(name));
	while (*slot && names->items[*slot - 1].address != name)
		slot = tp_index_next(&names->index, slot);
	return slot;
}

// False: no memory.
static bool add(struct names *names, uint32_t name)
{
	if (names->count && *place_of(names, name))
		return true;
	if (!TP_GROW(names->items, names->room, names->count + UINT64_C(1)) ||
	    !tp_index_reserve(&names->index, names->count, hash_name, names))
		return false;
	names->items[names->count] = (struct tp_symbol_key){name, true};
	*place_of(names, name) = ++names->count;
	return true;
}

static void release(struct names *names)
{
	tp_index_release(&names->index);
	free(names->items);
}

// What cannot be read ends here; the replay reports it.
static bool read_thread(
    const struct tp_tracefile *trace, const struct tp_thread *thread, struct names *names)
{
	struct tp_chunk_reader reader;
	struct tp_err unused;
	uint64_t last = 0;
	uint32_t before = 0; // most records are the exit of the enter before them
	bool ok = tp_chunk_reader_init(&reader, trace, &unused) == 0;
	for (uint64_t i = 0; ok && i < thread->chunk_count; i++) {
		const struct tp_chunk *chunk = &thread->chunks[i];
		const int code = tp_chunk_reader_read(&reader, chunk, &unused);
		ok = code != TP_ERR_MEMORY;
		if (code)
			break;
		tp_module_map_chunk(
		    &trace->map, reader.words, chunk->word_count, chunk->first_time, &last);
		struct tp_record_cursor at =
		    tp_records_begin(reader.words, chunk->word_count, chunk->first_time);
		for (struct tp_record record; ok && tp_record_next(&at, &record);) {
			const uint32_t name = record.tagged & ~TEEPERF_KIND_MASK;
			if (tp_record_names(&record) && name != before)
				ok = add(names, before = name);
		}
	}
	tp_chunk_reader_release(&reader);
	return ok;
}

static int add_thread(void *context, uint32_t number, struct tp_err *err)
{
	struct scan *scan = context;
	struct names names = {0};
	bool ok = read_thread(scan->trace, &scan->trace->threads[number], &names);
	pthread_mutex_lock(&scan->lock);
	for (uint32_t i = 0; ok && i < names.count; i++)
		ok = add(&scan->all, (uint32_t)names.items[i].address);
	pthread_mutex_unlock(&scan->lock);
	release(&names);
	return ok ? 0 : tp_err_memory(err, scan->trace->source.name);
}

int tp_functions_named(struct tp_analysis *analysis, struct tp_err *err)
{
	struct scan scan = {.trace = analysis->trace, .lock = PTHREAD_MUTEX_INITIALIZER};
	// All threads, as those of a stack that moved may be others than those that are wanted.
	int code = tp_workers_each(
	    scan.trace->thread_count, tp_analysis_workers(analysis), add_thread, &scan, err);
	if (!code && !tp_functions_begin(analysis, scan.all.items, scan.all.count))
		code = tp_err_memory(err, scan.trace->source.name);
	release(&scan.all);
	return code;
}

// ---- when they were recorded

// What the names of each function say.
struct found {
	const struct tp_selections *selections;
	const struct tp_selected *
	    *selected; // of each function; NULL: none of its names is on a list
	bool *is_all;  // these are all names that it has
};

static bool is_same(const struct tp_selected *a, const struct tp_selected *b)
{
	return a == b || (a->at_first == b->at_first && a->count == b->count &&
			     memcmp(a->moves, b->moves, a->count * sizeof(*a->moves)) == 0);
}

// Of several names, the pass knew one: lists that differ do not tell which.
static void take_name(struct found *found, uint32_t index, const char *name)
{
	const struct tp_selected *here = tp_selections_of(found->selections, name);
	const struct tp_selected **selected = &found->selected[index];
	if (here)
		*selected =
		    !*selected || is_same(*selected, here) ? here : &found->selections->unknown;
}

static void take_from_table(void *context, uint32_t index, const char *name, bool is_all)
{
	struct found *found = context;
	found->is_all[index] |= is_all;
	take_name(found, index, name);
}

// Without a whole symbol table: the other names that a constructor or destructor may have (of a
// complete object, of a base).
static void take_variants(struct found *found, uint32_t index, const char *name)
{
	char *copy = strncmp(name, "_Z", 2) == 0 ? strdup(name) : NULL;
	for (char *at = copy; at && *at && at[1] && at[2]; at++)
		if ((*at == 'C' || *at == 'D') && (at[1] == '1' || at[1] == '2') && at[2] == 'E') {
			at[1] ^= '1' ^ '2';
			take_name(found, index, copy);
			at[1] ^= '1' ^ '2';
		}
	free(copy);
}

bool tp_selected_names_init(struct tp_analysis *analysis)
{
	struct tp_selected_name *names =
	    tp_arena_alloc(&analysis->arena, (analysis->function_count + 1) * sizeof(*names));
	uint32_t count = 0;
	for (uint32_t i = 0; names && i < analysis->function_count; i++) {
		const struct tp_function *function = &analysis->functions[i];
		if (function->selected)
			names[count++] = (struct tp_selected_name){
			    (uint32_t)function->key.address, function->selected};
	}
	analysis->selected = (struct tp_selected_names){names, count};
	return names != NULL;
}

int tp_functions_select(struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_selections *selections = &analysis->trace->selections;
	const uint32_t count = analysis->function_count;
	struct tp_symbol_key *keys = calloc(count + (size_t)1, sizeof(*keys));
	struct found found = {
	    .selections = selections,
	    .selected = calloc(count + (size_t)1, sizeof(*found.selected)),
	    .is_all = calloc(count + (size_t)1, sizeof(*found.is_all)),
	};
	int code = TP_ERR_MEMORY;
	if (!keys || !found.selected || !found.is_all) {
		tp_err_memory(err, analysis->trace->source.name);
		goto out;
	}
	for (uint32_t i = 0; i < count; i++) {
		keys[i] = analysis->functions[i].key;
		take_name(&found, i, analysis->functions[i].symbol.raw);
	}
	code = tp_symbols_each_name(
	    analysis->trace, &analysis->options.symbols, keys, count, take_from_table, &found, err);
	analysis->selected_unknown = 0;
	for (uint32_t i = 0; !code && i < count; i++) {
		struct tp_function *function = &analysis->functions[i];
		if (tp_symbols_stand_in(&function->key))
			continue;
		if (!found.selected[i] && !found.is_all[i])
			take_variants(&found, i, function->symbol.raw);
		const struct tp_selected *selected = found.selected[i];
		if (!selected && !*function->symbol.raw)
			selected = &selections->unknown;
		else if (!selected)
			selected = &selections->rest;
		function->selected = selected->count ? selected : NULL;
		analysis->selected_unknown += selected == &selections->unknown;
	}
out:
	free(keys);
	free(found.selected);
	free(found.is_all);
	return code;
}
