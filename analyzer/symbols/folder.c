// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks for a module's file among those that lie in a folder.
#define _GNU_SOURCE
#include "files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool tp_symbol_same_build(const struct teeperf_module *module, const struct tp_elf_file *elf)
{
	return module->build_id_size == elf->build_id_size &&
	       memcmp(module->build_id, elf->build_id, elf->build_id_size) == 0;
}

enum tp_symbol_match tp_symbol_files_match(
    const struct teeperf_module *module, const struct tp_elf_file *elf, const char *path)
{
	if (module->build_id_size)
		return tp_symbol_same_build(module, elf) ? TP_MATCH_SAME : TP_MATCH_OTHER;
	if (!module->code_hash)
		return TP_MATCH_UNTOLD;
	const uint64_t code = module->start - module->bias + module->code_offset;
	return tp_elf_code_hash(path, code, module->code_size) == module->code_hash
		   ? TP_MATCH_SAME
		   : TP_MATCH_OTHER;
}

bool tp_symbol_folder_done(const struct tp_symbol_folder *folder)
{
	return folder->found && folder->elf.has_debug_info;
}

// How much the file tells: source lines, or names.
static int rank(const struct tp_elf_file *elf)
{
	return elf->has_debug_info ? 2 : elf->has_symbol_table ? 1 : 0;
}

// Whether the file DIR/NAME is of the build. The best such file is kept.
static enum tp_symbol_match look_at(
    struct tp_symbol_folder *folder, const char *dir, const char *name)
{
	if (folder->room && !*folder->room)
		return TP_MATCH_UNTOLD;
	if (folder->room)
		--*folder->room;
	char path[TP_SYMBOL_PATH_MAX];
	struct stat status;
	struct tp_elf_file elf;
	struct tp_err err;
	const int length = snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (length < 0 || (size_t)length >= sizeof(path) || stat(path, &status) ||
	    !S_ISREG(status.st_mode))
		return TP_MATCH_UNTOLD;
	if (tp_elf_file_identify(&elf, path, &err)) {
		tp_elf_file_release(&elf);
		return TP_MATCH_UNTOLD;
	}
	const enum tp_symbol_match match = tp_symbol_files_match(folder->module, &elf, path);
	const int found = rank(&elf);
	tp_elf_file_release(&elf);
	if (match != TP_MATCH_SAME)
		return match;
	if (!found)
		strcpy(folder->stripped, path);
	if (!found || (folder->found && found <= rank(&folder->elf)))
		return match;
	if (tp_elf_file_read(&elf, path, &err)) {
		tp_elf_file_release(&elf);
		return TP_MATCH_UNTOLD;
	}
	tp_elf_file_release(&folder->elf);
	folder->elf = elf;
	folder->found = true;
	strcpy(folder->path, path);
	return match;
}

// The same for a file with the name of the module's file; if it is another build, this is reported.
static void look_at_named(struct tp_symbol_folder *folder, const char *dir, const char *name)
{
	char path[TP_SYMBOL_PATH_MAX];
	if (look_at(folder, dir, name) != TP_MATCH_OTHER)
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	tp_problems_add(folder->notes, TP_ERR_FORMAT, path,
	    "it is another build than the recorded one (its %s differs); it is not used",
	    folder->module->build_id_size ? "build ID" : "code");
}

static int is_candidate(const struct dirent *entry)
{
	return entry->d_type == DT_REG || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
}

void tp_symbol_folder_look(struct tp_symbol_folder *folder, const char *dir)
{
	const struct teeperf_module *module = folder->module;
	const char *name = basename(module->path);
	char elf[TP_UUID_TEXT_SIZE + 4];
	struct dirent **entries;
	if (!module->build_id_size && !module->code_hash)
		return;
	if (tp_module_uuid(module, elf)[0])
		look_at_named(folder, dir, strcat(elf, ".elf"));
	if (name[0] && !tp_symbol_folder_done(folder))
		look_at_named(folder, dir, name);
	if (tp_symbol_folder_done(folder) || (folder->room && !*folder->room))
		return;
	const int count = scandir(dir, &entries, is_candidate, alphasort);
	for (int i = 0; i < count; i++) {
		if (i < TP_FOLDER_FILES && !tp_symbol_folder_done(folder) &&
		    strcmp(entries[i]->d_name, elf) != 0 && strcmp(entries[i]->d_name, name) != 0)
			look_at(folder, dir, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (count > TP_FOLDER_FILES)
		tp_problems_add(folder->notes, TP_ERR_LIMIT, dir,
		    "it has %d files; only the first %d were examined", count, TP_FOLDER_FILES);
}
