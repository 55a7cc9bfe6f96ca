// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gramine, direct or SGX: a library OS that maps host files in /dev/shm where its manifest says so.
#include "tee.h"

#include <stddef.h>

static const char *const hints[] = {
    "the manifest must mount /dev/shm as untrusted_shm, allow '@LOG@' and pass TEEPERF_LOG on: 'teeperf gramine-manifest' prints the lines",
    NULL,
};

const struct tp_tee tp_tee_gramine = {
    .name = "gramine",
    .summary = "Gramine: untrusted_shm of its manifest",
    .transport = TP_TEE_MAPPED,
    // Older SGX processors trap at the counter, and Gramine emulates it, slowly.
    .clock = TP_CLOCK_CHOICE_SOFT,
    // A signed manifest names the file, so it is always the same.
    .place = "/dev/shm/teeperf-gramine.log",
    .at_start = true,
    .foreign = true,
    .hints = hints,
};
