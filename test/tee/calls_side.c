// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands between a program of test/lib/calls_* and its caller, by options of the linker
// (--wrap=main, --wrap=pthread_create): runs it SIDE_TIMES times in one process and, with one of
// the following, is its host. Not instrumented.
//
//   SIDE_REGION    port bare: the log is mapped once
//   SIDE_BY_CALL   port bare: it is there for the time of each run, elsewhere each time, and a page
//                  fault behind it
//   SIDE_SEND      port keystone: frames go to the file that SIDE_STREAM names
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <elf.h>

#include <teeperf/bare.h>
#include <teeperf/keystone.h>
#include <teeperf/teeperf.h>

// NOLINTBEGIN: the names are the linker's
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
int __real_pthread_create(
    pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(
    pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
// NOLINTEND

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));

static char *region;
static uint64_t region_size;
static int log_fd = -1;

static void die(const char *what)
{
	perror(what);
	_exit(90);
}

static bool open_log(void)
{
	struct stat status;
	const char *path = getenv(TEEPERF_LOG_ENV);
	if (log_fd < 0 && path) {
		log_fd = open(path, O_RDWR | O_CLOEXEC);
		if (log_fd < 0 || fstat(log_fd, &status))
			die(path);
		region_size = (uint64_t)status.st_size;
	}
	return log_fd >= 0;
}

// At a multiple of 4096, another one of 65536 each time. What was there before stays forbidden.
__attribute__((unused)) static void map_log(uint64_t n)
{
	if (!open_log())
		return;
	const size_t room_size = region_size + (1 << 17);
	char *room =
	    mmap(NULL, room_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		die("mmap");
	char *at = room + (-(uintptr_t)room & 0xffff) + n % 16 * 4096;
	region = mmap(at, region_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, log_fd, 0);
	if (region != at)
		die("mmap of the log");
}

// ---- the hooks of bare

#if defined(SIDE_REGION) || defined(SIDE_BY_CALL)
static bool lies_in_image(const char *from, const char *end)
{
	return from < &_end && end > (const char *)&__ehdr_start;
}

void *teeperf_bare_region(uint64_t *size)
{
#ifdef SIDE_REGION
	map_log(0);
#endif
	*size = region_size;
	return region;
}

int teeperf_bare_is_outside(const void *base, uint64_t size)
{
	const char *from = base;
	return from >= region && from + size <= region + region_size &&
	       !lies_in_image(from, from + size);
}

uint64_t teeperf_bare_thread(void)
{
	return (uint64_t)syscall(SYS_gettid);
}

void teeperf_bare_module(const void *anchor, struct teeperf_module *module)
{
	(void)anchor;
	module->start = (uint64_t)(uintptr_t)&__ehdr_start;
	module->end = (uint64_t)(uintptr_t)&_end;
	module->bias = __ehdr_start.e_type == ET_DYN ? module->start : 0;
	strncpy(module->path, SIDE_PATH, sizeof(module->path) - 1);
}
#endif

// ---- those of keystone

#ifdef SIDE_SEND
const uint64_t teeperf_keystone_clock_hz = 1000000000;
extern const char *const teeperf_image_path;
const char *const teeperf_image_path = SIDE_PATH;

int teeperf_keystone_send(
    const void *head, uint64_t head_size, const void *body, uint64_t body_size)
{
	static int fd = -1;
	const char *path = getenv("SIDE_STREAM");
	struct iovec parts[2] = {
	    {(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)body, body_size}};
	if (fd < 0)
		fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	return fd < 0 || writev(fd, parts, 2) != (ssize_t)(head_size + body_size);
}
#endif

// ---- around calls of the program

static void come(void)
{
#ifdef SIDE_BY_CALL
	if (region && !teeperf_enter(region, region_size)) {
		fprintf(stderr, "the log of a call is refused\n");
		_exit(91);
	}
#endif
}

static void go(void)
{
#ifdef SIDE_BY_CALL
	if (region)
		teeperf_leave_region();
#endif
}

struct start {
	void *(*run)(void *);
	void *argument;
};

static void *run_thread(void *argument)
{
	const struct start start = *(const struct start *)argument;
	free(argument);
	come();
	void *result = start.run(start.argument);
	go();
#if defined(SIDE_REGION) || defined(SIDE_BY_CALL) || defined(SIDE_SEND)
	teeperf_thread_over();
#endif
	return result;
}

int __wrap_pthread_create(
    pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	struct start *start = malloc(sizeof(*start));
	*start = (struct start){run, argument};
	return __real_pthread_create(id, attributes, run_thread, start);
}

int __wrap_main(int argc, char **argv)
{
	const char *times = getenv("SIDE_TIMES");
	int code = 0;
	for (int i = 0; i < (times ? atoi(times) : 1); i++) {
#ifdef SIDE_BY_CALL
		map_log((uint64_t)i);
#endif
		come();
		code |= __real_main(argc, argv);
		go();
#ifdef SIDE_BY_CALL
		if (region && mprotect(region, region_size, PROT_NONE))
			die("mprotect");
#endif
	}
#ifdef SIDE_BY_CALL
	// How the last call says that it is one.
	map_log(0);
	come();
#endif
#if defined(SIDE_REGION) || defined(SIDE_BY_CALL) || defined(SIDE_SEND)
	teeperf_over(code);
#endif
	return code;
}
