// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, analysed: replays the threads in parallel, sums up and names.
#include "analysis.h"

#include "analyzer/chunk_read.h"
#include "analyzer/functions.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORKERS_MAX 64

// What the workers share.
struct work {
	struct tp_analysis *analysis;
	const struct tp_analysis_options *options;
	atomic_uint next; // thread to replay next
	pthread_mutex_t lock;
	uint64_t done; // chunks; under lock
	uint64_t all;
};

static void chunk_done(struct work *work)
{
	if (!work->options->progress)
		return;
	pthread_mutex_lock(&work->lock);
	work->options->progress(work->options->context, ++work->done, work->all);
	pthread_mutex_unlock(&work->lock);
}

static int replay(struct work *work, struct tp_thread_result *result)
{
	const struct tp_tracefile *trace = work->analysis->trace;
	const struct tp_thread *thread = result->thread;
	const uint64_t chunk_size = UINT64_C(1) << trace->header.chunk_shift;
	struct tp_stack stack = {0};
	struct tp_chunk_reader reader;
	uint64_t last = 0;
	int code = tp_chunk_reader_init(&reader, trace, &result->err);
	if (!code)
		code = tp_profile_init(&result->profile);
	if (!code)
		code = tp_stack_init(&stack, &result->profile);
	if (!code && work->analysis->compensation.applied)
		result->profile.cost =
		    tp_compensation_cost(&work->analysis->compensation, &work->analysis->time);
	if (!code)
		tp_stack_set_gaps(&stack, &trace->gaps, work->analysis->timeless);
	for (uint64_t i = 0; !code && i < thread->chunk_count; i++) {
		const struct tp_chunk *chunk = &thread->chunks[i];
		code = tp_chunk_reader_read(&reader, chunk, &result->err);
		if (!code) {
			tp_module_map_chunk(
			    &trace->map, reader.words, chunk->word_count, chunk->first_time, &last);
			code = tp_stack_replay(&stack, reader.words, chunk->word_count,
			    chunk->first_time,
			    chunk->sequence * chunk_size + sizeof(struct teeperf_chunk));
		}
		if (stack.counts.bad_counts && !result->bad_counts_offset)
			result->bad_counts_offset =
			    chunk->offset + (chunk->packed_size ? 0 : (uint64_t)stack.bad_word * 8);
		chunk_done(work);
	}
	if (code == TP_ERR_MEMORY)
		tp_err_set(&result->err, code, trace->source.name, TP_ERR_NO_OFFSET,
		    "out of memory while thread %u was replayed", thread->number);
	if (stack.frames) {
		tp_stack_finish(&stack);
		result->counts = stack.counts;
		result->first = stack.started ? stack.first : UINT64_MAX;
		result->last = stack.last;
		result->busy = stack.frames[0].children;
		if (work->analysis->compensation.applied) {
			tp_compensation_apply(&result->profile, &result->taken, &result->missing);
			result->busy = result->profile.nodes[0].inclusive;
		}
		result->calls = stack.calls;
		stack.calls = (struct tp_call_counts){0};
	}
	tp_stack_release(&stack);
	tp_chunk_reader_release(&reader);
	return code;
}

static void *worker(void *argument)
{
	struct work *work = argument;
	for (;;) {
		const unsigned next = atomic_fetch_add(&work->next, 1);
		if (next >= work->analysis->thread_count)
			return NULL;
		struct tp_thread_result *result = &work->analysis->threads[next];
		result->code = replay(work, result);
	}
}

static void replay_all(struct tp_analysis *analysis, const struct tp_analysis_options *options)
{
	struct work work = {
	    .analysis = analysis,
	    .options = options,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	};
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		work.all += analysis->threads[i].thread->chunk_count;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t workers = options->workers ? options->workers : cpus > 0 ? (uint32_t)cpus : 1;
	if (workers > analysis->thread_count)
		workers = analysis->thread_count;
	if (workers > WORKERS_MAX)
		workers = WORKERS_MAX;
	pthread_t threads[WORKERS_MAX];
	uint32_t started = 0;
	// This thread works as well, so a failed pthread_create costs only time.
	while (started + 1 < workers && pthread_create(&threads[started], NULL, worker, &work) == 0)
		started++;
	worker(&work);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

// Ticks in all that are some call's own.
static uint64_t own_times(const struct tp_analysis *analysis)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		for (uint32_t j = 0; j < profile->node_count; j++)
			sum += profile->nodes[j].self;
	}
	return sum;
}

