// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keystone: an application in U-mode has no direct mapping of the host's memory.
#include "tee.h"

#include <stddef.h>

static const char *const hints[] = {
    "let the host program write what the edge call brings to a file or a pipe, and give that to '--stream'",
    NULL,
};

const struct tp_tee tp_tee_keystone = {
    .name = "keystone",
    .summary = "Keystone: a stream by edge calls",
    .transport = TP_TEE_STREAM,
    .clock = TP_CLOCK_CHOICE_HARDWARE,
    .foreign = true,
    .elsewhere = true,
    .hints = hints,
};
