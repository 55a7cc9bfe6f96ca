// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program does that shares no memory with its recorder: keeps a log for itself, and sends
// frames of it (teeperf/stream.h). The log is in a file, the program PROGRAM of ours writes it, and
// its host's part is played here.
//
//   send_stream TO CHUNKS PROGRAM [ARGS...]      TO: a file, FIFO, '-', or unix:PATH to connect to
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <teeperf/stream.h>

enum { CHUNK = 1 << TEEPERF_CHUNK_SHIFT_DEFAULT, MODULES = 16, THREADS = 256 };

static int to = -1;
static char *map;
static struct teeperf_log_header *header;
static uint64_t *supply, *states, served;

static void die(const char *what)
{
	perror(what);
	exit(3);
}

static void put(const void *bytes, uint64_t size)
{
	for (const char *at = bytes; size;) {
		const ssize_t done = write(to, at, size);
		if (done <= 0)
			die("send_stream: write");
		at += done;
		size -= (uint64_t)done;
	}
}

static void send_frame(uint16_t kind, uint64_t offset, const void *payload, uint64_t length)
{
	const struct teeperf_frame frame = {
	    TEEPERF_FRAME_MAGIC, TEEPERF_FRAME_VERSION, kind, offset, length};
	static const char zeroes[8];
	put(&frame, sizeof(frame));
	put(payload, length);
	put(zeroes, -length & 7);
}

static void send_words(uint64_t offset, uint64_t length)
{
	send_frame(TEEPERF_FRAME_WORDS, offset, map + offset, length);
}

static void send_tables(void)
{
	send_words(header->modules_offset, MODULES * sizeof(struct teeperf_module));
	send_words(header->threads_offset, THREADS * sizeof(struct teeperf_thread));
	// The counts behind what they count.
	send_words(0, TEEPERF_LOG_HEADER_SIZE);
}

static void send_point(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
#if defined(__x86_64__)
	const uint64_t ticks = __builtin_ia32_rdtsc();
#else
	const uint64_t ticks = 0;
#endif
	const struct teeperf_frame_point point = {
	    ticks, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec};
	send_frame(TEEPERF_FRAME_CLOCK, 0, &point, sizeof(point));
}

static void hand_out(uint32_t number)
{
	const uint64_t ticket = served++;
	__atomic_store_n(&supply[ticket & (header->chunk_count - 1)],
	    TEEPERF_SUPPLY_SLOT(ticket, number), __ATOMIC_RELEASE);
	__atomic_store_n(&header->head, served, __ATOMIC_RELEASE);
}

static void make_log(const char *path, uint32_t chunks)
{
	const uint64_t tables = TEEPERF_LOG_HEADER_SIZE + 16 * (uint64_t)chunks +
				MODULES * sizeof(struct teeperf_module) +
				THREADS * sizeof(struct teeperf_thread);
	const uint64_t start = (tables + CHUNK - 1) / CHUNK * CHUNK;
	const uint64_t size = start + (uint64_t)chunks * CHUNK;
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		die(path);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap");
	header = (void *)map;
	header->magic = TEEPERF_LOG_MAGIC;
#if defined(__x86_64__)
	const uint32_t clock = TEEPERF_CLOCK_TSC;
#elif defined(__aarch64__)
	const uint32_t clock = TEEPERF_CLOCK_CNTVCT;
#else
	const uint32_t clock = TEEPERF_CLOCK_NONE;
#endif
	teeperf_log_init(header, chunks, clock, TEEPERF_MODE_STREAM);
	header->region_size = size;
	header->supply_offset = TEEPERF_LOG_HEADER_SIZE;
	header->state_offset = header->supply_offset + 8 * (uint64_t)chunks;
	header->modules_offset = header->state_offset + 8 * (uint64_t)chunks;
	header->threads_offset = header->modules_offset + MODULES * sizeof(struct teeperf_module);
	header->chunks_offset = start;
	header->only_offset = start;
	header->module_capacity = MODULES;
	header->thread_capacity = THREADS;
	header->control = TEEPERF_ACTIVE;
	supply = (void *)(map + header->supply_offset);
	states = (void *)(map + header->state_offset);
	for (uint32_t i = 0; i < chunks; i++)
		hand_out(i);
}

// Send the chunks that are complete; at the end, those that threads had begun, too. How many of
// them.
static uint32_t send_chunks(int at_end)
{
	uint32_t sent = 0;
	for (uint32_t i = 0; i < header->chunk_count; i++) {
		const uint64_t state = __atomic_load_n(&states[i], __ATOMIC_ACQUIRE);
		char *bytes = map + header->chunks_offset + (uint64_t)i * CHUNK;
		struct teeperf_chunk *chunk = (void *)bytes;
		if (state == TEEPERF_CHUNK_OWNED && at_end) {
			const uint64_t *words = (void *)bytes;
			uint64_t used = CHUNK;
			while (used > sizeof(*chunk) && !words[used / 8 - 1])
				used -= 8;
			chunk->used = used;
		} else if (state != TEEPERF_CHUNK_DONE) {
			continue;
		}
		send_frame(TEEPERF_FRAME_CHUNK, header->chunks_offset + (uint64_t)i * CHUNK, bytes,
		    chunk->used);
		__atomic_store_n(&states[i], TEEPERF_CHUNK_FREE, __ATOMIC_RELEASE);
		memset(bytes, 0, CHUNK);
		hand_out(i);
		sent++;
	}
	return sent;
}

static int open_target(const char *target)
{
	if (!strcmp(target, "-"))
		return 1;
	if (strncmp(target, "unix:", 5))
		return open(target, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strncpy(address.sun_path, target + 5, sizeof(address.sun_path) - 1);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	for (;;) {
		if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
			return fd;
		usleep(20000);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	char log[64];
	snprintf(log, sizeof(log), "private-log.%d", (int)getpid());
	make_log(log, (uint32_t)atoi(argv[2]));
	to = open_target(argv[1]);
	if (to < 0)
		die(argv[1]);
	send_frame(TEEPERF_FRAME_START, 0, map, TEEPERF_LOG_HEADER_SIZE);
	send_point();
	const pid_t pid = fork();
	if (!pid) {
		setenv(TEEPERF_LOG_ENV, log, 1);
		dup2(2, 1);
		execv(argv[3], argv + 3);
		_exit(127);
	}
	int status;
	while (waitpid(pid, &status, WNOHANG) == 0)
		if (!send_chunks(0))
			usleep(500);
	while (send_chunks(0))
		;
	send_chunks(1);
	send_tables();
	send_point();
	const uint64_t end = WIFEXITED(status)
				 ? TEEPERF_ENDED | TEEPERF_ENDED_HAS_CODE |
				       (uint64_t)WEXITSTATUS(status) << TEEPERF_ENDED_CODE_SHIFT
				 : TEEPERF_ENDED;
	send_frame(TEEPERF_FRAME_END, 0, &end, sizeof(end));
	unlink(log);
	return 0;
}
