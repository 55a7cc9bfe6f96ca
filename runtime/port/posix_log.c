// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the log is on POSIX systems with a recorder: as the environment says, and more for forked
// children. Of a program that is the host of a TEE, that one's log, too.
#define _GNU_SOURCE
#include "runtime/port.h"
#include "posix.h"

#include <errno.h>
#include <time.h>

#include "posix_system.h"

#if defined(__x86_64__)
// The linker takes a member of an archive only if something refers to a symbol that no other member
// has.
__attribute__((used)) static uint64_t (*const with_late)(
    uint64_t command, const char *path) = tp_late_call;
#endif

// Of the TEE's log we need the counter word and the table of crossings. All of it is the TEE's:
// what we read there is a time or a number, never an address.
static void map_tee_page(void)
{
	const int fd = tp_port_open(tp_port_environment(TEEPERF_TEE_LOG_ENV));
	struct stat status;
	if (fd < 0)
		return;
	if (tp_system_stat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size >= TEEPERF_LOG_HEADER_SIZE) {
		struct teeperf_log_header *header = tp_system_map(
		    NULL, TEEPERF_LOG_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (header != MAP_FAILED && tp_load_relaxed(&header->magic) == TEEPERF_LOG_MAGIC)
			tp_process.tee = header;
		else if (header != MAP_FAILED)
			tp_system_unmap(header, TEEPERF_LOG_HEADER_SIZE);
	}
	tp_system_close(fd);
}

bool tp_port_map_log(void **base, uint64_t *size)
{
	const int error = errno;
	tp_port_fork_setting(tp_port_environment(TEEPERF_FORK_ENV));
	map_tee_page();
	errno = error;
	return tp_port_map_named(base, size);
}

uint64_t tp_port_thread_cpu(void)
{
	const int error = errno;
	struct timespec time = {0};
	if (tp_system(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time))
		time = (struct timespec){0};
	errno = error;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// What labels are made of is behind the log (log.h, TEEPERF_LABEL_ROOM).
static void know_room(void *log, uint64_t size)
{
	const struct teeperf_log_header *header = log;
	if (size < TEEPERF_LOG_HEADER_SIZE || size % TEEPERF_LABEL_ROOM ||
	    tp_load_relaxed(&header->region_size) > size - TEEPERF_LABEL_ROOM)
		return;
	tp_process.tee_log = log;
	tp_store_release(&tp_process.tee_log_size, size);
}

void *__teeperf_tee_log(unsigned long long *size)
{
	static void *log;
	static uint64_t log_size;
	const int fd = log ? -1 : tp_port_open(tp_port_environment(TEEPERF_TEE_LOG_ENV));
	void *base;
	if (fd >= 0 && tp_port_map_file(fd, 0, &base, &log_size)) {
		log = base;
		know_room(log, log_size);
	}
	if (fd >= 0)
		tp_system_close(fd);
	*size = log ? log_size : 0;
	return log;
}
