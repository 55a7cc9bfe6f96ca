/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What tp_analysis_init does, one step after another. */
#ifndef TP_ANALYSIS_STEPS_H
#define TP_ANALYSIS_STEPS_H

#include "analyzer/profile/analysis.h"

/*
 * Replay all threads at the same time, long ones in parts (stack_part.h): fill the analysis's
 * threads with profile, calls, counts, and the rest up to err. What goes wrong with a thread is in
 * its code and err. TP_ERR_MEMORY if not even the list of what to do can be made.
 */
int tp_replay_all(struct tp_analysis *analysis, struct tp_err *err);
/* With how many threads it replays. */
uint32_t tp_analysis_workers(const struct tp_analysis *analysis);
/*
 * Make `functions` those that records of any thread name, without calls, times and symbols: before
 * a replay, for what it needs to know of them. 0 or TP_ERR_MEMORY.
 */
int tp_functions_named(struct tp_analysis *analysis, struct tp_err *err);
/* Add the COUNT functions of KEYS, which it sorts, to the list. False: no memory. */
bool tp_functions_begin(struct tp_analysis *analysis, struct tp_symbol_key *keys, uint64_t count);
/*
 * For the replay, in `selected`: which of the functions, whose symbols are known, were not always
 * recorded. False: no memory.
 */
bool tp_selected_names_init(struct tp_analysis *analysis);
/* The same for the options' costs, in `costs`. */
bool tp_measured_names_init(struct tp_analysis *analysis);
/* What recording each function costs, by the options' costs. */
void tp_functions_measure(struct tp_analysis *analysis);
/*
 * When each function was recorded, by its names. pre: the trace has selections. 0 or TP_ERR_MEMORY.
 */
int tp_functions_select(struct tp_analysis *analysis, struct tp_err *err);
/*
 * List the functions of an analysis whose threads are replayed: functions, function_count, and
 * functions of each thread. Names are not looked for. False: no memory.
 */
bool tp_functions_list(struct tp_analysis *analysis);
/*
 * Apply its options to an analysis that has its functions' names but not their sums: which paths it
 * keeps, by functions (pattern.h) and depth.
 *
 *   ignore  paths through a function that matches are left out, with their times;
 *   focus   only times of paths through a function that matches are kept, and the way to them: the
 *           functions above keep their calls, and of their times the kept calls below them;
 *   depth   deeper calls are part of their callers.
 *
 * Nodes that are left out stay in the profile's array, without calls and times, with function 0,
 * and are no one's children. 0; TP_ERR_SYNTAX for a bad pattern; TP_ERR_NOT_FOUND if one matches no
 * function; TP_ERR_MEMORY.
 */
int tp_filter_apply(struct tp_analysis *analysis, struct tp_err *err);
/*
 * Add the threads' profiles and counts to the functions, which have their names, of an analysis
 * that has its starvation. What a filter has left without calls is taken off the list.
 */
void tp_functions_add(struct tp_analysis *analysis);

#endif
