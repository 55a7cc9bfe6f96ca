// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose functions a log of the original TEE-Perf is of.
#include "original_log.h"

#include "analyzer/symbols/elf/file.h"
#include "analyzer/symbols/module.h"
#include "common/array.h"
#include "common/clean.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ANCHOR "__profiler_map_info"
#define PAGE 4096
#define SEGMENTS 16

// How well a program fits.
struct fit {
	bool has_anchor; // it has the function that the log tells about
	bool fits;       // ... at a place where it can have been
	uint32_t starts; // functions of the log that begin where the program has a function
	uint32_t within; // functions of the log that lie within one
	struct teeperf_module module;
};

// The name itself, or what link-time optimization makes of that of a static function.
static bool is_anchor(const char *name)
{
	const size_t size = strlen(ANCHOR);
	return strncmp(name, ANCHOR, size) == 0 && (!name[size] || name[size] == '.');
}

// Where the code is. PIE or not, it has been moved by whole pages.
static bool place(struct fit *fit, uint64_t bias)
{
	struct tp_elf_segment segments[SEGMENTS];
	const uint32_t count = tp_elf_segments_read(fit->module.path, segments, SEGMENTS);
	uint64_t start = UINT64_MAX;
	uint64_t end = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (segments[i].size > UINT64_MAX / 4 || segments[i].address > UINT64_MAX / 4)
			continue;
		if (segments[i].address < start)
			start = segments[i].address;
		if (segments[i].address + segments[i].size > end)
			end = segments[i].address + segments[i].size;
	}
	// Records tell addresses by their low halves.
	if (bias % PAGE || start >= end || end - start > UINT32_MAX || start + bias >= end + bias)
		return false;
	fit->module.bias = bias;
	fit->module.start = start + bias;
	fit->module.end = end + bias;
	return true;
}

static void compare(struct fit *fit, const struct tp_number_set *functions,
    const struct tp_elf_file *elf, const struct tp_elf_file *debug)
{
	fit->starts = 0;
	fit->within = 0;
	for (uint32_t i = 0; i < functions->count; i++) {
		const uint64_t address = functions->items[i];
		if (address < fit->module.start || address >= fit->module.end)
			continue;
		const struct tp_elf_symbol *symbol =
		    tp_elf_file_find(debug, address - fit->module.bias);
		if (!symbol)
			symbol = tp_elf_file_find(elf, address - fit->module.bias);
		if (symbol && symbol->address == address - fit->module.bias)
			fit->starts++;
		else if (symbol)
			fit->within++;
	}
}

static void try_anchors(struct fit *fit, uint64_t map_info, const struct tp_number_set *functions,
    const struct tp_elf_file *elf, const struct tp_elf_file *debug, const struct tp_elf_file *of)
{
	for (uint32_t i = 0; i < of->symbol_count; i++) {
		if (!is_anchor(of->symbols[i].name))
			continue;
		struct fit one = *fit;
		fit->has_anchor = true;
		if (!place(&one, map_info - of->symbols[i].address))
			continue;
		compare(&one, functions, elf, debug);
		one.has_anchor = true;
		one.fits = true;
		if (!fit->fits || one.starts > fit->starts)
			*fit = one;
	}
}

static int try_program(struct fit *fit, const char *path, uint64_t map_info,
    const struct tp_number_set *functions, const struct tp_symbol_options *options,
    struct tp_err *err)
{
	struct tp_elf_file elf;
	*fit = (struct fit){0};
	int code = tp_elf_file_identify(&elf, path, err);
	const size_t length = strlen(path);
	if (!code && length >= sizeof(fit->module.path))
		code = tp_err_set(err, TP_ERR_LIMIT, path,
		    "its path is too long: %zu bytes, at most %zu", length,
		    sizeof(fit->module.path) - 1);
	if (code) {
		tp_elf_file_release(&elf);
		return code;
	}
	memcpy(fit->module.path, path, length + 1);
	fit->module.build_id_size = elf.build_id_size < sizeof(fit->module.build_id)
					? elf.build_id_size
					: (uint32_t)sizeof(fit->module.build_id);
	memcpy(fit->module.build_id, elf.build_id, fit->module.build_id_size);
	tp_elf_file_release(&elf);
	struct tp_symbol_files files;
	struct tp_problems unused = {0}; // reported when the names are looked up
	tp_symbol_files_find(&files, &fit->module, options, &unused);
	try_anchors(fit, map_info, functions, &files.elf, &files.debug, &files.elf);
	try_anchors(fit, map_info, functions, &files.elf, &files.debug, &files.debug);
	tp_symbol_files_release(&files);
	return 0;
}

static void note(struct tp_problems *notes, const char *file, const char *why)
{
	tp_problems_add(
	    notes, TP_ERR_NOT_FOUND, file, "its functions are shown by address: %s", why);
}

