// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the files that tell about a module's functions.
#include "files.h"

#include "common/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUGINFOD "debuginfod-find"
#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

// One search.
struct search {
	struct tp_symbol_files *files;
	const struct teeperf_module *module;
	const struct tp_symbol_options *options;
	struct tp_problems *notes;
	struct tp_symbol_folder folder;
};

static const char *debug_dir(const struct search *search, uint32_t index)
{
	return index < search->options->debug_dir_count ? search->options->debug_dirs[index]
							: SYSTEM_DEBUG_DIR;
}

static void refuse(struct search *search, const char *why)
{
	char name[TP_MODULE_NAME_SIZE];
	tp_elf_file_release(&search->files->debug);
	tp_problems_add(search->notes, TP_ERR_FORMAT, search->files->debug_path,
	    "not the debug file of '%s' (%s); it is not used", tp_module_name(search->module, name),
	    why);
}

// Take the file at debug_path if it belongs to the module. BY_LINK: its name is from the debug
// link.
static bool take(struct search *search, bool by_link)
{
	struct tp_symbol_files *files = search->files;
	const struct teeperf_module *module = search->module;
	struct tp_elf_file *debug = &files->debug;
	struct tp_err err;
	if (access(files->debug_path, R_OK) != 0)
		return false;
	if (tp_elf_file_read(debug, files->debug_path, &err)) {
		refuse(search, err.what);
		return false;
	}
	// Strip leaves the ID in both, or there was none: then the checksum tells.
	const bool has_ids = module->build_id_size && debug->build_id_size;
	if (has_ids || !by_link) {
		if (tp_symbol_same_build(module, debug))
			return files->has_debug = true;
		refuse(search, "its build ID differs");
		return false;
	}
	uint32_t checksum;
	if (tp_elf_file_checksum(files->debug_path, &checksum, &err)) {
		refuse(search, err.what);
		return false;
	}
	if (checksum == files->elf.debug_link_checksum)
		return files->has_debug = true;
	refuse(search, "its checksum does not match the debug link");
	return false;
}

// DIR/.build-id/xx/yyy.debug
static bool find_by_build_id(struct search *search)
{
	const struct teeperf_module *module = search->module;
	char *path = search->files->debug_path;
	const size_t size = sizeof(search->files->debug_path);
	if (module->build_id_size < 2)
		return false;
	for (uint32_t i = 0; i <= search->options->debug_dir_count; i++) {
		size_t at = (size_t)snprintf(
		    path, size, "%s/.build-id/%02x/", debug_dir(search, i), module->build_id[0]);
		for (uint32_t j = 1; j < module->build_id_size && at < size; j++)
			at += (size_t)snprintf(path + at, size - at, "%02x", module->build_id[j]);
		if (at < size)
			at += (size_t)snprintf(path + at, size - at, ".debug");
		if (at < size && take(search, false))
			return true;
	}
	return false;
}

static bool try_link(struct search *search, const char *dir, int dir_size, const char *between)
{
	struct tp_symbol_files *files = search->files;
	const size_t size = sizeof(files->debug_path);
	const int length = snprintf(
	    files->debug_path, size, "%.*s%s%s", dir_size, dir, between, files->elf.debug_link);
	return length > 0 && (size_t)length < size && take(search, true);
}

// The name that .gnu_debuglink has, in the places where gdb looks for it, and in the folders given.
static bool find_by_link(struct search *search)
{
	const char *path = search->module->path;
	const char *slash = strrchr(path, '/');
	const int folder = slash ? (int)(slash - path) + 1 : 0;
	if (!search->files->usable || !search->files->elf.debug_link[0])
		return false;
	if (try_link(search, path, folder, "") || try_link(search, path, folder, ".debug/"))
		return true;
	for (uint32_t i = 0; i <= search->options->debug_dir_count; i++) {
		const char *dir = debug_dir(search, i);
		char place[TP_SYMBOL_PATH_MAX];
		if (i < search->options->debug_dir_count &&
		    try_link(search, dir, (int)strlen(dir), "/"))
			return true;
		const int length = snprintf(
		    place, sizeof(place), "%s%s%.*s", dir, path[0] == '/' ? "" : "/", folder, path);
		if (length > 0 && (size_t)length < sizeof(place) &&
		    try_link(search, place, length, ""))
			return true;
	}
	return false;
}

