/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where functions are in the source, which were inlined where, and on which lines they call one
 * another, by DWARF that may be damaged or hostile.
 */
#ifndef TP_SYMBOL_LINES_H
#define TP_SYMBOL_LINES_H

#include "common/arena.h"
#include "common/err.h"
#include "common/process.h"

#include <stdbool.h>

/* ---- by DWARF, in this process */

enum { TP_SPLIT_PATH_MAX = 4096 };

/* Where to look. */
struct tp_dwarf_request {
	const char *path;   /* of the ELF file with the debug information */
	const char *module; /* the program or library, beside which split files are; or NULL */
	const char *const *debug_dirs; /* searched for split files */
	uint32_t debug_dir_count;
	uint32_t part;   /* of PARTS: look only at each PARTS-th unit, from this one on */
	uint32_t parts;  /* 0 is 1 */
	bool slowly;     /* leave all to libdwarf; for tests */
	bool leave_open; /* the process ends soon: do not tidy up */
};

struct tp_source_place {
	uint64_t address; /* of the function, as in the file; set by the caller */
	const char *file; /* NULL if it was not found; lives as long as the arena */
	uint64_t line;
	uint32_t unit; /* that said so; if several do, the first one counts */
};

/* What else there is to say. */
struct tp_dwarf_notes {
	uint32_t missing;        /* units that were split off, and whose file was not found */
	char first_missing[256]; /* the name of the first one's */
	struct tp_err damage;    /* of some unit; code 0: none */
};

/*
 * Fill in file and line of the COUNT places, which are sorted by address, each address once. Only
 * units whose ranges hold one of them are gone through. Returns how many were found, or a negative
 * tp_error: TP_ERR_NOT_FOUND if there is no debug information. NOTES may be NULL.
 */
int64_t tp_symbol_dwarf_find(const struct tp_dwarf_request *request, struct tp_source_place *places,
    uint32_t count, struct tp_arena *arena, struct tp_dwarf_notes *notes, struct tp_err *err);

enum { TP_LINES_WORKERS = 2 };

/* A search that goes on in other processes. */
struct tp_symbol_lines {
	const struct tp_dwarf_request *request;
	struct tp_source_place *places;
	uint32_t count;
	uint32_t worker_count;
	struct tp_process workers[TP_LINES_WORKERS];
};

/*
 * tp_symbol_dwarf_find in processes of their own, two if there is work and a processor for them:
 * whatever the file makes libdwarf do, it costs the source lines and no more. All that is given
 * must live until the end. 0, or TP_ERR_SYSTEM if it cannot be started.
 */
int tp_symbol_lines_start(struct tp_symbol_lines *lines, const struct tp_dwarf_request *request,
    struct tp_source_place *places, uint32_t count, struct tp_err *err);

/*
 * Wait for what was started. Results are those of tp_symbol_dwarf_find, with all control characters
 * cleaned out; TP_ERR_FORMAT also if a process crashed, or took more than its share of time or
 * memory.
 */
int64_t tp_symbol_lines_finish(struct tp_symbol_lines *lines, struct tp_arena *arena,
    struct tp_dwarf_notes *notes, struct tp_err *err);

/* Work of another kind in such a process: adds its answer to OUT. 0 or a negative tp_error. */
typedef int64_t tp_isolated_fn(void *context, struct tp_buf *out, struct tp_err *err);

/*
 * Have WORK done on REQUEST's file in a process of its own. Its answer, of at most MOST bytes, is
 * in *GOT, which is empty before: to be checked like any input. 0, WORK's error, TP_ERR_FORMAT or
 * TP_ERR_SYSTEM.
 */
int tp_symbol_lines_isolate(const struct tp_dwarf_request *request, tp_isolated_fn *work,
    void *context, uint64_t most, struct tp_buf *got, struct tp_err *err);

/* ---- inlined functions */

/*
 * A function that was inlined. Strings have no control characters, and live as long as the arena.
 */
struct tp_inlined {
	const char *function;  /* demangled */
	const char *call_file; /* where it was called, in the function around it; "" if unknown */
	uint64_t call_line;    /* 0: unknown */
};

/*
 * The functions at an address, innermost first: each was called in the next one, the last one in
 * the function that the address belongs to.
 */
struct tp_inline_chain {
	uint64_t address; /* as in the file; set by the caller */
	struct tp_inlined *functions;
	uint32_t count;
};

/* Nesting that is followed. */
enum { TP_INLINES_MAX = 256 };

/*
 * Fill in the COUNT chains, which are sorted by address. Returns how many are not empty, or a
 * negative tp_error. Runs in a process of its own, as the search for lines does.
 */
int64_t tp_symbol_inlines_find(const struct tp_dwarf_request *request,
    struct tp_inline_chain *chains, uint32_t count, struct tp_arena *arena, struct tp_err *err);

/* ---- calls */

/* A function that calls others, is called, or both. All is set by the caller but `described`. */
struct tp_call_function {
	uint64_t address;    /* as in the file; TP_CALL_ELSEWHERE: it is in another one */
	const char *linkage; /* as in the symbol table; "": unknown */
	uint32_t number;     /* the caller's own */
	bool wanted;         /* its calls are looked for */
	bool described;      /* the debug information says where its calls are */
};
#define TP_CALL_ELSEWHERE UINT64_MAX

/*
 * A line from which a function calls another one: of its own code, or where it calls the outermost
 * one of the functions that were inlined around the call.
 */
struct tp_call_site {
	uint32_t caller; /* index of the function */
	uint32_t callee;
	uint64_t line; /* 0: it is unknown, or in another file than the caller */
	const char *const
	    *inlined; /* the functions around the call, outermost first; clean, demangled */
	uint32_t inlined_count;
};

/*
 * Things that are looked at: entries of the debug information in wanted functions, and calls; names
 * of inlined functions for a call.
 */
enum { TP_CALLS_ENTRIES = 1 << 24, TP_CALLS_SITES = 1 << 18, TP_CALLS_INLINED = 16 };

/* What was found: sorted by caller, line and callee, each once. Lives as long as the arena. */
struct tp_call_sites {
	struct tp_call_site *items;
	uint32_t count;
	bool cut; /* there are more */
};

/*
 * Find the calls among the COUNT functions, which are sorted by address. A call whose callee the
 * debug information does not name, or which is not among the functions, is left out: so are calls
 * by pointers. A callee that is not in the unit is found by its name, if it is the only one with
 * it. Runs in a process of its own, as the search for lines does. 0 or a negative tp_error.
 */
int tp_symbol_calls_find(const struct tp_dwarf_request *request, struct tp_call_function *functions,
    uint32_t count, struct tp_call_sites *sites, struct tp_arena *arena, struct tp_err *err);

#endif
