// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds what was split off a compilation unit.
#define _GNU_SOURCE
#include <dwarf.h>
#include <libdwarf.h>

#include "units.h"

#include "common/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef DW_AT_GNU_dwo_name
#define DW_AT_GNU_dwo_name 0x2130
#endif

static int compare_ids(const void *a, const void *b)
{
	const uint64_t x = ((const struct tp_dwarf_unit *)a)->id;
	const uint64_t y = ((const struct tp_dwarf_unit *)b)->id;
	return TP_COMPARE(x, y);
}

static const struct tp_dwarf_unit *find_id(const struct tp_dwarf_units *units, uint64_t id)
{
	const struct tp_dwarf_unit wanted = {.id = id};
	const struct tp_dwarf_unit *found =
	    units->count ? bsearch(&wanted, units->units, units->count, sizeof(wanted), compare_ids)
			 : NULL;
	return found && found->has_id ? found : NULL;
}

// Open PATH, a .dwo or .dwp file of MAIN's program, and sort its units by ID.
static bool open_file(
    struct tp_dwarf_units *units, const struct tp_dwarf_units *main, const char *path)
{
	if (access(path, R_OK) != 0)
		return false;
	if (tp_dwarf_units_open(units, path, NULL, NULL) == 0 &&
	    dwarf_set_tied_dbg(units->object.dbg, main->object.dbg, NULL) == DW_DLV_OK) {
		if (units->count)
			qsort(units->units, units->count, sizeof(*units->units), compare_ids);
		return true;
	}
	tp_dwarf_units_close(units);
	return false;
}

static bool join(char path[TP_SPLIT_PATH_MAX], const char *dir, int dir_size, const char *between,
    const char *name, const char *end)
{
	const int length =
	    snprintf(path, TP_SPLIT_PATH_MAX, "%.*s%s%s%s", dir_size, dir, between, name, end);
	return length > 0 && length < TP_SPLIT_PATH_MAX;
}

// PROGRAM.dwp, beside the program or the file that the rest of its debug information is in.
static void look_for_dwp(struct tp_split *split, const struct tp_dwarf_units *main)
{
	const struct tp_dwarf_request *request = split->request;
	const char *const beside[] = {request->module, request->path};
	split->looked_for_dwp = true;
	for (int i = 0; i < 2 && !split->has_dwp; i++)
		split->has_dwp = beside[i] && join(split->dwp_path, "", 0, "", beside[i], ".dwp") &&
				 open_file(&split->dwp, main, split->dwp_path);
	const char *name = basename(request->module ? request->module : request->path);
	for (uint32_t i = 0; i < request->debug_dir_count && !split->has_dwp; i++) {
		const char *dir = request->debug_dirs[i];
		split->has_dwp = join(split->dwp_path, dir, (int)strlen(dir), "/", name, ".dwp") &&
				 open_file(&split->dwp, main, split->dwp_path);
	}
}

// Open the file at dwo_path if it is the one with this ID.
static const struct tp_dwarf_unit *take(
    struct tp_split *split, const struct tp_dwarf_units *main, bool joined, uint64_t id)
{
	if (!joined || !open_file(&split->dwo, main, split->dwo_path))
		return NULL;
	const struct tp_dwarf_unit *found = find_id(&split->dwo, id);
	split->has_dwo = found;
	if (!found)
		tp_dwarf_units_close(&split->dwo);
	return found;
}

static const struct tp_dwarf_unit *find_dwo(struct tp_split *split,
    const struct tp_dwarf_units *main, const char *name, const char *folder, uint64_t id)
{
	const struct tp_dwarf_request *request = split->request;
	char *path = split->dwo_path;
	const char *module = request->module ? request->module : request->path;
	const int beside = (int)(basename(module) - module);
	const bool absolute = name[0] == '/';
	const struct tp_dwarf_unit *found = NULL;
	if (split->has_dwo)
		tp_dwarf_units_close(&split->dwo);
	split->has_dwo = false;
	if (absolute)
		found = take(split, main, join(path, "", 0, "", name, ""), id);
	else if (folder)
		found =
		    take(split, main, join(path, folder, (int)strlen(folder), "/", name, ""), id);
	if (!found && !absolute)
		found = take(split, main, join(path, module, beside, "", name, ""), id);
	if (!found)
		found = take(split, main, join(path, module, beside, "", basename(name), ""), id);
	for (uint32_t i = 0; i < request->debug_dir_count && !found; i++) {
		const char *dir = request->debug_dirs[i];
		const int length = (int)strlen(dir);
		found = take(split, main, join(path, dir, length, "/", name, ""), id);
		if (!found)
			found =
			    take(split, main, join(path, dir, length, "/", basename(name), ""), id);
	}
	return found;
}

bool tp_whole_unit_open(struct tp_whole_unit *whole, const struct tp_dwarf_units *main,
    const struct tp_dwarf_unit *unit)
{
	Dwarf_Die die = tp_dwarf_units_die(main, unit->die);
	*whole = (struct tp_whole_unit){.skeleton = die, .die = die, .units = main, .unit = unit};
	return die;
}

bool tp_whole_unit_split(
    struct tp_whole_unit *whole, struct tp_split *split, const struct tp_dwarf_units *main)
{
	Dwarf_Die die = whole->skeleton;
	const uint64_t id = whole->unit->id;
	const char *name = tp_dwarf_units_text(die, DW_AT_dwo_name);
	if (!name)
		name = tp_dwarf_units_text(die, DW_AT_GNU_dwo_name);
	if (!name || !whole->unit->has_id)
		return true;
	if (!split->looked_for_dwp)
		look_for_dwp(split, main);
	const struct tp_dwarf_units *units = &split->dwp;
	const struct tp_dwarf_unit *found = split->has_dwp ? find_id(units, id) : NULL;
	if (!found) {
		units = &split->dwo;
		found = find_dwo(split, main, name, tp_dwarf_units_text(die, DW_AT_comp_dir), id);
	}
	if (!found) {
		if (!split->missing++)
			snprintf(split->first_missing, sizeof(split->first_missing), "%s", name);
		return true;
	}
	whole->units = units;
	whole->unit = found;
	whole->die = tp_dwarf_units_die(units, found->die);
	return whole->die;
}

bool tp_whole_unit_files(struct tp_whole_unit *whole)
{
	int status = dwarf_srcfiles(whole->die, &whole->files, &whole->file_count, NULL);
	if ((status != DW_DLV_OK || whole->file_count <= 0) && whole->skeleton != whole->die)
		status = dwarf_srcfiles(whole->skeleton, &whole->files, &whole->file_count, NULL);
	if (status != DW_DLV_OK)
		whole->files = NULL;
	if (status != DW_DLV_OK || whole->file_count < 0)
		whole->file_count = 0;
	return status != DW_DLV_ERROR;
}

const char *tp_whole_unit_file(const struct tp_whole_unit *whole, Dwarf_Unsigned number)
{
	if (whole->unit->version < 5)
		number--;
	return number < (Dwarf_Unsigned)whole->file_count ? whole->files[number] : NULL;
}

void tp_split_release(struct tp_split *split)
{
	if (split->has_dwo)
		tp_dwarf_units_close(&split->dwo);
	if (split->has_dwp)
		tp_dwarf_units_close(&split->dwp);
	split->has_dwo = split->has_dwp = false;
}
