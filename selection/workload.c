// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program does, function by function: the table, by linkage name.
#include "workload.h"

#include "common/demangle.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define SLOTS_MIN 256u

void tp_workload_init(struct tp_workload *workload)
{
	memset(workload, 0, sizeof(*workload));
	tp_arena_init(&workload->arena);
}

void tp_workload_release(struct tp_workload *workload)
{
	free(workload->functions);
	free(workload->nodes);
	free(workload->thread_times);
	free(workload->slots);
	tp_arena_release(&workload->arena);
	memset(workload, 0, sizeof(*workload));
}

// FNV-1a of Fowler, Noll and Vo.
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const unsigned char *bytes = data;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}
#define HASH_START UINT64_C(0xcbf29ce484222325)

// The slot of NAME, of SIZE bytes, or the free one where it would go. There are slots.
static uint32_t *find_slot(const struct tp_workload *workload, const char *name, size_t size)
{
	uint32_t at = (uint32_t)hash_bytes(HASH_START, name, size) & workload->slot_mask;
	for (;; at = (at + 1) & workload->slot_mask) {
		uint32_t *slot = &workload->slots[at];
		if (!*slot)
			return slot;
		const char *other = workload->functions[*slot - 1].name;
		if (strncmp(other, name, size) == 0 && !other[size])
			return slot;
	}
}

static bool grow_slots(struct tp_workload *workload)
{
	const uint32_t count = workload->slots ? (workload->slot_mask + 1) * 2 : SLOTS_MIN;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!count || !slots)
		return false;
	free(workload->slots);
	workload->slots = slots;
	workload->slot_mask = count - 1;
	for (uint32_t i = 0; i < workload->function_count; i++) {
		const char *name = workload->functions[i].name;
		*find_slot(workload, name, strlen(name)) = i + 1;
	}
	return true;
}

static bool grow(struct tp_workload *workload)
{
	if (workload->function_count == workload->function_capacity) {
		const uint32_t capacity =
		    workload->function_capacity ? workload->function_capacity * 2 : 128;
		void *functions =
		    realloc(workload->functions, capacity * sizeof(*workload->functions));
		if (!functions)
			return false;
		workload->functions = functions;
		workload->function_capacity = capacity;
	}
	return (workload->slots &&
		   workload->function_count < workload->slot_mask - workload->slot_mask / 4) ||
	       grow_slots(workload);
}

uint32_t tp_workload_add(struct tp_workload *workload, const char *name)
{
	if (!grow(workload))
		return NONE;
	const size_t size = strlen(name);
	uint32_t *slot = find_slot(workload, name, size);
	if (*slot)
		return *slot - 1;
	char *copy = tp_arena_copy(&workload->arena, name, size);
	if (!copy)
		return NONE;
	workload->functions[workload->function_count] =
	    (struct tp_workload_function){.name = copy, .demangled = copy, .file = "", .scale = 1};
	*slot = ++workload->function_count;
	return *slot - 1;
}

static uint32_t find(const struct tp_workload *workload, const char *name, size_t size)
{
	if (!workload->slots)
		return NONE;
	const uint32_t *slot = find_slot(workload, name, size);
	return *slot ? *slot - 1 : NONE;
}

uint32_t tp_workload_find(const struct tp_workload *workload, const char *name)
{
	return find(workload, name, strlen(name));
}

uint32_t tp_workload_find_clone(const struct tp_workload *workload, const char *name)
{
	size_t size = strlen(name);
	for (;;) {
		const uint32_t found = find(workload, name, size);
		if (found != NONE)
			return found;
		do {
			if (size <= 1)
				return NONE;
			size--;
		} while (name[size] != '.');
	}
}

// The demangled name, kept in the arena; NAME itself if it is not mangled or memory runs out.
static const char *demangle(struct tp_workload *workload, const char *name)
{
	char *text = tp_demangle(name);
	if (!text)
		return name;
	const char *copy = tp_arena_copy(&workload->arena, text, strlen(text));
	free(text);
	return copy ? copy : name;
}

// Whether it can be instrumented at all: it is there, or it may come to be.
static bool is_there(const struct tp_inventory_function *function)
{
	return function->presence == TP_PRESENCE_EMITTED ||
	       function->presence == TP_PRESENCE_PARTLY || function->presence == TP_PRESENCE_SOURCE;
}

int tp_workload_add_inventory(
    struct tp_workload *workload, const struct tp_inventory *inventory, struct tp_err *err)
{
	for (uint32_t i = 0; i < inventory->function_count; i++) {
		const struct tp_inventory_function *function = &inventory->functions[i];
		if (!is_there(function))
			continue;
		const uint32_t at = tp_workload_add(workload, function->name);
		if (at == NONE)
			return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET,
			    "no memory for the functions of the inventory");
		struct tp_workload_function *known = &workload->functions[at];
		if (!known->inventory)
			known->inventory = function;
		if (known->demangled == known->name)
			known->demangled = demangle(workload, known->name);
		if (!known->file[0]) {
			known->file = function->file;
			known->line = function->line;
		}
	}
	return 0;
}

struct tp_subject tp_workload_subject(const struct tp_workload_function *function)
{
	if (function->inventory)
		return tp_inventory_subject(function->inventory);
	return (struct tp_subject){
	    .function = function->nameless ? NULL : function->name,
	    .demangled = function->demangled,
	    .source = function->file[0] ? function->file : NULL,
	};
}

void tp_workload_guess_times(struct tp_workload *workload)
{
	double sum = 0;
	for (uint32_t i = 0; i < workload->function_count; i++) {
		struct tp_workload_function *function = &workload->functions[i];
		const uint64_t instrs = function->inventory ? function->inventory->facts.instrs : 0;
		function->raw_self_ns = (double)function->calls * (double)(instrs ? instrs : 1);
		sum += function->raw_self_ns;
	}
	for (uint32_t i = 0; i < workload->function_count; i++) {
		struct tp_workload_function *function = &workload->functions[i];
		if (sum > 0)
			function->raw_self_ns *= workload->time_ns / sum;
		function->self_ns = function->sure_ns = function->raw_self_ns;
		function->quality = function->calls ? TP_QUALITY_STATIC : TP_QUALITY_NONE;
	}
}

uint64_t tp_workload_hash(const struct tp_workload *workload)
{
	// Of the functions in any order.
	uint64_t sum = 0;
	for (uint32_t i = 0; i < workload->function_count; i++) {
		const struct tp_workload_function *function = &workload->functions[i];
		if (!function->calls)
			continue;
		uint64_t hash = hash_bytes(HASH_START, function->name, strlen(function->name));
		hash = hash_bytes(hash, &function->calls, sizeof(function->calls));
		sum += hash_bytes(hash, &hash, sizeof(hash));
	}
	return sum;
}
