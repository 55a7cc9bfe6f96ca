// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers the log as shared memory of the TEE, and adds it to each operation.
#include "teeperf_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// A client that 'teeperf cc' builds and 'record --tee' records has two logs. This one is the
// application's.
#if defined(__has_include)
#if __has_include(<teeperf/teeperf.h>)
#include <teeperf/teeperf.h>
#define TEE_LOG(size) teeperf_tee_log(size)
#endif
#endif
#ifndef TEE_LOG
#define TEE_LOG(size) ((void)(size), (void *)NULL)
#endif

static int map_named(struct teeperf_client *client, const char *path)
{
	struct stat status;

	const int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &status) == 0)
		client->map =
		    mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const int error = errno;
	if (fd >= 0)
		close(fd);
	if (!client->map || client->map == MAP_FAILED) {
		client->map = NULL;
		fprintf(stderr, "cannot map '%s': %s; not recorded\n", path, strerror(error));
		return -1;
	}
	client->size = (size_t)status.st_size;
	client->mapped = 1;
	return 0;
}

static void drop(struct teeperf_client *client)
{
	if (client->mapped)
		munmap(client->map, client->size);
	client->map = NULL;
}

int teeperf_client_open(struct teeperf_client *client, TEEC_Context *context)
{
	const char *path = getenv("TEEPERF_LOG");
	unsigned long long size = 0;
	TEEC_Result result;

	memset(client, 0, sizeof(*client));
	client->map = TEE_LOG(&size);
	client->size = (size_t)size;
	if (!client->map && (!path || !*path))
		return 0;
	if (!client->map && map_named(client, path))
		return -1;
	// Both directions: the application reads the clock and the supply of chunks, and writes
	// what it records.
	client->memory.buffer = client->map;
	client->memory.size = client->size;
	client->memory.flags = TEEC_MEM_INPUT | TEEC_MEM_OUTPUT;
	result = TEEC_RegisterSharedMemory(context, &client->memory);
	if (result == TEEC_SUCCESS)
		return 0;
	fprintf(stderr,
	    "cannot register %zu bytes of '%s' with the TEE (0x%x); not recorded; "
	    "try a smaller log, "
	    "as 'teeperf record --size 512K'\n",
	    client->size, client->mapped ? path : getenv("TEEPERF_TEE_LOG"), (unsigned)result);
	drop(client);
	return -1;
}

static int is_given(const struct teeperf_client *client)
{
	return client->map && !__atomic_load_n(&client->off, __ATOMIC_RELAXED);
}

void teeperf_client_add(struct teeperf_client *client, TEEC_Operation *operation)
{
	if (!is_given(client))
		return;
	operation->paramTypes |= TEEC_PARAM_TYPES(0, 0, 0, TEEC_MEMREF_WHOLE);
	operation->params[3].memref.parent = &client->memory;
}

TEEC_Result teeperf_client_invoke(struct teeperf_client *client, TEEC_Session *session,
    uint32_t command, TEEC_Operation *operation, uint32_t *origin)
{
	const TEEC_Operation before = *operation;
	const int given = is_given(client);
	uint32_t from = 0;
	TEEC_Result result;

	if (given)
		teeperf_client_add(client, operation);
	result = TEEC_InvokeCommand(session, command, operation, &from);
	// Of OP-TEE, not of the application: this one has not been called. Commands of other
	// threads may have the log still.
	if (given && result == TEEC_ERROR_OUT_OF_MEMORY && from == TEEC_ORIGIN_TEE) {
		if (!__atomic_exchange_n(&client->off, 1, __ATOMIC_RELAXED))
			fprintf(stderr,
			    "the TEE has no memory to map a log of %zu bytes; "
			    "not recorded from here on; "
			    "try a smaller one, as 'teeperf record --size 512K'\n",
			    client->size);
		*operation = before;
		result = TEEC_InvokeCommand(session, command, operation, &from);
	}
	if (origin)
		*origin = from;
	return result;
}

void teeperf_client_close(struct teeperf_client *client)
{
	if (!client->map)
		return;
	TEEC_ReleaseSharedMemory(&client->memory);
	drop(client);
}
