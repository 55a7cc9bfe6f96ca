// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records become calls: the stack of one thread, replayed chunk by chunk into its profile.
// Its other files: the quick way (stack_usual.c), parts of a thread (stack_part.c), its stacks
// (stack_contexts.c), gaps and ranges of time (stack_windows.c), how a call ends (stack_calls.c);
// what they share is inlined into each (stack_steps.h).
#include "stack_steps.h"

#include "analyzer/trace/tracefile.h"
#include "common/err.h"

#include <stdlib.h>

#define FRAMES_AT_FIRST 256
// Of a thread with several stacks, an exit that does not match looks so far down: a hostile trace
// could make it search a deep stack again and again.
#define CONTEXT_SEARCH_MAX 1000

int tp_stack_init(struct tp_stack *stack, struct tp_profile *profile)
{
	*stack = (struct tp_stack){
	    .profile = profile,
	    .frames = calloc(FRAMES_AT_FIRST, sizeof(*stack->frames)),
	    .depth = 1,
	    .edge = UINT64_MAX,
	    .off_edge = UINT64_MAX,
	    .to = UINT64_MAX,
	    .named = TP_CONTEXT_UNNAMED,
	    .capacity = FRAMES_AT_FIRST,
	};
	return stack->frames ? 0 : TP_ERR_MEMORY;
}

bool tp_stack_set_attached(struct tp_stack *stack)
{
	stack->base = tp_profile_child(stack->profile, 0, TP_NAME_ATTACHED);
	stack->frames[0].node = stack->base;
	return stack->base != 0;
}

void tp_stack_settle(struct tp_stack *stack)
{
	const struct tp_profile *profile = stack->profile;
	profile->nodes[0].inclusive = stack->frames[0].net;
	if (!stack->base)
		return;
	profile->nodes[stack->base].inclusive = stack->frames[0].net;
	if (profile->waited)
		profile->waited[stack->base] = 0;
	tp_profile_forget_parts(stack->profile, stack->base);
}

void tp_stack_release(struct tp_stack *stack)
{
	tp_call_counts_release(&stack->calls);
	tp_contexts_release(&stack->contexts);
	free(stack->frame_offs);
	free(stack->frames);
	free(stack->open);
	stack->open = NULL;
	stack->frame_offs = NULL;
	stack->frames = NULL;
}

// ---- untimed exits and gaps

/*
 * A record at TIME follows, and TIME is not below `edge`: give untimed exits their time, and see
 * whether recording was switched. False: the record lies in a gap.
 */
static inline bool settle(struct tp_stack *stack, uint64_t time)
{
	const uint64_t edge = tp_stack_next_edge(stack);
	if (time >= edge || stack->waiting_exits || stack->waiting_enters)
		return tp_stack_settle_slowly(stack, time);
	tp_frames_end_pending(stack, time);
	stack->edge = edge;
	return true;
}

/*
 * Whether a call of FUNCTION that an exit at TIME may end is open below the frame TOP of this
 * stack. Those of a function that was left out meanwhile are below all that began later.
 */
static bool is_open(const struct tp_stack *stack, uint32_t function, uint32_t top, uint64_t time)
{
	// Without `active`, hostile exits would search a deep stack again and again.
	if (!function || !stack->profile->functions[function].active)
		return false;
	if (!stack->contexts.live && !stack->selected)
		return true;
	const uint32_t low = top > CONTEXT_SEARCH_MAX ? top - CONTEXT_SEARCH_MAX : 1;
	while (top > low && stack->frames[top - 1].function != function)
		top--;
	return top > low && !tp_frame_is_closed(stack, &stack->frames[top - 1], time);
}

// Whether a record of NAME at TIME counts. If not, it was on its way when its function was left
// out.
static bool is_selected(const struct tp_stack *stack, uint32_t name, uint64_t time)
{
	const struct tp_selected *selected = tp_selected_find(stack->selected, name);
	return !selected || tp_selected_at(selected, time);
}

