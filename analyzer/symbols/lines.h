/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where functions are in the source, and which were inlined where, by DWARF that may be damaged or hostile. */
#ifndef TP_SYMBOL_LINES_H
#define TP_SYMBOL_LINES_H

#include "analyzer/symbols/dwarf.h"
#include "common/process.h"

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
 * tp_symbol_dwarf_find in processes of their own, two if there is work and a processor for them: whatever
 * the file makes libdwarf do, it costs the source lines and no more. All that is given must live until
 * the end. 0, or TP_ERR_SYSTEM if it cannot be started.
 */
int tp_symbol_lines_start(struct tp_symbol_lines *lines, const struct tp_dwarf_request *request,
    struct tp_source_place *places, uint32_t count, struct tp_err *err);

/*
 * Wait for what was started. Results are those of tp_symbol_dwarf_find, with all control characters cleaned
 * out; TP_ERR_FORMAT also if a process crashed, or took more than its share of time or memory.
 */
int64_t tp_symbol_lines_finish(struct tp_symbol_lines *lines, struct tp_arena *arena,
    struct tp_dwarf_notes *notes, struct tp_err *err);

/* Work of another kind in such a process: adds its answer to OUT. 0 or a negative tp_error. */
typedef int64_t tp_isolated_fn(void *context, struct tp_buf *out, struct tp_err *err);

/*
 * Have WORK done on REQUEST's file in a process of its own. Its answer, of at most MOST bytes, is in *GOT, which is
 * empty before: to be checked like any input. 0, WORK's error, TP_ERR_FORMAT or TP_ERR_SYSTEM.
 */
int tp_symbol_lines_isolate(const struct tp_dwarf_request *request, tp_isolated_fn *work,
    void *context, uint64_t most, struct tp_buf *got, struct tp_err *err);

/* ---- inlined functions */

/* A function that was inlined. Strings have no control characters, and live as long as the arena. */
struct tp_inlined {
	const char *function;  /* demangled */
	const char *call_file; /* where it was called, in the function around it; "" if unknown */
	uint64_t call_line;    /* 0: unknown */
};

/* The functions at an address, innermost first: each was called in the next one, the last one in the
 * function that the address belongs to. */
struct tp_inline_chain {
	uint64_t address; /* as in the file; set by the caller */
	struct tp_inlined *functions;
	uint32_t count;
};

/* Nesting that is followed. */
enum { TP_INLINES_MAX = 256 };

/*
 * Fill in the COUNT chains, which are sorted by address. Returns how many are not empty, or a negative
 * tp_error. Runs in a process of its own, as the search for lines does.
 */
int64_t tp_symbol_inlines_find(const struct tp_dwarf_request *request,
    struct tp_inline_chain *chains, uint32_t count, struct tp_arena *arena, struct tp_err *err);

#endif
