// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program does, function by function: the table, by linkage name.
#include "workload.h"

#include "common/array.h"
#include "common/linkage_name.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

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
	tp_index_release(&workload->index);
	tp_arena_release(&workload->arena);
	memset(workload, 0, sizeof(*workload));
}

static uint32_t hash_item(const void *workload, uint32_t number)
{
	const struct tp_workload *of = workload;
	return (uint32_t)tp_hash_text(of->functions[number - 1].name);
}

// The slot of NAME, of SIZE bytes, or the free one where it would go. There are slots.
static uint32_t *find_slot(const struct tp_workload *workload, const char *name, size_t size)
{
	uint32_t *slot =
	    tp_index_first(&workload->index, tp_hash_bytes(TEEPERF_HASH_START, name, size));
	for (; *slot; slot = tp_index_next(&workload->index, slot)) {
		const char *other = workload->functions[*slot - 1].name;
		if (strncmp(other, name, size) == 0 && !other[size])
			break;
	}
	return slot;
}

uint32_t tp_workload_add(struct tp_workload *workload, const char *name)
{
	if (!TP_GROW(workload->functions, workload->function_capacity,
		workload->function_count + UINT64_C(1)) ||
	    !tp_index_reserve(&workload->index, workload->function_count, hash_item, workload))
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
	if (!workload->index.slots)
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

int tp_workload_add_sum(
    struct tp_workload *workload, const struct tp_workload_sum *sum, struct tp_err *err)
{
	const bool nameless = !sum->name[0];
	const uint32_t at = tp_workload_add(workload, nameless ? sum->demangled : sum->name);
	if (at == NONE)
		return tp_err_memory(err, NULL);
	struct tp_workload_function *function = &workload->functions[at];
	if (!function->definitions) {
		const char *shown =
		    tp_arena_copy(&workload->arena, sum->demangled, strlen(sum->demangled));
		const char *file = tp_arena_copy(&workload->arena, sum->file, strlen(sum->file));
		if (!shown || !file)
			return tp_err_memory(err, NULL);
		function->nameless = nameless;
		function->demangled = shown;
		function->file = file;
		function->line = sum->line;
	}
	function->definitions += sum->definitions;
	function->calls += sum->calls;
	function->timed += sum->timed;
	function->raw_self_ns += sum->self_ns;
	function->self_ns = function->sure_ns = function->raw_self_ns;
	if (sum->timed)
		function->quality = TP_QUALITY_EVENTS;
	workload->pairs += sum->timed;
	return 0;
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
			return tp_err_memory(err, NULL);
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
		uint64_t hash =
		    tp_hash_bytes(TEEPERF_HASH_START, function->name, strlen(function->name));
		hash = tp_hash_bytes(hash, &function->calls, sizeof(function->calls));
		sum += tp_hash_bytes(hash, &hash, sizeof(hash));
	}
	return sum;
}
