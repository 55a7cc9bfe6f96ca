// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the functions of one module are called and where their source is.
#include "module.h"

#include "analyzer/symbols/lines.h"
#include "common/clean.h"
#include "common/linkage_name.h"

#include <stdlib.h>
#include <string.h>

// Where a symbol's name is from.
enum state {
	STATE_WANTED, // to be looked up, and then kept
	STATE_GIVEN,  // the caller has a name, which is not ours to keep
	STATE_KEPT,   // the cache has all that there is to know
};

// All that one call of tp_symbol_module_find works on.
struct job {
	const struct teeperf_module *module;
	const struct tp_symbol_options *options;
	struct tp_module_symbol *symbols;
	uint32_t count;
	struct tp_arena *arena;
	struct tp_problems *notes;
	enum state *states; // of each symbol
	struct tp_symbol_cache cache;
	bool no_memory; // sticky
};

const char *tp_symbol_keep(struct tp_arena *arena, const char *text)
{
	const size_t size = strlen(text);
	char *copy = tp_arena_copy(arena, text, size);
	if (copy)
		tp_clean(copy, size);
	return copy;
}

const char *tp_symbol_readable(struct tp_arena *arena, const char *text)
{
	char *readable = tp_demangle(text);
	const char *kept = tp_symbol_keep(arena, readable ? readable : text);
	free(readable);
	return kept;
}

static void find_names(struct job *job, const struct tp_symbol_files *files)
{
	for (uint32_t i = 0; i < job->count; i++) {
		struct tp_module_symbol *symbol = &job->symbols[i];
		const struct tp_elf_symbol *found = NULL;
		if (symbol->name || job->states[i] == STATE_KEPT)
			continue;
		if (files->has_debug)
			found = tp_elf_file_find(&files->debug, symbol->address);
		if (!found && files->usable)
			found = tp_elf_file_find(&files->elf, symbol->address);
		if (!found)
			continue;
		symbol->linkage = tp_arena_copy(job->arena, found->name, strlen(found->name));
		symbol->name = tp_symbol_readable(job->arena, found->name);
		if (!symbol->linkage || !symbol->name)
			job->no_memory = true;
	}
}

// The symbols without a source line, as places to look for. Returns how many.
static uint32_t list_places(const struct job *job, struct tp_source_place *places, uint32_t *owners)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < job->count; i++) {
		if (job->symbols[i].file || job->states[i] == STATE_KEPT)
			continue;
		owners[count] = i;
		places[count++] = (struct tp_source_place){.address = job->symbols[i].address};
	}
	return count;
}

// What was asked of a module's debug information, while processes of their own look for it.
struct lines {
	struct tp_dwarf_request request;
	struct tp_symbol_lines search;
	struct tp_source_place *places;
	uint32_t *owners; // of each place: index in job.symbols
	bool started;
	bool complete; // nothing that there is was missed
};

static void start_lines(struct job *job, struct lines *lines, const char *path)
{
	struct tp_err err;
	lines->request = (struct tp_dwarf_request){
	    .path = path,
	    .module = job->module->path,
	    .debug_dirs = job->options->debug_dirs,
	    .debug_dir_count = job->options->debug_dir_count,
	};
	lines->places = calloc(job->count, sizeof(*lines->places));
	lines->owners = calloc(job->count, sizeof(*lines->owners));
	if (!lines->places || !lines->owners) {
		job->no_memory = true;
		return;
	}
	const uint32_t count = list_places(job, lines->places, lines->owners);
	if (!count)
		return;
	if (tp_symbol_lines_start(&lines->search, &lines->request, lines->places, count, &err))
		tp_problems_add_at(
		    job->notes, err.code, err.file, err.offset, "%s; no source lines", err.what);
	else
		lines->started = true;
}

static void note_lines(struct job *job, const struct lines *lines, int64_t found,
    const struct tp_dwarf_notes *notes, const struct tp_err *err)
{
	const char *path = lines->request.path;
	if (found < 0)
		tp_problems_add_at(job->notes, err->code, err->file, err->offset,
		    "%s; no source lines", err->what);
	else if (notes->damage.code)
		tp_problems_add(job->notes, notes->damage.code, path,
		    "%s; source lines may be missing", notes->damage.what);
	if (notes->missing)
		tp_problems_add(job->notes, TP_ERR_NOT_FOUND, path,
		    "the split debug information of %u compilation units was not found (the first "
		    "is '%s'): no source lines for them; put it next to the program, or name its "
		    "folder with --debug-dir",
		    notes->missing, notes->first_missing);
	else if (found == 0)
		tp_problems_add(job->notes, TP_ERR_NOT_FOUND, path,
		    "none of %u functions is in its debug information: no source lines; compile "
		    "all of it with -g",
		    lines->search.count);
}

