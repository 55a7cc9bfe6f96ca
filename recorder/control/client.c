// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds a running recording and asks it.
#define _GNU_SOURCE
#include "control.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clean.h"
#include "recorder/region/proc.h"

// A reply may take as long as a flush of a large log to a slow disk.
enum { PATIENCE_S = 60 };

int tp_control_reply_read(struct tp_control_reply *reply, const void *bytes, uint64_t size,
    const char *path, struct tp_err *err)
{
	memset(reply, 0, sizeof(*reply));
	if (size == sizeof(*reply))
		memcpy(reply, bytes, sizeof(*reply));
	if (reply->version != TP_CONTROL_VERSION)
		return tp_err_set(err, TP_ERR_VERSION, path,
		    "the recorder is another version of teeperf: use the 'ctl' of that version");
	// Whoever makes a socket of that name may answer.
	reply->output[sizeof(reply->output) - 1] = '\0';
	tp_clean(reply->output, strlen(reply->output));
	return 0;
}

/*
 * Who asks for `pid` believes sockets of his own; root also those of the user of that process. Of
 * others, who may claim to record what they like, no word is heard.
 */
static bool is_trusted(uid_t owner, pid_t pid)
{
	unsigned user;
	return owner == geteuid() ||
	       (geteuid() == 0 && tp_proc_scan(pid, "status", "Uid: %*u %u", &user) &&
		   user == owner);
}

// Whether the process that listens at `path`, whose name says `named`, is `pid`.
static bool listens(const char *path, pid_t named, pid_t pid)
{
	const struct sockaddr_un address = tp_control_address(path);
	const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (connection < 0)
		return false;
	struct ucred who;
	socklen_t size = sizeof(who);
	bool found = false;
	if (!connect(connection, (const struct sockaddr *)&address, sizeof(address)))
		found =
		    !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) && who.pid == pid;
	else if (errno == EAGAIN) // a recorder that was stopped: its queue is full
		found = named == pid;
	close(connection);
	return found;
}

// Until the other side has ended, however long it writes.
static void await_end(int connection)
{
	const struct timeval forever = {0};
	char byte;
	setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof(forever));
	while (tp_control_receive(connection, &byte, sizeof(byte)) > 0)
		;
}

// What does not go out is missed by the recorder, which then closes the connection.
static void send_request(
    int connection, const struct tp_control_request *request, const uint64_t *hashes)
{
	send(connection, request, sizeof(*request), MSG_NOSIGNAL);
	for (uint32_t at = 0; at < request->hash_count; at += TP_CONTROL_HASHES) {
		const uint32_t left = request->hash_count - at;
		const uint32_t part = left < TP_CONTROL_HASHES ? left : TP_CONTROL_HASHES;
		send(connection, hashes + at, part * sizeof(*hashes), MSG_NOSIGNAL);
	}
}

// Ask the recorder that listens at `path`: 0, or TP_ERR_NOT_FOUND if there is none any more.
static int ask_at(const char *path, const struct tp_control_request *request,
    const uint64_t *hashes, struct tp_control_reply *reply, struct tp_err *err)
{
	const struct sockaddr_un address = tp_control_address(path);
	const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connection < 0)
		return tp_err_system(err, errno, NULL, "cannot make a socket");
	int r = 0;
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	// To connect takes as long as the queue of a recorder that was stopped is full.
	setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(connection, (const struct sockaddr *)&address, sizeof(address))) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			r = TP_ERR_NOT_FOUND;
		else
			r = tp_err_system(err, errno, path,
			    errno == EAGAIN ? "the recorder does not answer"
					    : "cannot reach the recorder");
	} else {
		send_request(connection, request, hashes);
		struct tp_control_reply message;
		const int64_t size = tp_control_receive(connection, &message, sizeof(message));
		if (size < 0)
			r = tp_err_system(err, errno, path, "the recorder does not answer");
		else if (size == 0)
			r = TP_ERR_NOT_FOUND; // it has just ended
		else
			r = tp_control_reply_read(reply, &message, (uint64_t)size, path, err);
		if (!r && request->verb == TP_CONTROL_STOP && reply->result == TP_CONTROL_DONE)
			await_end(connection);
	}
	close(connection);
	return r;
}

// Whether the program of the recorder that listens at `path` is `pid`.
static bool records(const char *path, pid_t pid)
{
	struct tp_control_reply reply;
	// Recordings that end meanwhile are not the one.
	const struct tp_control_request status = {
	    .version = TP_CONTROL_VERSION, .verb = TP_CONTROL_STATUS};
	return ask_at(path, &status, NULL, &reply, NULL) == 0 &&
	       (reply.program == (uint32_t)pid || reply.attached == (uint32_t)pid);
}

// The socket's path of the recording whose recorder, or whose program, is `pid`: 0, or negative.
// *theirs: another user's has the recorder's process id in its name.
static int find(
    pid_t pid, bool program, char path[TP_CONTROL_PATH_SIZE], bool *theirs, struct tp_err *err)
{
	DIR *folder = opendir(TP_CONTROL_FOLDER);
	if (!folder)
		return tp_err_system(err, errno, TP_CONTROL_FOLDER, "cannot search for recordings");
	int r = TP_ERR_NOT_FOUND;
	for (struct dirent *entry; r && (entry = readdir(folder));) {
		bool early;
		struct stat info;
		const pid_t named = tp_control_recorder(entry->d_name, &early);
		if (!named || early ||
		    (size_t)snprintf(path, TP_CONTROL_PATH_SIZE, TP_CONTROL_FOLDER "/%s",
			entry->d_name) >= TP_CONTROL_PATH_SIZE ||
		    lstat(path, &info) || !S_ISSOCK(info.st_mode))
			continue;
		if (!is_trusted(info.st_uid, pid))
			*theirs |= named == pid;
		else if (program ? records(path, pid) : listens(path, named, pid))
			r = 0;
	}
	closedir(folder);
	return r;
}

int tp_control_ask(
    pid_t pid, enum tp_control_verb verb, struct tp_control_reply *reply, struct tp_err *err)
{
	const struct tp_control_request request = {.verb = verb};
	return tp_control_ask_with(pid, &request, NULL, reply, err);
}

int tp_control_ask_with(pid_t pid, const struct tp_control_request *wanted, const uint64_t *hashes,
    struct tp_control_reply *reply, struct tp_err *err)
{
	struct tp_control_request request = *wanted;
	request.version = TP_CONTROL_VERSION;
	char path[TP_CONTROL_PATH_SIZE];
	bool theirs = false;
	memset(reply, 0, sizeof(*reply));
	int r = find(pid, false, path, &theirs, err);
	if (r == TP_ERR_NOT_FOUND)
		r = find(pid, true, path, &theirs, err);
	if (r == TP_ERR_NOT_FOUND && theirs)
		return tp_err_set(err, TP_ERR_SYSTEM, NULL,
		    "the recording of process %d belongs to another user: run this as that user, "
		    "or as root",
		    (int)pid);
	if (!r)
		r = ask_at(path, &request, hashes, reply, err);
	if (r == TP_ERR_NOT_FOUND)
		r = tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "process %d is neither your 'teeperf record' nor a program that it records",
		    (int)pid);
	return r;
}
