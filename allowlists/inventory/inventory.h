/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the compiler saw of each function that it could have instrumented: the inventory that the
 * pass leaves in each object file (docs/inventory.md), read from programs, libraries, object files,
 * archives and *.tpinv files, and merged by linkage name.
 */
#ifndef TP_INVENTORY_H
#define TP_INVENTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "allowlists/language/allowlist.h"
#include "common/arena.h"
#include "common/err.h"

/* The section of object files and programs that holds it; it is not loaded. */
#define TP_INVENTORY_SECTION ".teeperf.inventory"

enum tp_presence {
	TP_PRESENCE_EMITTED = 0, /* it is a function of its own in the program */
	TP_PRESENCE_PARTLY,      /* ... and was inlined elsewhere too: those calls are not seen */
	TP_PRESENCE_INLINED,     /* only inlined, see `into` */
	TP_PRESENCE_REMOVED,     /* gone without a trace */
	TP_PRESENCE_SOURCE,      /* seen in the source only: nothing has been compiled (libclang) */
};

/* One function that another one calls, or was inlined into. */
struct tp_inventory_edge {
	uint32_t function; /* index in functions */
	uint32_t sites;    /* call sites, or copies */
	double frequency;  /* calls for each of the function, as compilers guess; 0: unknown */
	bool guessed; /* of `into`: derived from its earlier callers, not from debug information */
};

struct tp_inventory_function {
	const char *name;      /* linkage name */
	const char *demangled; /* the same if it is not mangled */
	const char *origin; /* linkage name of what it is a copy of, or was before LTO; or NULL */
	const char *origin_demangled; /* likewise */
	const char *linkage;          /* LLVM's word */
	const char *file;             /* of the source, or "" */
	uint64_t line;                /* 0: unknown */
	const char *main_file; /* the source file that was compiled; of the first definition */
	const char *module;    /* last component of the program or library that it was read from */
	enum tp_presence presence;
	uint32_t definitions; /* in how many object files; above 1 for inline functions, or an
	                         ambiguous name if `ambiguous` */
	bool ambiguous; /* different functions have this name: internal ones of several files */
	bool system;    /* from a system header */
	uint64_t instrs_start;   /* before optimisation */
	struct tp_facts facts;   /* after it; zeroes unless emitted */
	uint64_t indirect_calls; /* call sites whose callee is not known */
	uint64_t constant_trips; /* loops whose number of rounds is known */
	enum tp_category
	    decision; /* what the compiler did; SKIP for functions that are not emitted */
	uint32_t sample;
	const char *by_file; /* the allowlist line that said so; NULL: the default, or no list */
	uint32_t by_line;
	struct tp_inventory_edge *calls; /* direct callees that are in the inventory */
	uint32_t call_count;
	struct tp_inventory_edge *into; /* who holds copies of it */
	uint32_t into_count;
};

struct tp_inventory_unit {
	const char *main_file;
	const char *module;
	const char *compiler; /* such as "clang 19" */
	const char *lists;    /* hash of the allowlists, hexadecimal; "" without */
	const char *level;    /* event, count */
};

struct tp_inventory {
	struct tp_inventory_function *functions; /* sorted by name (strcmp), then main_file */
	uint32_t function_count;
	struct tp_inventory_unit *units;
	uint32_t unit_count;
	uint64_t hash; /* of the functions' names and sizes: which build it was */
	struct tp_arena arena;
};

/*
 * Read and merge the inventories in COUNT PATHS: ELF programs, libraries, objects, ar archives,
 * *.tpinv files, and folders, which are searched for *.tpinv. 0; TP_ERR_NOT_FOUND if a path holds
 * none, with what to do; or another tp_error. Release it in any case.
 */
int tp_inventory_open(
    struct tp_inventory *inventory, const char *const *paths, uint32_t count, struct tp_err *err);
void tp_inventory_release(struct tp_inventory *inventory);

/* The function of this linkage name, or NULL. The first, if there are several. */
const struct tp_inventory_function *tp_inventory_find(
    const struct tp_inventory *inventory, const char *name);

/* What an allowlist is asked about it. Strings live as long as the inventory. */
struct tp_subject tp_inventory_subject(const struct tp_inventory_function *function);

/* Whether the compiler made COPY of FUNCTION, such as a part of a coroutine. */
bool tp_inventory_is_copy_of(
    const struct tp_inventory_function *copy, const struct tp_inventory_function *function);

/* What programs read: "emitted", "partly", "inlined", "removed", "source" (docs/inventory.md). */
extern const char *const tp_presence_words[TP_PRESENCE_SOURCE + 1];
/* What people read: "emitted", "partly inlined", "inlined", "removed", "source only". */
const char *tp_presence_name(enum tp_presence presence);

/*
 * An inventory before anything has been compiled: libclang reads the sources that a
 * compile_commands.json lists. It has the names of functions and where they are, and a rough size;
 * docs/from-source.md says what it has not.
 */

/* What was found, and what could not be named. Each is of files times functions: what a header
 * defines counts once for each file that includes it. */
struct tp_from_source_counts {
	uint64_t files;     /* compile commands */
	uint64_t lost;      /* of them, those that could not be read at all */
	uint64_t erroneous; /* of them, those with errors: functions may be missing */
	uint64_t functions; /* that have a name */
	uint64_t templates; /* function templates, and members of class templates */
	uint64_t lambdas;
	uint64_t implied; /* members that the compiler writes: = default */
	uint64_t system;  /* in system headers, left out */
};

struct tp_from_source_options {
	struct tp_from_source_counts *counts; /* filled if not NULL */
	/* Called for each file that is lost or erroneous; may be NULL. */
	void (*warn)(void *context, const char *file, const char *text);
	void *context;
};

/*
 * Read the sources that COMMANDS lists, a compile_commands.json or the folder that it is in, with
 * the newest libclang. Each file is read in a process of its own: one that crashes libclang is lost
 * and warned about. 0; TP_ERR_NOT_FOUND without a libclang or a compile_commands.json; or another
 * tp_error. Release the inventory in any case. pre: the caller has no other threads or children.
 */
int tp_inventory_from_source(struct tp_inventory *inventory, const char *commands,
    const struct tp_from_source_options *options, struct tp_err *err);

#endif
