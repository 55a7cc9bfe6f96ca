// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A log for each process, on POSIX systems: asked for over a socket, put in the place of the
// parent's. All of it are plain system calls: a fork may be called in a signal handler, and by a
// thread of many.
#define _GNU_SOURCE
#include "runtime/port.h"

#include "posix.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "posix_system.h"

// Private memory in the place of what the host shares.
enum { HIDDEN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED };

enum { PATIENCE_S = 5, DIGITS = 16, OWN = 0, COUNTER = 1, FDS = 2 };

// What TEEPERF_FORK says.
static struct {
	bool given;
	char name[DIGITS];
	uint64_t token;
} setting;

void tp_port_fork_setting(const char *text)
{
	setting.given = false;
	setting.token = 0;
	for (int i = 0; i < 2 * DIGITS + 1; i++) {
		const char c = text ? text[i] : '\0';
		const bool number = c >= '0' && c <= '9';
		if (!c || (!number && !(c >= 'a' && c <= 'f') && c != ','))
			return;
		if (i < DIGITS)
			setting.name[i] = c;
		else if (i > DIGITS)
			setting.token =
			    setting.token << 4 | (uint64_t)(number ? c - '0' : c - 'a' + 10);
	}
	setting.given = true;
}

uint64_t tp_port_block_signals(uint64_t set)
{
	uint64_t old = 0;
	tp_system(SYS_rt_sigprocmask, SIG_SETMASK, &set, &old, sizeof(set));
	return old;
}

static void close_all(const int fds[FDS])
{
	for (int i = 0; i < FDS; i++)
		if (fds[i] >= 0)
			tp_system(SYS_close, fds[i]);
}

static bool send_request(int fd, const struct teeperf_fork_request *wanted)
{
	static const char prefix[] = TEEPERF_FORK_SOCKET;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char *to = address.sun_path + 1;
	for (const char *from = prefix; *from;)
		*to++ = *from++;
	for (int i = 0; i < DIGITS; i++)
		*to++ = setting.name[i];
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	tp_system(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	tp_system(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (tp_system(SYS_connect, fd, &address, to - (char *)&address))
		return false;
	struct teeperf_fork_request request = *wanted;
	request.magic = TEEPERF_FORK_MAGIC;
	request.token = setting.token;
	return tp_system(SYS_sendto, fd, &request, sizeof(request), MSG_NOSIGNAL, NULL, 0) ==
	       sizeof(request);
}

static bool receive_reply(int fd, int fds[FDS])
{
	struct teeperf_fork_reply reply;
	struct iovec part = {&reply, sizeof(reply)};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int) * FDS)];
	} control;
	struct msghdr message = {.msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control)};
	if (tp_system(SYS_recvmsg, fd, &message, MSG_CMSG_CLOEXEC) != sizeof(reply) ||
	    reply.magic != TEEPERF_FORK_MAGIC || message.msg_controllen < sizeof(control.head) ||
	    control.head.cmsg_type != SCM_RIGHTS || control.head.cmsg_level != SOL_SOCKET)
		return false;
	const int *given = (const int *)(const void *)CMSG_DATA(&control.head);
	for (int i = 0; i < FDS && control.head.cmsg_len >= CMSG_LEN(sizeof(int) * (size_t)(i + 1));
	     i++)
		fds[i] = given[i];
	return fds[COUNTER] >= 0;
}

// Ask the host for a log. Close fds in any case. It waits for the host, but not for ever.
static bool ask(const struct teeperf_fork_request *wanted, int fds[FDS])
{
	fds[OWN] = fds[COUNTER] = -1;
	if (!setting.given)
		return false;
	const int fd = (int)tp_system(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	const bool done = send_request(fd, wanted) && receive_reply(fd, fds);
	tp_system(SYS_close, fd);
	return done;
}

// The counter word of the program's first log, in a page of its own.
static void *counter_page;

// Writable: the runtime moves a soft clock that stands still when one module takes another's place.
static bool map_counter(int fd, const uint64_t **counter)
{
	struct teeperf_log_header *header =
	    tp_system_map(NULL, sizeof(*header), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		return false;
	counter_page = header;
	*counter = &header->counter;
	return true;
}

bool tp_port_own_log(void **base, uint64_t *size, const uint64_t **counter)
{
	static const struct teeperf_fork_request nothing;
	const int error = errno;
	int fds[FDS];
	const uint64_t mask = tp_port_block_signals(UINT64_MAX);
	bool done = ask(&nothing, fds) && tp_port_map_file(fds[OWN], 0, base, size);
	if (done && !map_counter(fds[COUNTER], counter)) {
		tp_port_unmap_log(*base, *size);
		done = false;
	}
	close_all(fds);
	tp_port_block_signals(mask);
	errno = error;
	return done;
}

bool tp_port_fork_log(const struct tp_port_fork *fork, const uint64_t **counter)
{
	const struct teeperf_fork_request wanted = {
	    .parent = fork->parent, .chunk = fork->chunk, .padding = fork->padding};
	int fds[FDS];
	struct stat status;
	bool done = ask(&wanted, fds) && tp_system_stat(fds[OWN], &status) == 0 &&
		    (uint64_t)status.st_size == fork->size && map_counter(fds[COUNTER], counter);
	char *map = done ? tp_port_map_whole(fds[OWN], fork->size) : MAP_FAILED;
	close_all(fds);
	if (map == MAP_FAILED)
		return false;
	uint64_t *to = (uint64_t *)(void *)(map + ((char *)fork->same - (char *)fork->log));
	for (uint64_t i = 0; i < fork->same_size / 8; i++)
		tp_store_relaxed(&to[i], tp_load_relaxed((const uint64_t *)fork->same + i));
	return tp_system(SYS_mremap, map, fork->size, fork->size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   fork->log) == (long)(intptr_t)fork->log;
}

void tp_port_hide_log(void *log, uint64_t size)
{
	(void)tp_system_map(log, size, PROT_READ | PROT_WRITE, HIDDEN, -1, 0);
}

void tp_port_unmap_log(void *log, uint64_t size)
{
	tp_system_unmap(log, size);
}

void tp_port_hide_counter(void)
{
	if (counter_page)
		(void)tp_system_map(counter_page, sizeof(struct teeperf_log_header),
		    PROT_READ | PROT_WRITE, HIDDEN, -1, 0);
}

// Call circle with runtime/fork.c and posix.c: the system says here that it has forked, and what a
// child maps anew is what a process maps first.
void tp_port_forked(void)
{
	const int error = errno;
	const uint64_t mask = tp_port_block_signals(UINT64_MAX);
	tp_fork_child();
	tp_port_block_signals(mask);
	errno = error;
}
