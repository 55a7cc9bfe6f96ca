// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this process may have by its own limits.
#include "limits.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t soft_limit(int which)
{
	struct rlimit limit;
	if (getrlimit((__rlimit_resource_t)which, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

struct tp_limit tp_limit_file(void)
{
	return (struct tp_limit){"ulimit -f", soft_limit(RLIMIT_FSIZE)};
}

// Bytes of addresses in use; 0 if that is not known.
static uint64_t addresses_in_use(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;
	if (!file)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct tp_limit tp_limit_addresses(void)
{
	struct tp_limit limit = {"ulimit -v", soft_limit(RLIMIT_AS)};
	if (limit.bytes == UINT64_MAX)
		return limit;
	const uint64_t used = addresses_in_use();
	limit.bytes = limit.bytes > used ? (limit.bytes - used) / 2 : 0;
	return limit;
}
