// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, analysed: replays the threads in parallel and adds their functions up.
#include "analysis.h"

#include "analyzer/chunk_read.h"

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
	int code = tp_chunk_reader_init(&reader, trace, &result->err);
	if (!code)
		code = tp_profile_init(&result->profile);
	if (!code)
		code = tp_stack_init(&stack, &result->profile);
	if (!code)
		tp_stack_set_gaps(&stack, &trace->gaps, work->analysis->timeless);
	for (uint64_t i = 0; !code && i < thread->chunk_count; i++) {
		const struct tp_chunk *chunk = &thread->chunks[i];
		code = tp_chunk_reader_read(&reader, chunk, &result->err);
		if (!code)
			code = tp_stack_replay(&stack, reader.words, chunk->word_count,
			    chunk->first_time,
			    chunk->sequence * chunk_size + sizeof(struct teeperf_chunk));
		if (stack.counts.bad_counts && !result->bad_counts_offset)
			result->bad_counts_offset = chunk->offset + (uint64_t)stack.bad_word * 8;
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

// Functions of records come first, whose low halves are known; then those that were only counted.
static int compare_keys(const void *a, const void *b)
{
	const struct tp_symbol_key *x = a;
	const struct tp_symbol_key *y = b;
	if (x->low_half != y->low_half)
		return x->low_half ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_functions(const void *a, const void *b)
{
	const struct tp_function *x = a;
	const struct tp_function *y = b;
	return compare_keys(&x->key, &y->key);
}

static struct tp_function *find_function(
    const struct tp_analysis *analysis, uint64_t address, bool low_half)
{
	const struct tp_function wanted = {.key = {address, low_half}};
	return bsearch(&wanted, analysis->functions, analysis->function_count, sizeof(wanted),
	    compare_functions);
}

/*
 * The key of a function whose calls were counted at ADDRESS. If records name a function there, it is
 * that one, unless they may mean another module's; TIMED: the functions of records alone.
 */
static struct tp_symbol_key counted_key(const struct tp_analysis *analysis, uint64_t address)
{
	const uint32_t low = (uint32_t)address;
	const struct tp_symbol_key full = {.address = address};
	if (!find_function(analysis, low, true))
		return full;
	const uint64_t meant = tp_symbols_address(analysis->trace, low);
	const bool same = meant ? meant == address : !analysis->trace->module_count;
	return same ? (struct tp_symbol_key){.address = low, .low_half = true} : full;
}

// Sort KEYS and make each one a function.
static bool add_functions(struct tp_analysis *analysis, struct tp_symbol_key *keys, uint64_t count)
{
	qsort(keys, count, sizeof(*keys), compare_keys);
	uint64_t kept = 0;
	for (uint64_t i = 0; i < count; i++)
		if (!i || compare_keys(&keys[kept - 1], &keys[i]) != 0)
			keys[kept++] = keys[i];
	const uint64_t before = analysis->function_count;
	struct tp_function *functions =
	    realloc(analysis->functions, (before + kept + 1) * sizeof(*functions));
	if (!functions)
		return false;
	for (uint64_t i = 0; i < kept; i++)
		functions[before + i] = (struct tp_function){.key = keys[i], .min = UINT64_MAX};
	analysis->functions = functions;
	analysis->function_count = (uint32_t)(before + kept);
	return true;
}

// Make the sorted list of all functions.
static bool list_functions(struct tp_analysis *analysis)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		most += analysis->threads[i].profile.function_count +
			(uint64_t)analysis->threads[i].calls.count;
	struct tp_symbol_key *keys = malloc((most ? most : 1) * sizeof(*keys));
	if (!keys)
		return false;
	uint64_t count = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		for (uint32_t j = 1; j < profile->function_count; j++)
			keys[count++] = (struct tp_symbol_key){profile->functions[j].name, true};
	}
	bool ok = add_functions(analysis, keys, count);
	count = 0;
	for (uint32_t i = 0; ok && i < analysis->thread_count; i++) {
		const struct tp_call_counts *calls = &analysis->threads[i].calls;
		for (uint32_t j = 0; j < calls->count; j++) {
			const struct tp_symbol_key key =
			    counted_key(analysis, calls->items[j].address);
			if (!key.low_half)
				keys[count++] = key;
		}
	}
	ok = ok && add_functions(analysis, keys, count);
	free(keys);
	return ok;
}

// The thread's way into the list of functions.
static bool map_functions(const struct tp_analysis *analysis, struct tp_thread_result *thread)
{
	const uint32_t locals = thread->profile.function_count;
	thread->functions = calloc(locals ? locals : 1, sizeof(*thread->functions));
	if (!thread->functions)
		return false;
	for (uint32_t i = 1; i < locals; i++)
		thread->functions[i] =
		    (uint32_t)(find_function(analysis, thread->profile.functions[i].name, true) -
			       analysis->functions);
	return true;
}

// Add the calls that were only counted.
static void add_counted(struct tp_analysis *analysis, const struct tp_thread_result *thread)
{
	for (uint32_t i = 0; i < thread->calls.count; i++) {
		const struct tp_call_count *item = &thread->calls.items[i];
		const struct tp_symbol_key key = counted_key(analysis, item->address);
		struct tp_function *function = find_function(analysis, key.address, key.low_half);
		function->calls += item->calls;
		function->counted += item->calls;
	}
}

// Add the thread's nodes to the functions. Inclusive time counts where no caller is the same one.
static void add_timed(struct tp_analysis *analysis, struct tp_thread_result *thread)
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
		sum->counted += counts->counted;
		sum->cut += counts->cut;
		sum->early += counts->early;
		sum->dropped += counts->dropped;
		sum->unmatched_exits += counts->unmatched_exits;
		sum->unmatched_enters += counts->unmatched_enters;
		sum->unknown_resyncs += counts->unknown_resyncs;
		sum->open += counts->open;
		sum->backwards += counts->backwards;
		sum->holes += counts->holes;
		sum->reserved += counts->reserved;
		sum->bad_counts += counts->bad_counts;
		// The thread table knows of losses that no record could be written about.
		analysis->lost +=
		    thread->thread->lost > counts->lost ? thread->thread->lost : counts->lost;
		if (counts->bad_counts)
			tp_problems_add(&analysis->damage, TP_ERR_FORMAT,
			    analysis->trace->source.name, thread->bad_counts_offset,
			    "counts of more functions than the chunk or a record can hold (%" PRIu64
			    " such records in thread %" PRIu32
			    "); the rest of the chunk is not used",
			    counts->bad_counts, thread->thread->number);
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
	replay_all(analysis, options);
	bool ok = list_functions(analysis);
	for (uint32_t i = 0; ok && i < analysis->thread_count; i++)
		ok = map_functions(analysis, &analysis->threads[i]);
	if (!ok)
		return tp_err_set(err, TP_ERR_MEMORY, trace->source.name, TP_ERR_NO_OFFSET,
		    "no memory for the functions");
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		add_timed(analysis, &analysis->threads[i]);
		add_counted(analysis, &analysis->threads[i]);
	}
	for (uint32_t i = 0; i < analysis->function_count; i++)
		analysis->counted_count += tp_function_timed(&analysis->functions[i]) == 0;
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
