// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program of a session is a process that runs already: have it take the log, obey, and leave
// it.
#define _GNU_SOURCE
#include "session_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/clock/host_clock.h"
#include "recorder/region/proc.h"

// The process's /dev/shm, as it finds it: its links lead nowhere outside of its root. -1: errno
// says why there is none.
static int open_folder(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	const int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	const struct open_how how = {
	    .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	int folder = (int)syscall(SYS_openat2, root, TP_REGION_FOLDER, &how, sizeof(how));
	// Before Linux 5.6, and where a filter knows no such call. Whatever is there, the file is
	// made with the rights of the process.
	if (folder < 0 && (errno == ENOSYS || errno == EPERM))
		folder = openat(
		    root, &TP_REGION_FOLDER[1], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const int error = errno;
	close(root);
	errno = error;
	return folder;
}

// Its own /dev/shm, if it has another one: in a container, or behind chroot. The log is made there,
// as it finds it.
static int find_place(struct tp_session *session, pid_t pid, struct tp_err *err)
{
	static struct tp_place place;
	char folder[64];
	char name[TP_REGION_NAME_SIZE];
	struct stat ours;
	struct stat its;
	uint64_t id;
	struct tp_place_folder *its_folder = &session->late_folder;
	snprintf(folder, sizeof(folder), "/proc/%d/root" TP_REGION_FOLDER, (int)pid);
	*its_folder = (struct tp_place_folder){.fd = open_folder(pid)};
	if (its_folder->fd < 0 || fstat(its_folder->fd, &its))
		return tp_err_system(err, errno, folder,
		    "process %d has no folder for the log; it needs a tmpfs at " TP_REGION_FOLDER,
		    (int)pid);
	if (!stat(TP_REGION_FOLDER, &ours) && ours.st_dev == its.st_dev &&
	    ours.st_ino == its.st_ino)
		return 0;
	if (!tp_proc_scan(pid, "status", "Uid: %*u %*u %*u %u", &its_folder->user) ||
	    !tp_proc_scan(pid, "status", "Gid: %*u %*u %*u %u", &its_folder->group))
		return tp_err_system(err, ESRCH, NULL, "cannot see who owns process %d", (int)pid);
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return tp_err_system(err, errno, NULL, "cannot get random bytes");
	tp_region_name(name, (uint32_t)getpid(), id);
	if (asprintf(&session->late_place, "%s/%s", folder, name) < 0) {
		session->late_place = NULL;
		return tp_err_memory(err, NULL);
	}
	place = (struct tp_place){.path = session->late_place, .folder = its_folder};
	session->options.place = &place;
	return 0;
}

int tp_session_late_find(struct tp_session *session, struct tp_err *err)
{
	const pid_t pid = session->options.watch;
	session->late_folder.fd = -1;
	if (!session->options.late)
		return 0;
	const int r = tp_pid_find(&session->late, pid, session->options.late_forced, err);
	return r ? r : find_place(session, pid, err);
}

void tp_session_late_forget(struct tp_session *session)
{
	free(session->late_place);
	session->late_place = NULL;
	if (session->late_folder.fd >= 0)
		close(session->late_folder.fd);
	session->late_folder.fd = -1;
	for (int i = 0; i < 2; i++) {
		free(session->late_threads[i]);
		session->late_threads[i] = NULL;
	}
}

// The log's path, as the process sees it.
static const char *path_of(const struct tp_session *session)
{
	return session->late_place ? strstr(session->late_place, TP_REGION_FOLDER)
				   : session->region.path;
}

// The file is for its owner alone.
static int hand_over(const struct tp_session *session, struct tp_err *err)
{
	unsigned user = geteuid();
	tp_proc_scan(session->late.pid, "status", "Uid: %*u %*u %*u %u", &user);
	if (user != geteuid() && fchown(session->region.fd, user, (gid_t)-1))
		return tp_err_system(err, errno, path_of(session),
		    "cannot give the log to user %u, who owns process %d", user,
		    (int)session->late.pid);
	return 0;
}

// A recorder that was killed has left the process with its log, which is nobody's now.
static int take(struct tp_session *session, struct tp_err *err)
{
	struct tp_pid *target = &session->late;
	target->told = &session->region.header->attach;
	const int r = tp_pid_call(target, TEEPERF_LATE_ATTACH, path_of(session), err);
	if (!r || target->result != TEEPERF_LATE_TAKEN || tp_pid_is_recorded(target->pid))
		return r;
	const int left = tp_pid_call(target, TEEPERF_LATE_LEAVE, NULL, err);
	return left ? left : tp_pid_call(target, TEEPERF_LATE_ATTACH, path_of(session), err);
}

// A trace that says nothing would look like a program that did nothing.
static int switch_on(struct tp_session *session, struct tp_err *err)
{
	struct tp_err why;
	if (tp_session_command(session, true) ||
	    !tp_pid_call(&session->late, TEEPERF_LATE_LOOK, NULL, &why) ||
	    why.code == TP_ERR_NOT_FOUND)
		return 0;
	tp_pid_call(&session->late, TEEPERF_LATE_LEAVE, NULL, NULL);
	session->late_left = true;
	*err = why;
	return why.code;
}

int tp_session_late_start(struct tp_session *session, struct tp_err *err)
{
	int r = hand_over(session, err);
	// It begins switched off, so that the trace says since when it has been on.
	session->control_word = 0;
	tp_store_release(&session->region.header->control, 0);
	// What the trace says of it if we are killed.
	session->late_threads[0] = tp_pid_threads(session->late.pid);
	if (!r)
		r = take(session, err);
	if (!r && !session->options.late_off)
		r = switch_on(session, err);
	// As a runtime counts itself that finds the log taken when the program begins.
	if (!r)
		tp_fetch_add_relaxed(&session->region.header->refused, session->late.others);
	if (!r)
		tp_cpu_times_join(&session->drain.cpu, session->late.pid);
	// Behind the call: of a thread that came between nobody knows what it was in.
	if (!r)
		session->late_threads[1] = tp_pid_threads(session->late.pid);
	session->late_ns = tp_clock_monotonic_ns();
	return r;
}

// Nobody is left to receive it: the process has ended, runs another program, or has left the log.
static bool is_over(const struct tp_session *session)
{
	const enum tp_guest_state state = session->guest_state;
	return session->late_left || state == TP_GUEST_ENDED || state == TP_GUEST_GONE ||
	       state == TP_GUEST_LEFT;
}

bool tp_session_late_tell(const struct tp_session *session)
{
	struct tp_pid target = session->late;
	return !is_over(session) && !tp_pid_call(&target, TEEPERF_LATE_LOOK, NULL, NULL);
}

void tp_session_late_stop(struct tp_session *session)
{
	if (!session->options.late || is_over(session))
		return;
	tp_session_command(session, false);
	tp_cpu_times_look_all(&session->drain.cpu);
	struct tp_err err;
	if (tp_pid_call(&session->late, TEEPERF_LATE_LEAVE, NULL, &err) &&
	    err.code != TP_ERR_NOT_FOUND)
		session->late_err = err;
	session->late_left = true;
}
