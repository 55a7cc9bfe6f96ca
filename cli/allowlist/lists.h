/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the commands about lists and inventories share: what they open, lists, the inventories of
 * programs, and profiles with costs; and what they show, for people and for programs.
 */
#ifndef TP_LISTS_H
#define TP_LISTS_H

#include "cli/command/command.h"
#include "cli/analyze/open_trace.h"
#include "allowlists/check/explained.h"
#include "allowlists/check/check.h"
#include "allowlists/check/use.h"
#include "common/json.h"

/* Their exit codes, like those of diff and grep. */
enum {
	TP_EXIT_CLEAN = 0,
	TP_EXIT_FINDINGS = 1,
	TP_EXIT_TROUBLE = 2,
};

enum { TP_OPEN_INVENTORIES_MAX = 1024 };

/* What the options of the commands say. */
struct tp_open_list_options {
	struct tp_option_list inventories; /* --inventory; programs are added to it */
	const char *counts;                /* --counts, or NULL */
	const char *event_cost;            /* --event-cost, or NULL */
	const char *time;                  /* --time, or NULL */
};

/*
 * Their rows in tables of options; O is a struct tp_open_list_options. What the command does with
 * the inventory in PATH and with the calls of TRACE stands in the help.
 */
#define TP_OPEN_LIST_OPTIONS(o, use_of_path, use_of_trace)                                     \
	TP_OPT_LIST(0, "inventory", &(o).inventories, "PATH",                                  \
	    use_of_path                                                                        \
	    ": a program, library, object file, *.tpinv file or a folder of these; can be "    \
	    "repeated"),                                                                       \
	    TP_OPT_STRING(0, "counts", &(o).counts, "TRACE", use_of_trace),                    \
	    TP_OPT_STRING(0, "event-cost", &(o).event_cost, "NS",                              \
		"the cost of an event pair in nanoseconds (default: derived from the trace's " \
		"clock)"),                                                                     \
	    TP_OPT_STRING(0, "time", &(o).time, "TIME",                                        \
		"the program's running time without instrumentation, such as 1.5s (default: "  \
		"taken from the trace)")

/*
 * As tp_options_parse, with operands. Those behind "--" are programs, and join the inventories;
 * *argc counts only those before, which are LEAST to MOST: else WHICH is asked for.
 */
bool tp_open_list_parse(struct tp_open_list_options *options, int *argc, char ***argv, int least,
    int most, const char *which, int *status);

/* Whether the list FILE is one of those that come with TeePerf, and are for any program. */
bool tp_open_list_is_shipped(const char *file);

/* The profile of --counts, and what its calls cost. */
struct tp_open_profile {
	struct tp_open_trace trace;
	struct tp_workload workload;
	struct tp_cost cost;
	bool is_there;
};

/* As tp_command_fail, with the exit code of these commands. */
int tp_open_fail(const struct tp_err *err);

/*
 * Each prints its errors and returns TP_EXIT_CLEAN, TP_EXIT_TROUBLE or TP_EXIT_USAGE. The inventory
 * stays empty if no option names one. Release the profile in any case.
 */
int tp_open_inventory(struct tp_inventory *inventory, const struct tp_open_list_options *options);
int tp_open_list(struct tp_allowlist **list, const char *const *files, uint32_t count);
int tp_open_profile(struct tp_open_profile *profile, const struct tp_inventory *inventory,
    const struct tp_open_list_options *options);
void tp_open_profile_release(struct tp_open_profile *profile);

/* Add "3.21 % of 1.234 s" or, of an unknown time, "12.3 ms". */
void tp_open_add_overhead(struct tp_buf *out, double ns, double time_ns);

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
	bool system;      /* show functions of system headers, too */
	int state;        /* an enum tp_presence, or -1 for all */
	const char *name; /* glob for linkage or demangled name, or NULL */
};

/* Add its visible part to OUT; JSON and CSV show all that the inventory knows. */
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
