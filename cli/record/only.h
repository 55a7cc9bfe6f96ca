/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions that `teeperf record --only LIST` keeps, as the runtime wants to be told. */
#ifndef TP_RECORD_ONLY_H
#define TP_RECORD_ONLY_H

#include "cli/command/command.h"

#include "recorder/region/region.h"

/*
 * Read the allowlists LISTS, and decide by them about the functions in the inventories of PROGRAM (as
 * execvp finds it, if it has one) and of MODULES, and about those that the lists name outright. Fills
 * *only, whose hashes are to be freed. Returns an exit code; what is wrong or doubtful has been said.
 */
int tp_record_only(const struct tp_option_list *lists, const struct tp_option_list *modules,
    const char *program, struct tp_region_only *only);

#endif
