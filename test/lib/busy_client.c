// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Many clients of busy_server.c. Arguments: the path of its socket, and how many. Each sends a byte
 * and waits for the answer, again and again, until the end of standard input. Prints "begun" when
 * each has had an answer, and "answers COUNT".
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { EVENTS = 64, CLIENTS = 4096 };

static unsigned char next[CLIENTS];

static void check(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	_exit(1);
}

static int is_over(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	return poll(&input, 1, 0) != 0;
}

static void answer(int fd, unsigned char *sent)
{
	unsigned char byte;
	check(read(fd, &byte, 1) == 1, "read");
	check(byte == (unsigned char)(*sent + 1), "a wrong answer");
	(*sent)++;
}

int main(int count, char **arguments)
{
	struct epoll_event ready[EVENTS];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	static int fds[CLIENTS];
	const int clients = count == 3 ? atoi(arguments[2]) : 0;
	const int events = epoll_create1(0);
	unsigned long answers = 0;
	int waiting = clients;
	check(clients > 0 && clients <= CLIENTS, "arguments");
	strncpy(address.sun_path, arguments[1], sizeof(address.sun_path) - 1);
	for (int i = 0; i < clients; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.u32 = (unsigned)i};
		fds[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		check(!connect(fds[i], (struct sockaddr *)&address, sizeof(address)), "connect");
		check(!epoll_ctl(events, EPOLL_CTL_ADD, fds[i], &event), "epoll_ctl");
		check(write(fds[i], &next[i], 1) == 1, "write");
	}
	for (int over = 0; waiting;) {
		const int found = epoll_wait(events, ready, EVENTS, -1);
		check(found > 0, "epoll_wait");
		over = over || is_over();
		for (int i = 0; i < found; i++) {
			const unsigned who = ready[i].data.u32;
			answer(fds[who], &next[who]);
			if (++answers == (unsigned long)clients) {
				puts("begun");
				fflush(stdout);
			}
			waiting -= over;
			if (!over)
				check(write(fds[who], &next[who], 1) == 1, "write");
		}
	}
	printf("answers %lu\n", answers);
	return 0;
}
