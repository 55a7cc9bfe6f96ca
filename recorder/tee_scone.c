// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SCONE: host memory that is mapped through an inherited descriptor.
#include "tee.h"

#include <stddef.h>

static const char *const hints[] = {
    "TEEPERF_LOG names the descriptor of '@LOG@'; the launcher must pass both on",
    NULL,
};

const struct tp_tee tp_tee_scone = {
    .name = "scone",
    .summary = "SCONE: a descriptor that the program inherits",
    .transport = TP_TEE_INHERITED,
    // What its clocks cost is not known to us.
    .clock = TP_CLOCK_CHOICE_SOFT,
    .foreign = true,
    .hints = hints,
};
