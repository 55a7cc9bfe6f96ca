// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Answers `teeperf ctl` while a recording runs.
#define _GNU_SOURCE
#include "control.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 2, BACKLOG = 8, NAP_MS = 20, EARLY_S = 60 };

bool tp_control_send(int connection, const void *bytes, size_t size, const int *fds, int count)
{
	const size_t fds_size = (size_t)count * sizeof(*fds);
	struct iovec part = {(void *)(uintptr_t)bytes, size};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(TP_CONTROL_FDS * sizeof(*fds))];
	} control = {0};
	struct msghdr message = {.msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = CMSG_SPACE(fds_size)};
	control.head = (struct cmsghdr){
	    .cmsg_len = CMSG_LEN(fds_size), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), fds, fds_size);
	return sendmsg(connection, &message, MSG_NOSIGNAL) == (ssize_t)size;
}

int tp_control_request_read(struct tp_control_request *request, const void *bytes, uint64_t size)
{
	if (size != sizeof(*request))
		return TP_ERR_FORMAT;
	memcpy(request, bytes, sizeof(*request));
	return 0;
}

// The hashes that follow a request. False: they did not come, or there is no memory.
static bool receive_hashes(
    int connection, const struct tp_control_request *request, uint64_t **hashes)
{
	*hashes = NULL;
	if (request->version != TP_CONTROL_VERSION || !request->hash_count)
		return true;
	if (request->hash_count > TP_CONTROL_HASHES_MAX)
		return false;
	uint64_t *to = malloc(request->hash_count * sizeof(*to));
	*hashes = to;
	for (uint32_t at = 0; to && at < request->hash_count;) {
		const uint32_t left = request->hash_count - at;
		const uint32_t part = left < TP_CONTROL_HASHES ? left : TP_CONTROL_HASHES;
		if (tp_control_receive(connection, to + at, part * sizeof(*to)) !=
		    (int64_t)(part * sizeof(*to)))
			return false;
		at += part;
	}
	// What follows goes by their order.
	for (uint32_t i = 1; to && request->verb != TP_CONTROL_MARK && i < request->hash_count; i++)
		if (to[i] <= to[i - 1])
			return false;
	return to != NULL;
}

// The file's mode keeps others out where the kernel looks at it; this does everywhere.
static bool is_trusted(int connection)
{
	struct ucred who;
	socklen_t size = sizeof(who);
	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

// A client that says nothing, or does not take its answer, is left after a while. True: the
// connection stays open until we end, which is what the client waits for.
static bool serve(struct tp_control_server *server, int connection)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	struct tp_control_request message;
	struct tp_control_request request;
	if (!is_trusted(connection))
		return false;
	const int64_t size = tp_control_receive(connection, &message, sizeof(message));
	if (size < 0 || tp_control_request_read(&request, &message, (uint64_t)size))
		return false;
	struct tp_control_reply reply = {0};
	uint64_t *hashes;
	const bool whole = receive_hashes(connection, &request, &hashes);
	if (whole && request.version == TP_CONTROL_VERSION)
		server->answer(server->context, &request, hashes, &reply);
	free(hashes);
	if (!whole)
		return false;
	reply.version = TP_CONTROL_VERSION;
	reply.recorder = (uint32_t)getpid();
	send(connection, &reply, sizeof(reply), MSG_NOSIGNAL);
	return request.version == TP_CONTROL_VERSION && request.verb == TP_CONTROL_STOP &&
	       reply.result == TP_CONTROL_DONE;
}

static void *run(void *argument)
{
	struct tp_control_server *server = argument;
	struct pollfd events[] = {{.fd = server->socket, .events = POLLIN},
	    {.fd = server->worker.bell.fd, .events = POLLIN}};
	while (!tp_load_relaxed(&server->worker.stop)) {
		poll(events, 2, -1);
		const int connection = accept4(server->socket, NULL, NULL, SOCK_CLOEXEC);
		// Without a descriptor for it the client waits until there is one.
		if (connection < 0 && errno != EAGAIN)
			tp_doorbell_wait(&server->worker.bell, NAP_MS);
		if (connection < 0)
			continue;
		if (!serve(server, connection))
			close(connection);
	}
	return NULL;
}

// Sockets of recorders that were killed: nobody listens there any more.
static void sweep(void)
{
	DIR *folder = opendir(TP_CONTROL_FOLDER);
	if (!folder)
		return;
	for (struct dirent *entry; (entry = readdir(folder));) {
		bool early;
		char path[TP_CONTROL_PATH_SIZE];
		struct stat info;
		if (!tp_control_recorder(entry->d_name, &early) ||
		    (size_t)snprintf(path, sizeof(path), TP_CONTROL_FOLDER "/%s", entry->d_name) >=
			sizeof(path) ||
		    lstat(path, &info) || !S_ISSOCK(info.st_mode) || info.st_uid != geteuid())
			continue;
		// Its owner is between two calls.
		if (early && time(NULL) - info.st_mtime < EARLY_S)
			continue;
		const struct sockaddr_un address = tp_control_address(path);
		// Without waiting: one whose queue is full belongs to a recorder that was stopped.
		const int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (probe >= 0 &&
		    connect(probe, (const struct sockaddr *)&address, sizeof(address)) &&
		    errno == ECONNREFUSED)
			unlink(path);
		if (probe >= 0)
			close(probe);
	}
	closedir(folder);
}

static void make_path(char path[TP_CONTROL_PATH_SIZE], uint64_t random, const char *behind)
{
	snprintf(path, TP_CONTROL_PATH_SIZE, TP_CONTROL_FOLDER "/teeperf-%d.%016llx.ctl%s",
	    (int)getpid(), (unsigned long long)random, behind);
}

// Bound under another name and renamed when it listens: to a sweep a socket that does not is dead.
// The second name does not follow from the first, which others may have seen.
static int open_socket(struct tp_control_server *server, struct tp_err *err)
{
	char early[TP_CONTROL_PATH_SIZE];
	uint64_t random[2];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return tp_err_system(err, errno, NULL, "cannot get random bytes");
	make_path(early, random[0], TP_CONTROL_EARLY);
	make_path(server->path, random[1], "");
	const struct sockaddr_un address = tp_control_address(early);
	server->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->socket < 0)
		return tp_err_system(err, errno, NULL, "cannot make a socket for 'teeperf ctl'");
	if (!bind(server->socket, (const struct sockaddr *)&address, sizeof(address)) &&
	    !chmod(early, 0600) && !listen(server->socket, BACKLOG) && !rename(early, server->path))
		return 0;
	const int r =
	    tp_err_system(err, errno, server->path, "cannot make a socket for 'teeperf ctl'");
	unlink(early);
	close(server->socket);
	return r;
}

int tp_control_server_start(struct tp_control_server *server, struct tp_err *err)
{
	sweep();
	int r = open_socket(server, err);
	if (r)
		return r;
	r = tp_worker_start(&server->worker, run, server, "the control thread", err);
	if (r) {
		unlink(server->path);
		close(server->socket);
	}
	return r;
}

void tp_control_server_stop(struct tp_control_server *server)
{
	unlink(server->path);
	tp_worker_stop(&server->worker);
	close(server->socket);
}
