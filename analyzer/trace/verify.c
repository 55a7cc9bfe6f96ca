// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the trace's statements about itself against its contents.
#include "tracefile.h"

#include "analyzer/trace/reader.h"
#include "common/array.h"
#include "common/clean.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int compare_chunks(const void *a, const void *b)
{
	const struct tp_chunk *x = a;
	const struct tp_chunk *y = b;
	int order = TP_COMPARE(x->thread, y->thread);
	order = order ? order : TP_COMPARE(x->sequence, y->sequence);
	return order ? order : TP_COMPARE(x->offset, y->offset);
}

static void drop_duplicates(struct tp_tracefile *trace)
{
	uint64_t kept = 0;
	for (uint64_t i = 0; i < trace->chunk_count; i++) {
		const struct tp_chunk *chunk = &trace->chunks[i];
		const struct tp_chunk *before = kept ? &trace->chunks[kept - 1] : NULL;
		if (before && before->thread == chunk->thread &&
		    before->sequence == chunk->sequence) {
			if (chunk->offset >= TP_SOURCE_MORE)
				continue; // it came into the file meanwhile
			tp_problems_add_at(&trace->problems, TP_ERR_FORMAT, trace->source.name,
			    chunk->offset,
			    "a second chunk %" PRIu64 " of thread %" PRIu32 " is not used",
			    chunk->sequence, chunk->thread);
			continue;
		}
		trace->chunks[kept++] = *chunk;
	}
	trace->chunk_count = kept;
}

// Give the thread its chunks, which begin at index FIRST, and report those that are missing.
static uint64_t take_chunks(
    struct tp_tracefile *trace, struct tp_thread *thread, uint64_t taken, uint64_t first)
{
	uint64_t next = first;
	// What came before a fork is in the parent's trace.
	const bool has_chunks =
	    first < trace->chunk_count && trace->chunks[first].thread == thread->number;
	uint64_t expected =
	    !has_chunks || thread->first <= trace->chunks[first].sequence ? thread->first : 0;
	// Without any chunk the array is NULL, and even NULL + 0 is undefined.
	thread->chunks = trace->chunks ? trace->chunks + first : NULL;
	for (; next < trace->chunk_count && trace->chunks[next].thread == thread->number; next++) {
		const struct tp_chunk *chunk = &trace->chunks[next];
		if (chunk->sequence != expected && trace->rings) {
			thread->overwritten += chunk->sequence - expected;
		} else if (chunk->sequence != expected) {
			tp_problems_add_at(&trace->problems, TP_ERR_FORMAT, trace->source.name,
			    chunk->offset,
			    "%" PRIu64 " chunks of thread %" PRIu32
			    " are missing before chunk %" PRIu64,
			    chunk->sequence - expected, thread->number, chunk->sequence);
			thread->missing += chunk->sequence - expected;
		}
		expected = chunk->sequence + 1;
	}
	thread->chunk_count = next - first;
	// In mode ring the thread itself made room for what followed.
	if (!trace->rings && taken > expected)
		thread->cut = taken - expected;
	if (thread->chunk_count && !thread->os_tid)
		thread->os_tid = thread->chunks->os_tid;
	if (thread->chunk_count)
		thread->home = thread->chunks->home;
	return next;
}

int tp_verify_threads(struct tp_tracefile *trace, const struct teeperf_thread *table, size_t count,
    struct tp_err *err)
{
	if (trace->chunk_count)
		qsort(trace->chunks, trace->chunk_count, sizeof(*trace->chunks), compare_chunks);
	drop_duplicates(trace);

	size_t most = 0;
	for (size_t i = 0; i < count; i++)
		most += table[i].os_tid != 0;
	for (uint64_t i = 0; i < trace->chunk_count; i++)
		most += i == 0 || trace->chunks[i].thread != trace->chunks[i - 1].thread;
	struct tp_thread *threads = calloc(most ? most : 1, sizeof(*threads));
	if (!threads)
		return tp_err_set(err, TP_ERR_MEMORY, trace->source.name,
		    "out of memory while checking %zu threads", most);
	trace->threads = threads;

