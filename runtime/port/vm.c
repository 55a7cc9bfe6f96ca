// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A virtual machine that is a TEE (SEV-SNP, TDX, CCA, Nitro): with the recorder inside, a log in a
// file as on any Linux; with the recorder outside, memory of a device that the host shares
// (ivshmem), or frames over vsock.
#include "runtime/port.h"
#include "posix.h"

bool tp_port_map_log(void **base, uint64_t *size)
{
	return tp_port_map_named(base, size) || tp_port_map_stream(base, size);
}
