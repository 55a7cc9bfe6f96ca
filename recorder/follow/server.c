// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Answers the processes of a recording that ask for a log of their own.
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "recorder/control/control.h"
#include "process.h"

// Who connects has his request ready. Another user, who may be one that the program has become, or
// one that only wants to keep others waiting, is waited for less.
enum { PATIENCE_MS = 1000, STRANGER_MS = 20, BACKLOG = 64, SAME_PID_MAX = 1000, NAP_MS = 20 };

enum { CHUNK_WORDS = (TP_REGION_CHUNK_SIZE - (int)sizeof(struct teeperf_chunk)) / 8 };

// A profiled program may send anything.
int tp_follow_request_read(struct tp_follow_request *request, const void *bytes, uint64_t size,
    uint64_t token, uint32_t chunk_count)
{
	struct teeperf_fork_request message;
	*request = (struct tp_follow_request){0};
	if (size != sizeof(message))
		return TP_ERR_FORMAT;
	memcpy(&message, bytes, sizeof(message));
	// The token keeps others out: a program may have given up the user that it was started by.
	if (message.magic != TEEPERF_FORK_MAGIC || message.token != token)
		return TP_ERR_FORMAT;
	if (message.parent <= INT32_MAX)
		request->parent = (pid_t)message.parent;
	if (!message.chunk || message.chunk > chunk_count)
		return 0;
	request->owned = message.chunk;
	request->padding = message.padding < CHUNK_WORDS ? message.padding : CHUNK_WORDS;
	return 0;
}

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void note_failure(struct tp_follow *follow, const struct tp_err *err)
{
	pthread_mutex_lock(&follow->lock);
	if (!follow->failures++)
		follow->error = *err;
	pthread_mutex_unlock(&follow->lock);
}

// Whether a trace of this recording has the name, or was to have it.
static bool is_taken(const struct tp_follow *follow, const char *path)
{
	for (const struct tp_followed *at = follow->list; at; at = at->next)
		if (!strcmp(at->log.writer.path, path))
			return true;
	if (follow->finishing && !strcmp(follow->finishing, path))
		return true;
	for (uint64_t i = 0; i < follow->result_count; i++)
		if (follow->results[i].path && !strcmp(follow->results[i].path, path))
			return true;
	return false;
}

char *tp_follow_choose_path(const struct tp_follow *follow, pid_t pid, struct tp_err *err)
{
	for (int i = 1; i <= SAME_PID_MAX; i++) {
		char *path = NULL;
		const int size =
		    i == 1 ? asprintf(&path, "%s.%d", follow->options.output, (int)pid)
			   : asprintf(&path, "%s.%d-%d", follow->options.output, (int)pid, i);
		if (size < 0) {
			tp_err_memory(err, NULL);
			return NULL;
		}
		if (!is_taken(follow, path))
			return path;
		free(path);
	}
	tp_err_set(
	    err, TP_ERR_LIMIT, NULL, "process %d has %d traces already", (int)pid, SAME_PID_MAX);
	return NULL;
}

/*
 * What the process was before is over, though it lives: it has become another program. A second
 * runtime in it (dlmopen) asks as well; the first one still has its log then, and goes on.
 */
static void replace(struct tp_follow *follow, pid_t pid)
{
	for (struct tp_followed *at = follow->list; at; at = at->next) {
		if (at->pid != pid || at->over || tp_region_is_mapped(&at->log.region, pid))
			continue;
		at->over = at->replaced = true;
		at->end_ns = tp_clock_monotonic_ns();
	}
}

static struct tp_followed *start(struct tp_follow *follow, pid_t pid,
    const struct tp_follow_request *request, struct tp_err *err)
{
	pthread_mutex_lock(&follow->lock);
	replace(follow, pid);
	const bool full = follow->live >= TP_FOLLOW_LIVE_MAX;
	char *path = tp_follow_choose_path(follow, pid, err);
	pthread_mutex_unlock(&follow->lock);
	tp_doorbell_ring(&follow->watcher.bell);
	struct tp_followed *process = malloc(sizeof(*process));
	int r = path ? 0 : err->code;
	if (full)
		r = tp_err_set(err, TP_ERR_LIMIT, NULL, "%d processes are recorded already",
		    TP_FOLLOW_LIVE_MAX);
	else if (!process)
		r = tp_err_memory(err, NULL);
	if (!r)
		r = tp_followed_start(process, follow, pid, request, path, err);
	free(path);
	if (!r)
		return process;
	free(process);
	return NULL;
}