static void finish_lines(struct job *job, struct lines *lines)
{
	struct tp_dwarf_notes notes;
	struct tp_err err;
	if (lines->started) {
		const int64_t found =
		    tp_symbol_lines_finish(&lines->search, job->arena, &notes, &err);
		note_lines(job, lines, found, &notes, &err);
		lines->complete = found > 0 && !notes.missing && !notes.damage.code;
	}
	for (uint32_t i = 0; lines->started && i < lines->search.count; i++) {
		struct tp_module_symbol *symbol = &job->symbols[lines->owners[i]];
		symbol->file = lines->places[i].file;
		symbol->line = symbol->file ? lines->places[i].line : 0;
	}
	free(lines->places);
	free(lines->owners);
}

// Take what the cache has. Returns how many symbols are still to be looked up.
static uint32_t ask_cache(struct job *job, bool cached)
{
	struct tp_err err;
	if (cached && tp_symbol_cache_read(&job->cache, job->module->build_id,
			  job->module->build_id_size, job->arena, &err))
		tp_problems_add_at(job->notes, err.code, err.file, err.offset, "%s", err.what);
	uint32_t left = 0;
	uint32_t at = 0; // both are sorted
	for (uint32_t i = 0; i < job->count; i++) {
		struct tp_module_symbol *symbol = &job->symbols[i];
		while (at < job->cache.count && job->cache.entries[at].address < symbol->address)
			at++;
		if (symbol->name)
			job->states[i] = STATE_GIVEN;
		if (at == job->cache.count || job->cache.entries[at].address != symbol->address) {
			left++;
			continue;
		}
		const struct tp_module_symbol kept = tp_symbol_cache_get(&job->cache, at);
		job->states[i] = STATE_KEPT;
		if (!symbol->name) {
			symbol->name = kept.name;
			symbol->linkage = kept.linkage;
		}
		if (!symbol->file) {
			symbol->file = kept.file;
			symbol->line = kept.line;
		}
	}
	return left;
}

// Keep the results, beside those that are kept already.
static void fill_cache(struct job *job)
{
	const struct tp_symbol_cache *old = &job->cache;
	struct tp_module_symbol *all = calloc(old->count + (size_t)job->count, sizeof(*all));
	uint32_t count = 0;
	uint32_t before = 0;
	if (!all)
		return;
	for (uint32_t i = 0; i < job->count; i++) {
		const struct tp_module_symbol *symbol = &job->symbols[i];
		if (job->states[i] != STATE_WANTED)
			continue;
		// A file with control characters would be taken for a damaged one.
		if (symbol->linkage && !tp_is_clean(symbol->linkage))
			continue;
		while (before < old->count && old->entries[before].address < symbol->address)
			all[count++] = tp_symbol_cache_get(old, before++);
		all[count++] = *symbol;
	}
	while (before < old->count)
		all[count++] = tp_symbol_cache_get(old, before++);
	tp_symbol_cache_write(all, count, job->module->build_id, job->module->build_id_size);
	free(all);
}

static void look_up(struct job *job, bool cached)
{
	struct tp_symbol_files files;
	struct lines lines = {0};
	tp_symbol_files_find(&files, job->module, job->options, job->notes);
	const char *path = tp_symbol_files_dwarf(&files, job->module);
	if (path)
		start_lines(job, &lines, path);
	else if (files.usable || files.has_debug)
		tp_problems_add(job->notes, TP_ERR_NOT_FOUND,
		    files.usable ? job->module->path : files.debug_path,
		    "no debug information: no source lines; compile with -g, or name its debug "
		    "file with --debug-dir");
	find_names(job, &files);
	finish_lines(job, &lines);
	// What may be found another time, with other files, is not kept.
	if (cached && lines.complete && !job->no_memory &&
	    (files.elf.symbol_count || files.debug.symbol_count))
		fill_cache(job);
	tp_symbol_files_release(&files);
}

int tp_symbol_module_find(const struct teeperf_module *module,
    const struct tp_symbol_options *options, struct tp_module_symbol *symbols, uint32_t count,
    struct tp_arena *arena, struct tp_problems *notes)
{
	const bool cached = !options->no_cache && module->build_id_size >= TP_SYMBOL_CACHE_ID_MIN;
	struct job job = {.module = module, .options = options, .arena = arena, .notes = notes};
	job.symbols = symbols;
	job.count = count;
	job.states = calloc(count ? count : 1, sizeof(*job.states));
	if (!job.states)
		return TP_ERR_MEMORY;
	if (count && ask_cache(&job, cached))
		look_up(&job, cached);
	free(job.states);
	return job.no_memory ? TP_ERR_MEMORY : 0;
}
