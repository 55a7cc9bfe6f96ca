// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the functions of a trace are called and where their source is.
#define _GNU_SOURCE
#include "symbols.h"

#include "analyzer/symbols/module.h"
#include "common/array.h"
#include "common/clean.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES (UINT64_C(1) << 32)

// Maximum number of files that are looked at in folders, for all modules together.
#define FOLDER_ROOM 65536

// Where a function is, sorted by address within a module.
struct place {
	uint64_t address; // in the module's file; UINT64_MAX without one
	uint32_t module;  // in the trace's map; NOWHERE: in none, or in several
	uint32_t index;   // of the key and the symbol
};
#define NOWHERE UINT32_MAX

// Modules by where they begin, for looking one up. Their names, the low halves of their addresses,
// wrap.
struct finder {
	const struct tp_module_map *map;
	uint32_t *by_start;
	uint32_t *by_name;
	bool simple; // no two modules share an address or a name: at most one can be meant
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

// A clean copy of TEXT.
static const char *keep(struct job *job, const char *text)
{
	const char *copy = tp_symbol_keep(job->arena, text);
	if (!copy)
		job->no_memory = true;
	return copy ? copy : "";
}

static void set_name(struct job *job, struct tp_symbol *symbol, const char *linkage)
{
	symbol->raw = tp_arena_copy(job->arena, linkage, strlen(linkage));
	symbol->name = tp_symbol_readable(job->arena, linkage);
	if (!symbol->raw || !symbol->name) {
		job->no_memory = true;
		symbol->raw = symbol->name = "";
	}
}

// The address that KEY means if it is in the module, else 0.
static uint64_t address_in(const struct teeperf_module *module, const struct tp_symbol_key *key)
{
	uint64_t address = key->address;
	if (key->low_half) {
		address = module->start >> 32 << 32 | (uint32_t)key->address;
		if (address < module->start)
			address += NAMES;
	}
	return address >= module->start && address < module->end ? address : 0;
}

static int compare_starts(const void *a, const void *b, void *context)
{
	const struct teeperf_module *modules = context;
	const uint64_t x = modules[*(const uint32_t *)a].start;
	const uint64_t y = modules[*(const uint32_t *)b].start;
	return TP_COMPARE(x, y);
}

static int compare_names(const void *a, const void *b, void *context)
{
	const struct teeperf_module *modules = context;
	const uint32_t x = (uint32_t)modules[*(const uint32_t *)a].start;
	const uint32_t y = (uint32_t)modules[*(const uint32_t *)b].start;
	return TP_COMPARE(x, y);
}

// Whether each module ends before the next one begins.
static bool are_apart(const struct finder *finder)
{
	const struct teeperf_module *modules = finder->map->modules;
	for (uint32_t i = 0; i < finder->map->count; i++) {
		const struct teeperf_module *at = &modules[finder->by_start[i]];
		const struct teeperf_module *name = &modules[finder->by_name[i]];
		if (at->end <= at->start || at->end - at->start >= NAMES)
			return false;
		if (i + 1 < finder->map->count) {
			if (at->end > modules[finder->by_start[i + 1]].start ||
			    (uint32_t)name->start + (name->end - name->start) >
				(uint32_t)modules[finder->by_name[i + 1]].start)
				return false;
			continue;
		}
		const uint64_t end = (uint32_t)name->start + (name->end - name->start);
		if (end > NAMES + (uint32_t)modules[finder->by_name[0]].start)
			return false;
	}
	return true;
}

static bool finder_init(
    struct finder *finder, const struct tp_module_map *map, struct tp_arena *arena)
{
	*finder = (struct finder){.map = map};
	if (!map->count)
		return true;
	finder->by_start = tp_arena_alloc(arena, map->count * sizeof(*finder->by_start));
	finder->by_name = tp_arena_alloc(arena, map->count * sizeof(*finder->by_name));
	if (!finder->by_start || !finder->by_name)
		return false;
	for (uint32_t i = 0; i < map->count; i++)
		finder->by_start[i] = finder->by_name[i] = i;
	void *modules = (void *)(uintptr_t)map->modules;
	qsort_r(finder->by_start, map->count, sizeof(*finder->by_start), compare_starts, modules);
	qsort_r(finder->by_name, map->count, sizeof(*finder->by_name), compare_names, modules);
	finder->simple = are_apart(finder);
	return true;
}

// The module that has this function, and its address there. The map gives each module names of its
// own, or leaves it out: no name is better than a wrong one.
static uint32_t module_of(
    const struct finder *finder, const struct tp_symbol_key *key, uint64_t *address)
{
	const struct teeperf_module *modules = finder->map->modules;
	const uint32_t count = finder->map->count;
	if (!finder->simple) {
		for (uint32_t i = 0; i < count; i++)
			if ((*address = address_in(&modules[i], key)))
				return i;
		return NOWHERE;
	}
	const uint32_t *order = key->low_half ? finder->by_name : finder->by_start;
	const uint64_t wanted = key->low_half ? (uint32_t)key->address : key->address;
	const uint32_t low = TP_LOWER_BOUND(0, count, middle,
	    (key->low_half ? (uint32_t)modules[order[middle]].start
			   : modules[order[middle]].start) <= wanted);
	// A name below all others' may be in the module whose names wrap, which is the last one.
	const uint32_t found = order[low ? low - 1 : count - 1];
	*address = address_in(&modules[found], key);
	return *address ? found : NOWHERE;
}

uint64_t tp_symbols_address(const struct tp_tracefile *trace, uint32_t low)
{
	const struct tp_symbol_key key = {.address = low, .low_half = true};
	const struct finder finder = {.map = &trace->map};
	uint64_t address = 0;
	return module_of(&finder, &key, &address) == NOWHERE ? 0 : address;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;
	int order = TP_COMPARE(x->module, y->module);
	order = order ? order : TP_COMPARE(x->address, y->address);
	return order ? order : TP_COMPARE(x->index, y->index);
}

const char *tp_symbols_stand_in(const struct tp_symbol_key *key)
{
	if (!key->low_half)
		return NULL;
	return key->address == TP_NAME_ATTACHED ? "[attached]"
	       : key->address == TP_NAME_MORE   ? "[more paths]"
						: NULL;
}

static bool find_places(struct job *job)
{
	struct finder finder;
	job->places = calloc(job->count ? job->count : 1, sizeof(*job->places));
	if (!job->places || !finder_init(&finder, &job->trace->map, job->arena))
		return false;
	for (uint32_t i = 0; i < job->count; i++) {
		struct place *place = &job->places[i];
		place->index = i;
		place->module = tp_symbols_stand_in(&job->keys[i])
				    ? NOWHERE
				    : module_of(&finder, &job->keys[i], &place->address);
		if (place->module != NOWHERE)
			place->address -= job->trace->map.modules[place->module].bias;
	}
	qsort(job->places, job->count, sizeof(*job->places), compare_places);
	return true;
}

static const struct teeperf_module *module_at(const struct job *job, const struct place *place)
{
	return place->module == NOWHERE ? NULL : &job->trace->map.modules[place->module];
}

// What the trace's own symbols section has of a place; NULL: nothing.
static const struct tp_text_symbol *find_in_text(
    const struct job *job, const struct tp_symbol_text *table, const struct place *place)
{
	const struct tp_module_map *map = &job->trace->map;
	const struct tp_symbol_key *key = &job->keys[place->index];
	const struct teeperf_module *module = module_at(job, place);
	const uint64_t moved = module ? map->moved[place->module] : 0;
	// What may be several modules' is so to this section, too.
	if (key->low_half && !module && tp_module_map_knows(map, (uint32_t)key->address))
		return NULL;
	if (key->low_half && !moved)
		return tp_symbol_text_find(table, (uint32_t)key->address);
	return tp_symbol_text_find_full(
	    table, moved ? place->address + module->bias - moved : key->address);
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
		    "%u lines of the symbols section are malformed; the first is "
		    "line %u",
		    table.bad_lines, table.first_bad_line);
	for (uint32_t i = 0; i < job->count; i++) {
		const struct place *place = &job->places[i];
		const struct tp_text_symbol *found = find_in_text(job, &table, place);
		if (!found)
			continue;
		struct tp_symbol *symbol = &job->symbols[place->index];
		set_name(job, symbol, found->name);
		symbol->file = keep(job, found->file);
		symbol->line = found->line;
	}
}

