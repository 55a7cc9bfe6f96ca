// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ordinary program around work.c, for the ports with POSIX below them.
//
//   PROGRAM ROUNDS THREADS [MODE]      exits with 3
//
// MODE: 'reuse' closes all descriptors first, and gives their numbers to the file 'own'; 'cancel'
// cancels each thread at its beginning, which a thread that calls nothing where it could end does
// not notice; 'nonblock' makes descriptor 9 non-blocking; 'leave' ends the program while other
// threads go on.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

static uint64_t rounds;
static const char *mode = "";

#define IS(what) (!strcmp(mode, what))

static void *thread(void *argument)
{
	if (IS("cancel"))
		pthread_cancel(pthread_self());
	errno = 12345;
	if (work(rounds) != WORK_SUM(rounds) || errno != 12345)
		_exit(1);
	return argument;
}

static void *endless(void *argument)
{
	for (;;)
		work(rounds);
	return argument;
}

static void reuse(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	const int own = open("own", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int fd = 3; fd < 1024; fd++)
		if (fd != own)
			dup2(own, fd);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	rounds = strtoull(argv[1], NULL, 10);
	mode = argc > 3 ? argv[3] : "";
	if (IS("reuse"))
		reuse();
	if (IS("nonblock"))
		fcntl(9, F_SETFL, O_NONBLOCK);
	pthread_t others[16];
	const int threads = atoi(argv[2]);
	for (int i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, IS("leave") ? endless : thread, NULL);
	if (!IS("cancel"))
		thread(NULL);
	if (IS("leave"))
		return 3;
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	return 3;
}
