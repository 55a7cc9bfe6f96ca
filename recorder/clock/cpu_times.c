// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long the threads of the program had a processor, seen from outside.
#define _GNU_SOURCE
#include "cpu_times.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <teeperf/trace.h>

#include "common/array.h"
#include "host_clock.h"
#include "recorder/region/proc.h"

static const uint64_t LOOK_NS = 4 * 1000 * 1000;
// The list of what a process has mapped may lack an entry while the process maps more: looked at so
// often.
enum { MISSED_MOST = 32 };
// Threads that are read in one look, and slots of the table that are looked at for them.
enum { LOOK_THREADS = 64, LOOK_SLOTS = 2048 };
// A look may take this part of the time to the next one.
static const uint64_t LOOK_SHARE = 100;

uint64_t tp_cpu_times_of(pid_t pid)
{
	clockid_t clock;
	return clock_getcpuclockid(pid, &clock) ? 0 : tp_clock_ns(clock);
}

// "running delayed slices", of which the first two are ns. Zeroes: the kernel does not count. 0 or
// an errno.
static int read_task(int folder, pid_t tid, uint64_t *cpu_ns, uint64_t *delay_ns)
{
	char path[32];
	snprintf(path, sizeof(path), "%d/schedstat", (int)tid);
	const int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	char text[96];
	const ssize_t size = read(fd, text, sizeof(text) - 1);
	const int error = size < 0 ? errno : 0;
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	if (!error && sscanf(text, "%" SCNu64 " %" SCNu64, cpu_ns, delay_ns) != 2)
		return EIO;
	return error;
}

static void open_folder(struct tp_cpu_times *times)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)times->pid);
	// It stays this process's, whoever gets its number later.
	times->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (times->folder < 0)
		times->hidden = true;
}

static int by_tid(const void *a, const void *b)
{
	const struct tp_cpu_base *x = a;
	const struct tp_cpu_base *y = b;
	return TP_COMPARE(x->tid, y->tid);
}

// What its threads have had so far.
static void find_bases(struct tp_cpu_times *times)
{
	char path[32];
	uint64_t room = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)times->pid);
	DIR *folder = times->hidden ? NULL : opendir(path);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		struct tp_cpu_base base = {.tid = (pid_t)atoi(entry->d_name)};
		if (base.tid <= 0 ||
		    read_task(times->folder, base.tid, &base.cpu_ns, &base.delay_ns))
			continue;
		if (!TP_GROW(times->bases, room, times->base_count + UINT64_C(1)))
			break;
		times->bases[times->base_count++] = base;
	}
	if (folder)
		closedir(folder);
	if (times->base_count)
		qsort(times->bases, times->base_count, sizeof(times->bases[0]), by_tid);
}

// What thread TID, which has had CPU_NS, had had before; one that has had less is another one.
static struct tp_cpu_base base_of(const struct tp_cpu_times *times, uint64_t tid, uint64_t cpu_ns)
{
	const struct tp_cpu_base key = {.tid = tid > INT_MAX ? 0 : (pid_t)tid};
	const struct tp_cpu_base *base =
	    times->base_count ? bsearch(&key, times->bases, times->base_count, sizeof(key), by_tid)
			      : NULL;
	return base && base->cpu_ns <= cpu_ns ? *base : (struct tp_cpu_base){0};
}

int tp_cpu_times_init(struct tp_cpu_times *times, const struct tp_region *region, pid_t pid,
    bool old, struct tp_err *err)
{
	*times = (struct tp_cpu_times){.region = region, .folder = -1, .hidden = pid < 0};
	times->start_ns = times->next_ns = tp_clock_monotonic_ns();
	pthread_mutex_init(&times->lock, NULL);
	if (pid > 0) {
		times->pid = pid;
		open_folder(times);
	}
	if (pid > 0 && old) {
		times->base_ns = tp_cpu_times_of(pid);
		find_bases(times);
	}
	times->threads = calloc(TP_REGION_THREADS, sizeof(*times->threads));
	if (times->threads)
		return 0;
	return tp_err_memory(err, NULL);
}