// An exit of a function that was left out at some time, and no call of it is open: its enter record
// may be missing for that.
static bool came_back(struct tp_stack *stack, uint32_t name)
{
	if (!stack->selected || !tp_selected_find(stack->selected, name))
		return false;
	stack->counts.came_back++;
	return true;
}

// An exit of a call that is not open, with TOP frames on the stack: whether the call began before
// what was recorded.
static bool began_before(struct tp_stack *stack, uint32_t top)
{
	struct tp_stack_counts *counts = &stack->counts;
	if (top != 1)
		return false;
	if (stack->foreign)
		return true;
	if (stack->in_gap || !(stack->switched || stack->forked || stack->overwritten))
		return false;
	*(stack->switched   ? &counts->early
	    : stack->forked ? &counts->forked
			    : &counts->overwritten) += 1;
	return true;
}

// An exit without a time of a function that is not on top.
static void untimed_below(struct tp_stack *stack, uint32_t name)
{
	struct tp_profile *profile = stack->profile;
	const uint32_t function = tp_profile_function(profile, name);
	const uint32_t top = stack->depth - stack->pending;
	if (!is_open(stack, function, top, stack->last)) {
		stack->waiting_exits += !came_back(stack, name) && !began_before(stack, top);
		return;
	}
	for (bool found = false; !found;) {
		const uint32_t ended = stack->frames[stack->depth - ++stack->pending].function;
		profile->functions[ended].active--;
		profile->functions[ended].untimed = true;
		found = ended == function;
		if (!found && tp_frame_is_closed(stack,
				  &stack->frames[stack->depth - stack->pending], stack->last))
			stack->counts.left_out++;
		else
			stack->waiting_enters += !found;
	}
}

static inline void untimed_exit(struct tp_stack *stack, uint32_t name)
{
	stack->left = false; // if it was, the record that would tell for which stack is lost
	const struct tp_frame *top = &stack->frames[stack->depth - stack->pending - 1];
	if (__builtin_expect(top->name == name, 1)) {
		struct tp_local_function *function = &stack->profile->functions[top->function];
		function->active--;
		function->untimed = true;
		stack->pending++;
	} else {
		untimed_below(stack, name);
	}
	stack->edge = 0;
}

// ---- odd records

// An exit of a function that is not on top.
static void exit_below(struct tp_stack *stack, uint32_t name, uint64_t time)
{
	struct tp_profile *profile = stack->profile;
	const uint32_t function = tp_profile_function(profile, name);
	if (!is_open(stack, function, stack->depth, time)) {
		profile->debts++; // as tp_stack_resync
		stack->counts.unmatched_exits +=
		    !came_back(stack, name) && !began_before(stack, stack->depth);
		return;
	}
	while (stack->frames[stack->depth - 1].function != function) {
		const bool closed =
		    tp_frame_is_closed(stack, &stack->frames[stack->depth - 1], time);
		stack->how = closed ? TP_CALL_CUT : TP_CALL_NO_RETURN;
		tp_frames_pop(stack, time);
		*(closed ? &stack->counts.left_out : &stack->counts.unmatched_enters) += 1;
	}
	stack->how = TP_CALL_RETURNED;
	tp_frames_pop(stack, time);
}

static inline void exit_call(struct tp_stack *stack, uint32_t name, uint64_t time)
{
	if (stack->frames[stack->depth - 1].name == name)
		tp_frames_pop(stack, time);
	else
		exit_below(stack, name, time);
}

bool tp_stack_counts(struct tp_stack *stack, const struct tp_record *record)
{
	if (record->form != TP_RECORD_PAIRS || record->cut)
		return true;
	for (const uint64_t *pair = record->more; pair < record->more + record->more_count;
	     pair += 2) {
		if (!pair[0])
			continue; // not filled in
		if (!tp_call_counts_add(&stack->calls, pair[0], pair[1]))
			return false;
		stack->counts.counted += pair[1];
	}
	return true;
}

