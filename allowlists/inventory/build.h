/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How an inventory is put together: units, their functions and edges are added as they are read,
 * then tp_inventory_merge makes one function of the definitions of one name. All strings must live
 * as long as the inventory: put them into its arena. Memory that runs out is reported by the merge.
 */
#ifndef TP_INVENTORY_BUILD_H
#define TP_INVENTORY_BUILD_H

#include "common/buf.h"
#include "common/index.h"

#include "inventory.h"

#include <stddef.h>

struct tp_build_unit {
	struct tp_inventory_unit unit;
	/* Units of the same source file and identity are the same one, read twice (say, from an
	 * object file and from the program), and their functions too. */
	uint64_t identity;
};

/* A definition, or a name that something refers to (function is NULL). */
struct tp_build_entry {
	struct tp_inventory_function *function; /* its counts and edges are the merge's business */
	uint32_t unit;
	uint32_t name;
	uint32_t next_of_name; /* another definition, or TP_BUILD_NONE */
	uint32_t last_edge;
	uint32_t merged; /* index in the inventory, TP_BUILD_NONE before, or if it is left out */
};

struct tp_build_edge {
	struct tp_inventory_edge edge; /* of function, not yet */
	uint32_t to;                   /* entry */
	uint32_t next;                 /* of the same entry */
	bool into;
};

struct tp_build_name {
	const char *name;
	uint64_t hash;
	uint32_t last_entry;                     /* of the definitions */
	uint32_t first_function, function_count; /* in the inventory */
	uint32_t global_function;                /* the first that is not internal, or none */
};

#define TP_BUILD_NONE UINT32_MAX

struct tp_inventory_builder {
	struct tp_inventory *inventory;
	struct tp_build_unit *units;
	struct tp_build_entry *entries;
	struct tp_build_edge *edges;
	struct tp_build_name *names;
	struct tp_index index; /* of names */
	uint32_t unit_count, unit_room;
	uint32_t entry_count, entry_room;
	uint32_t edge_count, edge_room;
	uint32_t name_count, name_room;
	bool failed;
};

/* `inventory` is initialized; it is of use once it has been merged. */
void tp_inventory_builder_init(
    struct tp_inventory_builder *builder, struct tp_inventory *inventory);
void tp_inventory_builder_release(struct tp_inventory_builder *builder);

/*
 * A unit, to which the functions that follow belong. NULL if memory ran out; valid until the next.
 */
struct tp_build_unit *tp_inventory_add_unit(
    struct tp_inventory_builder *builder, const struct tp_inventory_unit *unit);

/*
 * A definition: of *function all that one unit can know (not main_file and module, which are the
 * unit's, nor demangled names, ambiguous, system and edges; definitions is 1, or what an earlier
 * merge found). Or a name that is only referred to. Returns the number by which edges refer to it,
 * TP_BUILD_NONE if memory ran out.
 * pre: a unit has been added.
 */
uint32_t tp_inventory_add_function(
    struct tp_inventory_builder *builder, const struct tp_inventory_function *function);
uint32_t tp_inventory_add_name(struct tp_inventory_builder *builder, const char *name);

/* `from` calls `to`, or has been inlined `into` it; edge->function is not looked at. */
void tp_inventory_add_edge(struct tp_inventory_builder *builder, uint32_t from, uint32_t to,
    const struct tp_inventory_edge *edge, bool into);

/*
 * Whether functions of this linkage are the same wherever they are defined: inline functions and
 * template instances.
 */
bool tp_inventory_is_mergeable(const char *linkage);

/* Merge by linkage name. 0 or a negative tp_error. Once; the builder is then to be released. */
int tp_inventory_merge(struct tp_inventory_builder *builder, struct tp_err *err);

/* ---- files and texts (docs/inventory.md) ---- */

/* Add what PATH holds: a file, or a folder with *.tpinv files. PATH must live as long as the call.
 * TP_ERR_NOT_FOUND if it holds nothing. */
int tp_inventory_add_path(
    struct tp_inventory_builder *builder, const char *path, struct tp_err *err);

/* The same of a file's bytes, named NAME; 0 also if it holds nothing. */
int tp_inventory_add_memory(struct tp_inventory_builder *builder, const void *data, size_t size,
    const char *name, struct tp_err *err);

/*
 * Add the contents of TEXT, SIZE bytes, behind which a NUL must stand: one inventory or several.
 * TEXT is changed, and the inventory refers to it: have it in its arena. FILE is for errors;
 * `module` is for units that name none. 0, TP_ERR_FORMAT or TP_ERR_VERSION with *err naming FILE
 * and line.
 */
int tp_inventory_parse(struct tp_inventory_builder *builder, char *text, size_t size,
    const char *file, const char *module, struct tp_err *err);

/* Add a string as the text has it: tabs, line ends, backslashes and a leading '#' are escaped. */
void tp_inventory_add_escaped(struct tp_buf *out, const char *text);

/* Add the merged inventory as text, from which the same is read again. */
void tp_inventory_write(const struct tp_inventory *inventory, struct tp_buf *out);

#endif
