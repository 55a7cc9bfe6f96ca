// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that a loader of the program's own has mapped (teeperf.h). They and their list are the
// program's memory: the host has no part in it.
#include "runtime.h"

#include "port.h"

#include <teeperf/teeperf.h>

static struct teeperf_loaded *first;

// Word by word: compilers make a call of memset of an initializer, and 'bare' has none.
void tp_module_clear(struct teeperf_module *module)
{
	uint64_t *words = (uint64_t *)(void *)module;
	for (unsigned i = 0; i < sizeof(*module) / 8; i++)
		tp_store_relaxed(&words[i], 0);
}

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

bool tp_loaded_take(struct teeperf_loaded *loaded, struct teeperf_module *module)
{
	struct teeperf_loaded **link = &first;
	while (*link && *link != loaded)
		link = &(*link)->next;
	if (!*link)
		return false;
	tp_module_clear(module);
	tp_elf_segments_describe(loaded->headers, loaded->header_count, loaded->bias, 0, module);
	*link = loaded->next;
	return true;
}
