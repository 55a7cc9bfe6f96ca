// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that a loader of the program's own has mapped (teeperf.h). They and their list are the program's memory: the host
// has no part in it.
#include "runtime.h"

#include "port_elf_segments.h"

#include <teeperf/teeperf.h>

static struct teeperf_loaded *first;

bool tp_loaded_find(const void *anchor, struct teeperf_module *module)
{
	for (const struct teeperf_loaded *at = first; at; at = at->next) {
		if (!tp_elf_segments_describe(at->headers, at->header_count, at->bias,
			(uint64_t)(uintptr_t)anchor, module))
			continue;
		for (unsigned i = 0; at->path && at->path[i] && i < TEEPERF_MODULE_PATH_SIZE - 1;
		     i++)
			module->path[i] = at->path[i];
		return true;
	}
	return false;
}

static uint64_t start; // of the module that goes
static uint64_t end;

static void drop(struct teeperf_module_block *block)
{
	const uint64_t at = (uint64_t)(uintptr_t)block;
	if (at >= start && at < end)
		__teeperf_module_gone(block);
}

int __teeperf_module_add(struct teeperf_loaded *loaded)
{
	struct teeperf_module module;
	tp_module_clear(&module);
	if (!loaded->headers || !loaded->header_count || loaded->header_count > UINT16_MAX ||
	    !tp_elf_segments_describe(
		loaded->headers, loaded->header_count, loaded->bias, 0, &module))
		return 0;
	for (struct teeperf_loaded *at = first; at; at = at->next)
		if (at == loaded)
			return 0;
	loaded->next = first;
	first = loaded;
	return 1;
}

void __teeperf_module_remove(struct teeperf_loaded *loaded)
{
	struct teeperf_loaded **link = &first;
	struct teeperf_module module;
	while (*link && *link != loaded)
		link = &(*link)->next;
	if (!*link)
		return;
	tp_module_clear(&module);
	// If its destructors have not run: nothing of ours may be in memory that goes.
	tp_elf_segments_describe(loaded->headers, loaded->header_count, loaded->bias, 0, &module);
	start = module.start;
	end = module.end;
	tp_gates_each(drop);
	tp_counts_gone(start, end);
	*link = loaded->next;
}
