// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads between which stacks move: each is replayed until it has to wait for another one, in
// turns.
#include "together.h"

#include "analyzer/trace/tracefile.h"
#include "analyzer/replay/stack.h"
#include "common/err.h"
#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// Where the replay of a thread is.
struct course {
	struct tp_together_thread *thread;
	struct tp_chunk_reader reader;
	struct tp_stack_place at;
	uint64_t chunk; // number of the one in the reader, if it is loaded
	uint64_t last;  // tp_module_map_chunk
	bool loaded;
	bool open; // the reader is
};

static int compare_home(const void *a, const void *b)
{
	const struct course *x = a;
	const struct course *y = b;
	const uint64_t home = x->thread->thread->home & TEEPERF_DEPARTURE_HOMES;
	const uint64_t other = y->thread->thread->home & TEEPERF_DEPARTURE_HOMES;
	return TP_COMPARE(home, other);
}

static void load(struct course *course)
{
	struct tp_together_thread *thread = course->thread;
	const struct tp_chunk *chunk = &thread->thread->chunks[course->chunk];
	const struct tp_tracefile *trace = thread->replay.trace;
	if (!course->open) {
		course->open = true;
		thread->code = tp_chunk_reader_init(&course->reader, trace, &thread->err);
	}
	if (!thread->code)
		thread->code = tp_chunk_reader_read(&course->reader, chunk, &thread->err);
	if (thread->code)
		return;
	tp_module_map_chunk(
	    &trace->map, course->reader.words, chunk->word_count, chunk->first_time, &course->last);
	course->at = (struct tp_stack_place){
	    .words = tp_records_begin(course->reader.words, chunk->word_count, chunk->first_time),
	    .last = thread->stack.last,
	    .position =
		(chunk->sequence << trace->header.chunk_shift) + sizeof(struct teeperf_chunk),
	};
	if (tp_replay_begins_window(&thread->replay, course->chunk))
		tp_profile_begin_window(thread->stack.profile, course->at.position);
	thread->stack.counts.records += chunk->word_count;
	course->loaded = true;
}

static void chunk_done(struct course *course)
{
	struct tp_together_thread *thread = course->thread;
	const struct tp_chunk *chunk = &thread->thread->chunks[course->chunk];
	struct tp_replay *replay = &thread->replay;
	if (thread->stack.counts.bad_counts && !replay->bad_counts_offset)
		replay->bad_counts_offset =
		    chunk->offset + (chunk->packed_size ? 0 : (uint64_t)thread->stack.bad_word * 8);
	course->loaded = false;
	course->chunk++;
	if (thread->chunk_done)
		thread->chunk_done(thread->context);
}

// Go on until it is done or has to wait.
static void go_on(struct course *course)
{
	struct tp_together_thread *thread = course->thread;
	struct tp_stack *stack = &thread->stack;
	while (!thread->code && !stack->over && course->chunk < thread->thread->chunk_count) {
		if (!course->loaded)
			load(course);
		if (thread->code)
			break;
		thread->code = tp_stack_go_on(stack, &course->at);
		if (stack->blocked)
			return;
		chunk_done(course);
	}
	if (thread->code == TP_ERR_MEMORY)
		tp_err_set(&thread->err, thread->code, thread->replay.trace->source.name,
		    "out of memory while replaying thread %u", thread->thread->number);
	if (course->open)
		tp_chunk_reader_release(&course->reader);
	course->open = false;
	stack->member->done = true;
}

static int prepare(const struct tp_analysis *analysis, struct tp_together_thread *thread)
{
	thread->code = tp_analysis_stack(analysis, thread->thread, &thread->stack,
	    thread->profile ? thread->profile : &thread->own, thread->sink);
	thread->stack.only_calls = thread->only_calls;
	thread->replay = tp_analysis_replay(analysis, thread->thread, &thread->stack);
	if (!thread->code)
		tp_replay_prepare(&thread->replay);
	return thread->code;
}

// The order of moves is contradictory: continue with the thread that is at the earliest time.
static void force_one(struct tp_moves *moves)
{
	struct tp_member *first = NULL;
	for (uint32_t i = 0; i < moves->count; i++) {
		struct tp_member *member = &moves->members[i];
		if (!member->done && (!first || member->time < first->time))
			first = member;
	}
	if (first)
		first->forced = true;
}

