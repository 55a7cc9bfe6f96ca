// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The replay of a trace that is still written, kept from one look to the next.
#include "kept.h"

#include "analyzer/profile/analysis.h"
#include "common/array.h"

#include <stdlib.h>

static void forget(struct tp_kept_thread *thread)
{
	tp_stack_release(&thread->stack);
	tp_profile_release(&thread->profile);
	*thread = (struct tp_kept_thread){.number = thread->number};
}

void tp_kept_forget(struct tp_kept *kept)
{
	for (uint32_t i = 0; i < kept->count; i++)
		forget(kept->threads[i]);
}

void tp_kept_release(struct tp_kept *kept)
{
	tp_kept_forget(kept);
	for (uint32_t i = 0; i < kept->count; i++)
		free(kept->threads[i]);
	free(kept->threads);
	*kept = (struct tp_kept){0};
}

// Why all records have to be read each time; NULL: they have not.
static const char *find_why(const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	if (trace->selections.count)
		return "functions were switched on and off";
	if (trace->map.moves)
		return "libraries were loaded at addresses of earlier ones";
	if (trace->rings)
		return "each thread keeps its last records only";
	if (analysis->options.costs)
		return "--costs reads all calls twice";
	if (analysis->options.from_ns || analysis->options.to_ns || analysis->options.marks)
		return "of --time-range";
	return NULL;
}

// Each point of the clock makes its pace a little more accurate; only the final output must use the
// last one.
static bool is_near(uint64_t a, uint64_t b, bool exactly)
{
	const uint64_t off = a > b ? a - b : b - a;
	return off <= (exactly ? 0 : 1 + a / 1000);
}

static bool has_same_cost(const struct tp_profile *profile, const struct tp_analysis *analysis)
{
	const bool exactly = analysis->trace->has_end;
	struct tp_profile_cost cost = {0};
	if (analysis->compensation.applied || (analysis->compensation.chooses && analysis->least))
		cost = tp_analysis_cost(analysis);
	return is_near(profile->cost.in, cost.in, exactly) &&
	       is_near(profile->cost.out, cost.out, exactly) &&
	       is_near(profile->cost.untimed, cost.untimed, exactly) &&
	       is_near(profile->cost.period, cost.period, exactly);
}

// Why this time all records have to be read; NULL: they have not.
static const char *find_why_now(const struct tp_kept *kept, const struct tp_analysis *analysis)
{
	bool off = false;
	bool same = true;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		off |= analysis->threads[i].thread->off != NULL;
	for (uint32_t i = 0; i < kept->count; i++)
		same &=
		    !kept->threads[i]->valid || has_same_cost(&kept->threads[i]->profile, analysis);
	if (!same || (off && analysis->trace->has_end))
		return "the clock's rate is known better than before";
	return NULL;
}

static uint32_t place_of(const struct tp_kept *kept, uint32_t number)
{
	return TP_LOWER_BOUND(0, kept->count, middle, kept->threads[middle]->number < number);
}

static bool add(struct tp_kept *kept, uint32_t number)
{
	const uint32_t at = place_of(kept, number);
	if (at < kept->count && kept->threads[at]->number == number)
		return true;
	struct tp_kept_thread *thread = calloc(1, sizeof(*thread));
	if (!thread || !TP_GROW(kept->threads, kept->room, kept->count + UINT64_C(1))) {
		free(thread);
		return false;
	}
	thread->number = number;
	for (uint32_t i = kept->count++; i > at; i--)
		kept->threads[i] = kept->threads[i - 1];
	kept->threads[at] = thread;
	return true;
}

struct tp_kept *tp_kept_begin(struct tp_kept *kept, const struct tp_analysis *analysis)
{
	if (!kept)
		return NULL;
	kept->why = find_why(analysis);
	bool ok = !kept->why;
	if (ok)
		kept->why = find_why_now(kept, analysis);
	for (uint32_t i = 0; ok && i < analysis->thread_count; i++)
		ok = add(kept, analysis->threads[i].thread->number);
	if (!ok) {
		kept->why = kept->why ? kept->why : "there is too little memory to keep them";
		tp_kept_forget(kept);
	}
	return ok ? kept : NULL;
}

struct tp_kept_thread *tp_kept_find(const struct tp_kept *kept, uint32_t number)
{
	return kept->threads[place_of(kept, number)];
}