// The command of elfutils knows the servers, keeps what it fetched, and gives up by itself.
static int run_debuginfod(const char *id, char *path, size_t size, struct tp_err *err)
{
	const char *const arguments[] = {DEBUGINFOD, "debuginfo", id, NULL};
	struct tp_buf said;
	int status = 0;
	tp_buf_init(&said);
	const int failed =
	    tp_process_run(&(struct tp_program){.argv = arguments, .output = &said}, &status);
	// The path is the first line of what it says.
	const char *end = strchr(said.data, '\n');
	const bool got = said.data[0] == '/' && end && (size_t)(end - said.data) < size;
	if (got)
		snprintf(path, size, "%.*s", (int)(end - said.data), said.data);
	tp_buf_release(&said);
	if (failed == ENOENT)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "--debuginfod: cannot find '" DEBUGINFOD "': install Debian's package "
		    "debuginfod");
	if (failed)
		return tp_err_system(
		    err, failed, NULL, "--debuginfod: cannot run '" DEBUGINFOD "'");
	if (got && status == 0)
		return 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
	    "--debuginfod: no server in DEBUGINFOD_URLS has the debug file of build ID %s", id);
}

// Have the debug file fetched; its name goes to PATH.
static int fetch(const struct teeperf_module *module, char *path, size_t size, struct tp_err *err)
{
	char id[2 * TEEPERF_BUILD_ID_SIZE + 1] = "";
	const char *servers = getenv("DEBUGINFOD_URLS");
	if (!servers || !servers[0])
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "--debuginfod: no server is named; set DEBUGINFOD_URLS");
	if (module->build_id_size < 2 || module->build_id_size > TEEPERF_BUILD_ID_SIZE)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "--debuginfod: it has no build ID for a server to find it by");
	for (uint32_t i = 0; i < module->build_id_size; i++)
		snprintf(id + (size_t)2 * i, 3, "%02x", module->build_id[i]);
	return run_debuginfod(id, path, size, err);
}

static bool find_by_server(struct search *search)
{
	const struct teeperf_module *module = search->module;
	struct tp_err err;
	char *path = search->files->debug_path;
	if (!search->options->debuginfod)
		return false;
	const int code = fetch(module, path, sizeof(search->files->debug_path), &err);
	if (code == 0)
		return take(search, false);
	tp_problems_add(search->notes, code, module->path, "%s", err.what);
	return false;
}

static bool find_in_folders(struct search *search, const char *const *dirs, uint32_t count)
{
	struct tp_symbol_files *files = search->files;
	struct tp_symbol_folder *folder = &search->folder;
	*folder = (struct tp_symbol_folder){
	    .module = search->module, .notes = search->notes, .room = search->options->folder_room};
	for (uint32_t i = 0; i < count && !tp_symbol_folder_done(folder); i++)
		if (dirs[i])
			tp_symbol_folder_look(folder, dirs[i]);
	files->has_debug = folder->found;
	files->debug = folder->elf;
	if (folder->found)
		strcpy(files->debug_path, folder->path);
	return folder->found;
}

/*
 * A library OS or a container has the program elsewhere. Only an exact match will do, so what else
 * lies there is no trouble worth a note.
 */
static bool find_near(struct search *search)
{
	struct tp_problems *notes = search->notes;
	struct tp_problems unused = {0};
	if (search->files->usable || !search->module->build_id_size || !search->module->path[0] ||
	    access(search->module->path, F_OK) == 0)
		return false;
	search->notes = &unused;
	const bool found = find_in_folders(search, search->options->near_dirs, 2);
	search->notes = notes;
	if (!found)
		memset(&search->folder, 0, sizeof(search->folder));
	return found;
}

