// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where frames go that are sent with system calls: a file, an inherited descriptor, a Unix socket or vsock.
#define _GNU_SOURCE
#include "port_posix.h"
#include "private_log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
// Behind sys/socket.h, which it needs.
#include <linux/vm_sockets.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int stream = -1;
static uint64_t opener; // the process whose stream it is

// What is behind `prefix`, or NULL.
static const char *behind(const char *text, const char *prefix)
{
	while (*prefix)
		if (*text++ != *prefix++)
			return NULL;
	return text;
}

// A decimal number up to `end`; UINT64_MAX if it is none.
static uint64_t number_to(const char **text, char end)
{
	uint64_t number = 0;
	const char *at = *text;
	if (*at == end)
		return UINT64_MAX;
	for (; *at && *at != end; at++) {
		if (*at < '0' || *at > '9' || number > UINT32_MAX)
			return UINT64_MAX;
		number = 10 * number + (uint64_t)(*at - '0');
	}
	if (*at != end)
		return UINT64_MAX;
	*text = end ? at + 1 : at;
	return number;
}

static int connect_to(int family, const struct sockaddr *address, socklen_t size)
{
	const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, address, size)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_vsock(const char *text)
{
	const uint64_t cid = number_to(&text, ':');
	const uint64_t port = cid == UINT64_MAX ? cid : number_to(&text, '\0');
	if (cid > UINT32_MAX || port > UINT32_MAX)
		return -1;
	const struct sockaddr_vm address = {
	    .svm_family = AF_VSOCK, .svm_cid = (unsigned)cid, .svm_port = (unsigned)port};
	return connect_to(
	    AF_VSOCK, (const struct sockaddr *)(const void *)&address, sizeof(address));
}

static int open_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	for (unsigned i = 0; path[i]; i++) {
		if (i >= sizeof(address.sun_path) - 1)
			return -1;
		address.sun_path[i] = path[i];
	}
	return connect_to(
	    AF_UNIX, (const struct sockaddr *)(const void *)&address, sizeof(address));
}

static int open_stream(const char *text)
{
	const char *rest;
	if ((rest = behind(text, "fd:"))) {
		const uint64_t number = number_to(&rest, '\0');
		return number <= INT32_MAX ? (int)number : -1;
	}
	if ((rest = behind(text, "vsock:")))
		return open_vsock(rest);
	if ((rest = behind(text, "unix:")))
		return open_unix(rest);
	// A pipe without a reader must not stop the program here; later it takes what it is given.
	const int fd =
	    open(text, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC | O_APPEND | O_NONBLOCK, 0600);
	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

bool tp_port_map_stream(void **base, uint64_t *size)
{
	const char *text = secure_getenv(TEEPERF_STREAM_ENV);
	const int error = errno;
	if (text && *text)
		stream = open_stream(text);
	errno = error;
	if (stream < 0)
		return false;
	opener = (uint64_t)getpid();
	const bool timeless = tp_process.first_compiled == TEEPERF_COMPILED_SOFT;
	tp_private_log_make(timeless ? TEEPERF_CLOCK_NONE : TP_HARDWARE_CLOCK, 0, base, size);
	return true;
}

/*
 * All of a frame, however little is taken at a time. After a failure in the middle of one the receiver could make
 * nothing of what followed: that is the end of the stream.
 */
static bool write_all(struct iovec *parts, int count)
{
	while (count) {
		const ssize_t done = writev(stream, parts, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		size_t left = (size_t)done;
		while (count && left >= parts->iov_len) {
			left -= parts->iov_len;
			parts++;
			count--;
		}
		if (count) {
			parts->iov_base = (char *)parts->iov_base + left;
			parts->iov_len -= left;
		}
	}
	return true;
}

bool tp_port_flush(const void *head, uint64_t head_size, const void *body, uint64_t body_size)
{
	// Not in a forked child.
	if (stream < 0 || (uint64_t)getpid() != opener)
		return false;
	const int error = errno;
	struct iovec parts[] = {
	    {(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)body, body_size}};
	// A receiver that has gone is no reason to end: SIGPIPE is taken back if it was not there before.
	sigset_t pipe, old, pending;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigemptyset(&pending);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &old);
	const bool done = write_all(parts, 2);
	if (!done && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
		const struct timespec now = {0};
		sigtimedwait(&pipe, NULL, &now);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!done)
		stream = -1; // it stays open: it may be the program's
	errno = error;
	return done;
}

uint64_t tp_port_flush_time_ns(void)
{
	struct timespec now;
	return clock_gettime(CLOCK_MONOTONIC, &now)
		   ? 0
		   : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
