// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All threads of an analysis, replayed at the same time; long ones in parts.
#include "analysis_steps.h"

#include "analyzer/replay/replay.h"
#include "analyzer/profile/kept.h"
#include "analyzer/profile/calls.h"
#include "analyzer/profile/estimates.h"
#include "analyzer/profile/together.h"
#include "analyzer/profile/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// A thread that is being replayed.
struct job {
	struct tp_kept_thread *kept; // or NULL
	struct tp_thread_result *result;
	struct tp_stack stack;
	struct tp_pieces pieces;
	struct tp_estimates_thread estimates;
	atomic_uint left; // pieces that are not done
};

struct item {
	uint32_t job;
	uint32_t part;
};

// What the workers share.
struct work {
	atomic_bool arrives; // stacks from other threads
	const struct tp_analysis *analysis;
	struct job *jobs;
	struct item *items;
	uint32_t item_count;
	pthread_mutex_t lock;
	uint64_t done; // chunks; under lock
	uint64_t all;
};

static void chunk_done(void *context)
{
	struct work *work = context;
	pthread_mutex_lock(&work->lock);
	work->done += work->done < work->all; // some chunks are replayed twice
	work->analysis->options.progress(work->analysis->options.context, work->done, work->all);
	pthread_mutex_unlock(&work->lock);
}

// What comes of a stack to which all records have been replayed.
static void take_results(const struct tp_analysis *analysis, struct tp_thread_result *result,
    struct tp_stack *stack, const struct tp_replay *replay)
{
	tp_stack_finish(stack);
	tp_stack_settle(stack);
	result->bad_counts_offset = replay->bad_counts_offset;
	result->counts = stack->counts;
	result->first = stack->started ? stack->first : UINT64_MAX;
	result->last = stack->last;
	if (analysis->compensation.applied)
		tp_compensation_count(
		    &result->profile, stack->frames[0].children, &result->taken, &result->missing);
	tp_profile_link(&result->profile);
	if (!tp_profile_choose_time(&result->profile) && !result->code)
		result->code = tp_err_set(&result->err, TP_ERR_MEMORY, analysis->trace->source.name,
		    "out of memory for the processor times of thread %u", result->thread->number);
	result->busy = result->profile.nodes[0].inclusive;
	result->open = stack->open;
	result->open_count = stack->open_count;
	stack->open = NULL;
	result->calls = stack->calls;
	stack->calls = (struct tp_call_counts){0};
	// What was only counted has no times to be in a range by.
	if (analysis->ranged)
		result->counts.counted = 0;
}

// All parts are done: join them to the first one.
static void finish(struct work *work, struct job *job)
{
	const struct tp_analysis *analysis = work->analysis;
	struct tp_thread_result *result = job->result;
	result->code = tp_pieces_join(&job->pieces, result->code, &result->err);
	free(job->pieces.parts);
	if (job->stack.frames)
		take_results(analysis, result, &job->stack, &job->pieces.replay);
	tp_estimates_finish(&job->estimates);
	result->moves = job->stack.leaves || job->stack.arrives;
	work->arrives |= job->stack.arrives;
	tp_stack_release(&job->stack);
}

// The first part, on the stack itself. Only now does the thread need memory: there may be
// thousands.
static void replay_first(struct work *work, struct job *job)
{
	struct tp_thread_result *result = job->result;
	struct tp_call_sink *sink =
	    tp_estimates_begin(&job->estimates, work->analysis->estimates, &result->profile);
	if (job->kept) {
		bool done;
		result->code = tp_kept_replay(job->kept, work->analysis, &job->pieces.replay,
		    &result->profile, &done, &result->err);
		if (done)
			return;
	}
	result->code =
	    tp_analysis_stack(work->analysis, result->thread, &job->stack, &result->profile, sink);
	if (result->code)
		return;
	result->code = tp_pieces_replay(&job->pieces, 0, &result->err);
	if (!result->code && job->stack.over && !tp_replay_last_counts(&job->pieces.replay))
		result->code = TP_ERR_MEMORY;
}

static int replay_item(void *context, uint32_t number, struct tp_err *err)
{
	struct work *work = context;
	struct job *job = &work->jobs[work->items[number].job];
	const uint32_t part = work->items[number].part;
	if (part)
		tp_pieces_replay(&job->pieces, part, err);
	else
		replay_first(work, job);
	if (atomic_fetch_sub(&job->left, 1) == 1)
		finish(work, job);
	return 0;
}