// The log of the process, and the program's own, whose counter word is stored.
static bool answer(
    const struct tp_follow *follow, const struct tp_followed *process, int connection)
{
	const struct teeperf_fork_reply reply = {
	    .magic = TEEPERF_FORK_MAGIC, .size = process->log.region.map_size};
	const int fds[] = {process->log.region.fd, follow->options.first->fd};
	return tp_control_send(connection, &reply, sizeof(reply), fds, 2);
}

static bool receive(
    const struct tp_follow *follow, int connection, struct tp_follow_request *request, pid_t *pid)
{
	struct ucred who;
	socklen_t who_size = sizeof(who);
	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &who_size) || who.pid <= 0)
		return false;
	struct pollfd event = {.fd = connection, .events = POLLIN};
	int ready;
	do {
		ready = poll(&event, 1, who.uid == geteuid() ? PATIENCE_MS : STRANGER_MS);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return false;
	const struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
	setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	struct teeperf_fork_request message;
	const int64_t size = tp_control_receive(connection, &message, sizeof(message));
	if (size < 0 || tp_follow_request_read(request, &message, (uint64_t)size, follow->token,
			    follow->options.first->chunk_count))
		return false;
	*pid = who.pid;
	return true;
}

static void serve(struct tp_follow *follow, int connection)
{
	struct tp_follow_request request;
	pid_t pid;
	if (!receive(follow, connection, &request, &pid))
		return;
	struct tp_err err;
	struct tp_followed *process = start(follow, pid, &request, &err);
	if (!process) {
		note_failure(follow, &err);
		return;
	}
	pthread_mutex_lock(&follow->lock);
	tp_store_release(&process->log.region.header->control, follow->control);
	process->number = ++follow->started;
	follow->programs += !request.parent;
	process->next = follow->list;
	follow->list = process;
	follow->live++;
	process->over = !answer(follow, process, connection);
	pthread_mutex_unlock(&follow->lock);
	tp_doorbell_ring(&follow->watcher.bell);
}

/*
 * The next connection, -1 if there is none. When there is no descriptor for it, a spare one is
 * given up to take it and hang up: who asks would wait for us, and we would look again at once.
 */
static int take_connection(struct tp_follow *follow)
{
	int connection = accept4(follow->socket, NULL, NULL, SOCK_CLOEXEC);
	if (connection >= 0 || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return connection;
	struct tp_err err;
	tp_err_system(&err, errno, NULL, "cannot accept a connection");
	if (follow->spare >= 0)
		close(follow->spare);
	connection = accept4(follow->socket, NULL, NULL, SOCK_CLOEXEC);
	if (connection >= 0) {
		close(connection);
		note_failure(follow, &err);
	} else {
		tp_doorbell_wait(&follow->server.bell, NAP_MS);
	}
	follow->spare = open_spare();
	return -1;
}

static void *run(void *argument)
{
	struct tp_follow *follow = argument;
	struct pollfd events[] = {{.fd = follow->socket, .events = POLLIN},
	    {.fd = follow->server.bell.fd, .events = POLLIN}};
	while (!tp_load_relaxed(&follow->server.stop)) {
		poll(events, 2, -1);
		const int connection = take_connection(follow);
		if (connection < 0)
			continue;
		serve(follow, connection);
		close(connection);
	}
	return NULL;
}

// The name is an abstract one: it can be reached from another root, and nothing is left of it.
static int open_socket(struct tp_follow *follow, struct tp_err *err)
{
	uint64_t random[2];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return tp_err_system(err, errno, NULL, "cannot get random bytes");
	follow->token = random[1];
	snprintf(follow->setting, sizeof(follow->setting), "%016llx,%016llx",
	    (unsigned long long)random[0], (unsigned long long)random[1]);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
	    TEEPERF_FORK_SOCKET "%016llx", (unsigned long long)random[0]);
	const socklen_t size =
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
	follow->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (follow->socket >= 0 && !bind(follow->socket, (const struct sockaddr *)&address, size) &&
	    !listen(follow->socket, BACKLOG))
		return 0;
	const int r = tp_err_system(err, errno, NULL, "cannot make a socket for children");
	if (follow->socket >= 0)
		close(follow->socket);
	return r;
}

static void close_sockets(struct tp_follow *follow)
{
	close(follow->socket);
	if (follow->spare >= 0)
		close(follow->spare);
}

int tp_follow_server_start(struct tp_follow *follow, struct tp_err *err)
{
	int r = open_socket(follow, err);
	if (r)
		return r;
	follow->spare = open_spare();
	r = tp_worker_start(&follow->server, run, follow, "the thread for children", err);
	if (r)
		close_sockets(follow);
	return r;
}

void tp_follow_server_stop(struct tp_follow *follow)
{
	tp_worker_stop(&follow->server);
	close_sockets(follow);
}
