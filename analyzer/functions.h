/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of an analysis: those of all threads together, from records and from counts. */
#ifndef TP_FUNCTIONS_H
#define TP_FUNCTIONS_H

#include "analyzer/analysis.h"

/*
 * Fill functions, function_count, counted_count and self of the analysis, and functions of each of
 * its threads, whose profiles and counts are there. Names are not looked for. False: no memory.
 */
bool tp_functions_build(struct tp_analysis *analysis);

#endif
