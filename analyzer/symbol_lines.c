// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs libdwarf in a process of its own: damaged debug information makes it free memory twice, read
// outside of its own, or go on for ever (docs/decisions/0015-dwarf-in-a-process.md).
#define _GNU_SOURCE
#include "symbol_lines.h"

#include "common/buf.h"
#include "common/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// What the process may take: processor seconds, many times what a sound file needs (1 for 128 MB), ...
#define SECONDS_BASE 10
#define BYTES_PER_SECOND (UINT64_C(2) << 20)
// ... memory beyond what we have ourselves: this, and so many times the file's size (libdwarf unpacks
// compressed sections up to 16 times their size), ...
#define MEMORY_BASE (UINT64_C(512) << 20)
#define MEMORY_FACTOR 20
// ... and bytes of an answer for each place.
#define ANSWER_MAX 8192

// Behind all that was found: what comes before it is complete.
#define DONE UINT32_C(0x454e4f44)

static bool send_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	while (size) {
		const ssize_t sent = write(fd, at, size);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

// Lower the limit of RESOURCE to MOST. The hard limit stays: at that of the time there is no telling
// what the signal was for.
static void limit(int resource, uint64_t most)
{
	struct rlimit limits;
	if (getrlimit(resource, &limits))
		return;
	if (limits.rlim_cur == RLIM_INFINITY || limits.rlim_cur > most)
		limits.rlim_cur = most;
	setrlimit(resource, &limits);
}

static uint64_t address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	if (!file)
		return 0;
	if (fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit_all(const char *path)
{
	// The C library and the sanitizers print when memory is corrupt. That is told in better words.
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0); // no core: a core pattern that pipes does not ask RLIMIT_CORE
	limit(RLIMIT_CORE, 0);
	struct stat info;
	if (stat(path, &info))
		return;
	const uint64_t size = (uint64_t)info.st_size;
	const uint64_t now = address_space();
	limit(RLIMIT_CPU, SECONDS_BASE + size / BYTES_PER_SECOND);
	if (now)
		limit(RLIMIT_AS, now + MEMORY_BASE + size * MEMORY_FACTOR);
}

// What the process does. It ends without running what the parent has registered.
static _Noreturn void serve(
    const char *path, struct tp_source_place *places, uint32_t count, int fd)
{
	struct tp_arena arena;
	struct tp_buf out;
	struct tp_err err = {0};
	limit_all(path);
	tp_arena_init(&arena);
	tp_buf_init(&out);
	const int64_t found = tp_symbol_dwarf_find(path, places, count, &arena, &err);
	tp_buf_add(&out, &found, sizeof(found));
	if (found < 0)
		tp_buf_add(&out, err.what, strlen(err.what) + 1);
	for (uint32_t i = 0; found > 0 && i < count; i++) {
		if (!places[i].file)
			continue;
		const uint32_t length = (uint32_t)strnlen(places[i].file, ANSWER_MAX / 2);
		tp_buf_add(&out, &i, sizeof(i));
		tp_buf_add(&out, &length, sizeof(length));
		tp_buf_add(&out, &places[i].line, sizeof(places[i].line));
		tp_buf_add(&out, places[i].file, length);
	}
	const uint32_t done = DONE;
	tp_buf_add(&out, &done, sizeof(done));
	_exit(!out.failed && send_all(fd, out.data, out.size) ? 0 : 1);
}

// All that comes through FD; false if it is more than it can be, or there is no memory for it.
static bool receive(int fd, uint32_t count, struct tp_buf *got)
{
	const uint64_t most = sizeof(struct tp_err) + 64 + (uint64_t)count * ANSWER_MAX;
	char block[65536];
	for (;;) {
		const ssize_t size = read(fd, block, sizeof(block));
		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			return size == 0;
		tp_buf_add(got, block, (size_t)size);
		if (got->failed || got->size > most)
			return false;
	}
}

// The answer is not believed more than the file is: the process may have been taken over by it.
static bool parse(const char *path, const struct tp_buf *got, struct tp_source_place *places,
    uint32_t count, struct tp_arena *arena, int64_t *found, struct tp_err *err)
{
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, got->data, got->size);
	*found = (int64_t)tp_bytes_u64(&bytes);
	if (*found < 0) {
		const char *what = tp_bytes_string(&bytes);
		*found =
		    tp_err_set(err, TP_ERR_FORMAT, path, TP_ERR_NO_OFFSET, "%s", what ? what : "");
		return what && tp_bytes_u32(&bytes) == DONE && !tp_bytes_left(&bytes);
	}
	*found = 0;
	for (;;) {
		const uint32_t index = tp_bytes_u32(&bytes);
		if (index == DONE && !tp_bytes_left(&bytes))
			return true;
		const uint32_t length = tp_bytes_u32(&bytes);
		const uint64_t line = tp_bytes_u64(&bytes);
		const char *file = tp_bytes_take(&bytes, length);
		if (bytes.underflow || index >= count || places[index].file)
			return false;
		places[index].file = tp_arena_copy(arena, file, length);
		places[index].line = line;
		if (!places[index].file)
			return false;
		(*found)++;
	}
}

static int failed(const char *path, int status, struct tp_err *err)
{
	const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (signal == SIGXCPU)
		return tp_err_set(err, TP_ERR_FORMAT, path, TP_ERR_NO_OFFSET,
		    "its debug information is damaged: libdwarf does not come to an end of it");
	return tp_err_set(err, TP_ERR_FORMAT, path, TP_ERR_NO_OFFSET,
	    "its debug information is damaged: libdwarf crashed on it (%s)",
	    signal ? strsignal(signal) : "it ended early");
}

int64_t tp_symbol_lines_find(const char *path, struct tp_source_place *places, uint32_t count,
    struct tp_arena *arena, struct tp_err *err)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC))
		return tp_err_system(err, errno, path, "cannot make a pipe");
	const pid_t pid = fork();
	if (pid < 0) {
		const int error = errno;
		close(fds[0]);
		close(fds[1]);
		return tp_err_system(err, error, path, "cannot start a process that reads it");
	}
	if (pid == 0) {
		close(fds[0]);
		serve(path, places, count, fds[1]);
	}
	close(fds[1]);
	struct tp_buf got;
	tp_buf_init(&got);
	const bool received = receive(fds[0], count, &got);
	close(fds[0]);
	if (!received)
		kill(pid, SIGKILL);
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	int64_t found = 0;
	// Whether all came tells more than the exit status, which is not known if SIGCHLD is ignored.
	if (!received || !parse(path, &got, places, count, arena, &found, err)) {
		for (uint32_t i = 0; i < count; i++)
			places[i].file = NULL;
		found = failed(path, status, err);
	}
	tp_buf_release(&got);
	return found;
}
