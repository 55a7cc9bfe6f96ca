/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * virtual_ids PROGRAM ARGUMENT...: run it with numbers of its own for its threads, as a library OS
 * gives them: gettid and getpid say 1, 2, ... in the order in which threads ask. Only
 * /proc/thread-self shows the host's numbers. It becomes the program; a child of it answers. 77:
 * the kernel has no notifications of system calls for us.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int send_descriptor(int to, int descriptor)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec data = {&byte, 1};
	struct msghdr message = {
	    .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
	return sendmsg(to, &message, 0) == 1 ? 0 : -1;
}

static int take_descriptor(int from)
{
	char byte, room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec data = {&byte, 1};
	struct msghdr message = {
	    .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	int descriptor = -1;
	if (recvmsg(from, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return descriptor;
}

static void run(int to, char **argv)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 1, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(77);
	const int listener = (int)syscall(
	    SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener < 0 || send_descriptor(to, listener))
		_exit(77);
	close(listener);
	close(to);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

static void answer(int listener)
{
	static unsigned seen[256];
	static unsigned count;
	struct seccomp_notif call;
	struct pollfd waited = {.fd = listener, .events = POLLIN};
	/* Without POLLIN, nobody is left. */
	while (poll(&waited, 1, -1) == 1 && (waited.revents & POLLIN)) {
		memset(&call, 0, sizeof(call));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) {
			if (errno == EINTR || errno == ENOENT)
				continue; /* whoever asked is gone */
			return;
		}
		unsigned i = 0;
		while (i < count && seen[i] != call.pid)
			i++;
		if (i == count && count < sizeof(seen) / sizeof(seen[0]))
			seen[count++] = call.pid;
		struct seccomp_notif_resp result = {
		    .id = call.id, .val = call.data.nr == SYS_getpid ? 1 : i + 1};
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &result);
	}
}

int main(int argc, char **argv)
{
	int ends[2];
	if (argc < 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return 2;
	const pid_t supervisor = fork();
	if (supervisor) {
		close(ends[0]);
		run(ends[1], argv + 1);
	}
	close(ends[1]);
	const int listener = take_descriptor(ends[0]);
	if (listener >= 0)
		answer(listener);
	return 0;
}
