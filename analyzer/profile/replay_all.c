// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All threads of an analysis, replayed at the same time; long ones in parts.
#include "analysis_steps.h"

#include "analyzer/replay/replay.h"
#include "analyzer/profile/calls.h"
#include "analyzer/profile/together.h"
#include "analyzer/profile/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// A thread that is being replayed.
struct job {
	struct tp_thread_result *result;
	struct tp_stack stack;
	struct tp_replay replay;
	struct tp_part *parts; // behind the first one, which is the stack's own
	uint32_t part_count;   // with the first one
	atomic_uint left;      // parts that are not done
};

struct item {
	uint32_t job;
	uint32_t part;
};

// What the workers share.
struct work {
	atomic_bool arrives; // stacks from other threads
	const struct tp_analysis *analysis;
	const struct tp_analysis_options *options;
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
	work->options->progress(work->options->context, work->done, work->all);
	pthread_mutex_unlock(&work->lock);
}

// The first chunk of a part.
static uint64_t part_start(const struct job *job, uint32_t part)
{
	return job->replay.thread->chunk_count * part / job->part_count;
}

static void replay_part(struct work *work, struct job *job, uint32_t number)
{
	struct tp_part *part = &job->parts[number - 1];
	const struct tp_profile_cost none = {0};
	const struct tp_profile_cost cost =
	    work->analysis->compensation.applied
		? tp_compensation_cost(&work->analysis->compensation, &work->analysis->time)
		: none;
	struct tp_replay replay = job->replay;
	struct tp_err err;
	replay.part = part;
	// What is wrong with a part is told when it is replayed where it belongs.
	if (tp_part_init(part, &cost) ||
	    tp_replay_chunks(&replay, part_start(job, number), part_start(job, number + 1), &err))
		part->unusual = true;
}

// What comes of a stack to which all records have been replayed.
static void take_results(const struct tp_analysis *analysis, struct tp_thread_result *result,
    struct tp_stack *stack, const struct tp_replay *replay)
{
	tp_stack_finish(stack);
	result->bad_counts_offset = replay->bad_counts_offset;
	result->counts = stack->counts;
	result->first = stack->started ? stack->first : UINT64_MAX;
	result->last = stack->last;
	result->busy = stack->frames[0].children;
	if (analysis->compensation.applied) {
		tp_compensation_apply(&result->profile, &result->taken, &result->missing);
		result->busy = result->profile.nodes[0].inclusive;
	}
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
	for (uint32_t i = 1; i < job->part_count; i++) {
		struct tp_part *part = &job->parts[i - 1];
		if (!result->code && tp_part_fits(part, &job->stack))
			result->code = tp_part_join(part, &job->stack);
		else if (!result->code)
			result->code = tp_replay_chunks(
			    &job->replay, part_start(job, i), part_start(job, i + 1), &result->err);
		tp_part_release(part);
	}
	free(job->parts);
	if (result->code == TP_ERR_MEMORY)
		tp_err_set(&result->err, result->code, analysis->trace->source.name,
		    TP_ERR_NO_OFFSET, "out of memory while thread %u was replayed",
		    result->thread->number);
	if (job->stack.frames)
		take_results(analysis, result, &job->stack, &job->replay);
	result->moves = job->stack.leaves || job->stack.arrives;
	work->arrives |= job->stack.arrives;
	tp_stack_release(&job->stack);
}

// The first part, on the stack itself. Only now does the thread need memory: there may be thousands.
static void replay_first(struct work *work, struct job *job)
{
	struct tp_thread_result *result = job->result;
	result->code = tp_analysis_stack(work->analysis, &job->stack, &result->profile, NULL);
	if (result->code)
		return;
	tp_replay_prepare(&job->replay);
	result->code = tp_replay_chunks(&job->replay, 0, part_start(job, 1), &result->err);
	if (!result->code && job->stack.over && !tp_replay_last_counts(&job->replay))
		result->code = TP_ERR_MEMORY;
}

static int replay_item(void *context, uint32_t number, struct tp_err *err)
{
	struct work *work = context;
	struct job *job = &work->jobs[work->items[number].job];
	const uint32_t part = work->items[number].part;
	(void)err;
	if (part)
		replay_part(work, job, part);
	else
		replay_first(work, job);
	if (atomic_fetch_sub(&job->left, 1) == 1)
		finish(work, job);
	return 0;
}

