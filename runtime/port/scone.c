// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SCONE: POSIX with memory that the host shares, as a descriptor that the program inherits
// (TEEPERF_LOG=fd:N). Forked children do not record: there is no socket to the recorder.
#include "runtime/port.h"
#include "posix.h"

bool tp_port_map_log(void **base, uint64_t *size)
{
	return tp_port_map_named(base, size);
}
