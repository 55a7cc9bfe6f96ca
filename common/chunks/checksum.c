// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checksum of a trace's sections. It has to find damage, not forgery: docs/decisions/0006 has why
// it is XXH3 and no CRC.
#include "checksum.h"

#include <xxhash.h>

uint32_t tp_checksum(const void *data, uint64_t size)
{
	return (uint32_t)XXH3_64bits(data, size);
}
