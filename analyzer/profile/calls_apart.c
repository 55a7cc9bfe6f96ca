// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of one thread, several parts of it at the same time.
#include "calls_apart.h"

#include "analyzer/replay/replay.h"
#include "analyzer/profile/together.h"

#include <pthread.h>
#include <stdlib.h>

#define PARTS_MAX 64
// Below, starting a thread and joining the part cost more than they save.
#define PART_CHUNKS_MIN 32

uint32_t tp_calls_parts(const struct tp_analysis *analysis, uint32_t thread, uint32_t workers)
{
	const struct tp_tracefile *trace = analysis->trace;
	// As in replay_all.c: where times or modules decide what a record means, that of an earlier one has to be known.
	if (tp_together_concerns(analysis, thread) || analysis->timeless || analysis->ranged ||
	    analysis->least || analysis->filtered || trace->gaps.count || trace->map.moves)
		return 1;
	uint64_t all = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		all += analysis->threads[i].thread->chunk_count;
	const uint64_t chunks = analysis->threads[thread].thread->chunk_count;
	const uint64_t fair = all ? (chunks * workers + all - 1) / all : 1;
	const uint64_t most = chunks / PART_CHUNKS_MIN;
	const uint64_t parts = fair < most ? fair : most;
	return parts < 1 ? 1 : parts < PARTS_MAX ? (uint32_t)parts : PARTS_MAX;
}

// One part and what replays it.
struct task {
	struct tp_replay replay;
	uint64_t first; // chunks, up to end
	uint64_t end;
	pthread_t thread;
	bool running;
};

static void *replay_part(void *argument)
{
	struct task *task = argument;
	struct tp_err err;
	// What is wrong with a part is told when it is replayed where it belongs.
	if (tp_replay_chunks(&task->replay, task->first, task->end, &err))
		task->replay.part->unusual = true;
	return NULL;
}

static void start(struct task *task, struct tp_calls_part *part, const struct tp_profile_cost *cost)
{
	task->replay.part = &part->part;
	part->joined = false;
	if (tp_part_init(&part->part, cost)) {
		part->part.unusual = true;
		return;
	}
	tp_stack_set_sink(&part->part.stack, &part->sink);
	part->part.stack.only_calls = true;
	task->running = pthread_create(&task->thread, NULL, replay_part, task) == 0;
	if (!task->running)
		part->part.unusual = true;
}

int tp_calls_each_apart(const struct tp_analysis *analysis, uint32_t thread,
    struct tp_call_sink *sink, struct tp_calls_part *parts, uint32_t count, struct tp_err *err)
{
	const uint64_t chunks = analysis->threads[thread].thread->chunk_count;
	struct tp_profile profile = {0};
	struct tp_stack stack = {0};
	struct tp_replay replay =
	    tp_analysis_replay(analysis, analysis->threads[thread].thread, &stack);
	struct task *tasks = calloc((size_t)count + 1, sizeof(*tasks));
	int code = tp_analysis_stack(analysis, &stack, &profile, sink);
	code = tasks ? code : TP_ERR_MEMORY;
	// The analysis has the sums.
	stack.only_calls = true;
	for (uint32_t i = 0; !code && i < count; i++) {
		tasks[i].replay = replay;
		tasks[i].first = chunks * (i + 1) / (count + 1);
		tasks[i].end = chunks * (i + 2) / (count + 1);
		start(&tasks[i], &parts[i], &profile.cost);
	}
	if (!code) {
		tp_replay_prepare(&replay);
		code = tp_replay_chunks(&replay, 0, chunks / (count + 1), err);
	} else {
		tp_err_set(err, code, analysis->trace->source.name, TP_ERR_NO_OFFSET,
		    "out of memory before thread %u was replayed", replay.thread->number);
		count = 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (tasks[i].running)
			pthread_join(tasks[i].thread, NULL);
		struct tp_part *part = &parts[i].part;
		if (!code && tp_part_fits(part, &stack)) {
			code = tp_part_join(part, &stack);
			parts[i].joined = !code;
			if (code)
				tp_err_set(err, code, analysis->trace->source.name,
				    TP_ERR_NO_OFFSET, "out of memory while thread %u was replayed",
				    replay.thread->number);
		} else if (!code) {
			code = tp_replay_chunks(&replay, tasks[i].first, tasks[i].end, err);
		}
		tp_part_release(part);
	}
	if (stack.frames)
		tp_stack_finish(&stack);
	free(tasks);
	tp_stack_release(&stack);
	tp_profile_release(&profile);
	return code;
}
