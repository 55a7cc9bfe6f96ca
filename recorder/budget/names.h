/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a running program's functions are called, by the symbols of the files that it has loaded. */
#ifndef TP_BUDGET_NAMES_H
#define TP_BUDGET_NAMES_H

#include "analyzer/symbols/elf/file.h"
#include "recorder/region/region.h"

struct tp_names_module {
	uint64_t bias;
	uint64_t start;
	uint64_t end;
	struct tp_elf_file file; /* empty if it could not be read */
};

struct tp_names {
	struct tp_names_module *modules;
	uint32_t count;
	uint32_t room;
};

void tp_names_release(struct tp_names *names);

/*
 * Read the files of modules that have come since the last time. PID: the process, for files of a
 * container.
 */
void tp_names_follow(struct tp_names *names, const struct tp_region *region, uint64_t pid);

/*
 * The symbols of the function at this low half of an address: the first, and its *aliases others.
 * NULL: no module has it, or its file has no symbol there.
 */
const struct tp_elf_symbol *tp_names_find(const struct tp_names *names, uint32_t low,
    const struct tp_elf_symbol **aliases, uint32_t *alias_count);

/*
 * The hashes by which the pass may know the function of a symbol (abi.h), as link-time optimisation
 * may have renamed it: name.llvm.123, name.4. Returns how many.
 */
enum { TP_NAMES_HASHES = 4 };
uint32_t tp_names_hashes(const char *symbol, uint64_t hashes[TP_NAMES_HASHES]);

#endif
