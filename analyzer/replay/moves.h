/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads whose stacks move from one to another are replayed together: a thread waits at a record that brings a stack
 * from another thread until that one has been replayed up to where the stack was left, and takes it from there.
 */
#ifndef TP_MOVES_H
#define TP_MOVES_H

#include "analyzer/replay/contexts.h"

/* What a call has from the threads in which it was open before. */
struct tp_moved_call {
	uint64_t duration; /* ticks for which it ran there */
	uint64_t self;     /* of these, its own */
	uint64_t id;       /* for sinks; in the thread that it is in now */
	uint32_t name;     /* of the function: that in the frame is 0 */
	uint32_t next;     /* of the free ones; 0: none */
};

/* Ids of such calls: not those of records, so they have a bit of their own, and numbers from 0 in each thread. */
#define TP_CALL_MOVED (UINT64_C(1) << 63)

struct tp_stack;

/* A thread of them. */
struct tp_member {
	struct tp_moves *moves;
	struct tp_stack *stack;
	uint64_t home;     /* log.h */
	uint64_t position; /* of the record that it has to replay next */
	uint64_t time;     /* of that */
	uint64_t arrived;  /* calls that have come from other threads */
	bool done;
	bool forced; /* nothing goes on otherwise: do not wait at this record */
	/* What it waits for: another thread at a position, or all of them at a time. */
	const struct tp_member *waits_for;
	uint64_t waits_position;
	uint64_t waits_time;
};

struct tp_moves {
	struct tp_member *members; /* by home */
	uint32_t count;
	struct tp_moved_call *calls; /* [0] is not used */
	uint32_t call_count;
	uint32_t call_capacity;
	uint32_t free;
};

/* All zeroes but members and count is an empty one. */
void tp_moves_release(struct tp_moves *moves);
/* The member of this home, as far as a departure tells it; NULL: none. */
struct tp_member *tp_moves_member(const struct tp_moves *moves, uint64_t home);
/* The index of a new call; 0: no memory. */
uint32_t tp_moves_add(struct tp_moves *moves);
void tp_moves_drop(struct tp_moves *moves, uint32_t call);
/* Whether the member need not wait any more for what it waits for. */
bool tp_member_may_go_on(const struct tp_member *member);

#endif
