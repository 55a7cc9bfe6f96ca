/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What this process may have by its own limits (setrlimit), where a log has to fit in. */
#ifndef TP_LIMITS_H
#define TP_LIMITS_H

#include <stdint.h>

struct tp_limit {
	const char *name; /* as a shell sets it: "ulimit -f" */
	uint64_t bytes;   /* UINT64_MAX: as much as it likes */
};

/* Of a file. */
struct tp_limit tp_limit_file(void);

/* Of addresses for a log: half of those that are left, as program and recorder need some for themselves. */
struct tp_limit tp_limit_addresses(void);

#endif
