// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the time of a fork with the end of its child, in ns: the mean of many.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 200;
	called();
	const double start = now_ns();
	for (int i = 0; i < count; i++) {
		const pid_t child = fork();
		if (child == 0) {
			called();
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	printf("%.0f\n", (now_ns() - start) / count);
	return 0;
}
