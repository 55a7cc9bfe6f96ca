// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For programs of tests that may lose nothing, however busy the machine is: they wait for the
// recorder instead of sleeping for some time. To be left out by the allowlist of the program that
// includes it.
#ifndef KEEP_UP_H
#define KEEP_UP_H
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <teeperf/log.h>

// Until that many chunks can be taken; at once if nobody records. A recorder that does not come is
// ended by ctest. The first call maps the header: make it where open and mmap may be called. The
// process' first log only.
static inline void keep_up(int64_t chunks)
{
	static const volatile struct teeperf_log_header *header;
	if (!header) {
		const char *path = getenv(TEEPERF_LOG_ENV);
		const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		if (fd < 0)
			return;
		void *map = mmap(NULL, sizeof(*header), PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
		if (map == MAP_FAILED)
			abort();
		header = (const volatile struct teeperf_log_header *)map;
	}
	while ((int64_t)(header->head - header->tail) < chunks)
		usleep(1000);
}

#endif
