// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ordinary program around work.c, for the ports with POSIX below them.
//
//   PROGRAM ROUNDS THREADS      exits with 3
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "work.h"

static uint64_t rounds;

static void *thread(void *argument)
{
	errno = 12345;
	if (work(rounds) != WORK_SUM(rounds) || errno != 12345)
		exit(1);
	return argument;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	rounds = strtoull(argv[1], NULL, 10);
	pthread_t others[16];
	const int threads = atoi(argv[2]);
	for (int i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, thread, NULL);
	thread(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	return 3;
}
