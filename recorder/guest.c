// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that somebody else has started: how we learn that it is over.
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/clock/host_clock.h"
#include "recorder/region/proc.h"

static const uint64_t LOOK_NS = 1000 * 1000 * 1000; // all of /proc is read

static int open_process(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool has_ended(pid_t pid, int fd)
{
	struct pollfd event = {.fd = fd, .events = POLLIN};
	if (fd >= 0)
		return poll(&event, 1, 0) > 0;
	return kill(pid, 0) && errno == ESRCH;
}

int tp_guest_start(struct tp_guest *guest, const struct tp_region *region, pid_t pid,
    uint64_t timeout_ms, struct tp_err *err)
{
	const uint64_t now = tp_clock_monotonic_ns();
	*guest =
	    (struct tp_guest){.region = region, .watched = pid, .watched_fd = -1, .user_fd = -1};
	guest->deadline_ns =
	    timeout_ms > (UINT64_MAX - now) / 1000000 ? UINT64_MAX : now + timeout_ms * 1000000;
	if (!pid)
		return 0;
	guest->watched_fd = open_process(pid);
	if (guest->watched_fd < 0 && kill(pid, 0) && errno == ESRCH)
		return tp_err_set(
		    err, TP_ERR_NOT_FOUND, NULL, "process %d does not exist", (int)pid);
	return 0;
}

void tp_guest_stop(struct tp_guest *guest)
{
	if (guest->watched_fd >= 0)
		close(guest->watched_fd);
	if (guest->user_fd >= 0)
		close(guest->user_fd);
	guest->watched_fd = guest->user_fd = -1;
}

/*
 * Whether nobody has the log mapped any more. Where the kernel does not say: whether all processes
 * that were seen to have it are gone; those that hide their maps are never seen, and so never gone.
 */
static bool is_left(struct tp_guest *guest)
{
	const int used = tp_file_in_use(guest->region->fd);
	if (used >= 0)
		return !used;
	if (guest->user && !has_ended(guest->user, guest->user_fd))
		return false;
	const uint64_t now = tp_clock_monotonic_ns();
	const bool had_one = guest->user != 0;
	if (!had_one && now < guest->look_ns)
		return false;
	guest->look_ns = now + LOOK_NS;
	struct stat info;
	if (fstat(guest->region->fd, &info))
		return false;
	if (guest->user_fd >= 0)
		close(guest->user_fd);
	guest->user =
	    tp_proc_user(&(struct tp_mapped){.device = info.st_dev, .inode = info.st_ino});
	guest->user_fd = guest->user ? open_process(guest->user) : -1;
	return had_one && !guest->user;
}

enum tp_guest_state tp_guest_look(struct tp_guest *guest)
{
	const struct teeperf_log_header *header = guest->region ? guest->region->header : NULL;
	if (header && tp_load_acquire(&header->ended) & TEEPERF_ENDED)
		return TP_GUEST_ENDED;
	if (guest->watched && has_ended(guest->watched, guest->watched_fd))
		return TP_GUEST_GONE;
	if (!header)
		return TP_GUEST_RUNS;
	if (!tp_load32_acquire(&header->attach))
		return tp_clock_monotonic_ns() >= guest->deadline_ns ? TP_GUEST_MISSING
								     : TP_GUEST_AWAITED;
	return is_left(guest) ? TP_GUEST_LEFT : TP_GUEST_RUNS;
}
