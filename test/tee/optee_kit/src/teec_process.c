// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for OP-TEE's client library: runs the application UUID.ta of the folder
// TEEC_APPLICATIONS as a process. Commands of a session wait for one another; with TEEC_TOGETHER,
// which is a number of threads, each command begins when that number have arrived, and returns when
// all of these are over.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ta_wire.h"
#include "tee_client_api.h"

TEEC_Result TEEC_InitializeContext(const char *name, TEEC_Context *context)
{
	(void)name;
	(void)context;
	return TEEC_SUCCESS;
}

void TEEC_FinalizeContext(TEEC_Context *context)
{
	(void)context;
}

static TEEC_Result call(TEEC_Session *session, struct wire *wire, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
			 .cmsg_level = SOL_SOCKET,
			 .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {wire, sizeof(*wire)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	pthread_mutex_lock(&session->lock);
	const int done = sendmsg(session->socket, &message, MSG_NOSIGNAL) == sizeof(*wire) &&
			 recv(session->socket, wire, sizeof(*wire), 0) == sizeof(*wire);
	pthread_mutex_unlock(&session->lock);
	return done ? wire->result : 0xffff3024; // as of an application that was ended
}

static pthread_barrier_t together;
static unsigned together_count;

static void begin_together(void)
{
	const char *count = getenv("TEEC_TOGETHER");
	together_count = count ? (unsigned)strtoul(count, NULL, 10) : 0;
	if (together_count)
		pthread_barrier_init(&together, NULL, together_count);
}

static void wait_for_others(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, begin_together);
	if (together_count)
		pthread_barrier_wait(&together);
}

// The part behind the header of 32 bytes, as a program.
static int load(const char *path)
{
	struct stat status;
	off_t from = 32;
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	const int program = memfd_create("application", MFD_CLOEXEC);
	if (file < 0 || program < 0 || fstat(file, &status))
		return -1;
	while (from < status.st_size)
		if (sendfile(program, file, &from, (size_t)(status.st_size - from)) <= 0)
			return -1;
	close(file);
	return program;
}

TEEC_Result TEEC_OpenSession(TEEC_Context *context, TEEC_Session *session, const TEEC_UUID *uuid,
    uint32_t login, const void *data, TEEC_Operation *operation, uint32_t *origin)
{
	char path[4096];
	int ends[2];
	const char *folder = getenv("TEEC_APPLICATIONS");
	const uint8_t *node = uuid->clockSeqAndNode;
	struct wire wire = {.what = WIRE_OPEN};
	(void)context;
	(void)login;
	(void)data;
	(void)operation;
	*origin = 0;
	snprintf(path, sizeof(path), "%s/%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x.ta",
	    folder ? folder : ".", uuid->timeLow, uuid->timeMid, uuid->timeHiAndVersion, node[0],
	    node[1], node[2], node[3], node[4], node[5], node[6], node[7]);
	const int program = load(path);
	if (program < 0)
		return TEEC_ERROR_ITEM_NOT_FOUND;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return TEEC_ERROR_GENERIC;
	if (fork() == 0) {
		// It has nothing of ours but the socket.
		char *const arguments[] = {"application", NULL};
		char *const nothing[] = {NULL};
		if (ends[1] == 3)
			fcntl(3, F_SETFD, 0);
		else
			dup2(ends[1], 3);
		fexecve(program, arguments, nothing);
		_exit(127);
	}
	close(ends[1]);
	close(program);
	session->socket = ends[0];
	pthread_mutex_init(&session->lock, NULL);
	return call(session, &wire, -1);
}

void TEEC_CloseSession(TEEC_Session *session)
{
	struct wire wire = {.what = WIRE_CLOSE};
	call(session, &wire, -1);
	close(session->socket);
}

TEEC_Result TEEC_InvokeCommand(
    TEEC_Session *session, uint32_t command, TEEC_Operation *operation, uint32_t *origin)
{
	struct wire wire = {.what = WIRE_INVOKE,
	    .command = command,
	    .types = operation->paramTypes,
	    .caller_pid = getpid(),
	    .caller_tid = gettid()};
	int fd = -1;
	const char *most = getenv("TEEC_MAP_MAX");
	*origin = TEEC_ORIGIN_API;
	for (int i = 0; i < 4; i++) {
		const TEEC_Parameter *param = &operation->params[i];
		const uint32_t type = operation->paramTypes >> (4 * i) & 0xf;
		if (type == TEEC_MEMREF_WHOLE || type == TEEC_MEMREF_PARTIAL_INOUT) {
			// What can be registered may still be too much to map.
			if (most && param->memref.parent->size > strtoul(most, NULL, 10)) {
				wait_for_others();
				*origin = TEEC_ORIGIN_TEE;
				return TEEC_ERROR_OUT_OF_MEMORY;
			}
			const size_t whole = param->memref.parent->size;
			const int partial = type == TEEC_MEMREF_PARTIAL_INOUT;
			fd = param->memref.parent->fd;
			wire.offset = partial ? param->memref.offset : 0;
			wire.size = partial ? param->memref.size : whole;
			if (wire.offset > whole || wire.size > whole - wire.offset)
				return TEEC_ERROR_BAD_PARAMETERS;
		} else if (type == TEEC_VALUE_INOUT) {
			wire.values[i][0] = param->value.a;
			wire.values[i][1] = param->value.b;
		}
	}
	*origin = TEEC_ORIGIN_TRUSTED_APP;
	wait_for_others();
	const TEEC_Result result = call(session, &wire, fd);
	wait_for_others();
	for (int i = 0; i < 4; i++) {
		TEEC_Parameter *param = &operation->params[i];
		const uint32_t type = operation->paramTypes >> (4 * i) & 0xf;
		if (type == TEEC_VALUE_INOUT) {
			param->value.a = wire.values[i][0];
			param->value.b = wire.values[i][1];
		} else if (type == TEEC_MEMREF_WHOLE || type == TEEC_MEMREF_PARTIAL_INOUT) {
			param->memref.size = wire.size;
		}
	}
	return result;
}

// The pages themselves are shared, not a copy: here by the file that is mapped there.
TEEC_Result TEEC_RegisterSharedMemory(TEEC_Context *context, TEEC_SharedMemory *memory)
{
	char line[4096];
	char path[4096] = "";
	const char *most = getenv("TEEC_MEMORY_MAX");
	FILE *maps = fopen("/proc/self/maps", "re");
	(void)context;
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from;
		unsigned long offset;
		if (sscanf(line, "%lx-%*x %*s %lx %*s %*s %4095s", &from, &offset, path) == 3 &&
		    from == (unsigned long)memory->buffer && !offset)
			break;
		path[0] = '\0';
	}
	if (maps)
		fclose(maps);
	if (most && memory->size > strtoul(most, NULL, 10))
		return TEEC_ERROR_OUT_OF_MEMORY;
	memory->fd = path[0] ? open(path, O_RDWR | O_CLOEXEC) : -1;
	return memory->fd < 0 ? TEEC_ERROR_GENERIC : TEEC_SUCCESS;
}

void TEEC_ReleaseSharedMemory(TEEC_SharedMemory *memory)
{
	close(memory->fd);
}
