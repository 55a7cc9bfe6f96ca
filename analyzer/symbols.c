// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the functions of a trace are called and where their source is.
#include "symbols.h"

#include "common/clean.h"
#include "common/demangle.h"
#include "analyzer/elf_file.h"
#include "analyzer/symbol_lines.h"
#include "analyzer/symbol_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

// Where a function is, sorted by address within a module.
struct place {
	const struct teeperf_module *module; // NULL: in none, or in several
	uint64_t address;                    // in the module's file
	uint32_t index;                      // of the key and the symbol
};

// All that one call of tp_symbols_resolve works on.
struct job {
	const struct tp_tracefile *trace;
	const struct tp_symbol_options *options;
	const struct tp_symbol_key *keys;
	struct place *places; // by module, then by address
	uint32_t count;
	struct tp_symbol *symbols;
	struct tp_arena *arena;
	struct tp_problems *notes;
	bool no_memory; // sticky
};

// A copy of TEXT in which no byte can steer a terminal.
static const char *keep(struct job *job, const char *text)
{
	char *copy = tp_arena_copy(job->arena, text, strlen(text));
	if (!copy) {
		job->no_memory = true;
		return "";
	}
	tp_clean(copy, strlen(copy));
	return copy;
}

static void set_name(struct job *job, struct tp_symbol *symbol, const char *linkage)
{
	symbol->linkage = keep(job, linkage);
	char *text = tp_demangle(linkage);
	symbol->name = text ? keep(job, text) : symbol->linkage;
	free(text);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

// The module's run-time address whose low half is NAME, or 0 if the module does not contain one.
static uint64_t address_in(const struct teeperf_module *module, uint32_t name)
{
	uint64_t address = module->start >> 32 << 32 | name;
	if (address < module->start)
		address += UINT64_C(1) << 32;
	return address >= module->start && address < module->end ? address : 0;
}

// The module that has this function, and its address there. None if it may be several's: no name is
// better than a wrong one.
static const struct teeperf_module *module_of(
    const struct tp_tracefile *trace, const struct tp_symbol_key *key, uint64_t *address)
{
	for (uint32_t i = 0; i < trace->map.count; i++) {
		const struct teeperf_module *module = &trace->map.modules[i];
		uint64_t here = key->address;
		if (key->low_half)
			here = address_in(module, (uint32_t)here);
		if (!here || here < module->start || here >= module->end)
			continue;
		*address = here;
		return module;
	}
	return NULL;
}

uint64_t tp_symbols_address(const struct tp_tracefile *trace, uint32_t low)
{
	const struct tp_symbol_key key = {.address = low, .low_half = true};
	uint64_t address = 0;
	return module_of(trace, &key, &address) ? address : 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static bool find_places(struct job *job)
{
	job->places = calloc(job->count ? job->count : 1, sizeof(*job->places));
	if (!job->places)
		return false;
	for (uint32_t i = 0; i < job->count; i++) {
		struct place *place = &job->places[i];
		place->index = i;
		place->module = module_of(job->trace, &job->keys[i], &place->address);
		if (place->module)
			place->address -= place->module->bias;
	}
	qsort(job->places, job->count, sizeof(*job->places), compare_places);
	return true;
}

// Names from the trace's own symbols section.
static void from_trace(struct job *job)
{
	struct tp_symbol_text table;
	const int code = tp_symbol_text_parse(&table, job->trace->symbols, job->arena);
	if (code) {
		job->no_memory = true;
		return;
	}
	if (table.bad_lines)
		tp_problems_add(job->notes, TP_ERR_FORMAT, job->trace->source.name,
		    TP_ERR_NO_OFFSET,
		    "%u lines of the symbols section are malformed; the first is "
		    "line %u",
		    table.bad_lines, table.first_bad_line);
	const struct tp_module_map *map = &job->trace->map;
	for (uint32_t i = 0; i < job->count; i++) {
		const struct place *place = &job->places[i];
		const struct tp_symbol_key *key = &job->keys[place->index];
		const uint64_t moved = place->module ? map->moved[place->module - map->modules] : 0;
		// What may be several modules' is so to this section, too.
		if (key->low_half && !place->module &&
		    tp_module_map_knows(map, (uint32_t)key->address))
			continue;
		const struct tp_text_symbol *found;
		if (key->low_half && !moved)
			found = tp_symbol_text_find(&table, (uint32_t)key->address);
		else
			found = tp_symbol_text_find_full(&table,
			    moved ? place->address + place->module->bias - moved : key->address);
		if (!found)
			continue;
		struct tp_symbol *symbol = &job->symbols[place->index];
		set_name(job, symbol, found->name);
		symbol->file = keep(job, found->file);
		symbol->line = found->line;
	}
}

// DIR/.build-id/xx/yyy.debug; false if the module has no build ID.
static bool debug_path(
    const struct teeperf_module *module, const char *dir, char *path, size_t size)
{
	if (module->build_id_size < 2)
		return false;
	size_t at = (size_t)snprintf(path, size, "%s/.build-id/%02x/", dir, module->build_id[0]);
	for (uint32_t i = 1; i < module->build_id_size && at < size; i++)
		at += (size_t)snprintf(path + at, size - at, "%02x", module->build_id[i]);
	if (at < size)
		at += (size_t)snprintf(path + at, size - at, ".debug");
	return at < size;
}

static bool same_build(const struct teeperf_module *module, const struct tp_elf_file *elf)
{
	return module->build_id_size == elf->build_id_size &&
	       memcmp(module->build_id, elf->build_id, elf->build_id_size) == 0;
}

// Read the debug file of the module's build ID, if there is one.
static bool find_debug_file(struct job *job, const struct teeperf_module *module,
    struct tp_elf_file *elf, char *path, size_t size)
{
	for (uint32_t i = 0; i <= job->options->debug_dir_count; i++) {
		const char *dir = i < job->options->debug_dir_count ? job->options->debug_dirs[i]
								    : SYSTEM_DEBUG_DIR;
		if (!debug_path(module, dir, path, size) || access(path, R_OK) != 0)
			continue;
		struct tp_err err;
		if (tp_elf_file_read(elf, path, &err) == 0 && same_build(module, elf))
			return true;
		tp_elf_file_release(elf);
		tp_problems_add(job->notes, TP_ERR_FORMAT, path, TP_ERR_NO_OFFSET,
		    "not the debug file of '%s'; it is not used", module->path);
	}
	return false;
}

static void add_lines(struct job *job, const struct teeperf_module *module, const char *path)
{
	struct tp_source_place *places = calloc(job->count, sizeof(*places));
	uint32_t *owners = calloc(job->count, sizeof(*owners));
	uint32_t count = 0;
	if (!places || !owners) {
		job->no_memory = true;
		goto out;
	}
	for (uint32_t i = 0; i < job->count; i++) {
		const struct place *place = &job->places[i];
		if (place->module != module || job->symbols[place->index].file)
			continue;
		owners[count] = place->index;
		places[count++].address = place->address;
	}
	struct tp_err err;
	const int64_t found =
	    count ? tp_symbol_lines_find(path, places, count, job->arena, &err) : 1;
	if (found < 0)
		tp_problems_add(
		    job->notes, err.code, err.file, err.offset, "%s; no source lines", err.what);
	else if (found == 0)
		tp_problems_add(job->notes, TP_ERR_NOT_FOUND, path, TP_ERR_NO_OFFSET,
		    "none of %u functions is in its debug information (split or incomplete): no "
		    "source lines",
		    count);
	for (uint32_t i = 0; i < count; i++)
		if (places[i].file) {
			job->symbols[owners[i]].file = keep(job, places[i].file);
			job->symbols[owners[i]].line = places[i].line;
		}
out:
	free(places);
	free(owners);
}

static void from_module(struct job *job, const struct teeperf_module *module)
{
	struct tp_elf_file elf;
	struct tp_elf_file debug = {0};
	struct tp_err err;
	char debug_file[512];
	const bool has_elf = tp_elf_file_read(&elf, module->path, &err) == 0;
	const bool usable = has_elf && (!module->build_id_size || same_build(module, &elf));
	const bool has_debug = !(usable && elf.has_debug_info) &&
			       find_debug_file(job, module, &debug, debug_file, sizeof(debug_file));
	if (!has_elf && !has_debug)
		tp_problems_add(job->notes, err.code, err.file, err.offset,
		    "%s; its functions have no names", err.what);
	else if (has_elf && !usable && !has_debug)
		tp_problems_add(job->notes, TP_ERR_NOT_FOUND, module->path, TP_ERR_NO_OFFSET,
		    "the file is not the one that was recorded (its build ID differs): its functions "
		    "have no names; put the old file back, or name its debug file with --debug-dir");
	for (uint32_t i = 0; i < job->count; i++) {
		const struct place *place = &job->places[i];
		if (job->symbols[place->index].name || place->module != module)
			continue;
		const struct tp_elf_symbol *found = NULL;
		if (has_debug)
			found = tp_elf_file_find(&debug, place->address);
		if (!found && usable)
			found = tp_elf_file_find(&elf, place->address);
		if (found)
			set_name(job, &job->symbols[place->index], found->name);
	}
	if (has_debug && debug.has_debug_info)
		add_lines(job, module, debug_file);
	else if (usable && elf.has_debug_info)
		add_lines(job, module, module->path);
	else if (usable)
		tp_problems_add(job->notes, TP_ERR_NOT_FOUND, module->path, TP_ERR_NO_OFFSET,
		    "no debug information: no source lines; compile with -g, or name its debug file "
		    "with --debug-dir");
	tp_elf_file_release(&elf);
	tp_elf_file_release(&debug);
}

// What remains without a name is called by its place.
static void fill_up(struct job *job, const struct place *place)
{
	struct tp_symbol *symbol = &job->symbols[place->index];
	symbol->address = job->keys[place->index].address;
	symbol->module = "";
	char text[TEEPERF_MODULE_PATH_SIZE + 32];
	snprintf(text, sizeof(text), "0x%" PRIx64, symbol->address);
	if (place->module) {
		symbol->address = place->address;
		symbol->module = keep(job, base_name(place->module->path));
		snprintf(text, sizeof(text), "%s+0x%" PRIx64,
		    symbol->module[0] ? symbol->module : "?", symbol->address);
	}
	if (!symbol->name)
		symbol->name = keep(job, text);
	if (!symbol->linkage)
		symbol->linkage = "";
	if (!symbol->file)
		symbol->file = "";
}

int tp_symbols_resolve(const struct tp_tracefile *trace, const struct tp_symbol_options *options,
    const struct tp_symbol_key *keys, uint32_t count, struct tp_symbol *symbols,
    struct tp_arena *arena, struct tp_problems *notes, struct tp_err *err)
{
	struct job job = {
	    .trace = trace,
	    .options = options,
	    .keys = keys,
	    .count = count,
	    .symbols = symbols,
	    .arena = arena,
	    .notes = notes,
	};
	memset(symbols, 0, count * sizeof(*symbols));
	if (!find_places(&job))
		goto no_memory;
	if (trace->symbols)
		from_trace(&job);
	for (uint32_t i = 0; i < trace->map.count; i++) {
		bool needed = false;
		for (uint32_t j = 0; !needed && j < count; j++)
			needed = !symbols[job.places[j].index].name &&
				 job.places[j].module == &trace->map.modules[i];
		if (needed)
			from_module(&job, &trace->map.modules[i]);
	}
	uint32_t nowhere = 0;
	uint32_t unclear = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct place *place = &job.places[i];
		if (!symbols[place->index].name && !place->module) {
			const uint32_t name = (uint32_t)keys[place->index].address;
			const bool known = tp_module_map_knows(&trace->map, name);
			unclear += known;
			nowhere += !known;
		}
		fill_up(&job, place);
	}
	free(job.places);
	if (unclear)
		tp_problems_add(notes, TP_ERR_NOT_FOUND, trace->source.name, TP_ERR_NO_OFFSET,
		    "%u functions are where several modules have been, and their times do not tell "
		    "in which they are: they are shown by address",
		    unclear);
	if (nowhere)
		tp_problems_add(notes, TP_ERR_NOT_FOUND, trace->source.name, TP_ERR_NO_OFFSET,
		    "%u functions are in none of the modules: they are shown by address", nowhere);
	if (!job.no_memory)
		return 0;
no_memory:
	return tp_err_set(err, TP_ERR_MEMORY, trace->source.name, TP_ERR_NO_OFFSET,
	    "no memory for the names of %u functions", count);
}