bool tp_stack_control(struct tp_stack *stack, const struct tp_record *record, uint64_t last)
{
	switch (record->tagged) {
	case TEEPERF_CONTROL_EMPTY:
		stack->counts.holes++;
		break;
	case TEEPERF_CONTROL_LOST:
		stack->counts.lost += record->value;
		if (stack->sink && stack->sink->lost && !stack->quiet)
			stack->sink->lost(stack->sink->context, record->value, last);
		break;
	case TEEPERF_CONTROL_THREAD_END:
		stack->ended = true;
		break;
	case TEEPERF_CONTROL_FORK:
		stack->forked = true;
		break;
	case TEEPERF_CONTROL_LEFT:
		stack->departure = stack->departure << 32 | record->value;
		break;
	// For who lists them (analyzer/trace/marks.h).
	case TEEPERF_CONTROL_MARK:
	case TEEPERF_CONTROL_PHASE_BEGIN:
		stack->counts.marks++;
		break;
	case TEEPERF_CONTROL_PHASE_END:
		stack->counts.phase_ends++;
		break;
	case TEEPERF_CONTROL_COUNTS:
		if (record->cut && stack->counts.bad_counts++ == 0)
			stack->bad_word = record->at;
		return tp_stack_counts(stack, record);
	default: // all that others read: the module map, who joins traces
		stack->counts.reserved += record->form == TP_RECORD_UNKNOWN;
	}
	return true;
}

// Whether the record of KIND at TIME must wait for other threads that are replayed together with
// this one. The words at AT are those behind it.
static bool must_wait(struct tp_stack *stack, const struct tp_record_cursor *at, uint64_t position,
    uint32_t kind, uint64_t time)
{
	struct tp_member *member = stack->member;
	// Where a gap or the range of time begins or ends, stacks do, whoever has them then.
	const uint64_t bound = tp_stack_next_bound(stack);
	member->position = position;
	member->time = time;
	member->waits_for = NULL;
	member->waits_time = bound <= time ? bound : 0;
	if (kind == TEEPERF_KIND_RESYNC && at->i < at->count &&
	    at->words[at->i] == TEEPERF_POSITION_ELSEWHERE) {
		member->waits_for =
		    tp_moves_member(member->moves, stack->departure >> TEEPERF_DEPARTURE_SHIFT);
		member->waits_position = TEEPERF_DEPARTURE_POSITION(stack->departure);
	}
	if (member->waits_for == member)
		member->waits_for = NULL;
	const bool waits = !tp_member_may_go_on(member);
	member->forced = false;
	return waits;
}

// settle() for record number I of a chunk, whose counts begin anew with the range of time. False:
// the record lies in a gap, or behind the range, which is over.
static bool settle_record(
    struct tp_stack *stack, struct tp_stack_place *at, uint32_t i, uint64_t time)
{
	const bool quiet = stack->quiet;
	const bool goes_on = settle(stack, time);
	if (quiet && !stack->quiet) {
		at->events = 0;
		stack->counts.records = at->words.count - i;
	}
	if (stack->over) {
		stack->counts.records -= at->words.count - i;
		at->last = stack->to;
	}
	return goes_on;
}

// The range of time begins before record number I: calls that end in it without a record are to
// find it begun. False: no memory, or it is over at once.
static bool begin_range_first(struct tp_stack *stack, struct tp_stack_place *at, uint32_t i)
{
	if (!tp_stack_end_closed(stack, at, stack->from) ||
	    (stack->from >= stack->off_edge && !tp_stack_look_off(stack, at->last, stack->from)))
		return false;
	at->last = stack->from;
	settle_record(stack, at, i, stack->from);
	return !stack->over;
}