int tp_original_names_find(const struct tp_original_options *options, uint64_t map_info,
    const struct tp_number_set *functions, const char *file, struct teeperf_module *module,
    bool *found, struct tp_problems *notes, struct tp_err *err)
{
	struct fit best = {0};
	bool has_anchor = false;
	*found = false;
	for (uint32_t i = 0; i < options->program_count; i++) {
		struct fit fit;
		const int code = try_program(
		    &fit, options->programs[i], map_info, functions, &options->symbols, err);
		if (code)
			return code;
		has_anchor = has_anchor || fit.has_anchor;
		// Of another build most functions are elsewhere.
		if (fit.fits && fit.starts >= fit.within &&
		    (!best.fits || fit.starts > best.starts))
			best = fit;
	}
	*found = best.fits && (best.starts || !functions->count);
	*module = best.module;
	if (!functions->count)
		return 0;
	if (!options->program_count)
		note(notes, file,
		    "a log of the original TEE-Perf does not name its program; name it with "
		    "--program FILE");
	else if (!has_anchor)
		note(notes, file,
		    "the program has no symbol " ANCHOR
		    ", which is needed to find where it was loaded; give the unstripped file, or "
		    "the folder of its debug file with --debug-dir");
	else if (!*found)
		note(notes, file,
		    "the program is not the recorded one, or is another build of it: its "
		    "functions have other addresses; give the recorded file with --program");
	else if (best.within)
		tp_problems_add(notes, TP_ERR_NOT_FOUND, module->path,
		    "%" PRIu32 " of %" PRIu32
		    " functions in the log do not begin at a function of this program: it may "
		    "be another build than the recorded one, and names may be wrong",
		    best.within, functions->count);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;
	const int order = TP_COMPARE(tp_original_name(x), tp_original_name(y));
	return order ? order : TP_COMPARE(x, y);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct tp_module_symbol *x = a;
	const struct tp_module_symbol *y = b;
	return TP_COMPARE(x->address, y->address);
}

static bool is_in(const struct teeperf_module *module, uint64_t address)
{
	return module && address >= module->start && address < module->end;
}

static uint64_t rounded(uint64_t address)
{
	return (address + 3) & ~UINT64_C(3);
}

// Those of the program, by its file. Here, since a record has no room for an address that is no
// multiple of 4. A line of the symbols section, which has no tabs or newlines in names.
static void add_line(struct tp_buf *out, uint64_t address, const struct tp_module_symbol *symbol)
{
	tp_buf_addf(out, "%" PRIx64 "\t1\t", address);
	tp_buf_add_clean(out, symbol->linkage);
	tp_buf_addf(out, "\t%s\t%" PRIu64 "\n", symbol->file ? symbol->file : "", symbol->line);
}

static void list_program(const struct tp_original_options *options,
    const struct tp_number_set *functions, const struct teeperf_module *module, struct tp_buf *out,
    struct tp_problems *notes)
{
	struct tp_arena arena;
	uint32_t count = 0;
	struct tp_module_symbol *symbols = calloc(functions->count + (size_t)1, sizeof(*symbols));
	tp_arena_init(&arena);
	if (!symbols)
		goto no_memory;
	for (uint32_t i = 0; i < functions->count; i++)
		if (is_in(module, functions->items[i]))
			symbols[count++].address = functions->items[i] - module->bias;
	qsort(symbols, count, sizeof(*symbols), compare_symbols);
	if (tp_symbol_module_find(module, &options->symbols, symbols, count, &arena, notes))
		goto no_memory;
	for (uint32_t i = 0; i < count; i++)
		if (symbols[i].linkage && symbols[i].linkage[0])
			add_line(out, rounded(symbols[i].address + module->bias), &symbols[i]);
	goto out;
no_memory:
	out->failed = true;
out:
	free(symbols);
	tp_arena_release(&arena);
}

void tp_original_names_list(const struct tp_original_options *options,
    const struct tp_number_set *functions, const struct teeperf_module *module, const char *file,
    struct tp_buf *out, struct tp_problems *notes)
{
	uint64_t *sorted = malloc((functions->count + (size_t)1) * sizeof(*sorted));
	if (!sorted) {
		out->failed = true;
		return;
	}
	if (functions->count)
		memcpy(sorted, functions->items, functions->count * sizeof(*sorted));
	qsort(sorted, functions->count, sizeof(*sorted), compare_names);
	uint32_t shared = 0;
	for (uint32_t i = 0; i < functions->count; i++) {
		const uint64_t address = sorted[i];
		if (i && tp_original_name(address) == tp_original_name(sorted[i - 1])) {
			shared++;
			continue;
		}
		if (!is_in(module, address))
			tp_buf_addf(
			    out, "%" PRIx64 "\t1\t0x%" PRIx64 "\t\t0\n", rounded(address), address);
	}
	free(sorted);
	if (module)
		list_program(options, functions, module, out, notes);
	if (shared)
		tp_problems_add(notes, TP_ERR_LIMIT, file,
		    "%" PRIu32
		    " functions share the low half of their address with another one, and are "
		    "shown as that one",
		    shared);
	if (functions->count == functions->most)
		tp_problems_add(notes, TP_ERR_LIMIT, file,
		    "more than %" PRIu32
		    " functions: the others are shown by the low half of their addresses",
		    functions->most);
}
