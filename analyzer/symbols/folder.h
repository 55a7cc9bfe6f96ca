/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The file of a module among those that lie in a folder, whatever they are called: what a build has left. */
#ifndef TP_SYMBOL_FOLDER_H
#define TP_SYMBOL_FOLDER_H

#include "analyzer/symbols/files.h"

struct tp_symbol_folder {
	const struct teeperf_module *module; /* set by the caller */
	struct tp_problems *notes;           /* ... */
	uint32_t *room;                      /* ..., as folder_room of the options */
	struct tp_elf_file elf;              /* the best one so far; the caller's to release */
	bool found;
	char path[TP_SYMBOL_PATH_MAX];
	char
	    stripped[TP_SYMBOL_PATH_MAX]; /* one that is of the build, but has no names; or empty */
};

/*
 * Look into the folder DIR for a file of the build that ran, with debug information or at least a symbol table:
 * UUID.elf, the last component of the module's path, and then all other files in it, at most TP_FOLDER_FILES of them. Does
 * nothing if the program has not told by what its file could be known.
 */
enum { TP_FOLDER_FILES = 1024 };
void tp_symbol_folder_look(struct tp_symbol_folder *folder, const char *dir);

/* Whether there can be no better one. */
bool tp_symbol_folder_done(const struct tp_symbol_folder *folder);

#endif
