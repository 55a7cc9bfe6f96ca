/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of an analysis: those of all threads together, from records and from counts. */
#ifndef TP_FUNCTIONS_H
#define TP_FUNCTIONS_H

#include "analyzer/profile/analysis.h"

/*
 * List the functions of an analysis whose threads are replayed: functions, function_count, and
 * functions of each thread. Names are not looked for. False: no memory.
 */
bool tp_functions_list(struct tp_analysis *analysis);
/*
 * Add the threads' profiles and counts to the functions, which have their names, of an analysis that has its starvation.
 * What a filter has left without calls is taken off the list.
 */
void tp_functions_add(struct tp_analysis *analysis);

#endif