// Look up the places from FIRST up to END, which are in one module.
static void from_module(struct job *job, uint32_t first, uint32_t end)
{
	const struct teeperf_module *module = module_at(job, &job->places[first]);
	struct tp_module_symbol *found = calloc(end - first, sizeof(*found));
	uint32_t count = 0;
	bool needed = false;
	if (!found) {
		job->no_memory = true;
		return;
	}
	for (uint32_t i = first; i < end; i++) {
		const struct place *place = &job->places[i];
		const struct tp_symbol *symbol = &job->symbols[place->index];
		needed = needed || !symbol->name;
		if (count && found[count - 1].address == place->address)
			continue;
		found[count++] = (struct tp_module_symbol){
		    .address = place->address,
		    .linkage = symbol->raw,
		    .name = symbol->name,
		    .file = symbol->file,
		    .line = symbol->line,
		};
	}
	if (needed &&
	    tp_symbol_module_find(module, job->options, found, count, job->arena, job->notes))
		job->no_memory = true;
	uint32_t at = 0;
	for (uint32_t i = first; i < end && needed; i++) {
		const struct place *place = &job->places[i];
		struct tp_symbol *symbol = &job->symbols[place->index];
		at += found[at].address != place->address;
		symbol->raw = found[at].linkage;
		symbol->name = found[at].name;
		symbol->file = found[at].file;
		symbol->line = found[at].line;
	}
	free(found);
}

