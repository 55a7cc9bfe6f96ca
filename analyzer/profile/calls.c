// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of one thread one after another, or several parts of it at the same time.
#include "calls.h"

#include "analyzer/profile/together.h"
#include "analyzer/profile/workers.h"
#include "analyzer/replay/replay.h"

// Between the stack and the sink of an analysis that leaves paths out.
struct filter {
	const struct tp_profile *profile; // which paths are left
	uint64_t depth;                   // that is shown, in calls; 0: any
	struct tp_call_sink *sink;
	struct tp_call_sink own;
};

// A path that has no call that counts may be asked for all the same: it is in no time range.
static bool is_left(const struct filter *filter, uint32_t node)
{
	return node < filter->profile->node_count && filter->profile->nodes[node].function;
}

static void enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	struct filter *filter = context;
	if (is_left(filter, node) && filter->sink->enter)
		filter->sink->enter(filter->sink->context, id, node, time);
	filter->own.stop = filter->sink->stop;
}

static void leave(void *context, const struct tp_call *call)
{
	struct filter *filter = context;
	if (!is_left(filter, call->node) || !filter->sink->leave)
		return;
	struct tp_call shown = *call;
	if (filter->depth && call->depth == filter->depth)
		shown.self = call->duration, shown.net.self = call->net.inclusive,
		shown.self_off = call->off;
	if (filter->profile->is_way[call->node])
		shown.self = shown.net.self = 0, shown.self_off = (struct tp_off){0};
	filter->sink->leave(filter->sink->context, &shown);
	filter->own.stop = filter->sink->stop;
}

static void pause_call(void *context, uint32_t node, uint64_t time)
{
	struct filter *filter = context;
	if (is_left(filter, node) && filter->sink->pause)
		filter->sink->pause(filter->sink->context, node, time);
}

static void resume_call(void *context, uint32_t node, uint64_t time)
{
	struct filter *filter = context;
	if (is_left(filter, node) && filter->sink->resume)
		filter->sink->resume(filter->sink->context, node, time);
}

static void lost(void *context, uint64_t count, uint64_t time)
{
	struct filter *filter = context;
	if (filter->sink->lost)
		filter->sink->lost(filter->sink->context, count, time);
}

// ---- parts

// Below, starting a thread and joining the part cost more than they save.
#define PART_CHUNKS_MIN 32

uint32_t tp_calls_parts(const struct tp_analysis *analysis, uint32_t thread, uint32_t workers)
{
	const struct tp_tracefile *trace = analysis->trace;
	// Where times or modules decide what a record means, that of an earlier one has to be
	// known.
	if (analysis->threads[thread].moves || analysis->timeless || analysis->ranged ||
	    analysis->least || analysis->filtered || analysis->options.time > TP_TIME_CPU ||
	    trace->gaps.count || trace->selections.count || trace->map.moves)
		return 1;
	uint64_t all = 0;
	const uint64_t chunks = analysis->threads[thread].thread->chunk_count;
	const uint64_t most = chunks / PART_CHUNKS_MIN;
	for (uint32_t i = 0; most > 1 && i < analysis->thread_count; i++)
		all += analysis->threads[i].thread->chunk_count;
	const uint64_t fair = all ? (chunks * workers + all - 1) / all : 1;
	const uint64_t parts = fair < most ? fair : most;
	return parts < 1 ? 1 : parts < TP_WORKERS_MAX ? (uint32_t)parts : TP_WORKERS_MAX;
}

// The first chunk of a piece. It begins a window of debts (profile.h), so that the piece knows
// them.
static uint64_t piece_start(const struct tp_pieces *pieces, uint32_t number)
{
	const uint64_t count = pieces->replay.thread->chunk_count;
	uint64_t i = count * number / (pieces->count + 1);
	while (i < count && !tp_replay_begins_window(&pieces->replay, i))
		i++;
	return i;
}

