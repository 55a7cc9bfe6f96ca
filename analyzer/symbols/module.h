/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the functions of one module are called and where their source is. */
#ifndef TP_SYMBOL_MODULE_H
#define TP_SYMBOL_MODULE_H

#include "analyzer/symbols/files.h"
#include "common/arena.h"

/* A function of a module. All strings live as long as the arena, and hold no control characters. */
struct tp_module_symbol {
	uint64_t address;    /* as in the module's file; set by the caller */
	const char *linkage; /* the name in the symbol table, byte for byte; NULL: not found */
	const char *name;    /* demangled, clean; NULL: not found */
	const char *file;    /* of the source; NULL: not found */
	uint64_t line;
};

/*
 * Fill in the COUNT symbols, which are sorted by address, each address once. Symbols that are
 * filled in already stay. Failures become notes. 0 or TP_ERR_MEMORY.
 */
int tp_symbol_module_find(const struct teeperf_module *module,
    const struct tp_symbol_options *options, struct tp_module_symbol *symbols, uint32_t count,
    struct tp_arena *arena, struct tp_problems *notes);

/* A clean copy of TEXT (common/clean.h); NULL if memory runs out. */
const char *tp_symbol_keep(struct tp_arena *arena, const char *text);

/* TEXT, a name as in a symbol table, as people write it; clean. NULL if memory runs out. */
const char *tp_symbol_readable(struct tp_arena *arena, const char *text);

/*
 * ---- Names and source lines that were found before, kept by build ID: files of our own in
 * $XDG_CACHE_HOME/teeperf or ~/.cache/teeperf. They are checked like any other input.
 */

/* The bytes kept in all; symbols unused for the longest time go first. */
#define TP_SYMBOL_CACHE_MAX (UINT64_C(256) << 20)

/* Build IDs of fewer bytes are not believed to be unique. */
enum { TP_SYMBOL_CACHE_ID_MIN = 8, TP_SYMBOL_CACHE_ID_MAX = 64 };

/* As in the file, sorted by address, each once; lives as long as the arena. */
struct tp_symbol_cache {
	const struct tp_cache_entry *entries;
	const char *strings;
	uint32_t count;
};

/* An entry of the file. The texts are offsets among its strings, or TP_CACHE_ABSENT. */
struct tp_cache_entry {
	uint64_t address;
	uint64_t line;
	uint32_t name;
	uint32_t linkage;
	uint32_t file;
	uint32_t reserved;
};
#define TP_CACHE_ABSENT UINT32_MAX

/*
 * Read the kept symbols of the build ID. 0 also if that is nothing (or the ID too short).
 * TP_ERR_FORMAT if the file is damaged, TP_ERR_MEMORY; then the cache is empty.
 */
int tp_symbol_cache_read(struct tp_symbol_cache *cache, const uint8_t *build_id,
    uint32_t build_id_size, struct tp_arena *arena, struct tp_err *err);

/* Symbol number INDEX, which is below the count. */
static inline struct tp_module_symbol tp_symbol_cache_get(
    const struct tp_symbol_cache *cache, uint32_t index)
{
	const struct tp_cache_entry *entry = &cache->entries[index];
	const char *strings = cache->strings;
	return (struct tp_module_symbol){
	    .address = entry->address,
	    .name = entry->name == TP_CACHE_ABSENT ? NULL : strings + entry->name,
	    .linkage = entry->linkage == TP_CACHE_ABSENT ? NULL : strings + entry->linkage,
	    .file = entry->file == TP_CACHE_ABSENT ? NULL : strings + entry->file,
	    .line = entry->line,
	};
}

/*
 * Keep the COUNT symbols, sorted by address, each once, in place of the old ones: at once or not at
 * all. Where that does not succeed nothing happens, it is a cache.
 */
void tp_symbol_cache_write(const struct tp_module_symbol *symbols, uint32_t count,
    const uint8_t *build_id, uint32_t build_id_size);

/* ---- the symbols section of a trace (trace.h): lines of address, size, name, file and line */

struct tp_text_symbol {
	uint64_t address;
	uint64_t size;
	const char *name;
	const char *file; /* "" if unknown */
	uint64_t line;    /* 0 if unknown */
};

struct tp_symbol_text {
	struct tp_text_symbol *symbols;     /* by the low half of the address */
	struct tp_text_symbol **by_address; /* the same by the whole address */
	uint32_t count;
	uint32_t bad_lines;
	uint32_t first_bad_line;
};

/* Parse TEXT; everything lives in the arena. 0 or TP_ERR_MEMORY. Malformed lines are counted. */
int tp_symbol_text_parse(struct tp_symbol_text *table, const char *text, struct tp_arena *arena);
/* The symbol that contains the address with this low half, or NULL. */
const struct tp_text_symbol *tp_symbol_text_find(const struct tp_symbol_text *table, uint32_t low);
/* The symbol that contains the address, or NULL. */
const struct tp_text_symbol *tp_symbol_text_find_full(
    const struct tp_symbol_text *table, uint64_t address);

#endif
