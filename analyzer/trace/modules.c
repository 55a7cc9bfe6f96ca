// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose a name is, where modules came and went.
#define _GNU_SOURCE
#include "modules.h"

#include "common/array.h"
#include "common/chunks/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tp_module_uuid(const struct teeperf_module *module, char *text)
{
	static const uint8_t none[sizeof(module->uuid)];
	size_t at = 0;
	text[0] = '\0';
	if (memcmp(module->uuid, none, sizeof(none)) == 0)
		return text;
	for (size_t i = 0; i < sizeof(none); i++)
		at += (size_t)snprintf(text + at, TP_UUID_TEXT_SIZE - at,
		    i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", module->uuid[i]);
	return text;
}

const char *tp_module_name(const struct teeperf_module *module, char *text)
{
	return module->path[0] ? strcpy(text, module->path) : tp_module_uuid(module, text);
}

#define NAMES (UINT64_C(1) << 32)
#define PAGE UINT64_C(4096)
// Made-up places: the low half is free in the trace, the upper one is no program's.
#define PLACES UINT64_C(0xf0f0f0f000000000)
// A hostile trace may put thousands of modules over one another: this many turns in all are enough.
#define TURNS_MAX (UINT64_C(1) << 22)
// Number of modules to search for counts that do not name theirs.
#define UNTOLD_MAX 64

// All that one call of tp_module_map_init works on. Modules that recorded nothing are not in it.
struct build {
	const struct teeperf_module *modules;
	uint32_t *usable; // indices in modules, by loaded
	uint32_t usable_count;
	uint32_t *same;   // for each module the first one of the same file
	uint32_t *bounds; // where some module begins or ends, ascending; 0 is the first
	uint32_t bound_count;
	struct tp_module_span *spans; // one for each bound
	struct tp_module_turn *turns;
	uint32_t *owners; // of each turn: index in modules
	bool *alone;      // for each span; once the turns are there
	bool *placed;     // for the first module of each file
};

static int compare_identity(const struct teeperf_module *a, const struct teeperf_module *b)
{
	int order = TP_COMPARE(a->end - a->start, b->end - b->start);
	order = order ? order : TP_COMPARE(a->start - a->bias, b->start - b->bias);
	// Names keep the two bits that are not theirs.
	order = order ? order : TP_COMPARE(a->start % 4, b->start % 4);
	// In a joined trace one file may be on both sides.
	order = order ? order
		      : TP_COMPARE(a->flags & TEEPERF_MODULE_TEE, b->flags & TEEPERF_MODULE_TEE);
	order = order ? order : memcmp(a->build_id, b->build_id, sizeof(a->build_id));
	order = order ? order : memcmp(a->uuid, b->uuid, sizeof(a->uuid));
	order = order ? order : memcmp(&a->code_hash, &b->code_hash, sizeof(a->code_hash));
	return order ? order : strcmp(a->path, b->path);
}

static int by_identity(const void *a, const void *b, void *context)
{
	const struct build *build = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const int order = compare_identity(&build->modules[x], &build->modules[y]);
	return order ? order : TP_COMPARE(x, y);
}

static int by_loaded(const void *a, const void *b, void *context)
{
	const struct build *build = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const int order = TP_COMPARE(build->modules[x].loaded, build->modules[y].loaded);
	return order ? order : TP_COMPARE(x, y);
}

// The span that NAME is in.
static uint32_t find_span(const struct tp_module_span *spans, uint32_t count, uint32_t name)
{
	return TP_LOWER_BOUND(1, count, middle, spans[middle].first <= name) - 1;
}

static void find_same(struct build *build)
{
	qsort_r(build->usable, build->usable_count, sizeof(*build->usable), by_identity, build);
	for (uint32_t i = 0; i < build->usable_count; i++) {
		const uint32_t at = build->usable[i];
		const uint32_t before = i ? build->usable[i - 1] : at;
		const bool same =
		    i && compare_identity(&build->modules[before], &build->modules[at]) == 0;
		build->same[at] = same ? build->same[before] : at;
	}
	qsort_r(build->usable, build->usable_count, sizeof(*build->usable), by_loaded, build);
}

static void find_bounds(struct build *build)
{
	uint32_t count = 0;
	build->bounds[count++] = 0;
	for (uint32_t i = 0; i < build->usable_count; i++) {
		const struct teeperf_module *module = &build->modules[build->usable[i]];
		build->bounds[count++] = (uint32_t)module->start;
		build->bounds[count++] = (uint32_t)module->end;
	}
	qsort(build->bounds, count, sizeof(*build->bounds), tp_compare_u32);
	uint32_t kept = 1;
	for (uint32_t i = 1; i < count; i++)
		if (build->bounds[i] != build->bounds[kept - 1])
			build->bounds[kept++] = build->bounds[i];
	build->bound_count = kept;
	for (uint32_t i = 0; i < kept; i++)
		build->spans[i] = (struct tp_module_span){.first = build->bounds[i]};
}

// How many spans the module has, from *FIRST on and around the end.
static uint32_t spans_of(
    const struct build *build, const struct teeperf_module *module, uint32_t *first)
{
	*first = find_span(build->spans, build->bound_count, (uint32_t)module->start);
	if (module->end - module->start >= NAMES)
		return build->bound_count;
	const uint32_t end = find_span(build->spans, build->bound_count, (uint32_t)module->end);
	return end > *first ? end - *first : end + build->bound_count - *first;
}

// The number of turns in all spans; they are counted in the spans.
static uint64_t count_turns(struct build *build)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < build->usable_count && all <= TURNS_MAX; i++) {
		uint32_t first;
		const uint32_t count = spans_of(build, &build->modules[build->usable[i]], &first);
		for (uint32_t j = 0; j < count; j++)
			build->spans[(first + j) % build->bound_count].turn_count++;
		all += count;
	}
	return all;
}

