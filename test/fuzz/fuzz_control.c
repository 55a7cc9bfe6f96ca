// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a local client may send to the socket of `teeperf ctl`, and what may answer to `teeperf
// ctl`: the server goes on, obeys whole requests of its version only, keeps no descriptor, and a
// reply is harmless text.
// Runs: 1 of 4.
//
// An input is a sequence of (kind, length, that many bytes): what one client does.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "recorder/control/control.h"

enum { CLIENTS_MAX = 12, FDS = TP_CONTROL_FDS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tp_control_server server;
static const uint64_t OBEYED = 77;

// Others may ask us too: 'teeperf ctl' looks for its recording in all sockets. So each reply says
// what it is to.
static void answer(void *context, const struct tp_control_request *request, const uint64_t *hashes,
    struct tp_control_reply *reply)
{
	(void)context;
	for (uint32_t i = 1; i < request->hash_count; i++)
		if (hashes[i] <= hashes[i - 1])
			abort();
	reply->result = TP_CONTROL_UNKNOWN;
	reply->switches = OBEYED;
	reply->records = request->verb;
}

static void stop(void)
{
	tp_control_server_stop(&server);
}

static void start(void)
{
	struct tp_err err;
	server = (struct tp_control_server){.answer = answer};
	if (tp_control_server_start(&server, &err))
		abort();
	atexit(stop);
}

static int connect_to_server(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strcpy(address.sun_path, server.path);
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		abort();
	return fd;
}

// With descriptors that the server did not ask for.
static void send_with_fds(int fd, const uint8_t *bytes, size_t size)
{
	const int fds[FDS] = {fd, fd, fd};
	tp_control_send(fd, bytes, size, fds, FDS);
}

// The reply to this message: there is one if the message is a request, and it was obeyed if its
// version is ours.
static void check_reply(int fd, const uint8_t *bytes, size_t size)
{
	struct tp_control_reply reply;
	const int64_t got = tp_control_receive(fd, &reply, sizeof(reply));
	struct tp_control_request request;
	if (size != sizeof(request)) {
		if (got > 0)
			abort();
		return;
	}
	memcpy(&request, bytes, sizeof(request));
	// The hashes never come.
	if (request.hash_count && request.version == TP_CONTROL_VERSION) {
		if (got > 0)
			abort();
		return;
	}
	if (got != sizeof(reply) || reply.version != TP_CONTROL_VERSION ||
	    reply.recorder != (uint32_t)getpid())
		abort();
	const bool ours = request.version == TP_CONTROL_VERSION;
	if (reply.switches != (ours ? OBEYED : 0) || reply.records != (ours ? request.verb : 0))
		abort();
}

static void play_client(uint8_t kind, const uint8_t *bytes, size_t size)
{
	const int fd = connect_to_server();
	switch (kind % 4) {
	case 0:
		send(fd, bytes, size, MSG_NOSIGNAL);
		break;
	case 1:
		send_with_fds(fd, bytes, size);
		break;
	// another message behind it, which is not read: the kernel may reset the connection then
	case 2:
		send(fd, bytes, size, MSG_NOSIGNAL);
		send(fd, &server, sizeof(struct tp_control_request), MSG_NOSIGNAL);
		close(fd);
		return;
	default:
		send(fd, bytes, size / 2, MSG_NOSIGNAL);
		break;
	}
	// One in four takes no answer, and is obeyed or not while we go on.
	if (kind & 0x10 && kind & 0x20)
		shutdown(fd, SHUT_RDWR);
	else if (size || kind & 1)
		check_reply(fd, bytes, kind % 4 == 3 ? size / 2 : size);
	close(fd);
}

static void check_client_side(const uint8_t *data, size_t size)
{
	struct tp_control_reply reply;
	uint8_t *bytes = malloc(sizeof(reply));
	const size_t there = size < sizeof(reply) ? size : sizeof(reply);
	struct tp_err err;
	if (!bytes)
		return;
	memset(bytes, 0xff, sizeof(reply));
	memcpy(bytes, data, there);
	if (tp_control_reply_read(&reply, bytes, sizeof(reply) + (size % 5 == 4), "path", &err)) {
		const uint32_t version = TP_CONTROL_VERSION;
		memcpy(bytes, &version, sizeof(version));
		if (tp_control_reply_read(&reply, bytes, sizeof(reply), "path", &err))
			abort();
	}
	if (!memchr(reply.output, '\0', sizeof(reply.output)))
		abort();
	for (const char *at = reply.output; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			abort();
	free(bytes);
}

static int lowest_free_fd(void)
{
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!server.answer)
		start();
	check_client_side(data, size);
	const int free_before = lowest_free_fd();
	for (int i = 0; i < CLIENTS_MAX && size >= 2; i++) {
		const uint8_t kind = data[0];
		const size_t length = data[1] < size - 2 ? data[1] : size - 2;
		play_client(kind, data + 2, length);
		// It takes who comes one after the other.
		struct tp_control_reply reply;
		struct tp_err err;
		if (tp_control_ask(getpid(), TP_CONTROL_STATUS, &reply, &err) ||
		    reply.result != TP_CONTROL_UNKNOWN)
			abort();
		data += 2 + length;
		size -= 2 + length;
	}
	// What was answered last may still be open on its side.
	for (int tries = 0; lowest_free_fd() > free_before; tries++) {
		if (tries > 10000)
			abort();
		usleep(1000);
	}
	return 0;
}
