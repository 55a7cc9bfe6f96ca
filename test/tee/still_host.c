// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A host that makes a log, starts a program, and does nothing any more: its clock stands still, and
// no chunk comes back. Exits with 0 if the program ended with CODE, and recorded or lost EVENTS
// events in all, some of each.
//
//   still_host [-tCLOCK] CHUNKS CODE EVENTS PROGRAM ARGUMENT...
//
// CLOCK is a number of enum teeperf_clock that the log has instead of a soft one.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log_host.h"

int main(int argc, char **argv)
{
	uint32_t clock = TEEPERF_CLOCK_SOFT_TSC;
	if (argc > 1 && argv[1][0] == '-') {
		clock = (uint32_t)atoi(argv[1] + 2);
		argc--;
		argv++;
	}
	if (argc < 5)
		return 2;
	const uint32_t chunks = (uint32_t)atoi(argv[1]);
	char path[64];
	const int fd = memfd_create("still", 0);
	if (fd < 0 || ftruncate(fd, (off_t)HOST_SIZE(chunks)))
		return 2;
	struct teeperf_log_header *header =
	    mmap(NULL, HOST_SIZE(chunks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		return 2;
	host_make_log(header, chunks, clock);
	header->counter = 12345;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv(TEEPERF_LOG_ENV, path, 1);
	const pid_t program = fork();
	if (!program) {
		execv(argv[4], argv + 4);
		_exit(127);
	}
	int status;
	waitpid(program, &status, 0);
	const struct host_sums sums = host_sum(header);
	printf("attach=%u ended=%llx events=%llu lost=%llu owned=%llu done=%llu threads=%llu\n",
	    header->attach, (unsigned long long)header->ended, (unsigned long long)sums.events,
	    (unsigned long long)sums.lost, (unsigned long long)sums.owned,
	    (unsigned long long)sums.done, (unsigned long long)sums.threads);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != atoi(argv[2])) {
		printf("the program ended with status %x\n", status);
		return 1;
	}
	return !(sums.events && sums.lost &&
		 sums.events + sums.lost == strtoull(argv[3], NULL, 10) && !sums.owned &&
		 header->ended);
}
