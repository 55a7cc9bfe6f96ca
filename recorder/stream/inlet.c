// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a stream comes from: a file that grows, a pipe, or a connection that we wait for.
#define _GNU_SOURCE
#include "inlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "recorder/clock/host_clock.h"

enum { GROWS_NAP_MS = 20 };

static int open_file(struct tp_inlet *inlet, struct tp_err *err)
{
	if (!strcmp(inlet->name, "-"))
		inlet->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		// A FIFO is opened at once, though nobody writes it yet.
		inlet->fd = open(inlet->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat info;
	if (inlet->fd < 0 || fstat(inlet->fd, &info))
		return tp_err_system(err, errno, inlet->name, "cannot open the stream");
	if (S_ISDIR(info.st_mode))
		return tp_err_system(err, EISDIR, inlet->name, "cannot open the stream");
	inlet->grows = S_ISREG(info.st_mode);
	return 0;
}

// A socket where nobody listens any more is in the way: its recorder was killed.
static void sweep(const struct sockaddr_un *address)
{
	struct stat info;
	if (lstat(address->sun_path, &info) || !S_ISSOCK(info.st_mode))
		return;
	// Without waiting: one whose queue is full is in use.
	const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof(*address)) &&
	    errno == ECONNREFUSED)
		unlink(address->sun_path);
	if (probe >= 0)
		close(probe);
}

static int listen_unix(struct tp_inlet *inlet, const char *path, struct tp_err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "'%s': the path of a socket must have 1 to %d bytes", inlet->name,
		    (int)sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	sweep(&address);
	inlet->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (inlet->listener < 0 ||
	    bind(inlet->listener, (const struct sockaddr *)&address, sizeof(address)))
		return tp_err_system(err, errno, inlet->name, "cannot make the socket");
	inlet->path = strdup(path);
	if (chmod(path, 0600) || listen(inlet->listener, 1))
		return tp_err_system(err, errno, inlet->name, "cannot listen");
	return 0;
}

// A whole decimal number of 32 bits; -1 if it is none.
static int64_t number(const char *text, char end, const char **rest)
{
	char *stop;
	errno = 0;
	const unsigned long long value = strtoull(text, &stop, 10);
	if (*text < '0' || *text > '9' || *stop != end || errno || value > UINT32_MAX)
		return -1;
	*rest = stop + 1;
	return (int64_t)value;
}

static int listen_vsock(struct tp_inlet *inlet, const char *text, struct tp_err *err)
{
	const char *port_text = text + 1;
	const char *rest;
	const int64_t cid = *text == ':' ? VMADDR_CID_ANY : number(text, ':', &port_text);
	const int64_t port = cid >= 0 ? number(port_text, '\0', &rest) : -1;
	if (port < 0)
		return tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "'%s' is not of the form 'vsock::PORT' or 'vsock:CID:PORT'", inlet->name);
	inlet->cid = (uint32_t)cid;
	const struct sockaddr_vm address = {
	    .svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY, .svm_port = (uint32_t)port};
	inlet->listener = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (inlet->listener < 0)
		return tp_err_system(err, errno, inlet->name,
		    "this machine has no vsock sockets (load the kernel module vhost_vsock, or "
		    "send the stream through a file or 'unix:PATH')");
	if (bind(inlet->listener, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(inlet->listener, 1))
		return tp_err_system(err, errno, inlet->name, "cannot listen");
	return 0;
}

int tp_inlet_open(struct tp_inlet *inlet, const char *name, uint64_t timeout_ms, struct tp_err *err)
{
	*inlet = (struct tp_inlet){.name = name,
	    .fd = -1,
	    .listener = -1,
	    .bell.fd = -1,
	    .cid = VMADDR_CID_ANY,
	    .opened_ns = tp_clock_monotonic_ns(),
	    .timeout_ms = timeout_ms};
	int r = tp_doorbell_init(&inlet->bell, err);
	if (!r && !strncmp(name, "unix:", 5))
		r = listen_unix(inlet, name + 5, err);
	else if (!r && !strncmp(name, "vsock:", 6))
		r = listen_vsock(inlet, name + 6, err);
	else if (!r)
		r = open_file(inlet, err);
	if (r)
		tp_inlet_release(inlet);
	return r;
}

