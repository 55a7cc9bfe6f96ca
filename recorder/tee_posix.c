// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No TEE: a process of this machine.
#include "tee.h"

#include <stddef.h>

static const char *const hints[] = {
    NULL,
};

const struct tp_tee tp_tee_posix = {
    .name = "posix",
    .summary = "a process of this machine, as without --port",
    .transport = TP_TEE_MAPPED,
    .clock = TP_CLOCK_CHOICE_AUTO,
    .hints = hints,
};
