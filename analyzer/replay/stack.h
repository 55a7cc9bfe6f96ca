/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Records become calls: the stack of one thread, replayed chunk by chunk into its profile. Any
 * sequence of words is accepted; what does not fit is counted.
 */
#ifndef TP_STACK_H
#define TP_STACK_H

#include "analyzer/replay/call_sink.h"
#include "analyzer/replay/moves.h"
#include "analyzer/replay/profile.h"
#include "analyzer/trace/selections.h"
#include "analyzer/trace/switches.h"
#include "common/chunks/records.h"
#include "common/index.h"

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/log.h>

/*
 * Calls that were counted: the sums of the pairs behind COUNTS records, by full run-time address;
 * with TEEPERF_COUNTS_SAMPLED (log.h) in it if some of the calls have records as well.
 */
struct tp_call_count {
	uint64_t address;
	uint64_t calls;
};

/* All zero is an empty one. */
struct tp_call_counts {
	struct tp_call_count *items; /* in the order in which the addresses were first seen */
	uint32_t count;
	uint32_t room;
	struct tp_index index; /* by address */
};

/* Add CALLS to those of ADDRESS; the largest number is not exceeded. False: no memory. */
bool tp_call_counts_add(struct tp_call_counts *counts, uint64_t address, uint64_t calls);
void tp_call_counts_release(struct tp_call_counts *counts);

/* A call that was still running at the end. */
struct tp_open_call {
	uint64_t began; /* ticks */
	uint32_t node;
};

struct tp_stack_counts {
	uint64_t records; /* words, the raw ones behind RESYNC and COUNTS included */
	uint64_t events;  /* enters and exits, timed or not */
	uint64_t lost;    /* events, by LOST records */
	uint64_t counted; /* calls, by COUNTS records */
	/* Where recording was switched off. */
	uint64_t cut;         /* calls that were running when it was: they count up to there */
	uint64_t early;       /* ends of calls that had begun before it was switched on again */
	uint64_t forked;      /* ends of calls that had begun before the process was forked */
	uint64_t overwritten; /* ends of calls that had begun before the rest of the thread */
	uint64_t dropped;     /* records that lie in between: they were on their way when it was */
	/* Where the recording of single functions was. */
	uint64_t left_out;  /* calls that were running when theirs was: they count up to there */
	uint64_t came_back; /* ends of calls that had begun before theirs was switched on again */
	uint64_t on_way;    /* records that lie in between */
	/* Contexts: stacks beside the thread's own. */
	uint64_t contexts; /* that began */
	uint64_t left;     /* with open calls, to which the thread has not come back */
	uint64_t moved;    /* arrivals of stacks from other threads */
	uint64_t apart;    /* of these, of stacks that are not known: paths begin anew */
	uint64_t more;     /* calls on paths for which there were too many */
	/* Oddities. */
	uint64_t unmatched_exits;  /* exits of functions that were not running */
	uint64_t unmatched_enters; /* calls without an exit, ended by an exit further down */
	uint64_t unknown_resyncs;  /* resyncs to an activation of which nothing is known */
	uint64_t open;             /* calls that were still running at the thread's end */
	uint64_t backwards;        /* times before their predecessor's, moved up to it */
	uint64_t holes;            /* words that were never written */
	uint64_t reserved;         /* control records that this version does not know */
	uint64_t bad_counts;       /* COUNTS records with impossible numbers of pairs */
	/* Marks (analyzer/trace/marks.h), wherever they are. */
	uint64_t marks;      /* moments, and phases that begin */
	uint64_t phase_ends; /* records */
};

static inline void tp_stack_counts_add(
    struct tp_stack_counts *to, const struct tp_stack_counts *counts)
{
	// There is nothing else in it.
	for (size_t i = 0; i < sizeof(*to) / sizeof(uint64_t); i++)
		((uint64_t *)to)[i] += ((const uint64_t *)counts)[i];
}

/*
 * FRAMES is the stack that the thread runs on, CONTEXTS has its others. Frame 0 has the children of
 * all of them.
 *
 * Untimed exits end calls at the time of the next record that has one: until then the frames of
 * these calls stay on top, to be popped by it. Nothing is pushed onto them.
 */
