// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions were recorded when.
#include "selections.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/abi.h>
#include <teeperf/trace.h>

// A trace in which all functions change over and over again is made by nobody.
enum { MOVES_MORE = 1 << 22, MOVES_EACH = 64 };
// How many functions may be looked at for that: some seconds.
#define LOOKS_MOST (UINT64_C(1) << 30)

// The state of a hash during the pass through the entries; the last one stands for all functions
// that are on no list.
struct state {
	uint64_t hash;
	uint64_t last; // when it moved last
	uint32_t moves;
	bool listed;
	bool on;
	bool at_first;
};

struct move {
	uint32_t state;
	uint64_t time;
};

struct work {
	struct teeperf_trace_selection *entries;
	size_t count;
	struct state *states;
	uint32_t state_count; // without that of the rest
	struct move *moves;
	uint64_t move_count;
	uint64_t move_room;
	uint64_t looks; // at functions, of selections that may change all of them
	bool no_memory;
};

static bool is_on(uint32_t only, bool listed)
{
	return only == TEEPERF_ONLY_LISTED ? listed : only == TEEPERF_ONLY_REST ? !listed : true;
}

// A tick's records are from before a function was left out, and from behind the time at which it
// came.
static void move(struct work *work, uint32_t index, uint32_t only, uint64_t time)
{
	struct state *state = &work->states[index];
	const bool on = is_on(only, state->listed);
	if (on == state->on)
		return;
	const uint64_t at = !on ? time + 1 : time < state->last ? state->last : time;
	if (!TP_GROW(work->moves, work->move_room, work->move_count + 1)) {
		work->no_memory = true;
		return;
	}
	work->moves[work->move_count++] = (struct move){index, at};
	*state = (struct state){.hash = state->hash,
	    .last = at,
	    .moves = state->moves + 1,
	    .listed = state->listed,
	    .on = on,
	    .at_first = state->at_first};
}

static bool make_states(struct work *work)
{
	uint64_t *hashes = malloc((work->count + 1) * sizeof(*hashes));
	work->states = calloc(work->count + 1, sizeof(*work->states));
	size_t found = 0;
	for (size_t i = 0; hashes && i < work->count; i++)
		if (work->entries[i].hash)
			hashes[found++] = work->entries[i].hash;
	if (!hashes || !work->states) {
		free(hashes);
		return false;
	}
	qsort(hashes, found, sizeof(*hashes), tp_compare_u64);
	for (size_t i = 0; i < found; i++)
		if (!i || hashes[i] != hashes[i - 1])
			work->states[work->state_count++].hash = hashes[i];
	free(hashes);
	return true;
}

static uint32_t find_state(const struct work *work, uint64_t hash)
{
	return TP_LOWER_BOUND(0U, work->state_count, at, work->states[at].hash < hash);
}

// The selection that begins with entry I: its list, and what moves by it. Returns the number of the
// next entry.
static size_t apply(struct work *work, size_t i, uint32_t only_before)
{
	const struct teeperf_trace_selection head = work->entries[i];
	const size_t first = ++i;
	for (; i < work->count && work->entries[i].hash; i++)
		work->states[find_state(work, work->entries[i].hash)].listed ^= true;
	if (!head.number)
		for (uint32_t j = 0; j <= work->state_count; j++)
			work->states[j].on = work->states[j].at_first =
			    is_on(head.only, work->states[j].listed);
	else if (head.only != only_before)
		for (uint32_t j = 0; j <= work->state_count; j++, work->looks++)
			move(work, j, head.only, head.time);
	else
		for (size_t j = first; j < i; j++)
			move(work, find_state(work, work->entries[j].hash), head.only, head.time);
	return i;
}

// Why the entries cannot be used, NULL: they can.
static const char *check(const struct work *work)
{
	if (!work->count || work->entries[0].hash || work->entries[0].number)
		return "its first entry is not the initial selection";
	for (size_t i = 1; i < work->count; i++) {
		const struct teeperf_trace_selection *entry = &work->entries[i];
		const struct teeperf_trace_selection *before = entry - 1;
		if (entry->number != before->number + !entry->hash)
			return "one of them is missing";
		if (entry->time < before->time || entry->time >= UINT64_MAX / 2)
			return "their times are not in order";
	}
	return NULL;
}

