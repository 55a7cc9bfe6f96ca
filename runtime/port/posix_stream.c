// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where frames go that are sent with system calls: a file, an inherited descriptor, a Unix socket
// or vsock.
#define _GNU_SOURCE
#include "posix.h"
#include "runtime/port.h"

#include <teeperf/stream.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
// Behind sys/socket.h, which it needs.
#include <linux/vm_sockets.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

#include "posix_system.h"

static int stream = -1;
static uint64_t opener; // the process whose stream it is

// What a descriptor is. Of one that cannot be asked: nothing, which it is then each time.
struct identity {
	dev_t device;
	ino_t number;
};
static struct identity identity;

static struct identity identify(int fd)
{
	struct stat status;
	struct identity result = {0};
	if (!tp_system_stat(fd, &status)) {
		result.device = status.st_dev;
		result.number = status.st_ino;
	}
	return result;
}

static bool is_same(struct identity a, struct identity b)
{
	return a.device == b.device && a.number == b.number;
}

static int connect_to(int family, const struct sockaddr *address, socklen_t size)
{
	const int fd = (int)tp_system(SYS_socket, family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && tp_system(SYS_connect, fd, address, size)) {
		tp_system_close(fd);
		return -1;
	}
	return fd;
}

static int open_vsock(const char *text)
{
	const uint64_t cid = tp_port_number(&text, ':');
	const uint64_t port = cid == UINT64_MAX ? cid : tp_port_number(&text, '\0');
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

// Whether the file at `path`, which is open as `fd`, is a stream of before.
static bool is_stream(const char *path, int fd)
{
	uint32_t magic = 0;
	const int reading = tp_system_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const bool result =
	    reading >= 0 && is_same(identify(reading), identify(fd)) &&
	    tp_system(SYS_pread64, reading, &magic, sizeof(magic), 0) == sizeof(magic) &&
	    magic == TEEPERF_FRAME_MAGIC;
	if (reading >= 0)
		tp_system_close(reading);
	return result;
}

// Whether somebody is at the other end of a device, such as the host at that of a virtual machine's
// port.
static bool has_reader(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLOUT};
	const struct timespec now = {0};
	return tp_system(SYS_ppoll, &one, 1, &now, NULL, 0) < 0 || !(one.revents & POLLHUP);
}