static void fill_turns(struct build *build)
{
	uint64_t at = 0;
	for (uint32_t i = 0; i < build->bound_count; i++) {
		build->spans[i].turns = build->turns + at;
		at += build->spans[i].turn_count;
		build->spans[i].turn_count = 0;
	}
	for (uint32_t i = 0; i < build->usable_count; i++) {
		const struct teeperf_module *module = &build->modules[build->usable[i]];
		uint32_t first;
		const uint32_t count = spans_of(build, module, &first);
		for (uint32_t j = 0; j < count; j++) {
			struct tp_module_span *span =
			    &build->spans[(first + j) % build->bound_count];
			const size_t turn =
			    (size_t)(span->turns - build->turns) + span->turn_count++;
			build->owners[turn] = build->usable[i];
			build->turns[turn] = (struct tp_module_turn){
			    .original = build->usable[i],
			    .from = module->loaded,
			    .until = module->unloaded ? module->unloaded : UINT64_MAX,
			};
		}
	}
}

// Whether all names of a span are those of one file at one place.
static void find_alone(struct build *build)
{
	for (uint32_t i = 0; i < build->bound_count; i++) {
		const struct tp_module_span *span = &build->spans[i];
		const uint32_t *owners = build->owners + (span->turns - build->turns);
		bool alone = true;
		for (uint32_t j = 1; j < span->turn_count && alone; j++)
			alone = build->same[owners[j]] == build->same[owners[0]] &&
				(uint32_t)build->modules[owners[j]].start ==
				    (uint32_t)build->modules[owners[0]].start;
		build->alone[i] = alone;
	}
}

// Whether names at the module's place are those of this file there alone.
static bool is_alone(const struct build *build, uint32_t index)
{
	uint32_t first;
	const uint32_t count = spans_of(build, &build->modules[index], &first);
	bool alone = true;
	for (uint32_t j = 0; j < count && alone; j++)
		alone = build->alone[(first + j) % build->bound_count];
	return alone;
}

// Where names are free for SIZE bytes: *SPAN and *FROM, the place to look on from, are updated. 0:
// nowhere.
static uint64_t find_free(
    const struct build *build, uint64_t size, uint64_t offset, uint32_t *span, uint64_t *from)
{
	for (; *span < build->bound_count; (*span)++) {
		if (build->spans[*span].turn_count)
			continue;
		const uint64_t first = build->bounds[*span];
		const uint64_t end =
		    *span + 1 < build->bound_count ? build->bounds[*span + 1] : NAMES;
		uint64_t at = *from > first ? *from : first;
		at = (at < PAGE ? PAGE : (at + PAGE - 1) / PAGE * PAGE) + offset;
		if (at < end && size <= end - at) {
			*from = at + size;
			return at;
		}
	}
	return 0;
}