void tp_cpu_times_release(struct tp_cpu_times *times)
{
	if (times->folder >= 0)
		close(times->folder);
	times->folder = -1;
	free(times->threads);
	free(times->bases);
	times->threads = NULL;
	times->bases = NULL;
	times->base_count = 0;
	pthread_mutex_destroy(&times->lock);
}

// The log says whose it is, and may say anything: that one must have the log mapped, or be ENDED.
static bool find_process(struct tp_cpu_times *times, pid_t ended)
{
	const uint64_t told = tp_load_acquire(&times->region->header->pid);
	if (times->pid) {
		times->has_tasks = told == (uint64_t)times->pid;
		return !times->hidden;
	}
	if (times->hidden || !told)
		return false;
	struct stat log;
	times->hidden = told > INT_MAX || fstat(times->region->fd, &log);
	if (times->hidden)
		return false;
	const struct tp_mapped file = {.device = log.st_dev, .inode = log.st_ino};
	if ((pid_t)told != ended && tp_proc_maps((pid_t)told, &file) <= 0) {
		times->hidden = ++times->missed == MISSED_MOST;
		return false;
	}
	times->pid = (pid_t)told;
	open_folder(times);
	times->has_tasks = true;
	return !times->hidden;
}

// Whether there was something to read.
static bool look_at_thread(struct tp_cpu_times *times, uint32_t number, bool ended)
{
	const struct teeperf_thread *slot = &times->region->threads[number];
	struct tp_cpu_seen *seen = &times->threads[number];
	const uint64_t tid = tp_load_acquire(&slot->os_tid);
	const bool first = tid == (uint64_t)times->pid;
	if (!tid || tid > INT_MAX || seen->gone ||
	    (tp_load_relaxed(&slot->ended) && !(ended && first)))
		return false;
	uint64_t cpu_ns;
	uint64_t delay_ns;
	const int error = read_task(times->folder, (pid_t)tid, &cpu_ns, &delay_ns);
	const struct tp_cpu_base base = base_of(times, tid, error ? 0 : cpu_ns);
	if (!error)
		cpu_ns -= base.cpu_ns;
	// Fewer than before: the number is another thread's now.
	seen->gone = error == ENOENT || error == ESRCH || (!error && cpu_ns < seen->cpu_ns);
	if (error || seen->gone)
		return true;
	seen->cpu_ns = cpu_ns;
	seen->delay_ns = delay_ns - (delay_ns < base.delay_ns ? delay_ns : base.delay_ns);
	seen->exact = ended && first;
	return true;
}

static void look_at_process(struct tp_cpu_times *times, bool ended)
{
	const uint64_t cpu_ns = tp_cpu_times_of(times->pid);
	if (cpu_ns < times->base_ns + times->cpu_ns || !cpu_ns || times->exact)
		return;
	times->cpu_ns = cpu_ns - times->base_ns;
	times->seen_ns = tp_clock_monotonic_ns();
	times->exact = ended;
}

static uint32_t thread_count(const struct tp_cpu_times *times)
{
	const uint64_t told = tp_load_acquire(&times->region->header->thread_count);
	const uint32_t room = times->region->thread_capacity;
	return told < room ? (uint32_t)told : room;
}

// Some threads, from the one on at which the last look ended.
static void look_at_some(struct tp_cpu_times *times)
{
	const uint32_t count = thread_count(times);
	uint32_t read = 0;
	for (uint32_t i = 0; i < count && i < LOOK_SLOTS && read < LOOK_THREADS; i++) {
		if (times->at >= count)
			times->at = 0;
		read += look_at_thread(times, times->at++, false);
	}
}

