// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the runtime in a running process: by a note in its memory, which static, stripped and
// deleted files have, too.
#define _GNU_SOURCE
#include "pid.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <teeperf/abi.h>

#include "recorder/region/own_notes.h"
#include "recorder/region/proc.h"
#include "recorder/region/region.h"

enum { NAME_SIZE = 24, RUNTIMES_MAX = 16 };
// The part of the entry's code that is the same in all runtimes of a version: the distance of a
// call follows.
enum { SAME_BYTES = 26 };

// A runtime that can be called.
struct runtime {
	uint64_t entry;
	uint32_t abi;
	bool used; // instrumented code has reached it
	unsigned char code[TP_PID_CODE_BYTES];
	char file[sizeof(((struct tp_pid *)NULL)->other)];
};

// What was seen of runtimes.
struct sight {
	int memory;
	bool instrumented; // there is a note of ours
	const char *file;  // that is looked at
	uint32_t count;
	struct runtime runtimes[RUNTIMES_MAX];
};

static bool read_at(int memory, uint64_t address, void *to, size_t size)
{
	return address <= INT64_MAX && pread(memory, to, size, (off_t)address) == (ssize_t)size;
}

/*
 * A runtime whose note is at ADDRESS. A small file may have its beginning mapped twice, and is no
 * file where it is mapped for its data: there the note leads to no entry.
 */
static void add_runtime(struct sight *sight, uint64_t address, const struct teeperf_late_note *note)
{
	uint64_t modules = 0;
	struct runtime runtime = {
	    .abi = note->abi,
	    .entry = address + offsetof(struct teeperf_late_note, entry) +
		     (uint64_t)(int64_t)note->entry,
	};
	const struct runtime *first = &sight->runtimes[0];
	if (sight->count == RUNTIMES_MAX ||
	    !read_at(sight->memory, runtime.entry, runtime.code, sizeof(runtime.code)))
		return;
	if (sight->count && first->abi == runtime.abi &&
	    memcmp(runtime.code, first->code, SAME_BYTES) != 0)
		return;
	read_at(sight->memory,
	    address + offsetof(struct teeperf_late_note, modules) +
		(uint64_t)(int64_t)note->modules,
	    &modules, sizeof(modules));
	runtime.used = modules;
	snprintf(runtime.file, sizeof(runtime.file), "%s", sight->file);
	sight->runtimes[sight->count++] = runtime;
}

static void look_at_note(
    void *context, uint32_t type, uint64_t at, const unsigned char *content, size_t size)
{
	struct sight *sight = context;
	struct teeperf_late_note late;
	sight->instrumented = true;
	if (type != TEEPERF_NOTE_TYPE_LATE || size < sizeof(late))
		return;
	memcpy(&late, content, sizeof(late));
	add_runtime(sight, at, &late);
}

static int look_at_maps(struct sight *sight, pid_t pid, struct tp_err *err)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return tp_pid_refused(pid, errno, err);
	char *line = NULL;
	size_t capacity = 0;
	while (getline(&line, &capacity, file) > 0) {
		unsigned long long start;
		unsigned long long offset;
		char mode[8];
		if (sscanf(line, "%llx-%*x %7s %llx", &start, mode, &offset) != 3 || offset ||
		    mode[0] != 'r')
			continue;
		const char *slash = strrchr(line, '/');
		line[strcspn(line, "\n")] = '\0';
		sight->file = slash ? slash + 1 : "";
		tp_own_notes_read(sight->memory, start, true, look_at_note, sight);
	}
	free(line);
	fclose(file);
	return 0;
}

/*
 * A recorder holds a lock on its log's file for as long as it lives. (Its process id, which is in
 * the name, may be one of another namespace.) Of a log that we may not open nobody can say that it
 * is nobody's.
 */
static bool is_held(pid_t pid, const char *name)
{
	char path[128];
	snprintf(path, sizeof(path), "/proc/%d/root" TP_REGION_FOLDER "/%.*s", (int)pid,
	    (int)strcspn(name, "\n"), name);
	const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno != ENOENT;
	const bool held = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return held;
}

