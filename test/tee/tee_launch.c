// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What starts a program in a TEE: it gets the log as descriptor 3 and nothing else, and where the
// processor can forbid it, must not read the time-stamp counter.
//
//   tee_launch any|none PROGRAM ARGUMENT...    clocks that the program may read
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	enum { LOG_FD = 3 };
	const char *path = getenv("TEEPERF_LOG");
	if (argc < 3)
		return 2;
	const int fd = open(path && *path ? path : "/dev/null", O_RDWR);
	if (fd < 0 || (fd != LOG_FD && dup2(fd, LOG_FD) < 0)) {
		perror(path);
		return 1;
	}
	if (close_range(LOG_FD + 1, ~0U, 0))
		perror("close_range");
	char *none[] = {NULL};
#if defined(__x86_64__)
	// The program inherits it. This comes last here, since libc reads that clock, too.
	if (!strcmp(argv[1], "none") && prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return 77;
#endif
	execve(argv[2], argv + 2, none);
	return 1;
}
