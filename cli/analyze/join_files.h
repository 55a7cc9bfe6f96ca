/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What 'join' and 'record --tee' share: two trace files become one, and what is to be said of it. */
#ifndef TP_JOIN_FILES_H
#define TP_JOIN_FILES_H

#include "cli/command/command.h"

#include <stdbool.h>

/*
 * Join HOST and TEE into OUTPUT, which may be one of them: what is there stays until the new one is complete. Unless
 * they are `known` to be of one recording, HOST must have a mark of a call into a TEE. Prints what is wrong with them,
 * and unless `quiet` what was joined. *DAMAGED: something was wrong. Returns an exit code.
 */
int tp_join_files(
    const char *host, const char *tee, const char *output, bool known, bool quiet, bool *damaged);

#endif