// What remains without a name is called by its place.
static void fill_up(struct job *job, const struct place *place, const char *module_name)
{
	struct tp_symbol *symbol = &job->symbols[place->index];
	symbol->address = job->keys[place->index].address;
	symbol->module = "";
	symbol->place = place->module;
	const struct teeperf_module *module = module_at(job, place);
	if (module) {
		symbol->address = place->address;
		symbol->module = module_name;
	}
	if (!symbol->name) {
		char text[TEEPERF_MODULE_PATH_SIZE + 32];
		snprintf(text, sizeof(text), "%s%s0x%" PRIx64,
		    !module          ? ""
		    : module_name[0] ? module_name
				     : "?",
		    module ? "+" : "", symbol->address);
		symbol->name = keep(job, text);
	}
	if (!symbol->raw)
		symbol->raw = "";
	symbol->linkage = tp_is_clean(symbol->raw) ? symbol->raw : keep(job, symbol->raw);
	if (!symbol->file)
		symbol->file = "";
}

// The folder that FILE is in; NULL if memory runs out.
static char *folder_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	return slash == file ? strdup("/")
	       : slash       ? strndup(file, (size_t)(slash - file))
			     : strdup(".");
}

// OPTIONS with the folders near the trace, and a ROOM for files, as a trace may list any number of
// modules. Returns a string that the caller frees.
static char *near_options(struct tp_symbol_options *limited,
    const struct tp_symbol_options *options, const struct tp_tracefile *trace, uint32_t *room)
{
	*room = FOLDER_ROOM;
	*limited = *options;
	limited->folder_room = room;
	char *folder = folder_of(trace->source.name);
	limited->near_dirs[0] = folder;
	limited->near_dirs[1] = trace->directory;
	return folder;
}

int tp_symbols_resolve(const struct tp_tracefile *trace, const struct tp_symbol_options *options,
    const struct tp_symbol_key *keys, uint32_t count, struct tp_symbol *symbols,
    struct tp_arena *arena, struct tp_problems *notes, struct tp_err *err)
{
	uint32_t room;
	struct tp_symbol_options limited;
	char *folder = near_options(&limited, options, trace, &room);
	struct job job = {
	    .trace = trace,
	    .options = &limited,
	    .keys = keys,
	    .count = count,
	    .symbols = symbols,
	    .arena = arena,
	    .notes = notes,
	};
	memset(symbols, 0, count * sizeof(*symbols));
	if (!find_places(&job)) {
		free(job.places);
		free(folder);
		goto no_memory;
	}
	if (trace->symbols)
		from_trace(&job);
	for (uint32_t first = 0, end; first < count; first = end) {
		const uint32_t module = job.places[first].module;
		for (end = first + 1; end < count && job.places[end].module == module; end++)
			;
		if (module != NOWHERE)
			from_module(&job, first, end);
	}
	for (uint32_t i = 0; i < count; i++)
		if (tp_symbols_stand_in(&keys[i]))
			symbols[i].name = tp_symbols_stand_in(&keys[i]);
	uint32_t nowhere = 0;
	uint32_t unclear = 0;
	uint32_t last = NOWHERE;
	const char *module_name = "";
	char text[TP_MODULE_NAME_SIZE];
	for (uint32_t i = 0; i < count; i++) {
		const struct place *place = &job.places[i];
		if (!symbols[place->index].name && place->module == NOWHERE) {
			const uint32_t name = (uint32_t)keys[place->index].address;
			const bool known = tp_module_map_knows(&trace->map, name);
			unclear += known;
			nowhere += !known;
		}
		if (place->module != last && place->module != NOWHERE) // its name is kept once
			module_name = keep(&job,
			    basename(tp_module_name(&trace->map.modules[place->module], text)));
		last = place->module;
		fill_up(&job, place, module_name);
	}
	free(job.places);
	free(folder);
	if (!room)
		tp_problems_add(notes, TP_ERR_LIMIT, trace->source.name,
		    "%d files were searched for its modules: the rest of the folders given with "
		    "--debug-dir is skipped",
		    FOLDER_ROOM);
	if (unclear)
		tp_problems_add(notes, TP_ERR_NOT_FOUND, trace->source.name,
		    "%u functions have addresses in several modules, and their times do not "
		    "show in which: they are shown by address",
		    unclear);
	if (nowhere)
		tp_problems_add(notes, TP_ERR_NOT_FOUND, trace->source.name,
		    "%u functions are in no module: they are shown by address", nowhere);
	if (!job.no_memory)
		return 0;
no_memory:
	return tp_err_set(err, TP_ERR_MEMORY, trace->source.name,
	    "out of memory while naming %u functions", count);
}

