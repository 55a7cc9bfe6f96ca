// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files without a name.
#define _GNU_SOURCE
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int tp_temporary_open(const char **folder)
{
	*folder = getenv("TMPDIR");
	if (!*folder || !**folder)
		*folder = "/var/tmp";
	char name[512];
	if ((size_t)snprintf(name, sizeof(name), "%s/teeperf.XXXXXX", *folder) >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	const int fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}
