// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gramine: POSIX, and a mount of type untrusted_shm whose files are the host's memory.
#define _GNU_SOURCE
#include "runtime/port.h"
#include "posix.h"

#include "posix_system.h"

// A place of the size that the log itself names: its file's size is not always known inside. The
// number is used once, and attaching checks the log against the size that is then mapped.
static uint64_t size_by_log(int fd)
{
	const struct teeperf_log_header *header =
	    tp_system_map(NULL, TEEPERF_LOG_HEADER_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		return 0;
	const uint64_t size = tp_load_relaxed(&header->region_size);
	tp_system_unmap((void *)(uintptr_t)header, TEEPERF_LOG_HEADER_SIZE);
	return size;
}

// Without a fixed address, which Gramine would have to find room for outside of the enclave: chunks
// may lie anywhere.
bool tp_port_map_log(void **base, uint64_t *size)
{
	enum { MOST = 1 << 30 }; // of a number that the host gives, times 1024
	const char *path = tp_port_environment(TEEPERF_LOG_ENV);
	if (!path || !*path)
		return false;
	const int fd = tp_system_open(path, O_RDWR | O_CLOEXEC);
	struct stat status;
	if (fd < 0)
		return false;
	uint64_t length = 0;
	if (tp_system_stat(fd, &status) == 0 && status.st_size > 0)
		length = (uint64_t)status.st_size;
	if (!length)
		length = size_by_log(fd);
	void *map = MAP_FAILED;
	if (length >= TEEPERF_LOG_HEADER_SIZE && length / 1024 <= MOST && length % 4096 == 0)
		map = tp_port_map_whole(fd, length);
	tp_system_close(fd);
	*base = map;
	*size = length;
	return map != MAP_FAILED;
}