// What each name is handed to.
struct taker {
	void (*take)(void *context, uint32_t index, const char *name, bool is_all);
	void *context;
};

// The other lines of the trace's own symbols that are of the functions there.
static void each_in_trace(struct job *job, const struct taker *taker)
{
	struct tp_symbol_text table;
	if (tp_symbol_text_parse(&table, job->trace->symbols, job->arena)) {
		job->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < job->count; i++) {
		const struct tp_text_symbol *found = find_in_text(job, &table, &job->places[i]);
		if (!found)
			continue;
		const uint64_t address = found->address;
		uint32_t at = TP_LOWER_BOUND(
		    0U, table.count, middle, table.by_address[middle]->address < address);
		for (; at < table.count && table.by_address[at]->address == address; at++)
			taker->take(taker->context, job->places[i].index,
			    table.by_address[at]->name, false);
	}
}

static void each_in_file(
    const struct tp_elf_file *elf, const struct place *place, const struct taker *taker)
{
	const struct tp_elf_symbol *found = tp_elf_file_find(elf, place->address);
	if (!found)
		return;
	uint32_t count;
	const struct tp_elf_symbol *aliases = tp_elf_file_aliases(elf, found, &count);
	taker->take(taker->context, place->index, found->name, elf->has_symbol_table);
	for (uint32_t i = 0; i < count; i++)
		taker->take(taker->context, place->index, aliases[i].name, elf->has_symbol_table);
}

int tp_symbols_each_name(const struct tp_tracefile *trace, const struct tp_symbol_options *options,
    const struct tp_symbol_key *keys, uint32_t count,
    void (*take)(void *context, uint32_t index, const char *name, bool is_all), void *context,
    struct tp_err *err)
{
	const struct taker taker = {take, context};
	struct tp_arena arena;
	struct tp_problems notes = {0}; // tp_symbols_resolve has reported them
	struct tp_symbol_options limited;
	uint32_t room;
	tp_arena_init(&arena);
	char *folder = near_options(&limited, options, trace, &room);
	struct job job = {
	    .trace = trace, .options = &limited, .keys = keys, .count = count, .arena = &arena};
	job.no_memory = !find_places(&job);
	if (!job.no_memory && trace->symbols)
		each_in_trace(&job, &taker);
	for (uint32_t i = 0, last = NOWHERE; i < count && !job.no_memory;
	     last = job.places[i++].module) {
		const struct teeperf_module *module = module_at(&job, &job.places[i]);
		struct tp_symbol_files files;
		if (!module || job.places[i].module == last)
			continue;
		tp_symbol_files_find(&files, module, &limited, &notes);
		for (uint32_t j = i; j < count && job.places[j].module == job.places[i].module;
		     j++) {
			if (files.has_debug)
				each_in_file(&files.debug, &job.places[j], &taker);
			if (files.usable)
				each_in_file(&files.elf, &job.places[j], &taker);
		}
		tp_symbol_files_release(&files);
	}
	free(job.places);
	free(folder);
	tp_arena_release(&arena);
	return job.no_memory ? tp_err_memory(err, trace->source.name) : 0;
}

int tp_symbols_calls(const struct tp_tracefile *trace, const struct tp_symbol_options *options,
    uint32_t place, struct tp_call_function *functions, uint32_t count, struct tp_call_sites *sites,
    struct tp_arena *arena, struct tp_err *err)
{
	const struct teeperf_module *module = &trace->map.modules[place];
	struct tp_problems notes = {0}; // tp_symbols_resolve has reported them
	struct tp_symbol_options limited;
	struct tp_symbol_files files;
	uint32_t room;
	char *folder = near_options(&limited, options, trace, &room);
	*sites = (struct tp_call_sites){0};
	tp_symbol_files_find(&files, module, &limited, &notes);
	const struct tp_dwarf_request request = {
	    .path = tp_symbol_files_dwarf(&files, module),
	    .module = module->path,
	    .debug_dirs = options->debug_dirs,
	    .debug_dir_count = options->debug_dir_count,
	};
	const int code =
	    request.path ? tp_symbol_calls_find(&request, functions, count, sites, arena, err)
			 : tp_err_set(err, TP_ERR_NOT_FOUND, module->path, "no debug information");
	tp_symbol_files_release(&files);
	free(folder);
	return code;
}