// What was looked for, and where: "file of build ID ... in 'DIR', 'DIR'".
static void tell_search(const struct search *search, char *text, size_t size)
{
	const struct teeperf_module *module = search->module;
	const struct tp_symbol_options *options = search->options;
	char uuid[TP_UUID_TEXT_SIZE];
	size_t at = 0;
	if (tp_module_uuid(module, uuid)[0])
		at += (size_t)snprintf(text, size, "'%s.elf' or another ", uuid);
	at += (size_t)snprintf(text + at, size - at, "file ");
	if (module->build_id_size)
		at += (size_t)snprintf(text + at, size - at, "of build ID ");
	else
		at += (size_t)snprintf(text + at, size - at, "with the code that ran");
	for (uint32_t i = 0; i < module->build_id_size; i++)
		at += (size_t)snprintf(text + at, size - at, "%02x", module->build_id[i]);
	for (uint32_t i = 0; i < options->debug_dir_count && at < size; i++)
		at += (size_t)snprintf(
		    text + at, size - at, "%s'%s'", i ? ", " : " in ", options->debug_dirs[i]);
}

// Report why the functions have no names. ERR has the fault of the module's own file.
static void tell_missing(struct search *search, const struct tp_err *err)
{
	const struct teeperf_module *module = search->module;
	char looked_for[384];
	tell_search(search, looked_for, sizeof(looked_for));
	if (search->folder.stripped[0])
		tp_problems_add(search->notes, TP_ERR_NOT_FOUND, search->folder.stripped,
		    "it is the recorded file, but stripped: its functions have no names; name the "
		    "folder of the unstripped file with --debug-dir");
	else if (search->options->debug_dir_count && (module->build_id_size || module->code_hash))
		tp_problems_add_at(search->notes, err->code, err->file, err->offset,
		    "%s; its functions have no names: there is no %s", err->what, looked_for);
	else if (!module->path[0] && (module->build_id_size || module->code_hash))
		tp_problems_add_at(search->notes, err->code, err->file, err->offset,
		    "%s; its functions have no names: name the folder of a %s with --debug-dir",
		    err->what, looked_for);
	else
		tp_problems_add_at(search->notes, err->code, err->file, err->offset,
		    "%s; its functions have no names", err->what);
}

// Whether the module's own file is there, and is the one that was recorded.
static bool take_own(struct search *search, struct tp_err *err)
{
	const struct teeperf_module *module = search->module;
	struct tp_elf_file *elf = &search->files->elf;
	char uuid[TP_UUID_TEXT_SIZE];
	if (!module->path[0]) {
		tp_err_set(err, TP_ERR_NOT_FOUND, tp_module_uuid(module, uuid),
		    "the program did not name its file");
		return false;
	}
	if (tp_elf_file_read(elf, module->path, err))
		return false;
	if (tp_symbol_files_match(module, elf, module->path) != TP_MATCH_OTHER)
		return true;
	tp_err_set(err, TP_ERR_NOT_FOUND, module->path,
	    "the file is not the recorded one (its %s differs)%s",
	    module->build_id_size ? "build ID" : "code",
	    search->options->debug_dir_count
		? ""
		: ": put the old file back, or name its debug file with --debug-dir");
	return false;
}

void tp_symbol_files_find(struct tp_symbol_files *files, const struct teeperf_module *module,
    const struct tp_symbol_options *options, struct tp_problems *notes)
{
	memset(files, 0, sizeof(*files));
	struct search search = {
	    .files = files, .module = module, .options = options, .notes = notes};
	struct tp_err err;
	files->usable = take_own(&search, &err);
	if (!files->usable)
		tp_elf_file_release(&files->elf);
	if (files->elf.has_debug_info)
		return;
	if (find_by_build_id(&search) || find_by_link(&search) ||
	    find_in_folders(&search, options->debug_dirs, options->debug_dir_count) ||
	    find_near(&search) || find_by_server(&search))
		return;
	if (!files->usable)
		tell_missing(&search, &err);
}

void tp_symbol_files_release(struct tp_symbol_files *files)
{
	tp_elf_file_release(&files->elf);
	tp_elf_file_release(&files->debug);
}

const char *tp_symbol_files_dwarf(
    const struct tp_symbol_files *files, const struct teeperf_module *module)
{
	if (files->has_debug && files->debug.has_debug_info)
		return files->debug_path;
	return files->usable && files->elf.has_debug_info ? module->path : NULL;
}