	// Merge two lists that are sorted by number: the table, and the chunks.
	size_t slot = 0;
	uint64_t chunk = 0;
	while (slot < count || chunk < trace->chunk_count) {
		while (slot < count && !table[slot].os_tid)
			slot++;
		if (slot == count && chunk == trace->chunk_count)
			break;
		struct tp_thread *thread = &threads[trace->thread_count++];
		uint64_t taken = 0;
		thread->number = slot == count ? trace->chunks[chunk].thread : (uint32_t)slot;
		if (chunk < trace->chunk_count && trace->chunks[chunk].thread < thread->number)
			thread->number = trace->chunks[chunk].thread;
		if (slot == thread->number && slot < count) {
			thread->os_tid = table[slot].os_tid;
			thread->lost = table[slot].lost;
			thread->first = table[slot].first;
			thread->ended = table[slot].ended != 0;
			taken = table[slot].chunks;
			memcpy(thread->name, table[slot].name, sizeof(table[slot].name));
			tp_clean(thread->name, strlen(thread->name));
			slot++;
		}
		chunk = take_chunks(trace, thread, taken, chunk);
		if (trace->rings && !thread->chunk_count && taken > thread->first)
			thread->overwritten = taken - thread->first;
	}
	return 0;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// What the recorder says that each thread lacks.
static void spread_missing(struct tp_tracefile *trace)
{
	const struct tp_section_parts *kept = &trace->kept[TEEPERF_SECTION_MISSING];
	for (uint32_t i = 0; i < kept->count; i++) {
		const struct teeperf_trace_missing *missing =
		    (const struct teeperf_trace_missing *)kept->items + i;
		const uint32_t low = TP_LOWER_BOUND(0, trace->thread_count, middle,
		    trace->threads[middle].number < missing->thread);
		if (low == trace->thread_count || trace->threads[low].number != missing->thread)
			continue;
		struct tp_thread *thread = &trace->threads[low];
		thread->unwritten = *missing;
		// A ring of which nothing was written.
		if (!thread->chunk_count)
			thread->overwritten -= thread->overwritten < missing->chunks
						   ? thread->overwritten
						   : missing->chunks;
	}
}

// Chunks that threads have taken and that are not there.
static uint64_t count_lacking(const struct tp_tracefile *trace)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < trace->thread_count; i++)
		sum = add(sum, add(trace->threads[i].missing, trace->threads[i].cut));
	return sum;
}

// Sections that would have said more than those that are there.
static void report_unwritten(struct tp_tracefile *trace)
{
	for (uint32_t type = 0; type < 32; type++) {
		const char *name = tp_section_name(type);
		if (!(trace->end.unwritten >> type & 1) || type == TEEPERF_SECTION_CHUNK)
			continue;
		tp_problems_add(&trace->problems, TP_ERR_TRUNCATED, trace->source.name,
		    "the last %s section could not be written: facts about the end are missing",
		    name ? name : "unknown");
	}
}

static void report_cuts(struct tp_tracefile *trace)
{
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		const struct tp_thread *thread = &trace->threads[i];
		if (thread->cut > thread->unwritten.chunks)
			tp_problems_add(&trace->problems, TP_ERR_TRUNCATED, trace->source.name,
			    "the last %" PRIu64 " chunks of thread %" PRIu32 " are missing",
			    thread->cut - thread->unwritten.chunks, thread->number);
	}
}

static void find_lacks(struct tp_tracefile *trace)
{
	const struct teeperf_trace_end *end = &trace->end;
	struct tp_lacks *lacks = &trace->lacks;
	const uint64_t per_chunk =
	    ((UINT64_C(1) << trace->header.chunk_shift) - sizeof(struct teeperf_chunk)) / 8;
	const uint64_t gone =
	    end->chunk_count > trace->chunk_count ? end->chunk_count - trace->chunk_count : 0;
	const uint64_t by_threads = count_lacking(trace);
	const uint64_t by_end = add(gone, end->missing_chunks);
	lacks->chunks = by_threads > by_end ? by_threads : by_end;
	lacks->counted = end->missing_chunks;
	lacks->events = end->missing_events;
	lacks->calls = end->missing_calls;
	const uint64_t others = lacks->chunks - lacks->counted;
	lacks->more = others > UINT64_MAX / per_chunk ? UINT64_MAX : others * per_chunk;
	lacks->open = end->unwritten >> TEEPERF_SECTION_CHUNK & 1;
	if (lacks->counted)
		tp_problems_add(&trace->problems, TP_ERR_TRUNCATED, trace->source.name,
		    "%" PRIu64 " chunks with %" PRIu64
		    " events could not be written during the recording",
		    lacks->counted, lacks->events);
	if (lacks->open)
		tp_problems_add(&trace->problems, TP_ERR_TRUNCATED, trace->source.name,
		    "chunks with an unknown number of events are missing");
	if (by_threads > lacks->counted)
		report_cuts(trace);
	report_unwritten(trace);
}

void tp_verify_end(struct tp_tracefile *trace, bool stopped)
{
	const char *file = trace->source.name;
	spread_missing(trace);
	if (!trace->has_end) {
		trace->lacks.open = true;
		if (!stopped)
			tp_problems_add_at(&trace->problems, TP_ERR_TRUNCATED, file,
			    trace->source.size,
			    "the trace has no end section: the recorder was killed, or the file "
			    "was cut; the last events may be missing");
		return;
	}
	if (trace->end.chunk_count != trace->chunk_count)
		tp_problems_add(&trace->problems, TP_ERR_FORMAT, file,
		    "%" PRIu64 " chunks are usable, but %" PRIu64 " were written",
		    trace->chunk_count, trace->end.chunk_count);
	find_lacks(trace);
	if (trace->end.module_count > trace->module_count)
		tp_problems_add(&trace->problems, TP_ERR_LIMIT, file,
		    "%" PRIu32 " modules are described, but %" PRIu64
		    " were loaded: calls in the others were not recorded",
		    trace->module_count, trace->end.module_count);
}
