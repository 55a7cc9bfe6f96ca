// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OP-TEE: the client registers the log as shared memory and passes it with each command.
#include "tee.h"

#include <stddef.h>

static const char *const hints[] = {
    "the client maps the file that TEEPERF_LOG names, registers it as shared memory, and passes it with each command",
    NULL,
};

const struct tp_tee tp_tee_optee = {
    .name = "optee",
    .summary = "OP-TEE: shared memory that the client registers",
    .transport = TP_TEE_PER_CALL,
    // Reading the processor's counter ends a trusted application of a stock OP-TEE.
    .clock = TP_CLOCK_CHOICE_SOFT,
    .foreign = true,
    // OP-TEE maps all of it for each command, which takes time, and of its own memory for page tables: with 16 MiB each
    // command failed for lack of that.
    .log_bytes = UINT64_C(1) << 20,
    .log_limit_bytes = UINT64_C(8) << 20,
    .hints = hints,
};
