// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Open Enclave: as the Intel SGX SDK, by other names.
#include "runtime/port.h"
#include "elf_image.h"
#include "sdk_openenclave.h"

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