// Give each file its place. Returns how many modules the map has.
static uint32_t place(
    struct tp_module_map *map, const struct build *build, struct teeperf_module *places)
{
	uint32_t span = 0;
	uint64_t from = 0;
	uint32_t count = 0;
	for (uint32_t i = 0; i < map->original_count; i++) {
		if (build->same[i] != i)
			continue;
		const struct teeperf_module *module = &build->modules[i];
		struct teeperf_module *to = &places[count];
		const uint64_t size = module->end - module->start;
		*to = *module;
		if (!is_alone(build, i)) {
			const uint64_t found =
			    find_free(build, size, module->start % PAGE, &span, &from);
			if (!found)
				continue; // its names stay where they are, and mean nothing
			to->start = PLACES | found;
			to->end = to->start + size;
			to->bias += to->start - module->start;
		}
		map->moved[count++] = to->start - module->start;
		build->placed[i] = true;
		map->original_moves[i] = to->start - module->start;
	}
	for (uint32_t i = 0; i < map->original_count; i++) {
		const uint32_t same = build->same[i];
		if (same != UINT32_MAX && same != i && build->placed[same])
			map->original_moves[i] = build->modules[same].start +
						 map->original_moves[same] -
						 build->modules[i].start;
	}
	return count;
}

static void find_moves(const struct tp_module_map *map, struct build *build)
{
	for (uint32_t i = 0; i < build->bound_count; i++) {
		const struct tp_module_span *span = &build->spans[i];
		const size_t first = (size_t)(span->turns - build->turns);
		// The latest ends of earlier turns, of two modules: one may be this one itself.
		uint64_t ends[2] = {0, 0};
		uint64_t moves[2] = {0, 0};
		for (uint32_t j = 0; j < span->turn_count; j++) {
			struct tp_module_turn *turn = &build->turns[first + j];
			turn->move = map->original_moves[build->owners[first + j]];
			const bool own = ends[0] && moves[0] == turn->move;
			const uint64_t other = ends[own];
			if (!other || other < turn->from)
				turn->clear = 0;
			else
				turn->clear = other == UINT64_MAX ? other : other + 1;
			if (own) {
				ends[0] = turn->until > ends[0] ? turn->until : ends[0];
			} else if (turn->until >= ends[0]) {
				ends[1] = ends[0];
				moves[1] = moves[0];
				ends[0] = turn->until;
				moves[0] = turn->move;
			} else if (turn->until > ends[1]) {
				ends[1] = turn->until;
				moves[1] = turn->move;
			}
		}
	}
}

// Whether each file has been at one place only, and had it to itself.
static bool is_plain(const struct build *build)
{
	for (uint32_t i = 0; i < build->usable_count; i++) {
		const uint32_t index = build->usable[i];
		if (build->modules[build->same[index]].start != build->modules[index].start ||
		    !is_alone(build, index))
			return false;
	}
	return true;
}

static void list_usable(struct build *build, uint32_t count, struct tp_problems *problems)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct teeperf_module *module = &build->modules[i];
		build->same[i] = UINT32_MAX;
		if (module->flags & TEEPERF_MODULE_COLLIDES)
			tp_problems_add(problems, TP_ERR_LIMIT, module->path,
			    "its calls were not recorded: another module has the same low "
			    "halves of addresses, or they are below 4096 (run it again; if that "
			    "does not help, link it with -z separate-code)");
		else if (module->end > module->start)
			build->usable[build->usable_count++] = i;
	}
}

