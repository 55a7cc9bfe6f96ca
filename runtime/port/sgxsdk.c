// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Intel SGX SDK: the log is memory of the untrusted side, whose address comes with an ECALL
// (teeperf_region). No system call, no CPUID, and no time-stamp counter unless the program was
// compiled for it (SGX2).
#include "runtime/port.h"

// What the port needs of the Intel SGX SDK, as documented there; used where its own header is not.
#if __has_include(<sgx_trts.h>)
#include <sgx_trts.h>
#else
/* 1: all of [address, address + size) is outside of the enclave, and does not wrap around. */
int sgx_is_outside_enclave(const void *address, size_t size);
#endif

/* Where the enclave's ELF image begins. The linker defines it as the SDK tells it to. */
extern const char __ImageBase;

bool tp_port_is_outside(const void *base, uint64_t size)
{
	return sgx_is_outside_enclave(base, size) == 1;
}

bool tp_port_find_module(const void *anchor, struct teeperf_module *module)
{
	(void)anchor;
	tp_elf_image_path(module);
	return tp_elf_image_describe(&__ImageBase, module);
}