static bool is_over(const struct tp_together *together, const struct course *courses)
{
	bool done = true;
	for (uint32_t i = 0; i < together->count; i++) {
		const struct tp_call_sink *sink = courses[i].thread->sink;
		if (sink && sink->stop)
			return true;
		done &= together->moves.members[i].done;
	}
	return done;
}

int tp_together_replay(const struct tp_analysis *analysis, struct tp_together *together)
{
	struct tp_moves *moves = &together->moves;
	struct course *courses = calloc((size_t)together->count + 1, sizeof(*courses));
	int code = courses ? 0 : TP_ERR_MEMORY;
	moves->members = calloc((size_t)together->count + 1, sizeof(*moves->members));
	if (!moves->members)
		code = TP_ERR_MEMORY;
	for (uint32_t i = 0; !code && i < together->count; i++) {
		courses[i].thread = &together->threads[i];
		code = prepare(analysis, &together->threads[i]);
	}
	if (!code) {
		qsort(courses, together->count, sizeof(*courses), compare_home);
		moves->count = together->count;
	}
	for (uint32_t i = 0; i < moves->count; i++) {
		struct tp_together_thread *thread = courses[i].thread;
		moves->members[i] = (struct tp_member){
		    .moves = moves,
		    .stack = &thread->stack,
		    .home = thread->thread->home,
		};
		thread->stack.member = &moves->members[i];
	}
	while (!code && !is_over(together, courses)) {
		bool moved = false;
		for (uint32_t i = 0; i < moves->count; i++) {
			struct tp_member *member = &moves->members[i];
			if (member->done || !tp_member_may_go_on(member))
				continue;
			moved = true;
			go_on(&courses[i]);
		}
		if (!moved)
			force_one(moves);
	}
	for (uint32_t i = 0; courses && i < together->count; i++)
		if (courses[i].open)
			tp_chunk_reader_release(&courses[i].reader);
	for (uint32_t i = 0; i < together->count; i++)
		if (!code)
			code = together->threads[i].code;
	free(courses);
	return code;
}

void tp_together_release(struct tp_together *together)
{
	for (uint32_t i = 0; i < together->count; i++) {
		tp_stack_release(&together->threads[i].stack);
		tp_profile_release(&together->threads[i].own);
	}
	tp_moves_release(&together->moves);
	free(together->threads);
}

int tp_together_init(
    struct tp_together *together, const struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_tracefile *trace = analysis->trace;
	*together = (struct tp_together){
	    .threads = calloc((size_t)trace->thread_count + 1, sizeof(*together->threads)),
	};
	if (!together->threads)
		return tp_err_set(err, TP_ERR_MEMORY, trace->source.name,
		    "out of memory while replaying %u threads", trace->thread_count);
	for (uint32_t i = 0; i < trace->thread_count; i++)
		if (analysis->options.one_thread || analysis->threads[i].moves)
			together->threads[together->count++].thread = &trace->threads[i];
	return 0;
}

int tp_together_calls(const struct tp_analysis *analysis, uint32_t thread,
    struct tp_call_sink *sink, struct tp_err *err)
{
	struct tp_together together;
	struct tp_together_thread *wanted = NULL;
	int code = tp_together_init(&together, analysis, err);
	if (code)
		return code;
	for (uint32_t i = 0; i < together.count; i++) {
		struct tp_together_thread *item = &together.threads[i];
		// The analysis has the sums.
		item->only_calls = true;
		if (item->thread == analysis->threads[thread].thread)
			wanted = item;
	}
	wanted->sink = sink;
	code = tp_together_replay(analysis, &together);
	code = wanted->code || code == TP_ERR_MEMORY ? code : 0;
	if (wanted->stack.frames)
		tp_stack_finish(&wanted->stack);
	if (code && wanted->code)
		*err = wanted->err;
	else if (code)
		tp_err_set(err, code, analysis->trace->source.name,
		    "out of memory while replaying threads together");
	tp_together_release(&together);
	return code;
}