// The name of a log goes with its recorder, if that is not killed.
bool tp_pid_is_recorded(pid_t pid)
{
	static const char prefix[] = "/" TP_REGION_PREFIX;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t capacity = 0;
	bool found = !file;
	while (!found && getline(&line, &capacity, file) > 0) {
		const char *name = strstr(line, prefix);
		found = name && !strstr(name, " (deleted)") && is_held(pid, name + 1);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static uint32_t owner_of(pid_t pid)
{
	unsigned user = 0;
	tp_proc_scan(pid, "status", "Uid: %*u %u", &user);
	return user;
}

int tp_pid_traced(pid_t pid, int tracer, struct tp_err *err)
{
	char name[NAME_SIZE] = "";
	int process = tracer;
	tp_proc_scan(tracer, "status", "Tgid: %d", &process);
	tp_proc_read(process, "comm", name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	return tp_err_set(err, TP_ERR_LIMIT, NULL,
	    "process %d is already traced by '%s' (process %d): end that first", (int)pid, name,
	    process);
}

int tp_pid_refused(pid_t pid, int error, struct tp_err *err)
{
	int scope = 0;
	char text[16];
	if (tp_proc_read(0, "sys/kernel/yama/ptrace_scope", text, sizeof(text)))
		scope = atoi(text);
	if (error == ESRCH || error == ENOENT)
		return tp_err_set(
		    err, TP_ERR_NOT_FOUND, NULL, "process %d does not exist", (int)pid);
	if (error != EPERM && error != EACCES)
		return tp_err_system(err, error, NULL, "cannot trace process %d", (int)pid);
	const uint32_t owner = owner_of(pid);
	if (geteuid() && owner != geteuid())
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "process %d belongs to user %u: record it as that user, or as root", (int)pid,
		    owner);
	if (scope == 3)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "kernel.yama.ptrace_scope is 3, which forbids tracing process %d: start it "
		    "with 'teeperf record', or boot with a lower value",
		    (int)pid);
	if (scope)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "kernel.yama.ptrace_scope is %d, which forbids tracing process %d: record as "
		    "root, or set it to 0 ('sysctl kernel.yama.ptrace_scope=0')",
		    scope, (int)pid);
	return tp_err_set(err, TP_ERR_LIMIT, NULL,
	    "cannot trace process %d: it is protected (set-user-ID, PR_SET_DUMPABLE), or this "
	    "container lacks CAP_SYS_PTRACE ('docker run --cap-add SYS_PTRACE'); record as root "
	    "outside of it",
	    (int)pid);
}

// By a control group of version 2, as 'docker pause' does it.
static bool is_frozen(pid_t pid)
{
	// The second is beside groups of version 1.
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	char group[192];
	char path[256];
	char line[64];
	int frozen = 0;
	if (!tp_proc_scan(pid, "cgroup", "0::%191[^\n]", group))
		return false;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s%s/cgroup.events", roots[i], group);
		FILE *file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			sscanf(line, "frozen %d", &frozen);
		if (file)
			fclose(file);
	}
	return frozen;
}

// How many filters we have ourselves, if the process is in the same container: it has the same ones
// from there, and they let us make the calls that its runtime makes.
static int common_filters(pid_t pid)
{
	char path[40];
	struct stat its;
	struct stat ours;
	int count = 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (stat(path, &its) || stat("/proc/self/ns/pid", &ours) || its.st_ino != ours.st_ino ||
	    !tp_proc_scan(getpid(), "status", "Seccomp_filters: %d", &count))
		return 0;
	return count;
}

// A thread that a seccomp filter of its own watches; 0: there is none. Whether the filter kills,
// nobody can ask.
static pid_t filtered_thread(pid_t pid)
{
	char path[40];
	pid_t found = 0;
	const int common = common_filters(pid);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
		int mode = 0;
		int count = INT_MAX; // before Linux 5.9
		snprintf(path, sizeof(path), "task/%.16s/status", entry->d_name);
		if (atoi(entry->d_name) > 0 && tp_proc_scan(pid, path, "Seccomp: %d", &mode) &&
		    mode == 2 &&
		    (!tp_proc_scan(pid, path, "Seccomp_filters: %d", &count) || count > common))
			found = (pid_t)atoi(entry->d_name);
	}
	if (folder)
		closedir(folder);
	return found;
}