int tp_pieces_replay(void *context, uint32_t number, struct tp_err *err)
{
	struct tp_pieces *pieces = context;
	const uint64_t first = piece_start(pieces, number);
	const uint64_t end = piece_start(pieces, number + 1);
	if (!number) {
		tp_replay_prepare(&pieces->replay);
		return tp_replay_chunks(&pieces->replay, first, end, err);
	}
	struct tp_calls_part *part = &pieces->parts[number - 1];
	struct tp_replay replay = pieces->replay;
	replay.part = &part->part;
	int code = tp_part_init(&part->part, &pieces->cost);
	part->part.profile.fine_ns = pieces->fine_ns;
	part->part.profile.most_nodes = pieces->most_nodes;
	if (!code)
		code = tp_part_set_time(&part->part, pieces->time, replay.thread->off);
	if (!code && part->sink.leave) {
		tp_stack_set_sink(&part->part.stack, &part->sink);
		part->part.stack.only_calls = true;
	}
	if (!code)
		code = tp_replay_chunks(&replay, first, end, err);
	// The replay in its proper place reports the damage of a part.
	part->part.unusual |= code != 0;
	tp_profile_close(&part->part.profile);
	return 0;
}

int tp_pieces_join(struct tp_pieces *pieces, int code, struct tp_err *err)
{
	const struct tp_replay *replay = &pieces->replay;
	for (uint32_t i = 0; i < pieces->count; i++) {
		struct tp_part *part = &pieces->parts[i].part;
		if (!code && tp_part_fits(part, replay->stack)) {
			code = tp_part_join(part, replay->stack);
			pieces->parts[i].joined = !code;
		} else if (!code) {
			code = tp_replay_chunks(&pieces->replay, piece_start(pieces, i + 1),
			    piece_start(pieces, i + 2), err);
		}
		tp_part_release(part);
	}
	if (code == TP_ERR_MEMORY)
		tp_err_set(err, TP_ERR_MEMORY, replay->trace->source.name,
		    "out of memory while replaying thread %u", replay->thread->number);
	return code;
}

int tp_calls_each_apart(const struct tp_analysis *analysis, uint32_t thread,
    struct tp_call_sink *sink, struct tp_calls_part *parts, uint32_t count, struct tp_err *err)
{
	struct filter filter = {
	    .profile = &analysis->threads[thread].profile,
	    // [attached] is a level of the paths and no call.
	    .depth = analysis->options.depth > analysis->threads[thread].thread->attached
			 ? analysis->options.depth - analysis->threads[thread].thread->attached
			 : 0,
	    .sink = sink,
	    .own = {&filter, enter, leave, pause_call, resume_call, lost, false},
	};
	sink = analysis->filtered ? &filter.own : sink;
	if (analysis->threads[thread].moves)
		return tp_together_calls(analysis, thread, sink, err);
	struct tp_profile profile = {0};
	struct tp_stack stack = {0};
	struct tp_pieces pieces = {
	    .replay = tp_analysis_replay(analysis, analysis->threads[thread].thread, &stack),
	    .parts = parts,
	    .count = count,
	};
	int code =
	    tp_analysis_stack(analysis, analysis->threads[thread].thread, &stack, &profile, sink);
	// The analysis has the sums.
	stack.only_calls = true;
	pieces.cost = profile.cost;
	pieces.time = profile.time;
	pieces.most_nodes = profile.most_nodes;
	if (code)
		tp_err_set(err, code, analysis->trace->source.name,
		    "out of memory before replaying thread %u", pieces.replay.thread->number);
	else
		code = tp_pieces_join(&pieces,
		    tp_workers_each(count + 1, count + 1, tp_pieces_replay, &pieces, err), err);
	if (stack.frames)
		tp_stack_finish(&stack);
	tp_stack_release(&stack);
	tp_profile_release(&profile);
	return code;
}

int tp_calls_each(const struct tp_analysis *analysis, uint32_t thread, struct tp_call_sink *sink,
    struct tp_err *err)
{
	return tp_calls_each_apart(analysis, thread, sink, NULL, 0, err);
}
