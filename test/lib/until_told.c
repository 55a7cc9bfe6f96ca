// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that calls leaf a thousand times each PERIOD_US, until it gets the order to end:
// 'still' calls nothing, 'polls' asks after each round whether recording was switched.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <teeperf/teeperf.h>

static volatile sig_atomic_t ended;
static void on_term(int number)
{
	(void)number;
	ended = 1;
}
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	signal(SIGTERM, on_term);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (!ended) {
		if (argc < 2 || strcmp(argv[1], "still"))
			for (int i = 0; i < 1000; i++)
				leaf();
		if (argc > 1 && !strcmp(argv[1], "polls"))
			teeperf_poll();
		usleep(PERIOD_US);
	}
	return 0;
}