static void add_counts(struct tp_analysis *analysis)
{
	struct tp_stack_counts *sum = &analysis->counts;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		struct tp_thread_result *thread = &analysis->threads[i];
		const struct tp_stack_counts *counts = &thread->counts;
		sum->records += counts->records;
		sum->events += counts->events;
		sum->lost += counts->lost;
		sum->counted += counts->counted;
		sum->cut += counts->cut;
		sum->early += counts->early;
		sum->forked += counts->forked;
		sum->dropped += counts->dropped;
		sum->contexts += counts->contexts;
		sum->left += counts->left;
		sum->moved += counts->moved;
		sum->unmatched_exits += counts->unmatched_exits;
		sum->unmatched_enters += counts->unmatched_enters;
		sum->unknown_resyncs += counts->unknown_resyncs;
		sum->open += counts->open;
		sum->backwards += counts->backwards;
		sum->holes += counts->holes;
		sum->reserved += counts->reserved;
		sum->bad_counts += counts->bad_counts;
		analysis->compensation.taken += thread->taken;
		analysis->compensation.missing += thread->missing;
		// The thread table knows of losses that no record could be written about.
		analysis->lost +=
		    thread->thread->lost > counts->lost ? thread->thread->lost : counts->lost;
		if (counts->bad_counts)
			tp_problems_add(&analysis->damage, TP_ERR_FORMAT,
			    analysis->trace->source.name, thread->bad_counts_offset,
			    "counts of more functions than the chunk or a record can hold; the rest "
			    "of the chunk is not used (thread %" PRIu32 " has %" PRIu64
			    " such records)",
			    thread->thread->number, counts->bad_counts);
		if (thread->code)
			tp_problems_add(&analysis->damage, thread->code, thread->err.file,
			    thread->err.offset, "%s", thread->err.what);
	}
	if (analysis->compensation.taken && !own_times(analysis))
		tp_problems_add(&analysis->notes, TP_ERR_LIMIT, analysis->trace->source.name,
		    TP_ERR_NO_OFFSET,
		    "no call lasted longer than it cost to record it, so no time is left: --raw shows "
		    "times as they were recorded");
	if (analysis->trace->has_end)
		analysis->lost +=
		    analysis->trace->end.lost_early + analysis->trace->end.lost_overflow;
}

static int select_threads(
    struct tp_analysis *analysis, const struct tp_analysis_options *options, struct tp_err *err)
{
	const struct tp_tracefile *trace = analysis->trace;
	analysis->threads =
	    calloc(trace->thread_count ? trace->thread_count : 1, sizeof(*analysis->threads));
	if (!analysis->threads)
		return tp_err_set(err, TP_ERR_MEMORY, trace->source.name, TP_ERR_NO_OFFSET,
		    "no memory for %u threads", trace->thread_count);
	for (uint32_t i = 0; i < trace->thread_count; i++)
		if (!options->one_thread || trace->threads[i].number == options->thread)
			analysis->threads[analysis->thread_count++].thread = &trace->threads[i];
	if (options->one_thread && !analysis->thread_count)
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name, TP_ERR_NO_OFFSET,
		    "there is no thread %u; --view threads lists them", options->thread);
	return 0;
}