// What /proc says of it before anybody looks into its memory.
static int check_process(pid_t pid, bool forced, struct tp_err *err)
{
	int number = 0;
	char state = '?';
	if (!tp_proc_scan(pid, "status", "Tgid: %d", &number))
		return tp_err_set(
		    err, TP_ERR_NOT_FOUND, NULL, "process %d does not exist", (int)pid);
	if (number != pid)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "%d is a thread of process %d: give '--pid %d'", (int)pid, number, number);
	const bool ended = tp_proc_scan(pid, "status", "State: %c", &state) &&
			   (state == 'Z' || state == 'X') &&
			   tp_proc_scan(pid, "status", "Threads: %d", &number);
	if (ended && number <= 1)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, "process %d has ended", (int)pid);
	// Then /proc shows nothing of its memory.
	if (ended)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "the main thread of process %d has ended (pthread_exit), and only processes "
		    "with a main thread can be attached to: start it with 'teeperf record'",
		    (int)pid);
	if (is_frozen(pid))
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "process %d is frozen ('docker pause', cgroup.freeze): let it run first",
		    (int)pid);
	if (tp_proc_scan(pid, "status", "Seccomp: %d", &number) && number == 1)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "process %d can only read and write (seccomp's strict mode), so it cannot "
		    "open the log: start it with 'teeperf record'",
		    (int)pid);
	if (tp_proc_scan(pid, "status", "TracerPid: %d", &number) && number)
		return tp_pid_traced(pid, number, err);
	number = forced ? 0 : filtered_thread(pid);
	if (number)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "thread %d of process %d has a seccomp filter, which may kill it for a system "
		    "call of the runtime (openat, mmap, fstat, close, munmap, prctl, gettid): if "
		    "it allows these, or returns errors, give '--force'",
		    number, (int)pid);
	return 0;
}

static bool is_32_bit(pid_t pid)
{
	char path[64];
	unsigned char head[EI_NIDENT] = {0};
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	const ssize_t size = read(fd, head, sizeof(head));
	close(fd);
	return size == sizeof(head) && !memcmp(head, ELFMAG, SELFMAG) &&
	       head[EI_CLASS] == ELFCLASS32;
}

// Which one is called. One to which nothing has come is idle: libteeperf.so, if libraries use the
// executable's.
static const struct runtime *choose(const struct sight *sight)
{
	for (uint32_t i = 0; i < sight->count; i++)
		if (sight->runtimes[i].used)
			return &sight->runtimes[i];
	return sight->count ? &sight->runtimes[0] : NULL;
}

static void take(struct tp_pid *target, const struct sight *sight, const struct runtime *chosen)
{
	target->entry = chosen->entry;
	memcpy(target->code, chosen->code, sizeof(target->code));
	for (uint32_t i = 0; i < sight->count; i++) {
		const struct runtime *other = &sight->runtimes[i];
		if (other != chosen && other->used && !target->others++)
			memcpy(target->other, other->file, sizeof(target->other));
	}
}

static int judge(
    const struct sight *sight, const struct runtime *chosen, pid_t pid, struct tp_err *err)
{
	if (!sight->instrumented && is_32_bit(pid))
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "process %d is a 32-bit program: build it for 64 bits", (int)pid);
	if (!sight->instrumented)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "process %d has no code built with 'teeperf cc': build it with that, and "
		    "restart it",
		    (int)pid);
	if (!chosen)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "process %d has a runtime that cannot be attached to: build it with this "
		    "version of 'teeperf cc' for Linux (no '--port'), and restart it",
		    (int)pid);
	if (chosen->abi != TEEPERF_ABI)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "process %d has a runtime of another version of teeperf (%u, not %d): use that "
		    "version, or rebuild it",
		    (int)pid, chosen->abi, TEEPERF_ABI);
	return 0;
}

int tp_pid_find(struct tp_pid *target, pid_t pid, bool forced, struct tp_err *err)
{
	*target = (struct tp_pid){.pid = pid};
#if !defined(__x86_64__)
	return tp_err_set(err, TP_ERR_LIMIT, NULL,
	    "'--pid' attaches to programs on x86-64 only: start process %d with 'teeperf record'",
	    (int)pid);
#endif
	struct sight sight = {.memory = -1};
	char path[64];
	int r = check_process(pid, forced, err);
	if (r)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	sight.memory = open(path, O_RDONLY | O_CLOEXEC);
	if (sight.memory < 0)
		return tp_pid_refused(pid, errno, err);
	r = look_at_maps(&sight, pid, err);
	const struct runtime *chosen = choose(&sight);
	if (!r)
		r = judge(&sight, chosen, pid, err);
	if (!r && chosen)
		take(target, &sight, chosen);
	close(sight.memory);
	return r;
}
