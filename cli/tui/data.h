/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace as it was at one look: all that the pages show. Of a recording, each look makes a new
 * one.
 */
#ifndef TP_TUI_DATA_H
#define TP_TUI_DATA_H

#include "analyzer/output/notes.h"
#include "analyzer/output/relation/relation.h"
#include "analyzer/profile/around/neighbours.h"
#include "analyzer/profile/paths.h"

struct tp_tui_data {
	const struct tp_analysis *analysis;
	struct tp_notes notes;
	struct tp_relation_data cells; /* what relations make cells of */
	uint64_t calls;                /* of all functions */
	/* Made by tp_tui_data_add_paths. */
	struct tp_paths paths;
	struct tp_neighbours neighbours;
	int paths_code; /* what went wrong with them, or 0 */
};

/* ANALYSIS must outlive it. 0 or TP_ERR_MEMORY; release it in any case. */
int tp_tui_data_init(
    struct tp_tui_data *data, const struct tp_analysis *analysis, struct tp_err *err);
/* Make the tree of calls; meanwhile others may read the analysis, the notes and the cells. */
void tp_tui_data_add_paths(struct tp_tui_data *data);
void tp_tui_data_release(struct tp_tui_data *data);

/* Where PATH is in the thread with index THREAD: a number in paths.rows; UINT32_MAX: it is not. */
uint32_t tp_tui_data_row(const struct tp_tui_data *data, uint32_t path, uint32_t thread);
/* The heaviest path that ends with FUNCTION; 0: none. */
uint32_t tp_tui_data_heaviest(const struct tp_tui_data *data, uint32_t function);
/*
 * Of each function of FROM the number in TO, UINT32_MAX if it is not there; to be freed. NULL: no
 * memory. FROM and TO are looks at one recording.
 */
uint32_t *tp_tui_data_map(const struct tp_tui_data *from, const struct tp_tui_data *to);

#endif