static int name_functions(
    struct tp_analysis *analysis, const struct tp_symbol_options *options, struct tp_err *err)
{
	const uint32_t count = analysis->function_count;
	struct tp_symbol *symbols = calloc(count + (size_t)1, sizeof(*symbols));
	struct tp_symbol_key *keys = calloc(count + (size_t)1, sizeof(*keys));
	int code = TP_ERR_MEMORY;
	if (!symbols || !keys) {
		tp_err_set(err, code, analysis->trace->source.name, TP_ERR_NO_OFFSET,
		    "no memory for the names of %u functions", count);
		goto out;
	}
	for (uint32_t i = 0; i < count; i++)
		keys[i] = analysis->functions[i].key;
	code = tp_symbols_resolve(analysis->trace, options, keys, count, symbols, &analysis->arena,
	    &analysis->notes, err);
	for (uint32_t i = 0; !code && i < count; i++)
		analysis->functions[i].symbol = symbols[i];
out:
	free(symbols);
	free(keys);
	return code;
}

int tp_analysis_init(struct tp_analysis *analysis, const struct tp_tracefile *trace,
    const struct tp_analysis_options *options, struct tp_err *err)
{
	memset(analysis, 0, sizeof(*analysis));
	analysis->trace = trace;
	analysis->timeless = trace->has_clock && trace->clock.kind == TEEPERF_CLOCK_NONE;
	tp_arena_init(&analysis->arena);
	tp_timebase_init(&analysis->time, &trace->clock, trace->points);
	const int code = select_threads(analysis, options, err);
	if (code)
		return code;
	tp_compensation_init(&analysis->compensation, trace, &analysis->time, &analysis->notes);
	analysis->compensation.applied = options->compensate && analysis->compensation.known;
	replay_all(analysis, options);
	if (!tp_functions_build(analysis))
		return tp_err_set(err, TP_ERR_MEMORY, trace->source.name, TP_ERR_NO_OFFSET,
		    "no memory for the functions");
	add_counts(analysis);
	return name_functions(analysis, &options->symbols, err);
}

void tp_analysis_release(struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		tp_profile_release(&analysis->threads[i].profile);
		tp_call_counts_release(&analysis->threads[i].calls);
		free(analysis->threads[i].functions);
	}
	free(analysis->threads);
	free(analysis->functions);
	tp_arena_release(&analysis->arena);
	memset(analysis, 0, sizeof(*analysis));
}

// Ticks of the first and the last timed event; false: there is none.
static bool find_span(const struct tp_analysis *analysis, uint64_t *first, uint64_t *last)
{
	*first = UINT64_MAX;
	*last = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		if (thread->first < *first)
			*first = thread->first;
		if (thread->last > *last)
			*last = thread->last;
	}
	return *last >= *first;
}

uint64_t tp_analysis_duration_ns(const struct tp_analysis *analysis)
{
	const struct teeperf_trace_end *end = &analysis->trace->end;
	if (analysis->trace->has_end && end->end_ns > end->start_ns)
		return end->end_ns - end->start_ns;
	uint64_t first;
	uint64_t last;
	return find_span(analysis, &first, &last) ? tp_timebase_ns(&analysis->time, last - first)
						  : 0;
}

uint64_t tp_analysis_recorded_ns(const struct tp_analysis *analysis)
{
	const struct tp_timebase *time = &analysis->time;
	const struct teeperf_trace_end *end = &analysis->trace->end;
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	// The run, by the recorder's clock if the switches can be told by it too.
	uint64_t first;
	uint64_t last;
	uint64_t start = end->start_ns;
	uint64_t stop = end->end_ns;
	if (!time->has_origin || stop <= start) {
		if (!find_span(analysis, &first, &last))
			return duration;
		start = tp_timebase_at(time, first);
		stop = tp_timebase_at(time, last);
	}
	uint64_t off = 0;
	for (uint32_t i = 0; i < analysis->trace->gaps.count; i++) {
		const struct tp_gap *gap = &analysis->trace->gaps.items[i];
		uint64_t from = gap->from ? tp_timebase_at(time, gap->from) : start;
		uint64_t to = gap->to != UINT64_MAX ? tp_timebase_at(time, gap->to) : stop;
		from = from > start ? from : start;
		to = to < stop ? to : stop;
		off += to > from ? to - from : 0;
	}
	return off < duration ? duration - off : 0;
}

const struct tp_function *tp_analysis_function(const struct tp_analysis *analysis,
    const struct tp_thread_result *thread, const struct tp_node *node)
{
	return &analysis->functions[thread->functions[node->function]];
}
