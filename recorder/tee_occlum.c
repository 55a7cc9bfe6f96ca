// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Occlum: enclaves that share no memory with the host.
#include "tee.h"

#include <stddef.h>

static const char *const hints[] = {
    "let the program send its stream to a file of a hostfs mount, and give that file to '--stream'",
    NULL,
};

const struct tp_tee tp_tee_occlum = {
    .name = "occlum",
    .summary = "Occlum: a stream into a file of the host",
    .transport = TP_TEE_STREAM,
    .clock = TP_CLOCK_CHOICE_HARDWARE,
    .foreign = true,
    .elsewhere = true,
    .hints = hints,
};
