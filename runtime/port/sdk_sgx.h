/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the port needs of the Intel SGX SDK, as documented there; used where its own header is not. */
#ifndef TP_SDK_SGX_H
#define TP_SDK_SGX_H

#if __has_include(<sgx_trts.h>)
#include <sgx_trts.h>
#else
#include <stddef.h>
/* 1: all of [address, address + size) is outside of the enclave, and does not wrap around. */
int sgx_is_outside_enclave(const void *address, size_t size);
#endif

/* Where the enclave's ELF image begins. The linker defines it as the SDK tells it to. */
extern const char __ImageBase;

#endif
