// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A virtual machine (SEV-SNP, TDX, CCA, Nitro): memory that the hypervisor shares, or vsock.
#include "tee.h"

#include <stddef.h>

static const char *const hints[] = {
    "with ivshmem, give '--attach' the file behind the memory; in the machine, TEEPERF_LOG is the device's resource2 below /sys/bus/pci/devices",
    "without shared memory, give '--stream vsock::PORT', or '--stream unix:PATH' with PATH at the host's end of a virtio serial port, or run 'teeperf record' inside",
    NULL,
};

const struct tp_tee tp_tee_vm = {
    .name = "vm",
    .summary = "SEV-SNP, TDX, CCA, Nitro: ivshmem with --attach, vsock with --stream",
    .transport = TP_TEE_MAPPED,
    // Its counter may have another offset than ours; the word in memory is ours.
    .clock = TP_CLOCK_CHOICE_SOFT,
    .foreign = true,
    .elsewhere = true,
    .hints = hints,
};
