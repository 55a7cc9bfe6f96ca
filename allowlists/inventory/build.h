/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How an inventory is put together: units, their functions and edges are added as they are read, then
 * tp_inventory_merge makes one function of the definitions of one name. All strings must live as long
 * as the inventory: put them into its arena. Memory that runs out is reported by the merge.
 */
#ifndef TP_INVENTORY_BUILD_H
#define TP_INVENTORY_BUILD_H

#include "common/index.h"

#include "inventory.h"

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

/* A unit, to which the functions that follow belong. NULL if memory ran out; valid until the next. */
struct tp_build_unit *tp_inventory_add_unit(
    struct tp_inventory_builder *builder, const struct tp_inventory_unit *unit);

/*
 * A definition: of *function all that one unit can know (not main_file and module, which are the
 * unit's, nor demangled names, ambiguous, system and edges; definitions is 1, or what an earlier merge found). Or a name that is only referred
 * to. Returns the number by which edges refer to it, TP_BUILD_NONE if memory ran out.
 * pre: a unit has been added.
 */
uint32_t tp_inventory_add_function(
    struct tp_inventory_builder *builder, const struct tp_inventory_function *function);
uint32_t tp_inventory_add_name(struct tp_inventory_builder *builder, const char *name);

/* `from` calls `to`, or has been inlined `into` it; edge->function is not looked at. */
void tp_inventory_add_edge(struct tp_inventory_builder *builder, uint32_t from, uint32_t to,
    const struct tp_inventory_edge *edge, bool into);

/* Whether functions of this linkage are the same wherever they are defined: inline functions and template
 * instances. */
bool tp_inventory_is_mergeable(const char *linkage);

/* Merge by linkage name. 0 or a negative tp_error. Once; the builder is then to be released. */
int tp_inventory_merge(struct tp_inventory_builder *builder, struct tp_err *err);

#endif
