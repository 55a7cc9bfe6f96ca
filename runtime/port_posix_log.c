// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the log is on POSIX systems with a recorder: as the environment says, and more for forked children.
#define _GNU_SOURCE
#include "port.h"
#include "port_posix.h"

#include <stdlib.h>

bool tp_port_map_log(uint64_t alignment, void **base, uint64_t *size)
{
	tp_port_fork_setting(secure_getenv(TEEPERF_FORK_ENV));
	return tp_port_map_named(alignment, base, size);
}
