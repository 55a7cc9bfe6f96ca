/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions of the kernel's SGX driver that 'record --events sgx' times: enum teeperf_sgx_function
 * of trace.h, by name.
 */
#ifndef TP_SGX_FUNCTIONS_H
#define TP_SGX_FUNCTIONS_H

#include <teeperf/trace.h>

#define TP_SGX_FUNCTIONS (TEEPERF_SGX_IOCTL + 1)

/* By number; NULL: it has none. */
extern const char *const tp_sgx_functions[TP_SGX_FUNCTIONS];

#endif