struct tp_stack {
	struct tp_profile *profile;
	struct tp_call_counts calls; /* that were only counted */
	struct tp_frame *frames;
	uint32_t depth;    /* frames in use, at least 1 */
	uint32_t pending;  /* of these, calls that have ended without a time; less than depth */
	uint32_t capacity; /* frames allocated */
	uint32_t bad_word; /* index in its chunk of the first COUNTS record that is bad_counts */
	uint64_t first;    /* ticks of the first event */
	uint64_t last;     /* ticks of the last event so far */
	uint64_t edge;     /* a timed record from here on has to be settled first */
	uint64_t
	    off_edge; /* behind a timed record from here on, the thread may have had no processor */
	uint32_t base;  /* node that the outermost calls are called from; 0: of none */
	bool started;   /* first is valid */
	bool ended;     /* a THREAD_END record has been seen */
	bool left;      /* for another stack, which only the next record will tell */
	bool foreign;   /* the stack began in another thread */
	uint64_t since; /* when it was left */
	uint64_t away;  /* ticks for which it was left before */
	uint64_t named; /* as in struct tp_context */
	uint64_t left_at;
	uint64_t outer;
	uint64_t departure;       /* the sum of LEFT records so far */
	struct tp_member *member; /* of threads that are replayed together; NULL: replayed alone */
	bool blocked;             /* it waits for others at the record that is next */
	bool leaves;              /* a stack of it was left: others may take it */
	bool arrives;             /* a stack has come from another thread */
	struct tp_contexts contexts;
	struct tp_off_list off;          /* when the thread had no processor */
	uint32_t off_at;                 /* of its stretches, the first that is not over */
	struct tp_frame_off *frame_offs; /* [0] is not used */
	uint32_t frame_off_count;
	uint32_t frame_off_capacity;
	uint32_t frame_off_free;
	bool no_memory;                     /* for one of these */
	struct tp_selected_spans *selected; /* NULL: all functions were always recorded */
	struct tp_gaps gaps;
	uint32_t gap;     /* gaps that have begun and ended */
	bool in_gap;      /* gap number `gap` has begun */
	bool forked;      /* calls may have begun before the process was forked */
	bool switched;    /* recording was switched on: calls may have begun before that */
	bool overwritten; /* (ring) the beginning is; set before the first chunk */
	uint64_t until;   /* see tp_stack_set_until; 0: not known */
	uint64_t lost;
	/* Once it is finished: the calls that were open at the end, the outermost first. */
	struct tp_open_call *open;
	uint32_t open_count;
	/*
	 * Since the last timed record: untimed exits that match no call, and calls without an exit.
	 */
	uint32_t waiting_exits;
	uint32_t waiting_enters;
	struct tp_stack_counts counts;
	uint64_t unusual; /* records that tp_stack_replay_usual left to the long way */
	bool slow;        /* (tests) all of them go it */
	/* What few analyses need; `special` if one of them does. */
	bool special;
	bool quiet;           /* the range of time has not begun: nothing counts yet */
	bool over;            /* it has ended */
	bool parked;          /* the calls that end just now are on a stack that was left */
	enum tp_call_end how; /* in which way calls end just now */
	uint64_t from;        /* the range of time in ticks; 0 and UINT64_MAX: all */
	uint64_t to;
	uint64_t least;            /* shorter calls are part of their callers */
	struct tp_call_sink *sink; /* NULL: none */
	bool only_calls;           /* the sink is all that wants them: the profile gets no sums */
};

/* The profile must outlive the stack. 0 or TP_ERR_MEMORY. Release it in any case. */
int tp_stack_init(struct tp_stack *stack, struct tp_profile *profile);
/*
 * Before the first chunk: when recording was switched off. The gaps must outlive the stack. Without
 * a clock (`timeless`) there is no telling which records lie behind one.
 */
void tp_stack_set_gaps(struct tp_stack *stack, const struct tp_gaps *gaps, bool timeless);
void tp_stack_release(struct tp_stack *stack);
/*
 * Before the first chunk: which functions were not always recorded; it must outlive the stack.
 * False: no memory.
 */
bool tp_stack_set_selected(struct tp_stack *stack, const struct tp_selected_names *names);

/* All optional, before the first chunk. */
/*
 * The thread lived, and was recorded, until this tick, if its records do not say that it ended. By
 * its own count LOST events were lost: if its records tell of less, the last ones were, and nothing
 * is known of the time after its last record.
 */
static inline void tp_stack_set_until(struct tp_stack *stack, uint64_t until, uint64_t lost)
{
	stack->until = until;
	stack->lost = lost;
}
/*
 * Only events in [from, to), in ticks: of a call that was running before or ran on, the part in
 * between counts. The counts are then those of the records in the range.
 */
void tp_stack_set_range(struct tp_stack *stack, uint64_t from, uint64_t to);
/* Calls that lasted less than LEAST ticks, by the net time, are part of their callers. */
void tp_stack_set_least(struct tp_stack *stack, uint64_t least);
/* When the thread had no processor; the list must outlive the stack. NULL: not known. */
void tp_stack_set_off(struct tp_stack *stack, const struct tp_off_list *off);
/* All outermost calls are called from TP_NAME_ATTACHED. False: no memory. */
bool tp_stack_set_attached(struct tp_stack *stack);
/*
 * After tp_stack_finish: the thread itself has the inclusive time of its calls. So has
 * TP_NAME_ATTACHED, and no time of its own, as nothing is known of what it did.
 */
