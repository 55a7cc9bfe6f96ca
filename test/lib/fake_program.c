// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that writes the shared log as the runtime does, but says exactly what it writes: record
// number i carries time i. For tests of the recorder alone.
//
//   fake_program RECORDS END [lose|wait]
//
// END: a number (exit code), _exit (code 5), abort, kill, pause (until a signal ends it), linger
// (sleep through SIGINT, end at SIGTERM with code 9), scribble (overwrite the whole log with
// rubbish). lose (default): what finds no chunk is counted as lost; wait: it waits for the
// recorder.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <teeperf/log.h>

static struct teeperf_log_header *header;
static uint64_t region_size;
static int waits;

static struct {
	uint64_t ticket; // + 1, 0: none drawn
	uint64_t sequence;
	uint64_t lost;
	uint32_t number; // of the chunk
	uint64_t *cursor, *end;
} thread;

static void *at(uint64_t offset)
{
	return (char *)header + offset;
}

static struct teeperf_thread *slot(void)
{
	return at(header->threads_offset);
}

static struct teeperf_chunk *chunk(void)
{
	return at(header->chunks_offset + ((uint64_t)thread.number << header->chunk_shift));
}

static void nap(void)
{
	const struct timespec time = {.tv_nsec = 100000};
	nanosleep(&time, NULL);
}

static int attach(void)
{
	const char *path = getenv(TEEPERF_LOG_ENV);
	const int fd = path ? open(path, O_RDWR) : -1;
	struct stat info;
	if (fd < 0 || fstat(fd, &info))
		return 0;
	region_size = (uint64_t)info.st_size;
	header = mmap(NULL, region_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED || header->magic != TEEPERF_LOG_MAGIC)
		return 0;
	struct teeperf_module *module = at(header->modules_offset);
	module->start = 0x400000;
	module->end = 0x500000;
	strcpy(module->path, "/fake/program");
	__atomic_store_n(&header->module_count, 1, __ATOMIC_RELEASE);
	header->pid = (uint64_t)getpid();
	header->machine = 62;
	slot()->os_tid = (uint64_t)getpid();
	header->thread_count = 1;
	__atomic_store_n(&header->attach, TEEPERF_ATTACH_DONE, __ATOMIC_RELEASE);
	return 1;
}

static int draw(void)
{
	if (!thread.ticket) {
		const int64_t left =
		    (int64_t)(__atomic_load_n(&header->head, __ATOMIC_ACQUIRE) - header->tail);
		if (left <= 0)
			return 0;
		thread.ticket = __atomic_fetch_add(&header->tail, 1, __ATOMIC_RELAXED) + 1;
	}
	const uint64_t ticket = thread.ticket - 1;
	const uint64_t *supply = at(header->supply_offset);
	const uint64_t word =
	    __atomic_load_n(&supply[ticket & (header->chunk_count - 1)], __ATOMIC_ACQUIRE);
	if ((word ^ TEEPERF_SUPPLY_SLOT(ticket, 0)) >> TEEPERF_SUPPLY_CHUNK_BITS)
		return 0;
	thread.ticket = 0;
	thread.number = (uint32_t)(word & (header->chunk_count - 1));
	return 1;
}

static void set_state(uint64_t state)
{
	uint64_t *states = at(header->state_offset);
	__atomic_store_n(&states[thread.number], state, __ATOMIC_RELEASE);
}

static int take_chunk(void)
{
	if (thread.cursor) {
		chunk()->used = UINT64_C(1) << header->chunk_shift;
		set_state(TEEPERF_CHUNK_DONE);
		thread.cursor = NULL;
	}
	while (!draw()) {
		if (!waits)
			return 0;
		nap();
	}
	const uint64_t *words = (const uint64_t *)chunk();
	for (uint64_t i = 0; i < (UINT64_C(1) << header->chunk_shift) / 8; i++) {
		if (words[i]) {
			fprintf(stderr, "fake_program: chunk %u was not zeroed\n", thread.number);
			exit(99);
		}
	}
	*chunk() = (struct teeperf_chunk){
	    .sequence = thread.sequence++, .os_tid = (uint64_t)getpid(), .first_time = 1};
	set_state(TEEPERF_CHUNK_OWNED);
	thread.cursor = (uint64_t *)(chunk() + 1);
	thread.end = (uint64_t *)((char *)chunk() + (UINT64_C(1) << header->chunk_shift));
	slot()->chunks = thread.sequence;
	return 1;
}

static void record(uint64_t i)
{
	if ((!thread.cursor || thread.cursor == thread.end) && !take_chunk()) {
		slot()->lost = ++thread.lost;
		return;
	}
	*thread.cursor++ = (i & UINT32_MAX) | (UINT64_C(0x401000) + (i & 1)) << 32;
}

static void scribble(void)
{
	uint64_t *words = (uint64_t *)header;
	uint64_t seed = 12345;
	for (int round = 0; round < 20; round++) {
		// The header, the tables and the first chunks; what lies behind may have no memory
		// yet.
		for (uint64_t i = 0; i < region_size / 8 && i < UINT64_C(1) << 19; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			words[i] = seed >> 61 ? seed : TEEPERF_CHUNK_DONE;
		}
		nap();
	}
}

static volatile sig_atomic_t terminated;

static void on_term(int number)
{
	(void)number;
	terminated = 1;
}

static void on_interrupt(int number)
{
	(void)number;
	if (write(STDOUT_FILENO, "interrupted\n", 12) < 0)
		_exit(98);
}

static int finish(const char *end)
{
	if (!strcmp(end, "_exit"))
		_exit(5);
	if (!strcmp(end, "abort"))
		abort();
	if (!strcmp(end, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(end, "pause") || !strcmp(end, "linger")) {
		if (!strcmp(end, "linger")) {
			signal(SIGTERM, on_term);
			signal(SIGINT, on_interrupt);
		}
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		while (!terminated)
			nap();
		return 9;
	}
	if (!strcmp(end, "scribble")) {
		scribble();
		return 0;
	}
	return atoi(end);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: fake_program RECORDS END [lose|wait]\n");
		return 97;
	}
	waits = argc > 3 && !strcmp(argv[3], "wait");
	if (!attach()) {
		fprintf(stderr, "fake_program: there is no log\n");
		return 96;
	}
	const uint64_t count = strtoull(argv[1], NULL, 10);
	for (uint64_t i = 1; i <= count; i++)
		record(i);
	return finish(argv[2]);
}
