// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, analysed: replays the threads in parallel and adds their functions up.
#include "analysis.h"

#include "analyzer/chunk_read.h"

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
	int code = tp_chunk_reader_init(&reader, trace, &result->err);
	if (!code)
		code = tp_profile_init(&result->profile);
	if (!code)
		code = tp_stack_init(&stack, &result->profile);
	for (uint64_t i = 0; !code && i < thread->chunk_count; i++) {
		const struct tp_chunk *chunk = &thread->chunks[i];
		code = tp_chunk_reader_read(&reader, chunk, &result->err);
		if (!code)
			code = tp_stack_replay(&stack, reader.words, chunk->word_count,
			    chunk->first_time,
			    chunk->sequence * chunk_size + sizeof(struct teeperf_chunk));
		chunk_done(work);
	}
	if (code == TP_ERR_MEMORY)
		tp_err_set(&result->err, code, trace->source.name, TP_ERR_NO_OFFSET,
		    "out of memory while thread %u was replayed", thread->number);
	if (stack.frames) {
		tp_stack_finish(&stack);
		result->counts = stack.counts;
		result->first = stack.first;
		result->last = stack.last;
		result->busy = stack.frames[0].children;
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

static int compare_names(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static uint32_t index_of(const struct tp_analysis *analysis, uint32_t name)
{
	uint32_t low = 0;
	uint32_t high = analysis->function_count;
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;
		if (analysis->functions[middle].name <= name)
			low = middle;
		else
			high = middle;
	}
	return low;
}

// Make the sorted list of all functions, and each thread's way into it.
static bool list_functions(struct tp_analysis *analysis, uint32_t **names)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		most += analysis->threads[i].profile.function_count;
	uint32_t *list = malloc((most ? most : 1) * sizeof(*list));
	*names = list;
	if (!list)
		return false;
	uint64_t count = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		for (uint32_t j = 1; j < profile->function_count; j++)
			list[count++] = profile->functions[j].name;
	}
	qsort(list, count, sizeof(*list), compare_names);
	uint64_t kept = 0;
	for (uint64_t i = 0; i < count; i++)
		if (!kept || list[kept - 1] != list[i])
			list[kept++] = list[i];
	analysis->function_count = (uint32_t)kept;
	analysis->functions = calloc(kept ? kept : 1, sizeof(*analysis->functions));
	if (!analysis->functions)
		return false;
	for (uint64_t i = 0; i < kept; i++) {
		analysis->functions[i].name = list[i];
		analysis->functions[i].min = UINT64_MAX;
	}
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		struct tp_thread_result *thread = &analysis->threads[i];
		const uint32_t locals = thread->profile.function_count;
		thread->functions = calloc(locals ? locals : 1, sizeof(*thread->functions));
		if (!thread->functions)
			return false;
		for (uint32_t j = 1; j < locals; j++)
			thread->functions[j] =
			    index_of(analysis, thread->profile.functions[j].name);
	}
	return true;
}

// Add the thread's nodes to the functions. Inclusive time counts where no caller is the same one.
static void add_thread(struct tp_analysis *analysis, struct tp_thread_result *thread)
{
	struct tp_profile *profile = &thread->profile;
	uint32_t at = profile->node_count ? profile->nodes[0].first_child : 0;
	while (at) {
		const struct tp_node *node = &profile->nodes[at];
		struct tp_local_function *local = &profile->functions[node->function];
		struct tp_function *function =
		    &analysis->functions[thread->functions[node->function]];
		function->calls += node->calls;
		function->self += node->self;
		function->total += node->inclusive;
		if (local->active++ == 0)
			function->inclusive += node->inclusive;
		if (node->min < function->min)
			function->min = node->min;
		if (node->max > function->max)
			function->max = node->max;
		analysis->self += node->self;

		// Down, else to the side, else up. No recursion: paths may be millions deep.
		if (node->first_child) {
			at = node->first_child;
			continue;
		}
		while (at) {
			node = &profile->nodes[at];
			profile->functions[node->function].active--;
			if (node->next_sibling) {
				at = node->next_sibling;
				break;
			}
			at = node->parent;
		}
	}
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
		sum->unmatched_exits += counts->unmatched_exits;
		sum->unmatched_enters += counts->unmatched_enters;
		sum->unknown_resyncs += counts->unknown_resyncs;
		sum->open += counts->open;
		sum->backwards += counts->backwards;
		sum->holes += counts->holes;
		sum->reserved += counts->reserved;
		// The thread table knows of losses that no record could be written about.
		analysis->lost +=
		    thread->thread->lost > counts->lost ? thread->thread->lost : counts->lost;
		if (thread->code)
			tp_problems_add(&analysis->damage, thread->code, thread->err.file,
			    thread->err.offset, "%s", thread->err.what);
	}
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

int tp_analysis_init(struct tp_analysis *analysis, const struct tp_tracefile *trace,
    const struct tp_analysis_options *options, struct tp_err *err)
{
	memset(analysis, 0, sizeof(*analysis));
	analysis->trace = trace;
	tp_arena_init(&analysis->arena);
	tp_timebase_init(&analysis->time, &trace->clock, trace->points);
	uint32_t *names = NULL;
	struct tp_symbol *symbols = NULL;
	int code = select_threads(analysis, options, err);
	if (code)
		goto out;
	replay_all(analysis, options);
	symbols = NULL;
	if (list_functions(analysis, &names))
		symbols = calloc(analysis->function_count + (size_t)1, sizeof(*symbols));
	if (!symbols) {
		code = tp_err_set(err, TP_ERR_MEMORY, trace->source.name, TP_ERR_NO_OFFSET,
		    "no memory for the functions");
		goto out;
	}
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		add_thread(analysis, &analysis->threads[i]);
	add_counts(analysis);
	code = tp_symbols_resolve(trace, &options->symbols, names, analysis->function_count,
	    symbols, &analysis->arena, &analysis->notes, err);
	for (uint32_t i = 0; !code && i < analysis->function_count; i++)
		analysis->functions[i].symbol = symbols[i];
out:
	free(names);
	free(symbols);
	return code;
}

void tp_analysis_release(struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		tp_profile_release(&analysis->threads[i].profile);
		free(analysis->threads[i].functions);
	}
	free(analysis->threads);
	free(analysis->functions);
	tp_arena_release(&analysis->arena);
	memset(analysis, 0, sizeof(*analysis));
}

uint64_t tp_analysis_duration_ns(const struct tp_analysis *analysis)
{
	const struct teeperf_trace_end *end = &analysis->trace->end;
	if (analysis->trace->has_end && end->end_ns > end->start_ns)
		return end->end_ns - end->start_ns;
	uint64_t first = UINT64_MAX;
	uint64_t last = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		if (!thread->counts.events)
			continue;
		if (thread->first < first)
			first = thread->first;
		if (thread->last > last)
			last = thread->last;
	}
	return last > first ? tp_timebase_ns(&analysis->time, last - first) : 0;
}

const struct tp_function *tp_analysis_function(const struct tp_analysis *analysis,
    const struct tp_thread_result *thread, const struct tp_node *node)
{
	return &analysis->functions[thread->functions[node->function]];
}
