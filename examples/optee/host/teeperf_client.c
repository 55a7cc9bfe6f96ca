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

int teeperf_client_open(struct teeperf_client *client, TEEC_Context *context)
{
	const char *path = getenv("TEEPERF_LOG");
	struct stat status;
	TEEC_Result result;

	memset(client, 0, sizeof(*client));
	if (!path || !*path)
		return 0;
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
	// Both directions: the application reads the clock and the supply of chunks, and writes what it records.
	client->memory.buffer = client->map;
	client->memory.size = client->size;
	client->memory.flags = TEEC_MEM_INPUT | TEEC_MEM_OUTPUT;
	result = TEEC_RegisterSharedMemory(context, &client->memory);
	if (result == TEEC_SUCCESS)
		return 0;
	fprintf(stderr,
	    "cannot register %zu bytes of '%s' with the TEE (0x%x); not recorded; try a smaller log, "
	    "as 'teeperf record --size 4M'\n",
	    client->size, path, (unsigned)result);
	munmap(client->map, client->size);
	client->map = NULL;
	return -1;
}

void teeperf_client_add(struct teeperf_client *client, TEEC_Operation *operation)
{
	if (!client->map)
		return;
	operation->paramTypes |= TEEC_PARAM_TYPES(0, 0, 0, TEEC_MEMREF_WHOLE);
	operation->params[3].memref.parent = &client->memory;
}

void teeperf_client_close(struct teeperf_client *client)
{
	if (!client->map)
		return;
	TEEC_ReleaseSharedMemory(&client->memory);
	munmap(client->map, client->size);
	client->map = NULL;
}
