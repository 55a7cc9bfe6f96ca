// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Open Enclave: the untrusted half maps the log and passes its address into the enclave.
#include "tee.h"

#include <stddef.h>

static const char *const hints[] = {
    "the host program maps the file that TEEPERF_LOG names and passes it in by an ECALL, as [user_check]; SGX2 may use '--clock tsc'",
    NULL,
};

const struct tp_tee tp_tee_openenclave = {
    .name = "openenclave",
    .summary = "Open Enclave: user_check memory of the host program",
    .transport = TP_TEE_MAPPED,
    // SGX1 has no counter that is legal inside.
    .clock = TP_CLOCK_CHOICE_SOFT,
    .hints = hints,
};
