// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a running program's functions are called.
#define _GNU_SOURCE
#include "names.h"

#include "common/array.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/abi.h>
#include <unistd.h>

void tp_names_release(struct tp_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		tp_elf_file_release(&names->modules[i].file);
	free(names->modules);
	*names = (struct tp_names){0};
}

static void add(struct tp_names *names, const struct teeperf_module *module, uint64_t pid)
{
	char path[PATH_MAX];
	struct tp_err ignored;
	if (!TP_GROW(names->modules, names->room, names->count + UINT64_C(1)))
		return;
	struct tp_names_module *added = &names->modules[names->count++];
	*added = (struct tp_names_module){module->bias, module->start, module->end, {0}};
	if (module->flags & (TEEPERF_MODULE_PATH_CUT | TEEPERF_MODULE_COLLIDES) || !module->path[0])
		return;
	snprintf(path, sizeof(path), "/proc/%llu/root%.*s", (unsigned long long)pid,
	    (int)sizeof(module->path) - 1, module->path);
	const char *readable = access(path, R_OK) ? module->path : path;
	if (tp_elf_file_read(&added->file, readable, &ignored)) {
		tp_elf_file_release(&added->file);
		added->file = (struct tp_elf_file){0};
	}
}

void tp_names_follow(struct tp_names *names, const struct tp_region *region, uint64_t pid)
{
	const uint64_t seen = tp_count_acquire(&region->header->module_count);
	const uint64_t count = seen < region->module_capacity ? seen : region->module_capacity;
	while (names->count < count) {
		struct teeperf_module module;
		const uint32_t before = names->count;
		tp_region_copy(&module, &region->modules[before], sizeof(module));
		module.path[sizeof(module.path) - 1] = '\0';
		if (!module.end)
			return; // it is being filled
		add(names, &module, pid);
		if (names->count == before)
			return;
	}
}

const struct tp_elf_symbol *tp_names_find(const struct tp_names *names, uint32_t low,
    const struct tp_elf_symbol **aliases, uint32_t *alias_count)
{
	*alias_count = 0;
	for (uint32_t i = 0; i < names->count; i++) {
		const struct tp_names_module *module = &names->modules[i];
		const uint64_t offset = (uint32_t)(low - (uint32_t)module->start);
		if (offset >= module->end - module->start)
			continue;
		const uint64_t address = module->start + offset - module->bias;
		const struct tp_elf_symbol *found = tp_elf_file_find(&module->file, address);
		if (!found || found->address != address)
			continue;
		*aliases = tp_elf_file_aliases(&module->file, found, alias_count);
		return found;
	}
	return NULL;
}

uint32_t tp_names_hashes(const char *symbol, uint64_t hashes[TP_NAMES_HASHES])
{
	uint64_t length = strlen(symbol);
	for (uint32_t count = 0;;) {
		hashes[count++] = teeperf_name_hash(symbol, length);
		uint64_t end = length;
		while (end && symbol[end - 1] >= '0' && symbol[end - 1] <= '9')
			end--;
		if (count == TP_NAMES_HASHES || end < 2 || end == length || symbol[end - 1] != '.')
			return count;
		length = end - 1;
		if (length > 5 && !strncmp(symbol + length - 5, ".llvm", 5))
			length -= 5;
	}
}
