// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a hostile program may send to the socket from which a followed process gets its log, and
// what it may then do to that log: whoever has the token gets a log and no one else, the server
// goes on, and each recording can be ended.
// Runs: 1 of 40.
//
// An input is a sequence of (kind, length, that many bytes): what one process does.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "recorder/control/control.h"
#include "recorder/follow/process.h"

enum { CLIENTS_MAX = 4, LOG_CHUNKS = 8, PATCH = 6, FDS = 2 };
// "tokenful"
static const uint64_t token = UINT64_C(0x6c75666e656b6f74);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tp_region first;
static struct tp_follow follow;

static void start(void)
{
	struct tp_err err;
	const struct tp_region_options options = {
	    .chunk_count = LOG_CHUNKS, .mode = TEEPERF_MODE_STREAM, .clock = TEEPERF_CLOCK_TSC};
	if (tp_region_create(&first, &options, &err))
		abort();
	tp_region_unlink(&first);
	follow.options = (struct tp_follow_options){.output = "fuzz.trace",
	    .first = &first,
	    .common = {.clock = TEEPERF_CLOCK_TSC,
		.facts = {.clock = "tsc", .mode = "stream", .drain = "now"}}};
	pthread_mutex_init(&follow.lock, NULL);
	if (tp_doorbell_init(&follow.watcher.bell, &err) || tp_follow_server_start(&follow, &err))
		abort();
	follow.token = token;
}

static int connect_to_server(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
	    TEEPERF_FORK_SOCKET "%.16s", follow.setting);
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)))
		abort();
	return fd;
}

// Words of the log become what the program likes: (part, index, value) each.
static void scribble(int log, uint64_t log_size, const uint8_t *patches, size_t size)
{
	uint64_t *words = mmap(NULL, log_size, PROT_READ | PROT_WRITE, MAP_SHARED, log, 0);
	if (words == MAP_FAILED)
		abort();
	const struct teeperf_log_header *header = first.header;
	const uint64_t parts[] = {0, header->supply_offset, header->state_offset,
	    header->modules_offset, header->threads_offset, header->chunks_offset,
	    header->chunks_offset + TP_REGION_CHUNK_SIZE};
	for (; size >= PATCH; patches += PATCH, size -= PATCH) {
		const uint64_t at =
		    parts[patches[0] % 7] / 8 + (uint64_t)(patches[1] | patches[2] << 8);
		const uint64_t value =
		    (uint64_t)patches[3] | (uint64_t)patches[4] << 32 | (uint64_t)patches[5] << 56;
		if (at < log_size / 8)
			__atomic_store_n(&words[at], value, __ATOMIC_RELAXED);
	}
	munmap(words, log_size);
}

// The reply, if there is one: true, and the log has been written to.
static bool take_reply(int fd, const uint8_t *patches, size_t size)
{
	struct teeperf_fork_reply reply;
	struct iovec part = {&reply, sizeof(reply)};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(FDS * sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control)};
	ssize_t got;
	do { // the fuzzer has a timer
		got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	int fds[FDS];
	if (control.head.cmsg_len != CMSG_LEN(sizeof(fds)) || reply.magic != TEEPERF_FORK_MAGIC ||
	    reply.size != first.map_size)
		abort();
	memcpy(fds, CMSG_DATA(&control.head), sizeof(fds));
	scribble(fds[0], reply.size, patches, size);
	close(fds[0]);
	close(fds[1]);
	return true;
}

static void play_process(uint8_t kind, const uint8_t *bytes, size_t size)
{
	struct teeperf_fork_request request = {.magic = TEEPERF_FORK_MAGIC, .token = token};
	const size_t given = sizeof(request) - offsetof(struct teeperf_fork_request, parent);
	const int fd = connect_to_server();
	bool right = false;
	size_t used = size;
	if (kind % 4 == 0) {
		send(fd, bytes, size, MSG_NOSIGNAL);
		right = size == sizeof(request) && !memcmp(bytes, &request, 16);
	} else {
		used = size < given ? size : given;
		memcpy((uint8_t *)&request + 16, bytes, used);
		right = kind % 4 != 3;
		send(fd, &request, sizeof(request) - !right, MSG_NOSIGNAL);
	}
	// One in four does not wait.
	const bool waits = (kind & 0x30) != 0x30;
	if (waits && (size || kind % 4) && take_reply(fd, bytes + used, size - used) != right)
		abort();
	close(fd);
}

// End the recordings of all that asked; how many those were.
static unsigned finish_all(void)
{
	// Who comes last is served last.
	const int fd = connect_to_server();
	char byte = 0;
	send(fd, &byte, 1, MSG_NOSIGNAL);
	tp_control_receive(fd, &byte, 1);
	close(fd);
	unsigned count = 0;
	for (struct tp_followed *process; (process = follow.list); count++) {
		pthread_mutex_lock(&follow.lock);
		follow.list = process->next;
		follow.live--;
		pthread_mutex_unlock(&follow.lock);
		if (process->pid != getpid() || process->padding >= TP_REGION_CHUNK_SIZE / 8 ||
		    process->log.region.owned > LOG_CHUNKS || process->parent < 0)
			abort();
		struct tp_follow_result result;
		tp_followed_finish(process, true, &result);
		if (result.path)
			unlink(result.path);
		free(result.path);
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!first.map)
		start();
	for (int i = 0; i < CLIENTS_MAX && size >= 2; i++) {
		const size_t length = data[1] < size - 2 ? data[1] : size - 2;
		play_process(data[0], data + 2, length);
		data += 2 + length;
		size -= 2 + length;
	}
	finish_all();
	if (follow.live || follow.failures)
		abort();
	return 0;
}