void tp_cpu_times_look(struct tp_cpu_times *times)
{
	const uint64_t now = tp_clock_monotonic_ns();
	pthread_mutex_lock(&times->lock);
	if (now >= times->next_ns && find_process(times, 0)) {
		const uint64_t before = tp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		look_at_process(times, false);
		if (times->has_tasks)
			look_at_some(times);
		const uint64_t rest = LOOK_SHARE * (tp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
		times->next_ns = now + (rest > LOOK_NS ? rest : LOOK_NS);
	}
	pthread_mutex_unlock(&times->lock);
}

uint64_t tp_cpu_times_now(struct tp_cpu_times *times)
{
	pthread_mutex_lock(&times->lock);
	if (find_process(times, 0))
		look_at_process(times, false);
	const uint64_t cpu_ns = times->cpu_ns;
	pthread_mutex_unlock(&times->lock);
	return cpu_ns;
}

void tp_cpu_times_join(struct tp_cpu_times *times, pid_t pid)
{
	pthread_mutex_lock(&times->lock);
	times->pid = pid;
	times->hidden = false;
	times->late = true;
	times->start_ns = times->next_ns = tp_clock_monotonic_ns();
	open_folder(times);
	times->base_ns = tp_cpu_times_of(pid);
	find_bases(times);
	pthread_mutex_unlock(&times->lock);
}

void tp_cpu_times_look_all(struct tp_cpu_times *times)
{
	pthread_mutex_lock(&times->lock);
	if (find_process(times, 0)) {
		const uint32_t count = times->has_tasks ? thread_count(times) : 0;
		look_at_process(times, false);
		for (uint32_t i = 0; i < count; i++)
			look_at_thread(times, i, false);
	}
	pthread_mutex_unlock(&times->lock);
}

void tp_cpu_times_look_last(struct tp_cpu_times *times, pid_t pid)
{
	pthread_mutex_lock(&times->lock);
	if (find_process(times, pid) && times->pid == pid) {
		const uint32_t count = times->has_tasks ? thread_count(times) : 0;
		look_at_process(times, true);
		for (uint32_t i = 0; i < count; i++)
			look_at_thread(times, i, true);
	}
	pthread_mutex_unlock(&times->lock);
}

// The times that the thread reported when it ended, combined with those that were seen.
static struct teeperf_trace_cpu_thread entry_of(
    const struct tp_cpu_times *times, const struct teeperf_thread *thread, uint32_t number)
{
	const struct tp_cpu_seen *seen = &times->threads[number];
	struct teeperf_trace_cpu_thread entry = {
	    .thread = number, .cpu_ns = seen->cpu_ns, .delay_ns = seen->delay_ns};
	uint64_t told = thread->cpu_ns;
	// Of all its life; in another world of numbers nothing says what it had before.
	if (times->has_tasks)
		told -= base_of(times, thread->os_tid, told).cpu_ns;
	else if (times->late)
		told = 0;
	// A thread cannot have had more than all of them.
	if (times->exact && told > times->cpu_ns)
		told = 0;
	if (entry.cpu_ns)
		entry.flags = TEEPERF_CPU_DELAY;
	if (told > entry.cpu_ns)
		entry.cpu_ns = told;
	if (entry.cpu_ns)
		entry.flags |= seen->exact || (told && thread->ended) ? TEEPERF_CPU_EXACT
								      : TEEPERF_CPU_AT_LEAST;
	return entry;
}

void tp_cpu_times_add(struct tp_cpu_times *times, const struct teeperf_thread *table,
    uint32_t count, struct tp_buf *out)
{
	struct teeperf_trace_cpu process = {0};
	const size_t start = out->size;
	uint64_t sum = 0;
	pthread_mutex_lock(&times->lock);
	if (times->cpu_ns) {
		process.cpu_ns = times->cpu_ns;
		process.wall_ns = times->seen_ns - times->start_ns;
		process.flags = times->exact ? TEEPERF_CPU_EXACT : TEEPERF_CPU_AT_LEAST;
	}
	tp_buf_add(out, &process, sizeof(process));
	for (uint32_t i = 0; i < count; i++) {
		const struct teeperf_trace_cpu_thread entry = entry_of(times, &table[i], i);
		if (!table[i].os_tid || !entry.flags)
			continue;
		tp_buf_add(out, &entry, sizeof(entry));
		process.thread_count++;
		sum = sum + entry.cpu_ns < sum ? UINT64_MAX : sum + entry.cpu_ns;
	}
	// Threads have reported their ends after the last look.
	if (process.flags == TEEPERF_CPU_AT_LEAST && sum > process.cpu_ns)
		process.cpu_ns = sum;
	pthread_mutex_unlock(&times->lock);
	if (out->failed || (!process.flags && !process.thread_count)) {
		out->size = start;
		return;
	}
	memcpy(out->data + start, &process, sizeof(process));
}
