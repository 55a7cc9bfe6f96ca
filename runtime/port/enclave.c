// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What enclaves have in common whose interface is an EDL: the ECALL of teeperf.edl.
#include "runtime/runtime.h"

TP_EXPORT int teeperf_ecall_log(void *log, size_t size);

int teeperf_ecall_log(void *log, size_t size)
{
	return __teeperf_region(log, size);
}
