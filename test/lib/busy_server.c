// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A server of one thread that is recorded while it has work: it answers each byte that comes on a
 * connection. Arguments: the path of its socket. It prints "served CALLS" when a recording is over,
 * with how many calls of work() began and ended while that was on, and "over CALLS" at the end,
 * which is when the last client has gone. No system call of its may fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <teeperf/teeperf.h>
#include <unistd.h>

enum { EVENTS = 64 };

static int events;
static int clients;
static unsigned long calls;
static unsigned long recorded; // calls, in the present recording
static int was_on;

static void check(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	_exit(1);
}

__attribute__((noinline)) static unsigned char leaf(unsigned char byte)
{
	__asm__ volatile("");
	return (unsigned char)(byte + 1);
}

__attribute__((noinline)) unsigned char work(unsigned char byte)
{
	const unsigned char result = leaf(byte);
	__asm__ volatile("");
	return result;
}

// The recorder switches in this thread: functions that are on before and behind a call are on
// during the whole call.
static unsigned char count_work(unsigned char byte)
{
	const int before = teeperf_is_on();
	const unsigned char result = work(byte);
	const int behind = teeperf_is_on();
	calls++;
	recorded += before && behind;
	if (was_on && !behind) {
		printf("served %lu\n", recorded);
		fflush(stdout);
		recorded = 0;
	}
	was_on = behind;
	return result;
}

static void add(int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	check(fd >= 0 && !epoll_ctl(events, EPOLL_CTL_ADD, fd, &event), "a connection");
}

static void serve(int fd)
{
	unsigned char bytes[64];
	const ssize_t size = read(fd, bytes, sizeof(bytes));
	check(size >= 0, "read");
	for (ssize_t i = 0; i < size; i++)
		bytes[i] = count_work(bytes[i]);
	if (size)
		check(write(fd, bytes, (size_t)size) == size, "write");
	else {
		close(fd);
		clients--;
	}
}

int main(int count, char **arguments)
{
	struct epoll_event ready[EVENTS];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int server = socket(AF_UNIX, SOCK_STREAM, 0);
	events = epoll_create1(0);
	strncpy(address.sun_path, arguments[count - 1], sizeof(address.sun_path) - 1);
	check(!bind(server, (struct sockaddr *)&address, sizeof(address)) && !listen(server, 4096),
	    "socket");
	add(server);
	puts("ready");
	fflush(stdout);
	do {
		const int found = epoll_wait(events, ready, EVENTS, -1);
		check(found > 0, "epoll_wait");
		for (int i = 0; i < found; i++)
			if (ready[i].data.fd == server) {
				add(accept(server, NULL, NULL));
				clients++;
			} else {
				serve(ready[i].data.fd);
			}
	} while (clients);
	printf("over %lu\n", calls);
	return 5;
}