// Replay the record at hand, whatever it is. False: no memory, or the range of time is over.
// Records of functions are read here: with tp_record_next, a trace without times of exits takes 7 %
// longer.
static bool replay_record(struct tp_stack *stack, struct tp_stack_place *at)
{
	struct tp_record_cursor *words = &at->words;
	const uint32_t tagged = (uint32_t)(words->words[words->i] >> 32);
	if (tagged < TEEPERF_NAME_FIRST) {
		struct tp_record record;
		return tp_record_next(words, &record) && tp_stack_control(stack, &record, at->last);
	}
	const uint32_t i = words->i++;
	const uint64_t position = at->position + (uint64_t)i * 8;
	const uint32_t name = tagged & ~TEEPERF_KIND_MASK;
	const uint32_t kind = tagged & TEEPERF_KIND_MASK;
	if (kind == TEEPERF_KIND_UNTIMED) {
		untimed_exit(stack, name);
		at->events++;
		return true;
	}
	uint64_t time = words->high | (uint32_t)words->words[i];
	if (!stack->started) {
		stack->started = true;
		stack->first = at->last = time;
	}
	if (stack->member &&
	    must_wait(stack, words, position, kind, time < at->last ? at->last : time)) {
		words->i = i;
		stack->blocked = true;
		return true;
	}
	if (time < at->last) {
		stack->counts.backwards++;
		time = at->last;
	}
	if (stack->selected && stack->quiet && time >= stack->from &&
	    !begin_range_first(stack, at, i))
		return false;
	if (stack->selected && !tp_stack_end_closed(stack, at, time))
		return false;
	tp_stack_look(stack, time - at->last);
	if (time >= stack->off_edge && !tp_stack_look_off(stack, at->last, time))
		return false;
	at->last = time;
	if (time >= stack->edge) {
		const bool goes_on = settle_record(stack, at, i, time);
		if (stack->over)
			return false;
		if (!goes_on) {
			stack->counts.dropped++;
			at->events += kind != TEEPERF_KIND_RESYNC;
			words->i += kind == TEEPERF_KIND_RESYNC;
			return true;
		}
	}
	if (stack->left && !tp_stack_settle_left(stack, kind, time))
		return false;
	if (stack->selected && !tp_stack_end_closed(stack, at, time))
		return false;
	if (kind == TEEPERF_KIND_RESYNC) {
		if (words->i < words->count)
			return tp_stack_change(
			    stack, name, words->words[words->i++], time, position);
		stack->counts.unknown_resyncs++;
		return true;
	}
	at->events++;
	if (stack->selected && !is_selected(stack, name, time)) {
		stack->counts.on_way++;
		return true;
	}
	if (kind == TEEPERF_KIND_ENTER)
		return tp_frames_push(stack, name, time, position);
	exit_call(stack, name, time);
	return true;
}

bool tp_stack_push(struct tp_stack *stack, uint32_t name, uint64_t time, uint64_t position)
{
	return tp_frames_push(stack, name, time, position);
}

void tp_stack_exit(struct tp_stack *stack, uint32_t name, uint64_t time)
{
	exit_call(stack, name, time);
}

void tp_stack_unwind(struct tp_stack *stack, uint32_t depth, uint64_t time)
{
	while (stack->depth > depth)
		tp_frames_pop(stack, time);
}

int tp_stack_replay(struct tp_stack *stack, const uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t position)
{
	struct tp_stack_place at = {
	    tp_records_begin(words, count, first_time), stack->last, 0, position};
	if (stack->over)
		return 0;
	stack->counts.records += count;
	return tp_stack_go_on(stack, &at);
}

int tp_stack_go_on(struct tp_stack *stack, struct tp_stack_place *at)
{
	bool ok = true;
	stack->blocked = false;
	while (ok && at->words.i < at->words.count && !stack->blocked) {
		// A sink alone does not hinder; a range that has not begun, a least time, and times
		// that most calls have nothing of, do.
		if (stack->started && !stack->selected && !stack->slow &&
		    (!stack->special || (stack->sink && !stack->quiet && !stack->least)) &&
		    stack->profile->time <= TP_TIME_CPU)
			tp_stack_replay_usual(stack, at);
		if (at->words.i < at->words.count) {
			stack->unusual++;
			ok = replay_record(stack, at);
		}
	}
	stack->last = at->last;
	stack->counts.events += at->events;
	at->events = 0;
	return (ok || stack->over) && !stack->no_memory ? 0 : TP_ERR_MEMORY;
}
