/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whose a name is. Records name functions by the low half of an address, and one address may be
 * that of several modules in turn: libraries are unloaded and others loaded at their place; and the
 * same library may come back elsewhere. The map gives each module one place of its own, made up
 * where its own is shared, and moves the names in records there, by their times. So a name has one
 * meaning, and a function one name.
 */
#ifndef TP_MODULE_MAP_H
#define TP_MODULE_MAP_H

#include "common/err.h"
#include "common/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/log.h>

/*
 * What a module is called: its path, else its UUID, else the empty string. TEXT has
 * TP_MODULE_NAME_SIZE bytes.
 */
enum { TP_UUID_TEXT_SIZE = 37, TP_MODULE_NAME_SIZE = TEEPERF_MODULE_PATH_SIZE };
const char *tp_module_name(const struct teeperf_module *module, char *text);
/* Its UUID as text, or the empty string. TEXT has TP_UUID_TEXT_SIZE bytes. */
const char *tp_module_uuid(const struct teeperf_module *module, char *text);

/* A module's turn at a piece of the names. */
struct tp_module_turn {
	uint64_t from;  /* ticks: loaded */
	uint64_t until; /* unloaded; UINT64_MAX: never */
	uint64_t clear; /* before this time it may be an earlier one's turn as well */
	uint64_t move;  /* what to add to an address, or (its low half) to a name */
	uint32_t original;
};

/* Names from `first` up to the next span's belong to the same modules. */
struct tp_module_span {
	uint32_t first;
	uint32_t turn_count;
	const struct tp_module_turn *turns; /* by from */
};

struct tp_module_map {
	/* The modules, each once, at the place that is theirs alone. */
	const struct teeperf_module *modules;
	uint32_t count;
	uint64_t *moved; /* for each of them, by how much it was moved from its first place */
	bool moves;      /* some module is not where it was; otherwise the rest is not there */
	struct tp_module_span *spans; /* by first; the first span's is 0 */
	uint32_t span_count;
	const struct teeperf_module *originals; /* as the trace has them */
	uint64_t *original_moves;
	uint32_t original_count;
};

/*
 * Make the map of the COUNT modules of FILE, which must outlive it, in the arena. Modules that
 * cannot be distinguished are a problem. 0 or TP_ERR_MEMORY.
 */
int tp_module_map_init(struct tp_module_map *map, const struct teeperf_module *modules,
    uint32_t count, const char *file, struct tp_problems *problems, struct tp_arena *arena);

/*
 * Move the names in a thread's next chunk. *LAST is the thread's own, 0 at first: the latest time
 * so far. Names that may be those of several modules stay, and are in none of map->modules.
 */
void tp_module_map_chunk(const struct tp_module_map *map, uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t *last);

/* Whether NAME is that of a module, or was before it was moved. */
bool tp_module_map_knows(const struct tp_module_map *map, uint32_t name);

#endif
