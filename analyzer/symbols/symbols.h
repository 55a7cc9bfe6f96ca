/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the functions of a trace are called and where their source is: from the trace's own symbols,
 * else from the modules' ELF files (names) and debug information (file and line).
 */
#ifndef TP_SYMBOLS_H
#define TP_SYMBOLS_H

#include "analyzer/symbols/files.h"
#include "analyzer/symbols/lines.h"
#include "analyzer/trace/tracefile.h"

/*
 * All strings but `raw` are clean (common/clean.h), and live as long as the arena that they were
 * made in.
 */
struct tp_symbol {
	const char *name;    /* demangled; "module+0xOFFSET" or "0xLOW" if there is none */
	const char *linkage; /* as in the symbol table, but clean; "" if there is none */
	const char *raw;     /* the same, byte for byte: for matching, never to be shown */
	const char *module;  /* last component of the module's path, or "" */
	const char *file;    /* of the source, or "" */
	uint64_t line;       /* 0: unknown */
	uint64_t address;    /* in the module's file; the low half at run time without a module */
	uint32_t place;      /* the module's index in trace->map.modules; UINT32_MAX: in none */
};

/* Which function: by what a record says of its address. */
struct tp_symbol_key {
	uint64_t address; /* at run time */
	bool low_half;    /* only the low half of it is known */
};

/*
 * What stands for calls that are not those of one function: those that were open when a recorder
 * attached, or that have no path of their own. NULL: it is a function.
 */
const char *tp_symbols_stand_in(const struct tp_symbol_key *key);

/*
 * The run-time address whose low half is LOW, by the trace's module map; 0 if it is in none.
 */
uint64_t tp_symbols_address(const struct tp_tracefile *trace, uint32_t low);

/*
 * Name the COUNT functions in KEYS, in any order: symbols[i] is that of keys[i]. What stands in the
 * way (a module that has changed, no debug information) becomes a note. 0 or TP_ERR_MEMORY.
 */
int tp_symbols_resolve(const struct tp_tracefile *trace, const struct tp_symbol_options *options,
    const struct tp_symbol_key *keys, uint32_t count, struct tp_symbol *symbols,
    struct tp_arena *arena, struct tp_problems *notes, struct tp_err *err);

/*
 * Hand all linkage names that the trace and the modules' symbol tables have for each of the COUNT
 * functions in KEYS to TAKE: constructors, destructors and aliases have several. `is_all`: of a
 * whole table, which misses none. 0 or TP_ERR_MEMORY.
 */
int tp_symbols_each_name(const struct tp_tracefile *trace, const struct tp_symbol_options *options,
    const struct tp_symbol_key *keys, uint32_t count,
    void (*take)(void *context, uint32_t index, const char *name, bool is_all), void *context,
    struct tp_err *err);

/*
 * tp_symbol_calls_find for module number PLACE of the trace's map, with the files of it that
 * tp_symbols_resolve finds. 0 or a negative tp_error; TP_ERR_NOT_FOUND without debug information.
 */
int tp_symbols_calls(const struct tp_tracefile *trace, const struct tp_symbol_options *options,
    uint32_t place, struct tp_call_function *functions, uint32_t count, struct tp_call_sites *sites,
    struct tp_arena *arena, struct tp_err *err);

#endif
