// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's part of the SDK that border.h stands in for. Not instrumented.
#define _GNU_SOURCE
#include "border.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int ends[LANES_MAX]; // of the lanes
static _Thread_local int own;
static void (*run)(int lane);

static struct lane *lane_of(int number)
{
	return (struct lane *)(void *)(ARENA + (size_t)number * LANE_SIZE);
}

static void check(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "FAILED: %s: %s\n", what, strerror(errno));
	_exit(1);
}

// The other side's turn, and then ours again.
static void turn(int fd)
{
	char byte = 1;
	check(write(fd, &byte, 1) == 1, "the other side is gone");
	check(read(fd, &byte, 1) == 1, "the other side ended");
}

sgx_status_t sgx_ecall(sgx_enclave_id_t enclave, int index, const void *table, void *parameters)
{
	struct lane *lane = lane_of(own);
	const struct table *ocalls = table;
	(void)enclave;
	lane->what = LANE_ECALL;
	lane->index = index;
	lane->parameters = parameters;
	for (;;) {
		turn(ends[own]);
		if (lane->what == LANE_RETURN)
			return lane->status;
		check(lane->what == LANE_OCALL, "what is this");
		sgx_status_t (*bridge)(void *) =
		    (sgx_status_t(*)(void *))ocalls->entries[lane->index];
		const sgx_status_t status = bridge(lane->parameters);
		lane->what = LANE_RETURN;
		lane->status = status;
	}
}

uint32_t TEEC_InvokeCommand(void *session, uint32_t command, void *operation, uint32_t *origin)
{
	(void)session;
	*origin = 0;
	return (uint32_t)sgx_ecall(0, (int)command, NULL, operation);
}

static void *thread(void *argument)
{
	own = (int)(intptr_t)argument;
	run(own);
	lane_of(own)->what = LANE_OVER;
	char byte = 1;
	check(write(ends[own], &byte, 1) == 1, "write");
	return NULL;
}

// Lane 0 alone at first, then the others at a time.
void run_enclave(const char *program, int threads, void (*what)(int lane))
{
	pthread_t others[LANES_MAX];
	pid_t pid;
	char lanes[16];
	char *arguments[16] = {(char *)(uintptr_t)program, lanes};
	char numbers[LANES_MAX + 1][16];
	const int arena = memfd_create("arena", 0);
	check(arena >= 0 && ftruncate(arena, LANES_MAX * (off_t)LANE_SIZE) == 0, "memory");
	check(mmap(ARENA, LANES_MAX * LANE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		  arena, 0) == ARENA,
	    "memory at a fixed address");
	run = what;
	snprintf(lanes, sizeof(lanes), "%d", threads + 1);
	snprintf(numbers[0], sizeof(numbers[0]), "%d", arena);
	arguments[2] = numbers[0];
	for (int i = 0; i <= threads; i++) {
		int pair[2];
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
		ends[i] = pair[0];
		snprintf(numbers[i + 1], sizeof(numbers[0]), "%d", pair[1]);
		arguments[3 + i] = numbers[i + 1];
	}
	check(posix_spawn(&pid, program, NULL, NULL, arguments, environ) == 0, "enclave");
	for (int i = 0; i <= threads; i++) {
		pthread_attr_t attributes;
		pthread_attr_init(&attributes);
		char *stack = ARENA + (size_t)i * LANE_SIZE + LANE_SIZE / 2;
		pthread_attr_setstack(&attributes, stack, LANE_SIZE / 2);
		check(pthread_create(&others[i], &attributes, thread, (void *)(intptr_t)i) == 0,
		    "thread");
		if (!i)
			pthread_join(others[i], NULL);
	}
	for (int i = 1; i <= threads; i++)
		pthread_join(others[i], NULL);
	int status;
	check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	    "the enclave failed");
}
