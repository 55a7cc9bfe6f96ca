// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for OP-TEE around an application: a process that serves commands from descriptor 3.
// Shared memory is mapped for the time of a command, elsewhere each time; whoever touches it later
// ends.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ta_wire.h"
#include "tee_internal_api.h"
#include "user_ta_header_defines.h"

extern const char __executable_start, _end;
static char *shared;
static size_t shared_size;

TEE_Result TEE_CheckMemoryAccessRights(uint32_t flags, void *buffer, size_t size)
{
	const char *from = buffer;
	for (const char *at = from; at < from + size; at += 4096 - (uintptr_t)at % 4096) {
		const bool is_shared = shared && at >= shared && at < shared + shared_size;
		const bool is_own = at >= &__executable_start && at < &_end;
		if (!(is_own && !(flags & TEE_MEMORY_ACCESS_NONSECURE)) &&
		    !(is_shared && flags & TEE_MEMORY_ACCESS_ANY_OWNER))
			return TEE_ERROR_ACCESS_DENIED;
	}
	return TEE_SUCCESS;
}

void TEE_GenerateRandom(void *buffer, size_t size)
{
	if (getrandom(buffer, size, 0) != (ssize_t)size)
		abort();
}

TEE_Result TEE_GetPropertyAsUUID(TEE_PropSetHandle properties, const char *name, TEE_UUID *value)
{
	static const TEE_UUID uuid = TA_UUID;
	if (properties != TEE_PROPSET_CURRENT_TA || strcmp(name, "gpd.ta.appID") != 0)
		return TEE_ERROR_ITEM_NOT_FOUND;
	*value = uuid;
	return TEE_SUCCESS;
}

static void map(int fd, size_t size)
{
	static unsigned count;
	char *room = mmap(
	    NULL, size + (1 << 16), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		abort();
	shared_size = size;
	shared = mmap(room + count++ % 16 * 4096, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_FIXED, fd, 0);
	if (shared == MAP_FAILED)
		abort();
}

// A real application runs while its caller's thread is in the one system call that brought it here.
// Here there are two, and between them the thread may lose its processor: what runs is only begun
// when it waits in the second, if that is to be seen.
static void wait_until_called(const struct wire *wire)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", wire->caller_pid, wire->caller_tid);
	for (int tries = 0; tries < 10000; tries++) {
		char text[128] = "";
		const int file = open(path, O_RDONLY | O_CLOEXEC);
		const ssize_t size = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
		const char *name_end = strrchr(text, ')');
		if (file >= 0)
			close(file);
		if (size <= 0 || !name_end || !strncmp(name_end, ") S", 3))
			return;
		usleep(100);
	}
}

static void invoke(struct wire *wire, int fd)
{
	wait_until_called(wire);
	TEE_Param params[4] = {0};
	uint32_t types = 0;
	for (unsigned i = 0; i < 4; i++) {
		uint32_t type = TEE_PARAM_TYPE_GET(wire->types, i);
		params[i].value.a = wire->values[i][0];
		params[i].value.b = wire->values[i][1];
		if (type == 12 || type == 15) { // TEEC_MEMREF_WHOLE, TEEC_MEMREF_PARTIAL_INOUT
			map(fd, wire->offset + wire->size);
			params[i].memref.buffer = shared + wire->offset;
			params[i].memref.size = wire->size;
			type = TEE_PARAM_TYPE_MEMREF_INOUT;
		}
		types |= type << (4 * i);
	}
	wire->result = TA_InvokeCommandEntryPoint(NULL, wire->command, types, params);
	for (unsigned i = 0; i < 4; i++)
		if (TEE_PARAM_TYPE_GET(types, i) == TEE_PARAM_TYPE_VALUE_INOUT) {
			wire->values[i][0] = params[i].value.a;
			wire->values[i][1] = params[i].value.b;
		}
	if (shared)
		mprotect(shared, shared_size, PROT_NONE);
	shared = NULL;
}

int main(void)
{
	struct wire wire;
	void *session = NULL;
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {&wire, sizeof(wire)};
	if (TA_CreateEntryPoint() != TEE_SUCCESS)
		return 1;
	for (;;) {
		TEE_Param none[4] = {0};
		struct msghdr message = {.msg_iov = &part,
		    .msg_iovlen = 1,
		    .msg_control = &control,
		    .msg_controllen = sizeof(control)};
		int fd = -1;
		if (recvmsg(3, &message, MSG_CMSG_CLOEXEC) != sizeof(wire))
			break;
		const struct cmsghdr *with = CMSG_FIRSTHDR(&message);
		if (with && with->cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(with), sizeof(fd));
		wire.result = TEE_SUCCESS;
		if (wire.what == WIRE_OPEN)
			wire.result = TA_OpenSessionEntryPoint(0, none, &session);
		else if (wire.what == WIRE_CLOSE)
			TA_CloseSessionEntryPoint(session);
		else
			invoke(&wire, fd);
		if (fd >= 0)
			close(fd);
		if (send(3, &wire, sizeof(wire), MSG_NOSIGNAL) != sizeof(wire))
			break;
	}
	TA_DestroyEntryPoint();
	return 0;
}