// The list of what to do. False: no memory.
static bool plan(struct work *work, struct tp_analysis *analysis, uint32_t workers)
{
	work->jobs = calloc((size_t)analysis->thread_count + 1, sizeof(*work->jobs));
	work->items =
	    calloc((size_t)analysis->thread_count + (size_t)workers * 2 + 1, sizeof(*work->items));
	if (!work->jobs || !work->items)
		return false;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		struct job *job = &work->jobs[i];
		job->result = &analysis->threads[i];
		job->part_count = tp_calls_parts(analysis, i, workers);
		if (job->part_count > 1)
			job->parts = calloc(job->part_count - 1, sizeof(*job->parts));
		if (!job->parts)
			job->part_count = 1;
		atomic_init(&job->left, job->part_count);
		job->replay = tp_analysis_replay(analysis, job->result->thread, &job->stack);
		job->replay.chunk_done = work->options->progress ? chunk_done : NULL;
		job->replay.context = work;
		for (uint32_t j = 0; j < job->part_count; j++)
			work->items[work->item_count++] = (struct item){i, j};
	}
	return true;
}

// The results of one thread, once more.
static void forget(struct tp_thread_result *result)
{
	tp_profile_release(&result->profile);
	tp_call_counts_release(&result->calls);
	*result = (struct tp_thread_result){.thread = result->thread, .moves = result->moves};
}

/*
 * Stacks have come from other threads, so that none of these means anything without the others: replay them again, together.
 * Where only one thread is wanted, it is with all others.
 */
static int replay_together(struct work *work, struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_tracefile *trace = analysis->trace;
	struct tp_together together = {
	    .threads = calloc((size_t)trace->thread_count + 1, sizeof(*together.threads)),
	};
	struct tp_thread_result **results =
	    calloc((size_t)trace->thread_count + 1, sizeof(*results));
	int code = together.threads && results ? 0 : TP_ERR_MEMORY;
	for (uint32_t i = 0; !code && i < trace->thread_count; i++) {
		struct tp_thread_result *result = NULL;
		if (!analysis->one_thread || analysis->threads[0].thread == &trace->threads[i])
			result = &analysis->threads[analysis->one_thread ? 0 : i];
		if (result ? !result->moves : !analysis->one_thread)
			continue;
		struct tp_together_thread *item = &together.threads[together.count];
		item->thread = &trace->threads[i];
		results[together.count++] = result;
		if (!result)
			continue;
		forget(result);
		item->profile = &result->profile;
		item->chunk_done = work->options->progress ? chunk_done : NULL;
		item->context = work;
	}
	if (!code && tp_together_replay(analysis, &together) == TP_ERR_MEMORY)
		code = TP_ERR_MEMORY;
	for (uint32_t i = 0; i < together.count; i++) {
		struct tp_together_thread *item = &together.threads[i];
		struct tp_thread_result *result = results[i];
		if (!result || !item->stack.frames)
			continue;
		result->code = item->code;
		result->err = item->err;
		if (item->stack.over && !item->code && !tp_replay_last_counts(&item->replay))
			code = result->code = TP_ERR_MEMORY;
		take_results(analysis, result, &item->stack, &item->replay);
	}
	tp_together_release(&together);
	free(together.threads);
	free(results);
	return code ? tp_err_set(err, code, trace->source.name, TP_ERR_NO_OFFSET,
			  "out of memory while %u threads were replayed together", together.count)
		    : 0;
}

int tp_replay_all(
    struct tp_analysis *analysis, const struct tp_analysis_options *options, struct tp_err *err)
{
	struct work work = {
	    .analysis = analysis,
	    .options = options,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	};
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		work.all += analysis->threads[i].thread->chunk_count;
	uint32_t workers = options->workers ? options->workers : tp_workers_count();
	workers = workers < TP_WORKERS_MAX ? workers : TP_WORKERS_MAX;
	const bool planned = plan(&work, analysis, workers);
	if (planned)
		tp_workers_each(work.item_count, workers, replay_item, &work, err);
	free(work.jobs);
	free(work.items);
	if (planned && work.arrives)
		return replay_together(&work, analysis, err);
	return planned ? 0
		       : tp_err_no_memory(err, analysis->trace->source.name,
			     "no memory for %u threads", analysis->thread_count);
}
