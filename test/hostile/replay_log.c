// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that puts a log that hostile_host has left in the place of its own, so that recorder
// and readers get to see it.
//
//   replay_log FILE [kill]
//
// With "kill" the recorder, which is its parent, is killed then: the log is left for 'teeperf
// recover'.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <teeperf/log.h>

static uint64_t *map(const char *path, int flags, uint64_t *size)
{
	const int fd = path ? open(path, flags) : -1;
	struct stat info;
	if (fd < 0 || fstat(fd, &info))
		return NULL;
	*size = (uint64_t)info.st_size;
	void *at =
	    mmap(NULL, *size, PROT_READ | (flags == O_RDWR ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

int main(int argc, char **argv)
{
	uint64_t from_size = 0;
	uint64_t to_size = 0;
	const uint64_t *from = map(argc > 1 ? argv[1] : NULL, O_RDONLY, &from_size);
	uint64_t *to = map(getenv(TEEPERF_LOG_ENV), O_RDWR, &to_size);
	if (!from || !to || from_size != to_size) {
		fprintf(stderr, "replay_log: %llu bytes, but the log has %llu\n",
		    (unsigned long long)from_size, (unsigned long long)to_size);
		return 9;
	}
	struct teeperf_log_header *header = (void *)to;
	const uint64_t states = header->state_offset;
	const uint32_t chunks = header->chunk_count;
	for (uint64_t i = 0; i < to_size / 8; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
	// The host has set states back: each chunk is given to the recorder once.
	for (uint32_t i = 0; i < chunks; i++)
		__atomic_store_n(&to[states / 8 + i],
		    i % 4 ? TEEPERF_CHUNK_DONE : TEEPERF_CHUNK_OWNED, __ATOMIC_RELEASE);
	__atomic_store_n(&header->attach, TEEPERF_ATTACH_DONE, __ATOMIC_RELEASE);
	const struct timespec moment = {.tv_nsec = 30000000};
	if (argc > 2)
		kill(getppid(), SIGKILL);
	else
		nanosleep(&moment, NULL);
	return 0;
}
