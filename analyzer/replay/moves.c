// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that are replayed together: which waits for which, and the records of calls that moved.
#include "moves.h"

#include "common/array.h"

#include <stdlib.h>
#include <teeperf/log.h>

void tp_moves_release(struct tp_moves *moves)
{
	free(moves->calls);
	free(moves->members);
	*moves = (struct tp_moves){0};
}

struct tp_member *tp_moves_member(const struct tp_moves *moves, uint64_t home)
{
	const uint32_t low = TP_LOWER_BOUND(0, moves->count, middle,
	    (moves->members[middle].home & TEEPERF_DEPARTURE_HOMES) < home);
	struct tp_member *member = low < moves->count ? &moves->members[low] : NULL;
	return home && member && (member->home & TEEPERF_DEPARTURE_HOMES) == home ? member : NULL;
}

uint32_t tp_moves_add(struct tp_moves *moves)
{
	uint32_t index = moves->free;
	if (index) {
		moves->free = moves->calls[index].next;
		moves->calls[index] = (struct tp_moved_call){0};
		return index;
	}
	if (!TP_GROW(moves->calls, moves->call_capacity, moves->call_count + UINT64_C(1)))
		return 0;
	index = moves->call_count ? moves->call_count : 1;
	moves->call_count = index + 1;
	moves->calls[index] = (struct tp_moved_call){0};
	return index;
}

void tp_moves_drop(struct tp_moves *moves, uint32_t call)
{
	moves->calls[call].next = moves->free;
	moves->free = call;
}

bool tp_member_may_go_on(const struct tp_member *member)
{
	if (member->forced)
		return true;
	const struct tp_member *other = member->waits_for;
	if (other && !other->done && other->position <= member->waits_position)
		return false;
	for (uint32_t i = 0; member->waits_time && i < member->moves->count; i++) {
		other = &member->moves->members[i];
		if (other != member && !other->done && other->time < member->waits_time)
			return false;
	}
	return true;
}