int tp_module_map_init(struct tp_module_map *map, const struct teeperf_module *modules,
    uint32_t count, const char *file, struct tp_problems *problems, struct tp_arena *arena)
{
	*map = (struct tp_module_map){.originals = modules, .original_count = count};
	if (!count)
		return 0;
	const size_t bounds = 2 * (size_t)count + 1;
	struct build build = {
	    .modules = modules,
	    .usable = tp_arena_alloc(arena, count * sizeof(*build.usable)),
	    .same = tp_arena_alloc(arena, count * sizeof(*build.same)),
	    .bounds = tp_arena_alloc(arena, bounds * sizeof(*build.bounds)),
	    .spans = tp_arena_alloc(arena, bounds * sizeof(*build.spans)),
	    .alone = tp_arena_alloc(arena, bounds * sizeof(*build.alone)),
	    .placed = tp_arena_alloc(arena, count * sizeof(*build.placed)),
	};
	struct teeperf_module *places = tp_arena_alloc(arena, count * sizeof(*places));
	map->original_moves = tp_arena_alloc(arena, count * sizeof(*map->original_moves));
	map->moved = tp_arena_alloc(arena, count * sizeof(*map->moved));
	if (!map->moved || !build.usable || !build.same || !build.bounds || !build.spans ||
	    !build.alone || !build.placed || !places || !map->original_moves)
		return TP_ERR_MEMORY;
	list_usable(&build, count, problems);
	find_same(&build);
	find_bounds(&build);
	const uint64_t turns = count_turns(&build);
	if (turns > TURNS_MAX) {
		tp_problems_add(
		    problems, TP_ERR_LIMIT, file, "%" PRIu32 " modules overlap: no names", count);
		return 0;
	}
	build.turns = tp_arena_alloc(arena, turns * sizeof(*build.turns) + 1);
	build.owners = tp_arena_alloc(arena, turns * sizeof(*build.owners) + 1);
	if (!build.turns || !build.owners)
		return TP_ERR_MEMORY;
	fill_turns(&build);
	find_alone(&build);
	map->modules = places;
	map->spans = build.spans;
	map->span_count = build.bound_count;
	map->moves = !is_plain(&build);
	map->count = place(map, &build, places);
	find_moves(map, &build);
	return 0;
}

// ---- moving names

// The turn at TIME, or NULL if it is not known whose it is.
static const struct tp_module_turn *find_turn(const struct tp_module_span *span, uint64_t time)
{
	const uint32_t low =
	    TP_LOWER_BOUND(1, span->turn_count, middle, span->turns[middle].from <= time) - 1;
	// Its code is gone: this is the code of the next one, whose constructor has not called us
	// yet.
	if (time > span->turns[low].until && low + 1 < span->turn_count)
		return &span->turns[low + 1];
	return time < span->turns[low].clear ? NULL : &span->turns[low];
}

static bool is_in(const struct tp_module_map *map, uint32_t span, uint32_t name)
{
	return map->spans[span].first <= name &&
	       (span + 1 == map->span_count || name < map->spans[span + 1].first);
}

static bool holds(const struct teeperf_module *module, uint64_t address)
{
	return address >= module->start && address < module->end;
}

// The address plus the distance by which its module was moved. NUMBER is the module's + 1 if it is
// known, or 0.
static uint64_t move_address(const struct tp_module_map *map, uint64_t address, uint64_t number)
{
	const struct teeperf_module *modules = map->originals;
	if (number && number <= map->original_count && holds(&modules[number - 1], address))
		return address + map->original_moves[number - 1];
	const struct tp_module_span *span =
	    &map->spans[find_span(map->spans, map->span_count, (uint32_t)address)];
	const struct tp_module_turn *found = NULL;
	if (span->turn_count > UNTOLD_MAX)
		return address;
	for (uint32_t i = 0; i < span->turn_count; i++) {
		const struct tp_module_turn *turn = &span->turns[i];
		if (!holds(&modules[turn->original], address))
			continue;
		if (found && found->move != turn->move)
			return address;
		found = turn;
	}
	return found ? address + found->move : address;
}

void tp_module_map_chunk(const struct tp_module_map *map, uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t *last)
{
	if (!map->moves)
		return;
	struct tp_record_cursor at = tp_records_begin(words, count, first_time);
	uint64_t number = 0;
	uint32_t recent = 0;
	for (struct tp_record record; tp_record_next(&at, &record);) {
		const uint32_t tagged = record.tagged;
		uint64_t *word = words + record.at;
		if (tagged == TEEPERF_CONTROL_MODULE)
			number = record.value;
		if (record.form == TP_RECORD_PAIRS && !record.cut)
			for (uint32_t i = 1; i < record.more_count; i += 2)
				word[i] = move_address(map, word[i], number);
		if (!tp_record_names(&record))
			continue;
		if (record.timed && record.time > *last)
			*last = record.time;
		if (!is_in(map, recent, tagged))
			recent = find_span(map->spans, map->span_count, tagged);
		const struct tp_module_span *span = &map->spans[recent];
		if (span->turn_count) {
			const struct tp_module_turn *turn =
			    span->turn_count == 1 ? span->turns : find_turn(span, *last);
			if (turn)
				*word =
				    (uint64_t)(tagged + (uint32_t)turn->move) << 32 | record.value;
		}
	}
}

bool tp_module_map_knows(const struct tp_module_map *map, uint32_t name)
{
	return map->span_count &&
	       map->spans[find_span(map->spans, map->span_count, name)].turn_count;
}
