/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A thread replayed in parts, several at a time. A part that begins in the middle does not know the
 * calls open there: it replays what begins in it, and notes what happens to the calls below
 * ("steps": an exit, or a resync to an earlier position). When the parts before it are done, it is
 * joined to them: the steps are taken, and the calls between two of them hang below the call that
 * is then on top.
 *
 * That gives what one replay gives, to the last count; a part in which there is anything but
 * enters, exits, resyncs, counts and losses says so, and is to be replayed where it belongs.
 */
#ifndef TP_STACK_PART_H
#define TP_STACK_PART_H

#include "analyzer/replay/stack.h"

/* What happened to the calls that were open before the part began. */
struct tp_part_step {
	uint64_t time;
	uint64_t position; /* 0: an exit; otherwise a resync to there */
	uint32_t name;
	uint32_t root; /* node below which the calls before the step are */
	/* What these calls add to the frame that is on top before the step. */
	uint64_t children;
	uint64_t cost;
	uint64_t net;
	uint64_t looked;
	struct tp_frame_off off;
};

struct tp_part {
	struct tp_profile profile;
	struct tp_stack stack;
	uint64_t position; /* of its first record */
	uint32_t root;     /* node below which calls are now */
	struct tp_part_step *steps;
	uint32_t step_count;
	uint32_t step_capacity;
	bool unusual; /* it has to be replayed where it belongs */
};

/* COST as in the thread's profile. 0 or TP_ERR_MEMORY. Release it in any case. */
int tp_part_init(struct tp_part *part, const struct tp_profile_cost *cost);
/* Which time counts, and when the thread had no processor; NULL: not known. 0 or TP_ERR_MEMORY. */
int tp_part_set_time(struct tp_part *part, enum tp_time time, const struct tp_off_list *off);
void tp_part_release(struct tp_part *part);
/* As tp_stack_replay. Without memory, too, the part is then unusual. */
void tp_part_replay(struct tp_part *part, const uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t position);
/*
 * Whether the part can be joined to this stack. A stack with a sink that alone wants the calls
 * (only_calls) gets those only that begin or end outside of the part: the part's own stack has a
 * sink for the others.
 */
bool tp_part_fits(const struct tp_part *part, const struct tp_stack *stack);
/* Go on with the stack behind the part. pre: it fits. 0 or TP_ERR_MEMORY. */
int tp_part_join(const struct tp_part *part, struct tp_stack *stack);

#endif