void tp_inlet_release(struct tp_inlet *inlet)
{
	tp_inlet_close_listener(inlet);
	int *const fds[] = {&inlet->fd, &inlet->bell.fd};
	for (int i = 0; i < 2; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

void tp_inlet_finish(struct tp_inlet *inlet)
{
	tp_store_release(&inlet->finish, 1);
	tp_doorbell_ring(&inlet->bell);
}

void tp_inlet_stop(struct tp_inlet *inlet)
{
	tp_store_release(&inlet->stop, 1);
	tp_doorbell_ring(&inlet->bell);
}

// Wait until `fd` has something, or for a nap if it is -1. False: it is time to end.
static bool wait_for(struct tp_inlet *inlet, int fd, uint64_t since_ns)
{
	if (tp_load_acquire(&inlet->stop) || tp_load_acquire(&inlet->finish))
		return false;
	const uint64_t waited_ms = (tp_clock_monotonic_ns() - since_ns) / 1000000;
	if (waited_ms >= inlet->timeout_ms)
		return false;
	const uint64_t left_ms = inlet->timeout_ms - waited_ms;
	const int most_ms = fd < 0 ? GROWS_NAP_MS : 1000;
	struct pollfd events[] = {
	    {.fd = inlet->bell.fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	poll(events, 2, left_ms < (uint64_t)most_ms ? (int)left_ms : most_ms);
	return true;
}

// 1: there is a connection; 0: it is time to end.
static int64_t take_connection(struct tp_inlet *inlet, uint64_t since_ns, struct tp_err *err)
{
	while (inlet->fd < 0) {
		struct sockaddr_vm peer = {0};
		socklen_t size = sizeof(peer);
		inlet->fd = accept4(
		    inlet->listener, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (inlet->fd >= 0 && inlet->cid != VMADDR_CID_ANY && peer.svm_cid != inlet->cid) {
			close(inlet->fd);
			inlet->fd = -1;
			continue;
		}
		if (inlet->fd >= 0)
			break;
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			return tp_err_system(err, errno, inlet->name, "cannot accept a connection");
		if (!wait_for(inlet, inlet->listener, since_ns))
			return 0;
	}
	return 1;
}

// Whether a read would not wait. A FIFO that nobody has opened for writing yet has ended for
// read(), not for poll().
static bool is_ready(const struct tp_inlet *inlet)
{
	struct pollfd state = {.fd = inlet->fd, .events = POLLIN};
	return inlet->grows || poll(&state, 1, 0) > 0;
}

int64_t tp_inlet_read(void *context, void *to, uint64_t size, struct tp_err *err)
{
	struct tp_inlet *inlet = context;
	// Who listens waits for a program, whatever else may connect meanwhile.
	const uint64_t since_ns = inlet->listener >= 0 ? inlet->opened_ns : tp_clock_monotonic_ns();
	const int64_t taken = take_connection(inlet, since_ns, err);
	if (taken <= 0)
		return taken;
	while (!tp_load_acquire(&inlet->stop)) {
		// Standard input may be one where read() waits, and hears no bell.
		const bool ready = is_ready(inlet);
		const ssize_t got = ready ? read(inlet->fd, to, size) : -1;
		if (got > 0)
			return got;
		if (ready && got < 0 && errno != EAGAIN && errno != EINTR) {
			inlet->over = true;
			return tp_err_system(err, errno, inlet->name, "cannot read the stream");
		}
		if (!got && !inlet->grows) {
			inlet->over = true;
			return 0;
		}
		if (!wait_for(inlet, inlet->grows ? -1 : inlet->fd, since_ns))
			break;
	}
	return 0;
}

bool tp_inlet_again(struct tp_inlet *inlet)
{
	if (inlet->listener < 0 || inlet->fd < 0 || tp_load_acquire(&inlet->stop))
		return false;
	close(inlet->fd);
	inlet->fd = -1;
	inlet->over = false;
	return true;
}

void tp_inlet_close_listener(struct tp_inlet *inlet)
{
	if (inlet->path)
		unlink(inlet->path);
	free(inlet->path);
	inlet->path = NULL;
	if (inlet->listener >= 0)
		close(inlet->listener);
	inlet->listener = -1;
}

uint64_t tp_inlet_rest(const struct tp_inlet *inlet)
{
	struct stat info;
	const off_t at = inlet->grows ? lseek(inlet->fd, 0, SEEK_CUR) : -1;
	return at >= 0 && !fstat(inlet->fd, &info) && info.st_size > at
		   ? (uint64_t)(info.st_size - at)
		   : 0;
}