static bool keep(const struct work *work, struct tp_selections *selections, uint32_t count,
    struct tp_arena *arena)
{
	struct tp_selected *items =
	    tp_arena_alloc(arena, (work->state_count + UINT64_C(1)) * sizeof(*items));
	uint64_t *moves = tp_arena_alloc(arena, (work->move_count + 1) * sizeof(*moves));
	uint64_t *times = tp_arena_alloc(arena, (count + UINT64_C(1)) * sizeof(*times));
	uint64_t *twice = tp_arena_alloc(arena, (count + UINT64_C(1)) * 2 * sizeof(*twice));
	uint64_t **ends = calloc(work->state_count + (size_t)1, sizeof(*ends));
	if (!items || !moves || !times || !twice || !ends) {
		free(ends);
		return false;
	}
	for (uint32_t i = 0; i <= work->state_count; i++) {
		const struct state *state = &work->states[i];
		items[i] = (struct tp_selected){.hash = state->hash,
		    .moves = moves,
		    .count = state->moves,
		    .at_first = state->at_first};
		ends[i] = moves;
		moves += state->moves;
	}
	for (uint64_t i = 0; i < work->move_count; i++)
		*ends[work->moves[i].state]++ = work->moves[i].time;
	free(ends);
	uint32_t at = 0;
	for (size_t i = 0; i < work->count && at < count; i++)
		if (!work->entries[i].hash && work->entries[i].number) {
			times[at] = work->entries[i].time;
			twice[2 * at] = twice[2 * at + 1] = times[at] + 1;
			at++;
		}
	*selections = (struct tp_selections){
	    .times = times,
	    .count = count,
	    .items = items,
	    .item_count = work->state_count,
	    .rest = items[work->state_count],
	    .unknown = {.moves = twice, .count = 2 * count, .at_first = true},
	};
	return true;
}

int tp_selections_init(struct tp_selections *selections, const void *bytes, size_t count,
    const char *file, uint64_t offset, struct tp_problems *problems, struct tp_arena *arena)
{
	*selections = (struct tp_selections){0};
	struct work work = {.count = count};
	work.entries = malloc((count + 1) * sizeof(*work.entries));
	if (!work.entries)
		return TP_ERR_MEMORY;
	memcpy(work.entries, bytes, count * sizeof(*work.entries));
	const char *why = check(&work);
	uint32_t only = TEEPERF_ONLY_ALL;
	uint32_t changes = 0;
	work.no_memory = !why && !make_states(&work);
	for (size_t i = 0; !why && !work.no_memory && i < count;) {
		const size_t head = i;
		changes += work.entries[i].number != 0;
		i = apply(&work, i, only);
		only = work.entries[head].only;
		if ((work.move_count <= MOVES_MORE + MOVES_EACH * (uint64_t)count &&
			work.looks <= LOOKS_MOST) ||
		    i == count)
			continue;
		// From here on all functions count as recorded.
		for (uint32_t j = 0; j <= work.state_count; j++)
			move(&work, j, TEEPERF_ONLY_ALL, work.entries[i].time);
		tp_problems_add_at(problems, TP_ERR_LIMIT, file, offset,
		    "selections after number %" PRIu32 " of %" PRIu32
		    " are not used, because functions change too often: all calls end at each of "
		    "them",
		    changes, work.entries[count - 1].number);
		break;
	}
	if (why)
		tp_problems_add_at(problems, TP_ERR_FORMAT, file, offset,
		    "selections section of %zu entries is not used: %s", count, why);
	else
		work.no_memory |= !work.no_memory && !keep(&work, selections, changes, arena);
	free(work.entries);
	free(work.states);
	free(work.moves);
	return work.no_memory ? TP_ERR_MEMORY : 0;
}

int tp_windows_init(struct tp_windows *windows, const struct tp_selections *selections,
    const void *bytes, size_t count, const char *file, uint64_t offset,
    struct tp_problems *problems, struct tp_arena *arena)
{
	*windows = (struct tp_windows){0};
	struct tp_window *items = tp_arena_alloc(arena, (count + UINT64_C(1)) * sizeof(*items));
	if (!items)
		return TP_ERR_MEMORY;
	uint32_t kept = 0;
	uint32_t last = 0;
	for (size_t i = 0; i < count; i++) {
		struct teeperf_trace_window window;
		memcpy(&window, (const char *)bytes + i * sizeof(window), sizeof(window));
		if (window.selection <= last) {
			tp_problems_add_at(problems, TP_ERR_FORMAT, file, offset,
			    "windows section of %zu entries is not used: they are not in order",
			    count);
			return 0;
		}
		last = window.selection;
		// Selection 0 is what recording began with, and has no time.
		if (last >= selections->count ||
		    selections->times[last - 1] == selections->times[last])
			continue;
		items[kept++] =
		    (struct tp_window){last, selections->times[last - 1], selections->times[last]};
	}
	*windows = (struct tp_windows){items, kept};
	return 0;
}

static const struct tp_selected *find(const struct tp_selections *selections, uint64_t hash)
{
	const uint32_t index =
	    TP_LOWER_BOUND(0U, selections->item_count, at, selections->items[at].hash < hash);
	return index < selections->item_count && selections->items[index].hash == hash
		   ? &selections->items[index]
		   : NULL;
}

const struct tp_selected *tp_selections_of(const struct tp_selections *selections, const char *name)
{
	// Link-time optimisation may have renamed it: name.llvm.123, name.4.
	uint64_t length = strlen(name);
	for (;;) {
		const struct tp_selected *found = find(selections, teeperf_name_hash(name, length));
		if (found)
			return found;
		uint64_t end = length;
		while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
			end--;
		if (end < 2 || end == length || name[end - 1] != '.')
			return NULL;
		length = end - 1;
		if (length > 5 && !strncmp(name + length - 5, ".llvm", 5))
			length -= 5;
	}
}