/*
 * Whether the gaps are those that were known when records up to the stack's last one were replayed:
 * the recorder writes when it switched recording off later than what was recorded meanwhile.
 */
static bool has_same_gaps(const struct tp_stack *stack, const struct tp_gaps *gaps, bool timeless)
{
	if (timeless)
		return stack->switched == (gaps->count != 0);
	if (gaps->count < stack->gap + (uint32_t)stack->in_gap)
		return false;
	if (stack->gap >= gaps->count)
		return true;
	const struct tp_gap *next = &gaps->items[stack->gap];
	return stack->in_gap ? next->to > stack->last : next->from > stack->last;
}

// Whether a replay of all chunks would begin with the kept state.
static bool fits(const struct tp_kept_thread *kept, const struct tp_analysis *analysis,
    const struct tp_thread *thread)
{
	const struct tp_stack *stack = &kept->stack;
	if (!kept->valid || kept->attached != thread->attached ||
	    kept->chunks > thread->chunk_count || thread->overwritten)
		return false;
	if (kept->chunks) {
		const struct tp_chunk *last = &thread->chunks[kept->chunks - 1];
		if (last->sequence != kept->sequence || last->offset != kept->offset)
			return false;
	}
	// By the clock's last point, each switch of the thread has another time than it had by the
	// one before: so it is at the end only that all are looked at anew.
	const bool final = analysis->trace->has_end && (thread->off || stack->off.count);
	return !final && (thread->off != NULL) == (kept->profile.parts_of != NULL) &&
	       has_same_gaps(stack, &analysis->trace->gaps, analysis->timeless) &&
	       has_same_cost(&kept->profile, analysis);
}

static int begin(
    struct tp_kept_thread *kept, const struct tp_analysis *analysis, const struct tp_replay *replay)
{
	forget(kept);
	const int code =
	    tp_analysis_stack(analysis, replay->thread, &kept->stack, &kept->profile, NULL);
	if (code)
		return code;
	struct tp_replay own = *replay;
	own.stack = &kept->stack;
	tp_replay_prepare(&own);
	kept->attached = replay->thread->attached;
	kept->valid = true;
	return 0;
}

// How many chunks will stay as they are: those in the file.
static uint64_t count_final(const struct tp_thread *thread)
{
	uint64_t count = 0;
	while (count < thread->chunk_count && thread->chunks[count].offset < TP_SOURCE_MORE)
		count++;
	return count;
}

static int go_on(struct tp_kept_thread *kept, const struct tp_replay *replay, struct tp_err *err)
{
	const struct tp_thread *thread = replay->thread;
	const uint64_t end = count_final(thread);
	if (end <= kept->chunks)
		return 0;
	struct tp_replay own = *replay;
	own.stack = &kept->stack;
	own.bad_counts_offset = kept->bad_counts_offset;
	const int code = tp_replay_chunks(&own, kept->chunks, end, err);
	kept->bad_counts_offset = own.bad_counts_offset;
	kept->chunks = end;
	kept->sequence = thread->chunks[end - 1].sequence;
	kept->offset = thread->chunks[end - 1].offset;
	return code;
}

int tp_kept_replay(struct tp_kept_thread *kept, const struct tp_analysis *analysis,
    struct tp_replay *replay, struct tp_profile *profile, bool *done, struct tp_err *err)
{
	const struct tp_thread *thread = replay->thread;
	const bool holds = fits(kept, analysis, thread);
	*done = holds || !analysis->ranged;
	if (!*done)
		return 0;
	int code = holds ? 0 : begin(kept, analysis, replay);
	if (!code)
		tp_stack_renew(&kept->stack,
		    analysis->timeless ? &(struct tp_gaps){0} : &analysis->trace->gaps,
		    thread->off);
	if (!code && !analysis->ranged)
		code = go_on(kept, replay, err);
	if (!code)
		code = tp_profile_copy(profile, &kept->profile);
	if (!code)
		code = tp_stack_copy(replay->stack, &kept->stack, profile);
	if (!code)
		tp_stack_set_until(
		    replay->stack, analysis->timeless ? 0 : thread->until, thread->lost);
	if (!code && analysis->ranged)
		tp_stack_begin_anew(replay->stack, analysis->from);
	replay->bad_counts_offset = kept->bad_counts_offset;
	if (!code)
		code = tp_replay_chunks(replay, kept->chunks, thread->chunk_count, err);
	if (code)
		kept->valid = false;
	return code;
}
