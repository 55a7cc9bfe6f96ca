// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that does with the shared log, with the recorder and with its output what it must not.
// For tests of the recorder, which is its parent.
//
//   damage_log WHAT MS [ARGUMENT]
//
// WHAT: cut, holes, grow, tables, claim, words, flood, signals, replace (see the functions). It
// goes on for MS milliseconds; then it prints what memory of its own the recorder has, in KiB, and
// exits with 7.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <teeperf/log.h>

static int fd;
static struct teeperf_log_header *header;
static uint64_t region_size;
static uint64_t deadline;
static uint64_t seed = 20261121;
static const char *argument;

static uint64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t any(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 24) % below;
}

static void nap(void)
{
	const struct timespec time = {.tv_nsec = 300000};
	nanosleep(&time, NULL);
}

static void *at(uint64_t offset)
{
	return (char *)header + offset;
}

static void die(const char *what)
{
	perror(what);
	exit(97);
}

// Enough of an attached program for the recorder to follow us. Where things are is kept: the header
// may be overwritten.
static struct teeperf_log_header kept;
static void attach(void)
{
	fd = open(getenv(TEEPERF_LOG_ENV), O_RDWR);
	struct stat info;
	if (fd < 0 || fstat(fd, &info))
		die("log");
	region_size = (uint64_t)info.st_size;
	header = mmap(NULL, region_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		die("mmap");
	kept = *header;
	header->pid = (uint64_t)getpid();
	header->machine = 62;
	struct teeperf_thread *thread = at(kept.threads_offset);
	thread->os_tid = (uint64_t)getpid();
	header->thread_count = 1;
	__atomic_store_n(&header->attach, TEEPERF_ATTACH_DONE, __ATOMIC_RELEASE);
}

// Our own accesses may fault too.
static sigjmp_buf fault;

static void on_bus(int number)
{
	(void)number;
	siglongjmp(fault, 1);
}

static void complete_chunks(void)
{
	uint64_t *states = at(kept.state_offset);
	for (uint32_t i = 0; i < kept.chunk_count; i++) {
		if (any(6))
			continue;
		struct teeperf_chunk *chunk =
		    at(kept.chunks_offset + ((uint64_t)i << kept.chunk_shift));
		chunk->used = any(100000);
		chunk->sequence = any(10);
		((uint64_t *)(chunk + 1))[any(8000)] = seed;
		__atomic_store_n(&states[i], TEEPERF_CHUNK_DONE, __ATOMIC_RELEASE);
	}
}

// The log's file is cut short and grows again, at any length.
static void cut(void)
{
	if (!sigsetjmp(fault, 1)) {
		ftruncate(fd, (off_t)(any(4) ? any(region_size) : 0));
		nap();
		ftruncate(fd, (off_t)(any(3) ? region_size : any(region_size)));
		complete_chunks();
	}
	nap();
}

static void holes(void)
{
	for (int i = 0; i < 8; i++) {
		const uint64_t from = any(region_size / 4096) * 4096;
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
		    (off_t)(4096 * (1 + any(64))));
	}
	complete_chunks();
	nap();
}

// The file grows far beyond the log, and the header claims that the log ends there.
static void grow(void)
{
	ftruncate(fd, (off_t)(region_size << any(12)));
	header->region_size = UINT64_MAX >> any(64);
	header->chunk_count = (uint32_t)any(UINT32_MAX);
	header->tail = kept.chunk_count * any(1000);
	complete_chunks();
	nap();
}

// Tables full of rubbish, without a NUL, and full of what steers a terminal.
static void tables(void)
{
	static const char steers[] = "\033]0;owned\a\033[2J\r\n\x9b";
	struct teeperf_module *modules = at(kept.modules_offset);
	struct teeperf_thread *threads = at(kept.threads_offset);
	for (uint32_t i = 0; i < kept.module_capacity; i++) {
		modules[i].start = any(UINT64_MAX);
		modules[i].end = modules[i].start + any(UINT64_MAX);
		modules[i].build_id_size = (uint32_t)any(UINT32_MAX);
		for (uint32_t j = 0; j < TEEPERF_MODULE_PATH_SIZE; j++)
			modules[i].path[j] = j ? steers[(i + j) % (sizeof(steers) - 1)] : '/';
	}
	for (uint32_t i = 0; i < kept.thread_capacity; i++) {
		threads[i].os_tid = any(3) ? any(UINT64_MAX) : any(70000);
		threads[i].chunks = threads[i].lost = any(UINT64_MAX);
		for (uint32_t j = 0; j < sizeof(threads[i].name); j++)
			threads[i].name[j] = steers[(i + j) % (sizeof(steers) - 1)];
	}
	header->thread_count = any(UINT64_MAX);
	header->module_count = any(UINT64_MAX);
	complete_chunks();
	nap();
}

