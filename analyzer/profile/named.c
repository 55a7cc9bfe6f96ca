// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists the functions that records name, without a replay, for what a replay needs to know of them.
// In: the chunks of all threads. Out: functions of the analysis, without calls and times.
#include "analysis_steps.h"

#include "analyzer/profile/workers.h"
#include "common/array.h"
#include "common/chunks/records.h"
#include "common/hash.h"
#include "common/index.h"

#include <pthread.h>
#include <stdlib.h>

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
