// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds a running recording and asks it.
#define _GNU_SOURCE
#include "control.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// A reply may take as long as a flush of a large log to a slow disk.
enum { PATIENCE_S = 60 };

void tp_control_path(pid_t recorder, char path[TP_CONTROL_PATH_SIZE])
{
	snprintf(path, TP_CONTROL_PATH_SIZE, TP_CONTROL_FOLDER "/teeperf-%d.ctl", (int)recorder);
}

pid_t tp_control_recorder(const char *name)
{
	int recorder;
	int end = 0;
	if (sscanf(name, "teeperf-%d.ctl%n", &recorder, &end) != 1 || !end || name[end])
		return 0;
	return recorder > 0 ? recorder : 0;
}

static int not_found(pid_t pid, struct tp_err *err)
{
	return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
	    "process %d is neither a running 'teeperf record' of yours nor a program that one "
	    "records",
	    (int)pid);
}

// Ask the recorder that listens at `path`: 0, or TP_ERR_NOT_FOUND if there is none any more.
static int ask_at(
    const char *path, uint32_t verb, struct tp_control_reply *reply, struct tp_err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connection < 0)
		return tp_err_system(err, errno, NULL, "cannot make a socket");
	int r = 0;
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	// To connect takes as long as the queue of a recorder that was stopped is full.
	setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	const struct tp_control_request request = {TP_CONTROL_VERSION, verb};
	if (connect(connection, (const struct sockaddr *)&address, sizeof(address))) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			r = TP_ERR_NOT_FOUND;
		else if (errno == EACCES)
			r = tp_err_set(err, TP_ERR_SYSTEM, path, TP_ERR_NO_OFFSET,
			    "this recording is another user's: ask as that user, or as root");
		else
			r = tp_err_system(err, errno, path,
			    errno == EAGAIN ? "the recorder does not answer"
					    : "cannot reach the recorder");
	} else {
		send(connection, &request, sizeof(request), MSG_NOSIGNAL);
		struct tp_control_reply message;
		const int64_t size = tp_control_receive(connection, &message, sizeof(message));
		if (size < 0)
			r = tp_err_system(err, errno, path, "the recorder does not answer");
		else if (size == 0)
			r = TP_ERR_NOT_FOUND; // it has just ended
		else
			r = tp_control_reply_read(reply, &message, (uint64_t)size, path, err);
	}
	close(connection);
	return r;
}

// The one among all recordings that are ours whose program is `pid`; its socket's path.
static int find_program(pid_t pid, char path[TP_CONTROL_PATH_SIZE], struct tp_err *err)
{
	DIR *folder = opendir(TP_CONTROL_FOLDER);
	if (!folder)
		return tp_err_system(err, errno, TP_CONTROL_FOLDER, "cannot look for recordings");
	int r = TP_ERR_NOT_FOUND;
	for (struct dirent *entry; r && (entry = readdir(folder));) {
		const pid_t recorder = tp_control_recorder(entry->d_name);
		if (!recorder)
			continue;
		tp_control_path(recorder, path);
		struct tp_control_reply reply;
		// Others' recordings, and those that end meanwhile, are not the one.
		if (ask_at(path, TP_CONTROL_STATUS, &reply, NULL) == 0 &&
		    (reply.program == (uint32_t)pid || reply.attached == (uint32_t)pid))
			r = 0;
	}
	closedir(folder);
	return r ? not_found(pid, err) : 0;
}

int tp_control_ask(
    pid_t pid, enum tp_control_verb verb, struct tp_control_reply *reply, struct tp_err *err)
{
	char path[TP_CONTROL_PATH_SIZE];
	tp_control_path(pid, path);
	memset(reply, 0, sizeof(*reply));
	if (access(path, F_OK)) {
		const int r = find_program(pid, path, err);
		if (r)
			return r;
	}
	const int r = ask_at(path, verb, reply, err);
	return r == TP_ERR_NOT_FOUND ? not_found(pid, err) : r;
}
