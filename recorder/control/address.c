// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sockets of recordings: their names, and a message from one.
#define _GNU_SOURCE
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct sockaddr_un tp_control_address(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return address;
}

pid_t tp_control_recorder(const char *name, bool *early)
{
	int recorder;
	int end = 0;
	if (sscanf(name, "teeperf-%d%n", &recorder, &end) != 1 || recorder <= 0)
		return 0;
	int more = 0;
	if (sscanf(name + end, ".%*16[0-9a-f].ctl%n", &more) < 0 || !more)
		sscanf(name + end, ".ctl%n", &more);
	*early = !strcmp(name + end + more, TP_CONTROL_EARLY);
	return more && (*early || !name[end + more]) ? recorder : 0;
}

int64_t tp_control_receive(int connection, void *bytes, uint64_t room)
{
	ssize_t size;
	do {
		size = recv(connection, bytes, room, MSG_TRUNC);
	} while (size < 0 && errno == EINTR);
	return size;
}