// The list of what to do. False: no memory.
static bool plan(struct work *work, struct tp_analysis *analysis, uint32_t workers)
{
	const struct tp_kept *kept = tp_kept_begin(analysis->options.kept, analysis);
	work->jobs = calloc((size_t)analysis->thread_count + 1, sizeof(*work->jobs));
	work->items =
	    calloc((size_t)analysis->thread_count + (size_t)workers * 2 + 1, sizeof(*work->items));
	if (!work->jobs || !work->items)
		return false;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		struct job *job = &work->jobs[i];
		struct tp_pieces *pieces = &job->pieces;
		job->result = &analysis->threads[i];
		*pieces = (struct tp_pieces){
		    .replay = tp_analysis_replay(analysis, job->result->thread, &job->stack),
		    .count = kept ? 0 : tp_calls_parts(analysis, i, workers) - 1,
		};
		job->kept = kept ? tp_kept_find(kept, job->result->thread->number) : NULL;
		pieces->replay.chunk_done = work->analysis->options.progress ? chunk_done : NULL;
		pieces->replay.context = work;
		pieces->time = analysis->options.time;
		pieces->fine_ns = tp_analysis_fine_ns(analysis);
		pieces->most_nodes = tp_analysis_most_nodes(analysis);
		if (analysis->compensation.applied)
			pieces->cost = tp_analysis_cost(analysis);
		if (pieces->count)
			pieces->parts = calloc(pieces->count, sizeof(*pieces->parts));
		if (!pieces->parts)
			pieces->count = 0;
		atomic_init(&job->left, pieces->count + 1);
		for (uint32_t j = 0; j <= pieces->count; j++)
			work->items[work->item_count++] = (struct item){i, j};
	}
	return true;
}

// The results of one thread, once more.
static void forget(struct tp_thread_result *result)
{
	tp_profile_release(&result->profile);
	tp_call_counts_release(&result->calls);
	free(result->open);
	*result = (struct tp_thread_result){.thread = result->thread, .moves = result->moves};
}

/*
 * Stacks have come from other threads, so that none of these means anything without the others:
 * replay them again, together. Where only one thread is wanted, it is with all others.
 */
static int replay_together(struct work *work, struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_tracefile *trace = analysis->trace;
	struct tp_thread_result *results = analysis->threads;
	struct tp_together together;
	int code = tp_together_init(&together, analysis, err);
	if (code)
		return code;
	for (uint32_t i = 0, at = 0; i < together.count; i++) {
		struct tp_together_thread *item = &together.threads[i];
		while (at < analysis->thread_count && results[at].thread < item->thread)
			at++;
		if (at == analysis->thread_count || results[at].thread != item->thread)
			continue;
		forget(&results[at]);
		item->profile = &results[at].profile;
		item->chunk_done = work->analysis->options.progress ? chunk_done : NULL;
		item->context = work;
		item->result = &results[at];
	}
	if (tp_together_replay(analysis, &together) == TP_ERR_MEMORY)
		code = TP_ERR_MEMORY;
	for (uint32_t i = 0; i < together.count; i++) {
		struct tp_together_thread *item = &together.threads[i];
		struct tp_thread_result *result = item->result;
		if (!result || !item->stack.frames)
			continue;
		result->code = item->code;
		result->err = item->err;
		if (item->stack.over && !item->code && !tp_replay_last_counts(&item->replay))
			code = result->code = TP_ERR_MEMORY;
		take_results(analysis, result, &item->stack, &item->replay);
	}
	if (code)
		tp_err_set(err, code, trace->source.name,
		    "out of memory while replaying %u threads together", together.count);
	tp_together_release(&together);
	return code;
}

uint32_t tp_analysis_workers(const struct tp_analysis *analysis)
{
	const uint32_t wanted = analysis->options.workers;
	const uint32_t workers = wanted ? wanted : tp_workers_count();
	return workers < TP_WORKERS_MAX ? workers : TP_WORKERS_MAX;
}

int tp_replay_all(struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_analysis_options *options = &analysis->options;
	struct work work = {
	    .analysis = analysis,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	};
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		work.all += analysis->threads[i].thread->chunk_count;
	const uint32_t workers = tp_analysis_workers(analysis);
	const bool planned = plan(&work, analysis, workers);
	if (planned)
		tp_workers_each(work.item_count, workers, replay_item, &work, err);
	free(work.jobs);
	free(work.items);
	if (planned && work.arrives && options->kept)
		options->kept->why = "stacks move between threads";
	if (planned && work.arrives)
		return replay_together(&work, analysis, err);
	return planned ? 0
		       : tp_err_set(err, TP_ERR_MEMORY, analysis->trace->source.name,
			     "out of memory while replaying %u threads", analysis->thread_count);
}
