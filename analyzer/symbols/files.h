/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which files tell about a module's functions: the module itself, and the file that its debug
 * information was put into.
 */
#ifndef TP_SYMBOL_FILES_H
#define TP_SYMBOL_FILES_H

#include "analyzer/symbols/elf/file.h"
#include "analyzer/trace/modules.h"
#include "common/err.h"

#include <teeperf/log.h>

struct tp_symbol_options {
	const char *const *debug_dirs; /* searched before the system's folder */
	uint32_t debug_dir_count;
	/* where a program is looked for by its build ID if it is not in its place; or NULL */
	const char *near_dirs[2];
	bool debuginfod;       /* ask the servers in DEBUGINFOD_URLS for files that are not here */
	bool no_cache;         /* neither read nor write the cache of earlier runs */
	uint32_t *folder_room; /* files that may still be looked at in folders; NULL: any number */
};

enum { TP_SYMBOL_PATH_MAX = 4096 };

struct tp_symbol_files {
	struct tp_elf_file elf;   /* the module's file; empty if it is not usable */
	struct tp_elf_file debug; /* its debug file; empty if there is none */
	bool usable;              /* the module's file is there, and is the one that was recorded */
	bool has_debug;
	char debug_path[TP_SYMBOL_PATH_MAX];
};

/*
 * Find and read the files of the module. In order: DIR/.build-id/xx/yyy.debug for each folder, the
 * system's last; then what the module's .gnu_debuglink names: beside it, in .debug/ there, in DIR,
 * in DIR/PATH-OF-MODULE; then what lies in DIR: UUID.elf, the last component of the path, any other
 * file; if the module's own file is not usable, the same in near_dirs; then debuginfod. A file is
 * used only if it is from the build that ran: by its build ID, or without one by the hash of its
 * code, or by the checksum in the link. Failures become notes. Release it in any case.
 */
void tp_symbol_files_find(struct tp_symbol_files *files, const struct teeperf_module *module,
    const struct tp_symbol_options *options, struct tp_problems *notes);
void tp_symbol_files_release(struct tp_symbol_files *files);

/* The file with the debug information, or NULL if neither has any. */
const char *tp_symbol_files_dwarf(
    const struct tp_symbol_files *files, const struct teeperf_module *module);

/* Whether the file PATH, whose header ELF is, is of the build that ran. */
enum tp_symbol_match {
	TP_MATCH_SAME,
	TP_MATCH_OTHER,
	TP_MATCH_UNTOLD, /* the program did not tell by what it could be known */
};
bool tp_symbol_same_build(const struct teeperf_module *module, const struct tp_elf_file *elf);
enum tp_symbol_match tp_symbol_files_match(
    const struct teeperf_module *module, const struct tp_elf_file *elf, const char *path);

/*
 * The file of a module among those that lie in a folder, whatever they are called: what a build has
 * left.
 */
struct tp_symbol_folder {
	const struct teeperf_module *module; /* set by the caller */
	struct tp_problems *notes;           /* ... */
	uint32_t *room;                      /* ..., as folder_room of the options */
	struct tp_elf_file elf;              /* the best one so far; the caller's to release */
	bool found;
	char path[TP_SYMBOL_PATH_MAX];
	char stripped[TP_SYMBOL_PATH_MAX]; /* one of the build that has no names; or empty */
};

/*
 * Look into the folder DIR for a file of the build that ran, with debug information or at least a
 * symbol table: UUID.elf, the last component of the module's path, and then all other files in it,
 * at most TP_FOLDER_FILES of them. Does nothing if the program has not said how to recognise its
 * file.
 */
enum { TP_FOLDER_FILES = 1024 };
void tp_symbol_folder_look(struct tp_symbol_folder *folder, const char *dir);

/* Whether there can be no better one. */
bool tp_symbol_folder_done(const struct tp_symbol_folder *folder);

#endif
