// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which thread of the host ran which recorded thread.
#include "host_threads.h"

#include "common/array.h"
#include "common/chunks/records.h"

#include <stdlib.h>

// Chunks of a thread that are looked at: some megabytes, from its whole life.
#define CHUNKS_MOST 256
// Pairs of threads that are looked at.
#define PAIRS_MOST (UINT64_C(1) << 24)
// So exact are the times of switches and of records at least.
#define SLACK_NS 10000
// A wrong thread contradicts this many times more often than the right one, which does so where a
// clock stood still.
#define CLEARLY 20
// More need not be counted of a pair.
#define ENOUGH (UINT32_C(1) << 16)

#define NOBODY UINT32_MAX

struct match {
	struct tp_tracefile *trace;
	// for each recorded thread and each of the host's: stretches without a processor with
	// events
	uint64_t slack;  // ticks
	uint64_t *times; // of the events of a chunk
	uint32_t *contradict;
	uint32_t *ran; // for each recorded thread: the host's, or NOBODY
	bool *used;    // for each of the host's
};

// The times of the events in WORDS, none before the one before it. Returns how many there are.
static uint32_t find_times(const struct tp_chunk *chunk, const uint64_t *words, uint64_t *times)
{
	struct tp_record_cursor at = tp_records_begin(words, chunk->word_count, chunk->first_time);
	uint64_t last = 0;
	uint32_t count = 0;
	for (struct tp_record record; tp_record_next(&at, &record);)
		if (record.form <= TP_RECORD_EXIT && record.time >= last)
			times[count++] = last = record.time;
	return count;
}

static bool has_event(const uint64_t *times, uint32_t count, uint64_t from, uint64_t to)
{
	const uint32_t i = TP_LOWER_BOUND(0U, count, middle, times[middle] <= from);
	return i < count && times[i] < to;
}

// Stretches in which the host's thread had no processor, and there are events all the same.
static uint32_t contradictions(const struct match *match, const struct tp_sched_thread *host,
    const uint64_t *times, uint32_t count)
{
	const struct tp_off_list *off = &host->off;
	const uint64_t slack = match->slack;
	const uint64_t last = times[count - 1];
	uint32_t found = host->end < UINT64_MAX - slack && last > host->end + slack;
	uint32_t i = TP_LOWER_BOUND(0U, off->count, middle, off->items[middle].to <= times[0]);
	for (; i < off->count && off->items[i].from < last && found < ENOUGH; i++) {
		const struct tp_off_stretch *item = &off->items[i];
		if (item->to - item->from > 2 * slack)
			found += has_event(times, count, item->from + slack, item->to - slack);
	}
	return found;
}

// A damaged chunk is no evidence; who replays it tells.
static int look(struct match *match, uint32_t thread, struct tp_chunk_reader *reader)
{
	const struct tp_tracefile *trace = match->trace;
	const struct tp_sched_read *sched = &trace->sched;
	const struct tp_thread *of = &trace->threads[thread];
	const uint64_t shown = of->chunk_count < CHUNKS_MOST ? of->chunk_count : CHUNKS_MOST;
	uint32_t *contradict = match->contradict + (size_t)thread * sched->thread_count;
	struct tp_err err;
	for (uint64_t i = 0; i < shown; i++) {
		// The first, the last, and as many between them as there are.
		const uint64_t at = shown < 2 ? 0 : i * (of->chunk_count - 1) / (shown - 1);
		const int code = tp_chunk_reader_read(reader, &of->chunks[at], &err);
		if (code == TP_ERR_MEMORY)
			return code;
		const uint32_t count =
		    code ? 0 : find_times(&of->chunks[at], reader->words, match->times);
		for (uint32_t j = 0; count && j < sched->thread_count; j++)
			if (contradict[j] < ENOUGH)
				contradict[j] +=
				    contradictions(match, &sched->threads[j], match->times, count);
	}
	return 0;
}