// We are another process: the argument's number, or init, or none that can be.
static void claim(void)
{
	const uint64_t pids[] = {strtoull(argument ? argument : "1", NULL, 10), 1, 0, UINT32_MAX,
	    (uint64_t)-1, (uint64_t)getppid()};
	header->pid = pids[any(sizeof(pids) / sizeof(pids[0]))];
	header->listens = TEEPERF_LISTENS_SIGNAL;
	header->listens_value = (uint32_t)any(70);
	struct teeperf_thread *thread = at(kept.threads_offset);
	thread[any(100)].os_tid = any(100);
	header->thread_count = 100;
	nap();
}

// Every word before the chunks, and some in them, by chance and on purpose.
static void words(void)
{
	const uint64_t chosen[] = {0, 1, 2, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT32_MAX,
	    region_size, kept.chunk_count, TEEPERF_CHUNK_DONE};
	uint64_t *word = (uint64_t *)header;
	for (int i = 0; i < 5000; i++)
		word[any(any(3) ? 512 : region_size / 8)] = any(2) ? chosen[any(10)] : seed;
	for (int i = 0; i < 300; i++) {
		header->switches[any(TEEPERF_SWITCHES)] = seed;
		__atomic_store_n(&header->switch_count,
		    any(4) ? header->switch_count + any(200) : seed, __ATOMIC_RELEASE);
		header->module_count = any(2) ? header->module_count + 1 : any(300);
	}
	header->attach = TEEPERF_ATTACH_DONE;
	complete_chunks();
	nap();
}

// That of the recorder, our parent, whose process id its name begins with.
static int find_socket(struct sockaddr_un *address)
{
	char begin[32];
	const int length = snprintf(begin, sizeof(begin), "teeperf-%d.", (int)getppid());
	DIR *folder = opendir("/dev/shm");
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		const size_t size = strlen(entry->d_name);
		if (strncmp(entry->d_name, begin, (size_t)length) || size < 4 || size > 64 ||
		    strcmp(entry->d_name + size - 4, ".ctl"))
			continue;
		strcat(strcpy(address->sun_path, "/dev/shm/"), entry->d_name);
	}
	if (folder)
		closedir(folder);
	return address->sun_path[0] != 0;
}

// Clients that say nothing, say too little, or ask for what there is not.
static void flood(void)
{
	static int sockets[200];
	static int used;
	static struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (!address.sun_path[0] && !find_socket(&address)) {
		nap();
		return;
	}
	const int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
	if (connect(client, (const struct sockaddr *)&address, sizeof(address))) {
		close(client);
		nap();
		return;
	}
	uint32_t request[] = {UINT32_C(0x54504303), (uint32_t)any(10), 0, 0};
	// A program may stop its recorder (control/ended-from-outside), but then there is nothing
	// left to flood.
	if (request[1] == 5)
		request[1] = UINT32_MAX;
	send(client, request, any(3) ? sizeof(request) : any(16), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(sockets[used]);
	sockets[used] = client;
	used = (used + 1) % 200;
}

static void signals(void)
{
	static const int all[] = {SIGURG, SIGUSR1, SIGUSR2, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD,
	    SIGPIPE, SIGCONT, SIGWINCH, SIGXFSZ};
	kill(getppid(), all[any(sizeof(all) / sizeof(all[0]))]);
	complete_chunks();
	nap();
}

// The argument is the trace's path: something else lies there.
static void replace(void)
{
	unlink(argument);
	if (any(2))
		symlink("precious", argument);
	else
		mkfifo(argument, 0600);
	complete_chunks();
	nap();
}

static const struct {
	const char *name;
	void (*function)(void);
} all[] = {{"cut", cut}, {"holes", holes}, {"grow", grow}, {"tables", tables}, {"claim", claim},
    {"words", words}, {"flood", flood}, {"signals", signals}, {"replace", replace}};

// The recorder's private memory; pages of the log are not in it.
static void print_memory(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)getppid());
	FILE *file = fopen(path, "r");
	char line[256];
	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "RssAnon:", 8))
			printf("anon=%ld\n", strtol(line + 8, NULL, 10));
	}
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 2 && i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i].name, argv[1]))
			continue;
		argument = argv[3];
		attach();
		signal(SIGBUS, on_bus);
		deadline = now_ms() + strtoull(argv[2], NULL, 10);
		uint64_t rounds = 0;
		do {
			all[i].function();
			rounds++;
		} while (now_ms() < deadline);
		// On a busy machine the recorder may not have looked while it was short.
		if (all[i].function == cut)
			ftruncate(fd, 0);
		printf("rounds=%llu\n", (unsigned long long)rounds);
		print_memory();
		return 7;
	}
	fprintf(stderr, "usage: damage_log WHAT MS [ARGUMENT]\n");
	return 98;
}
