// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Open Enclave: as the Intel SGX SDK, by other names.
#include "runtime/port.h"

// What the port needs of the Open Enclave SDK; used where its own headers are not.
#if __has_include(<openenclave/enclave.h>)
#include <openenclave/enclave.h>
#else
/* Whether all of [address, address + size) is outside of the enclave. */
bool oe_is_outside_enclave(const void *address, size_t size);
#endif

/* Where the enclave, and with it its ELF image, begins: of the SDK's internal headers. */
const void *__oe_get_enclave_start_address(void);

bool tp_port_is_outside(const void *base, uint64_t size)
{
	return oe_is_outside_enclave(base, size);
}

bool tp_port_find_module(const void *anchor, struct teeperf_module *module)
{
	(void)anchor;
	tp_elf_image_path(module);
	return tp_elf_image_describe(__oe_get_enclave_start_address(), module);
}