// The only one of the host's threads that nobody else has and that does not contradict THREAD;
// NOBODY: there is none.
static uint32_t choose(const struct match *match, uint32_t thread)
{
	const uint32_t hosts = match->trace->sched.thread_count;
	const uint32_t *contradict = match->contradict + (size_t)thread * hosts;
	uint32_t best = NOBODY;
	uint32_t second = NOBODY;
	for (uint32_t i = 0; i < hosts; i++) {
		if (match->used[i])
			continue;
		if (best == NOBODY || contradict[i] < contradict[best]) {
			second = best;
			best = i;
		} else if (second == NOBODY || contradict[i] < contradict[second]) {
			second = i;
		}
	}
	if (best == NOBODY)
		return NOBODY;
	const uint64_t least = contradict[best] ? (uint64_t)contradict[best] * CLEARLY : 1;
	const bool is_clear = second == NOBODY ? !contradict[best] : contradict[second] >= least;
	return is_clear ? best : NOBODY;
}

// Each thread that is found leaves fewer for the others. Two that want the same one have it
// neither.
static bool assign(struct match *match, uint32_t *wanted, uint32_t *wants)
{
	const struct tp_tracefile *trace = match->trace;
	bool any = false;
	for (uint32_t i = 0; i < trace->sched.thread_count; i++)
		wants[i] = 0;
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		const bool is_open = match->ran[i] == NOBODY && trace->threads[i].chunk_count;
		wanted[i] = is_open ? choose(match, i) : NOBODY;
		if (wanted[i] != NOBODY)
			wants[wanted[i]]++;
	}
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		if (wanted[i] == NOBODY || wants[wanted[i]] != 1)
			continue;
		match->ran[i] = wanted[i];
		match->used[wanted[i]] = any = true;
	}
	return any;
}

static int find(struct match *match)
{
	struct tp_tracefile *trace = match->trace;
	const struct tp_sched_read *sched = &trace->sched;
	struct tp_chunk_reader reader;
	struct tp_err err;
	int code = tp_chunk_reader_init(&reader, trace, &err);
	for (uint32_t i = 0; !code && i < trace->thread_count; i++) {
		match->ran[i] = NOBODY;
		code = look(match, i, &reader);
	}
	tp_chunk_reader_release(&reader);
	uint32_t *wanted = calloc(trace->thread_count, sizeof(*wanted));
	uint32_t *wants = calloc(sched->thread_count, sizeof(*wants));
	if (!wanted || !wants)
		code = TP_ERR_MEMORY;
	while (!code && assign(match, wanted, wants))
		;
	for (uint32_t i = 0; !code && i < trace->thread_count; i++) {
		if (match->ran[i] == NOBODY)
			continue;
		const struct tp_sched_thread *host = &sched->threads[match->ran[i]];
		trace->threads[i].host_tid = host->os_tid;
		trace->threads[i].off = &host->off;
	}
	free(wanted);
	free(wants);
	return code;
}

int tp_host_threads_find(struct tp_tracefile *trace, struct tp_err *err)
{
	const struct tp_sched_read *sched = &trace->sched;
	const uint64_t pairs = (uint64_t)trace->thread_count * sched->thread_count;
	struct tp_timebase base;
	tp_timebase_init(&base, &trace->clock, trace->points);
	// Where switches are missing, a thread seems to have had no processor when it had one.
	if (!pairs || pairs > PAIRS_MOST || sched->lost || !base.has_origin)
		return 0;
	struct match match = {
	    .trace = trace,
	    .slack = tp_timebase_ticks(&base, SLACK_NS + 2 * trace->clock.max_gap_ns),
	    .times = malloc((size_t)1 << trace->header.chunk_shift),
	    .contradict = calloc(pairs, sizeof(*match.contradict)),
	    .ran = calloc(trace->thread_count, sizeof(*match.ran)),
	    .used = calloc(sched->thread_count, sizeof(*match.used)),
	};
	int code = TP_ERR_MEMORY;
	if (match.times && match.contradict && match.ran && match.used)
		code = find(&match);
	free(match.times);
	free(match.contradict);
	free(match.ran);
	free(match.used);
	return code ? tp_err_memory(err, trace->source.name) : 0;
}

uint32_t tp_host_threads_unknown(const struct tp_tracefile *trace)
{
	uint32_t unknown = 0;
	for (uint32_t i = 0; i < trace->thread_count; i++)
		unknown += trace->threads[i].chunk_count && !trace->threads[i].host_tid;
	return unknown;
}