void tp_stack_settle(struct tp_stack *stack);
/* Hand all calls to the sink, which must outlive the stack. */
void tp_stack_set_sink(struct tp_stack *stack, struct tp_call_sink *sink);

/*
 * Replay the COUNT words of the thread's next chunk. FIRST_TIME is as in its header; POSITION is
 * that of its first word. 0 or TP_ERR_MEMORY.
 */
int tp_stack_replay(struct tp_stack *stack, const uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t position);
/*
 * End the calls that are still open: until then the thread lived, or where recording was switched
 * off; else at its last event.
 */
void tp_stack_finish(struct tp_stack *stack);

/* ---- steps of a replay, for the files that replay in other ways than one record after another */

/* Where replaying a chunk is. */
struct tp_stack_place {
	struct tp_record_cursor words;
	uint64_t last; /* time so far */
	uint64_t events;
	uint64_t position; /* of the first word */
};

/*
 * tp_stack_replay without counting the words, from where AT is on; AT is the place in a chunk.
 * Stops early with `blocked` if it has to wait for other members; call it again then.
 */
int tp_stack_go_on(struct tp_stack *stack, struct tp_stack_place *at);
/*
 * Go on as long as records are the usual ones: enters of paths that are known, and exits of calls
 * on top. pre: the stack is started; if it is special, then for a sink, in its range of time and
 * without a least time.
 */
void tp_stack_replay_usual(struct tp_stack *stack, struct tp_stack_place *at);

/* A look at the clock, TICKS behind the last one. */
static inline void tp_stack_look(struct tp_stack *stack, uint64_t ticks)
{
	if (stack->profile->waited && !stack->quiet && !stack->in_gap && !stack->left)
		stack->frames[stack->depth - 1].looked += tp_profile_look(stack->profile, ticks);
}

/*
 * A timed record at TIME follows the one at LAST, and TIME is not before `off_edge`: what of the
 * time between was without a processor is the own time of the call on top. False: no memory.
 */
bool tp_stack_look_off(struct tp_stack *stack, uint64_t last, uint64_t time);
/* Go on in the list of stretches to TIME. */
void tp_stack_skip_off(struct tp_stack *stack, uint64_t time);
/* When the range of time begins or ends, or the next gap begins. */
static inline uint64_t tp_stack_next_bound(const struct tp_stack *stack)
{
	const uint64_t bound = stack->quiet ? stack->from : stack->to;
	const bool has_gap = !stack->in_gap && stack->gap < stack->gaps.count;
	const uint64_t gap = has_gap ? stack->gaps.items[stack->gap].from : UINT64_MAX;
	return gap < bound ? gap : bound;
}

/* The time from which on a record has to be settled if nothing is waiting for it. */
static inline uint64_t tp_stack_next_edge(const struct tp_stack *stack)
{
	return stack->in_gap || stack->left ? 0 : tp_stack_next_bound(stack);
}

/* Add OFF to that of a frame. False: no memory. */
bool tp_frame_add_off(
    struct tp_stack *stack, struct tp_frame *frame, const struct tp_frame_off *off);
/* That of a frame, which has it no longer. */
struct tp_frame_off tp_frame_take_off(struct tp_stack *stack, struct tp_frame *frame);

/* The id of an open call, for sinks. */
static inline uint64_t tp_frame_id(const struct tp_stack *stack, const struct tp_frame *frame)
{
	return frame->moved ? stack->member->moves->calls[frame->moved].id : frame->position;
}

/* What a record does, if nothing waits to be settled. False: no memory. */
bool tp_stack_push(struct tp_stack *stack, uint32_t name, uint64_t time, uint64_t position);
void tp_stack_exit(struct tp_stack *stack, uint32_t name, uint64_t time);
bool tp_stack_resync(struct tp_stack *stack, uint32_t name, uint64_t position, uint64_t time);
/* A control record; LAST is the time of the last event. False: no memory. */
bool tp_stack_control(struct tp_stack *stack, const struct tp_record *record, uint64_t last);
/* A COUNTS record, if it is one and not cut. False: no memory. */
bool tp_stack_counts(struct tp_stack *stack, const struct tp_record *record);
/* End the topmost calls until DEPTH frames are left. */
void tp_stack_unwind(struct tp_stack *stack, uint32_t depth, uint64_t time);

#endif
