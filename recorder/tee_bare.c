// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A freestanding program: a region at an address that both sides know.
#include "tee.h"

#include <stddef.h>

static const char *const hints[] = {
    "the program's own start-up code knows the address of the memory behind '@LOG@'",
    NULL,
};

const struct tp_tee tp_tee_bare = {
    .name = "bare",
    .summary = "freestanding: memory at an address with --attach, or a stream",
    .transport = TP_TEE_MAPPED,
    .clock = TP_CLOCK_CHOICE_SOFT,
    .foreign = true,
    .elsewhere = true,
    .hints = hints,
};
