// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Occlum: POSIX without memory that the host shares. Frames go to a file that is the host's
// (hostfs).
#include "runtime/port.h"
#include "posix.h"

bool tp_port_map_log(void **base, uint64_t *size)
{
	return tp_port_map_stream(base, size);
}