// A file is begun anew: one that is something else is not touched, nor one into which another
// process sends.
static bool take_file(const char *path, int fd)
{
	struct stat status;
	if (tp_system_stat(fd, &status))
		return true;
	if (S_ISCHR(status.st_mode))
		return has_reader(fd);
	tp_system(SYS_fcntl, fd, F_SETFL, O_APPEND);
	if (!S_ISREG(status.st_mode))
		return true;
	if (tp_system(SYS_flock, fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return false;
	return status.st_size == 0 || (is_stream(path, fd) && tp_system(SYS_ftruncate, fd, 0) == 0);
}

static int open_path(const char *path)
{
	// A pipe without a reader must not stop the program here; later it takes the data. So does
	// a device, but only as long as somebody reads: a write that waits for the next reader
	// would not learn that nobody reads.
	const int fd = tp_system_open(
	    path, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC | O_APPEND | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	if (take_file(path, fd))
		return fd;
	tp_system_close(fd);
	return -1;
}

// Above the numbers that programs use, close and use again, as far as is allowed.
static int move_high(int fd)
{
	enum { HIGH = 512, LOW = 16 };
	int high = -1;
	for (int least = HIGH; high < 0 && least >= LOW; least /= 2)
		high = (int)tp_system(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least);
	return high;
}

static int open_stream(const char *text)
{
	const char *rest;
	if ((rest = tp_port_behind(text, "fd:"))) {
		// The program's, which stays; it may close it.
		const uint64_t number = tp_port_number(&rest, '\0');
		const int high = number <= INT_MAX ? move_high((int)number) : -1;
		return high < 0 && number <= INT_MAX ? (int)number : high;
	}
	int fd;
	if ((rest = tp_port_behind(text, "vsock:")))
		fd = open_vsock(rest);
	else if ((rest = tp_port_behind(text, "unix:")))
		fd = open_unix(rest);
	else
		fd = open_path(text);
	const int high = fd < 0 ? -1 : move_high(fd);
	if (high < 0)
		return fd;
	tp_system_close(fd);
	return high;
}

bool tp_port_map_stream(void **base, uint64_t *size)
{
	const char *text = tp_port_environment(TEEPERF_STREAM_ENV);
	const int error = errno;
	if (text && *text)
		stream = open_stream(text);
	errno = error;
	if (stream < 0)
		return false;
	identity = identify(stream);
	opener = tp_system_process();
	const bool timeless = tp_process.first_compiled == TEEPERF_COMPILED_SOFT;
	tp_private_log_make(timeless ? TEEPERF_CLOCK_NONE : TP_HARDWARE_CLOCK, 0, base, size);
	return true;
}

/*
 * All that follows are plain system calls: in the C library most of them are places where a thread
 * that is cancelled ends. Signals are blocked by tp_port_flush_begin.
 */
static bool wait_until_writable(void)
{
	struct pollfd one = {.fd = stream, .events = POLLOUT};
	if (tp_system(SYS_ppoll, &one, 1, NULL, NULL, 0) < 0)
		return errno == EINTR;
	if (!(one.revents & (POLLHUP | POLLERR | POLLNVAL)) || (one.revents & POLLOUT))
		return true;
	errno = EPIPE;
	return false;
}

// All of a frame, however little is taken at a time. *begun: some of it was. False leaves why in
// errno.
static bool write_all(struct iovec *parts, unsigned count, bool *begun)
{
	while (count) {
		const long done = tp_system(SYS_writev, stream, parts, count);
		if (done < 0 && (errno == EINTR || (errno == EAGAIN && wait_until_writable())))
			continue;
		if (done <= 0)
			return false;
		*begun = true;
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

static uint64_t bit_of(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

/*
 * After a failure in the middle of a frame the receiver could make nothing of what followed: that
 * is the end of the stream. So it is when the receiver has gone, or the descriptor is another
 * file's; it stays open, as it may be the program's. What does not fit now is lost alone.
 */
bool tp_port_flush(const void *head, uint64_t head_size, const void *body, uint64_t body_size)
{
	// Not in a forked child.
	if (stream < 0 || tp_system_process() != opener)
		return false;
	const int error = errno;
	struct iovec parts[] = {
	    {(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)body, body_size}};
	uint64_t pending = 0;
	tp_system(SYS_rt_sigpending, &pending, sizeof(pending));
	bool begun = false;
	errno = 0;
	const bool same = is_same(identify(stream), identity);
	const bool done = same && write_all(parts, 2, &begun);
	if (same && !done) {
		// A receiver that has gone, or a limit, is no reason to end: the signal is taken
		// back.
		const uint64_t raised = (errno == EPIPE      ? bit_of(SIGPIPE)
					    : errno == EFBIG ? bit_of(SIGXFSZ)
							     : 0) &
					~pending;
		begun |= errno == EPIPE || errno == EBADF;
		const struct timespec now = {0};
		if (raised)
			tp_system(SYS_rt_sigtimedwait, &raised, NULL, &now, sizeof(raised));
	}
	if (!same || (!done && begun))
		stream = -1;
	errno = error;
	return done;
}

uint64_t tp_port_flush_begin(void)
{
	return tp_port_block_signals(UINT64_MAX);
}

void tp_port_flush_end(uint64_t mask)
{
	tp_port_block_signals(mask);
}

bool tp_port_flush_nap(void)
{
	if (stream < 0 || tp_system_process() != opener)
		return false;
	const int error = errno;
	const struct timespec time = {.tv_nsec = 10000000};
	tp_system(SYS_nanosleep, &time, NULL);
	errno = error;
	return true;
}

uint64_t tp_port_flush_time_ns(void)
{
	struct timespec now;
	return tp_system(SYS_clock_gettime, CLOCK_MONOTONIC, &now)
		   ? 0
		   : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
