// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names in arch/x86/kernel/cpu/sgx of the kernel, 5.11 to 6.x; no kernel has all of them.
#include "sgx_functions.h"

const char *const tp_sgx_functions[TP_SGX_FUNCTIONS] = {
    [TEEPERF_SGX_FAULT] = "sgx_vma_fault",
    [TEEPERF_SGX_VEPC_FAULT] = "sgx_vepc_fault",
    [TEEPERF_SGX_LOAD_PAGE] = "sgx_encl_load_page",
    [TEEPERF_SGX_ELDU] = "sgx_encl_eldu",
    [TEEPERF_SGX_EAUG] = "sgx_encl_eaug_page",
    [TEEPERF_SGX_ALLOC_PAGE] = "sgx_alloc_epc_page",
    [TEEPERF_SGX_RECLAIM] = "sgx_reclaim_pages",
    [TEEPERF_SGX_IOCTL] = "sgx_ioctl",
};
