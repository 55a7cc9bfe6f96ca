/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A list that was chosen for a budget, and the tables about it, to where they go. */
#ifndef TP_WRITE_CHOSEN_H
#define TP_WRITE_CHOSEN_H

#include "allowlists/choose/generate.h"

#define TP_WRITE_CHOSEN_OUTPUT                                                                 \
	"write the list to FILE, and the tables to standard output; without this option, the " \
	"list goes to standard output and the tables to standard error"

/*
 * Write the list to OUTPUT and the tables, or with JSON an object, to standard output; without
 * OUTPUT the list goes there and the tables to standard error. Returns an exit code; errors have
 * been printed.
 */
int tp_write_chosen(const struct tp_generated *generated, const char *output, bool json);

#endif
