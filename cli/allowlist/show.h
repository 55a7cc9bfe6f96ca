/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the commands about lists and inventories show, for people and for programs. */
#ifndef TP_ALLOWLIST_SHOW_H
#define TP_ALLOWLIST_SHOW_H

#include "allowlists/check/check.h"
#include "allowlists/check/explained.h"
#include "cli/allowlist/open_list.h"
#include "common/json.h"

/* ---- what a check found, as a compiler would print it and as JSON ---- */

/* One finding, several lines: the message, the line with a mark, what to do. */
void tp_finding_add_text(struct tp_buf *out, const struct tp_finding *finding,
    const struct tp_list_use *use, bool color);

/* "3 warnings and 1 note", "nothing to complain about". */
void tp_findings_add_counts(struct tp_buf *out, const struct tp_list_check *check);

/* Members with the place and the text of line INDEX of LIST, nulls for TP_LINE_NONE. */
void tp_list_line_add_json(
    struct tp_json *json, const struct tp_allowlist *list, uint32_t index, bool with_column);

/* The findings as an array of JSON objects, member KEY. */
void tp_findings_add_json(struct tp_json *json, const char *key, const struct tp_list_check *check,
    const struct tp_list_use *use);

/* ---- one function, explained ---- */

void tp_explain_add_text(struct tp_buf *out, const struct tp_explained *explained,
    const struct tp_open_profile *profile);
void tp_explain_add_json(struct tp_json *json, const struct tp_explained *explained,
    const struct tp_open_profile *profile);

/* ---- an inventory as a table, JSON or CSV ---- */

enum tp_inventory_sort {
	TP_INVENTORY_SORT_INSTRS = 0,
	TP_INVENTORY_SORT_START,
	TP_INVENTORY_SORT_LOOPS,
	TP_INVENTORY_SORT_CALLS,
	TP_INVENTORY_SORT_NAME,
	TP_INVENTORY_SORT_FILE,
};

struct tp_inventory_view {
	enum tp_inventory_sort sort;
	uint64_t limit; /* rows, 0: all */
	uint32_t width; /* of the terminal, 0: unlimited */
	bool color;
	bool system;      /* show also what is from system headers */
	int state;        /* an enum tp_presence, or -1 for all */
	const char *name; /* glob for linkage or demangled name, or NULL */
};

/* Add what is to be seen of it to OUT; JSON and CSV show all that the inventory knows. */
void tp_inventory_view_table(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out);
void tp_inventory_view_json(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out);
void tp_inventory_view_csv(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out);

/* Members with where FUNCTION is defined, and how often. */
void tp_inventory_view_add_origin(
    struct tp_json *json, const struct tp_inventory_function *function);

#endif
