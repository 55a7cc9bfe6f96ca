/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whose functions a log of the original TEE-Perf is of. It names no file, but the address that one known
 * function had in the program: the program's file tells from that where it was loaded.
 */
#ifndef TP_ORIGINAL_NAMES_H
#define TP_ORIGINAL_NAMES_H

#include "analyzer/import/number_set.h"
#include "analyzer/import/original_trace.h"

#include <stdbool.h>
#include <teeperf/log.h>

/*
 * Which of the programs was recorded, by where its function __profiler_map_info was (MAP_INFO) and where the
 * FUNCTIONS of the log are: *module is it, and *found. If none fits, or none is given, a note for the log FILE
 * says what to do. 0, or a negative tp_error if a program cannot be read.
 */
int tp_original_names_find(const struct tp_original_options *options, uint64_t map_info,
    const struct tp_number_set *functions, const char *file, struct teeperf_module *module,
    bool *found, struct tp_problems *notes, struct tp_err *err);

/* What a record calls the function at this address: see docs/original-log.md, Names. */
static inline uint32_t tp_original_name(uint64_t address)
{
	return (uint32_t)((address + 3) & ~UINT64_C(3));
}

/*
 * Add lines of a SYMBOLS section: the functions in MODULE (which may be NULL) by its file, the others are called by
 * their addresses. What stands in the way becomes a note, and so it does if several functions have one name.
 */
void tp_original_names_list(const struct tp_original_options *options,
    const struct tp_number_set *functions, const struct teeperf_module *module, const char *file,
    struct tp_buf *out, struct tp_problems *notes);

#endif
