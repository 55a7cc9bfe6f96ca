// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When the threads of the program got a processor and lost it.
#define _GNU_SOURCE
#include "sched.h"

#include "recorder/clock/host_clock.h"

#include "common/array.h"
#include "common/hash.h"
#include "common/index.h"

#include <teeperf/atomic.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Of a ring: half a second at 10,000 switches a second on one processor; less for each of the other
 * processes of a recording. An ordinary user may have about 512 KiB for each processor
 * (perf_event_mlock_kb), of all that he records at a time.
 */
enum { RING_BYTES = 256 << 10, RING_BYTES_FOLLOWED = 32 << 10, RING_BYTES_LEAST = 8 << 10 };
// Descriptors that are left for what a recording cannot do without.
enum { DESCRIPTORS_LEFT = 128 };

// Larger records of other kinds are passed over by their size.
struct record {
	struct perf_event_header header;
	union {
		struct {
			uint32_t pid;
			uint32_t tid;
			uint64_t time_ns;
		} change;
		struct {
			uint32_t pid;
			uint32_t parent_pid;
			uint32_t tid;
			uint32_t parent_tid;
			uint64_t time_ns;
		} life; // FORK and EXIT
		struct {
			uint64_t id;
			uint64_t count;
		} lost;
		struct {
			uint32_t pid;
			uint32_t tid;
			char rest[32]; // the name, which ends somewhere, thread and time
		} name;
	};
};

// The beginning of a PERF_RECORD_MMAP2. The path of the file follows, and thread and time.
struct mapping {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	uint64_t address;
	uint64_t size;
	uint64_t offset;
	uint64_t file[3]; // device, inode, and its generation
	uint64_t access;
};

// Of THREADS alone, or of children as well; MAPS: also which files they execute.
static int open_event(pid_t pid, int cpu, bool threads, bool maps)
{
	struct perf_event_attr attr = {
	    .size = sizeof(attr),
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	    .sample_id_all = 1,
	    .inherit = 1,
	    .inherit_thread = threads,
	    .context_switch = 1,
	    .task = 1,
	    .comm = 1,
	    .comm_exec = 1,
	    .mmap = maps,
	    .mmap2 = maps,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC_RAW,
	    .watermark = 1,
	    .wakeup_watermark = UINT32_MAX, // nobody waits
	};
	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

// The largest available ring of at most MOST bytes; false: none, and errno has the reason.
static bool map_ring(struct tp_sched_ring *ring, uint64_t most)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	for (ring->size = most; ring->size >= RING_BYTES_LEAST && ring->size >= page;
	     ring->size /= 2) {
		void *map =
		    mmap(NULL, page + ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
		if (map != MAP_FAILED) {
			ring->page = map;
			return true;
		}
		if (errno != EPERM)
			return false;
	}
	return false;
}

static void close_ring(const struct tp_sched_ring *ring)
{
	if (ring->page)
		munmap(ring->page, (uint64_t)sysconf(_SC_PAGESIZE) + ring->size);
	close(ring->fd);
}

static bool is_one_too_many(int fd)
{
	struct rlimit limit;
	return !getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	       (rlim_t)fd + DESCRIPTORS_LEFT > limit.rlim_cur;
}

static int refuse(struct tp_sched *sched, int error, bool mapped)
{
	tp_sched_close(sched);
	const char *remedy = "";
	if (mapped && error == EPERM)
		remedy =
		    "; raise 'sysctl kernel.perf_event_mlock_kb', or record fewer programs at a "
		    "time";
	else if (error == EACCES || error == EPERM)
		remedy = "; 'sysctl kernel.perf_event_paranoid=2' permits it";
	else if (error == EMFILE)
		remedy = "; raise the limit of open files (ulimit -n)";
	return tp_err_set(&sched->refused, TP_ERR_SYSTEM, NULL,
	    "the kernel does not report thread switches: %s%s", strerror(error), remedy);
}

// A ring for each processor, and the events of thread TID: 0 or an errno, and some of them may be
// there.
static int open_rings(struct tp_sched *sched, pid_t tid, enum tp_sched_scope scope, bool *unmapped)
{
	const long count = sysconf(_SC_NPROCESSORS_CONF);
	const bool maps = scope == TP_SCHED_FAMILY;
	bool threads = !maps;
	tp_buf_init(&sched->switches);
	sched->rings = calloc(count > 0 ? (size_t)count : 1, sizeof(*sched->rings));
	if (!sched->rings)
		return ENOMEM;
	for (int cpu = 0; cpu < count; cpu++) {
		struct tp_sched_ring *ring = &sched->rings[sched->ring_count];
		*ring = (struct tp_sched_ring){.cpu = (uint32_t)cpu};
		ring->fd = open_event(tid, cpu, threads, maps);
		if (ring->fd < 0 && threads && errno == EINVAL) {
			threads = false;
			ring->fd = open_event(tid, cpu, threads, maps);
		}
		if (ring->fd < 0 && errno == ENODEV)
			continue; // switched off
		if (ring->fd < 0)
			return errno;
		sched->ring_count++;
		if (is_one_too_many(ring->fd))
			return EMFILE;
		*unmapped = !map_ring(ring,
		    sched->joining || scope == TP_SCHED_FAMILY ? RING_BYTES : RING_BYTES_FOLLOWED);
		if (*unmapped)
			return errno;
	}
	return sched->ring_count ? 0 : ENODEV;
}

static void begin(struct tp_sched *sched)
{
	sched->from_ns = tp_clock_monotonic_ns();
	tp_store32_release(&sched->open, 1);
}

int tp_sched_open(struct tp_sched *sched, pid_t pid, enum tp_sched_scope scope)
{
	bool unmapped = false;
	const int error = open_rings(sched, pid, scope, &unmapped);
	if (error)
		return refuse(sched, error, unmapped);
	sched->sees_family = scope == TP_SCHED_FAMILY;
	begin(sched);
	return 0;
}

void tp_sched_close(struct tp_sched *sched)
{
	for (uint32_t i = 0; i < sched->ring_count; i++)
		close_ring(&sched->rings[i]);
	for (uint32_t i = 0; i < sched->more_count; i++)
		close(sched->more[i]);
	free(sched->more);
	sched->more = NULL;
	sched->more_count = sched->more_room = 0;
	if (sched->rings)
		tp_buf_release(&sched->switches);
	if (sched->sees_family)
		tp_programs_settle(&sched->programs, UINT64_MAX);
	tp_programs_release(&sched->programs);
	free(sched->rings);
	sched->rings = NULL;
	sched->ring_count = 0;
	sched->open = 0;
}

// Copy SIZE bytes at place AT of the ring, which may run over its end.
static void copy_out(
    const struct tp_sched_ring *ring, const char *data, uint64_t at, void *to, uint64_t size)
{
	const uint64_t start = at & (ring->size - 1);
	const uint64_t first = size < ring->size - start ? size : ring->size - start;
	memcpy(to, data + start, first);
	memcpy((char *)to + first, data, size - first);
}

static enum teeperf_sched_kind kind_of(uint16_t misc)
{
	if (!(misc & PERF_RECORD_MISC_SWITCH_OUT))
		return TEEPERF_SCHED_ON;
	return misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? TEEPERF_SCHED_PREEMPTED
							  : TEEPERF_SCHED_BLOCKED;
}

/*
 * Threads of a process that ran already, and when each was added: a thread made later has inherited
 * the events. A thread made while those of its maker were being opened may have inherited them on
 * some processors only, so it gets its own.
 */
struct tp_sched_joining {
	struct tp_sched_member {
		uint32_t tid;
		uint64_t told_ns; // on all processors from then on
	} * members;
	uint32_t count;
	uint32_t room;
	struct tp_index index; // by tid: a program may have thousands
	bool failed;           // for want of memory
	bool unmapped;         // a ring had no memory
};

static const struct tp_sched_member *find_member(
    const struct tp_sched_joining *joining, uint32_t tid)
{
	if (!joining->count)
		return NULL;
	const uint32_t *slot = tp_index_first(&joining->index, tid);
	while (*slot && joining->members[*slot - 1].tid != tid)
		slot = tp_index_next(&joining->index, slot);
	return *slot ? &joining->members[*slot - 1] : NULL;
}

static uint32_t hash_member(const void *joining, uint32_t number)
{
	return ((const struct tp_sched_joining *)joining)->members[number - 1].tid;
}

static void add_member(struct tp_sched_joining *joining, uint32_t tid, uint64_t told_ns)
{
	if (find_member(joining, tid))
		return;
	if (!TP_GROW(joining->members, joining->room, joining->count + UINT64_C(1)) ||
	    !tp_index_reserve(&joining->index, joining->count, hash_member, joining)) {
		joining->failed = true;
		return;
	}
	uint32_t *slot = tp_index_first(&joining->index, tid);
	while (*slot)
		slot = tp_index_next(&joining->index, slot);
	joining->members[joining->count++] = (struct tp_sched_member){tid, told_ns};
	*slot = joining->count;
}

static void note_fork(struct tp_sched_joining *joining, const struct record *record)
{
	const struct tp_sched_member *maker = find_member(joining, record->life.parent_tid);
	if (maker && record->life.time_ns >= maker->told_ns)
		add_member(joining, record->life.tid, record->life.time_ns);
}

static void add_switch(struct tp_sched *sched, const struct teeperf_trace_sched_switch *item)
{
	tp_buf_add(&sched->switches, item, sizeof(*item));
	sched->lost += sched->switches.failed;
}

static void take_fork(struct tp_sched *sched, const struct record *record)
{
	if (sched->joining)
		note_fork(sched->joining, record);
	if (sched->sees_family && record->life.pid != record->life.parent_pid)
		tp_programs_add(
		    &sched->programs, &(struct tp_programs_event){.time_ns = record->life.time_ns,
					  .kind = TP_PROGRAMS_FORK,
					  .pid = record->life.pid,
					  .parent = record->life.parent_pid});
}

// Of a record with SIZE bytes at place AT.
static void take_mapping(
    struct tp_sched *sched, const struct tp_sched_ring *ring, uint64_t at, uint64_t size)
{
	const char *data = (const char *)ring->page + sysconf(_SC_PAGESIZE);
	struct mapping mapping;
	char path[PATH_MAX + 64];
	uint64_t time_ns;
	const uint64_t behind = sizeof(uint64_t) + sizeof(time_ns); // thread and time
	if (!sched->sees_family || size < sizeof(mapping) + behind ||
	    size - sizeof(mapping) - behind >= sizeof(path))
		return;
	copy_out(ring, data, at, &mapping, sizeof(mapping));
	copy_out(ring, data, at + size - sizeof(time_ns), &time_ns, sizeof(time_ns));
	size -= sizeof(mapping) + behind;
	copy_out(ring, data, at + sizeof(mapping), path, size);
	path[size] = '\0';
	tp_programs_map(&sched->programs, time_ns, mapping.pid, path,
	    tp_hash_string(
		tp_hash_bytes(TEEPERF_HASH_START, mapping.file, sizeof(mapping.file)), path));
}

static void take_record(struct tp_sched *sched, const struct tp_sched_ring *ring,
    const struct record *record, pid_t process)
{
	struct teeperf_trace_sched_switch item = {.cpu = (uint16_t)ring->cpu};
	const size_t size = record->header.size;
	bool goes_on = false; // as another program
	uint32_t pid;
	switch (record->header.type) {
	case PERF_RECORD_SWITCH:
		pid = record->change.pid;
		item.os_tid = record->change.tid;
		item.time_ns = record->change.time_ns;
		item.kind = (uint16_t)kind_of(record->header.misc);
		break;
	case PERF_RECORD_EXIT:
		// It goes on for a while in the kernel, and no switch tells when it is gone.
		pid = record->life.pid;
		item.os_tid = record->life.tid;
		item.time_ns = record->life.time_ns;
		item.kind = TEEPERF_SCHED_ENDED;
		break;
	case PERF_RECORD_COMM:
		goes_on = record->header.misc & PERF_RECORD_MISC_COMM_EXEC;
		if (!goes_on || size < sizeof(item.time_ns) || size > sizeof(*record))
			return;
		pid = record->name.pid;
		item.os_tid = record->name.tid;
		memcpy(&item.time_ns, (const char *)record + size - sizeof(item.time_ns),
		    sizeof(item.time_ns));
		item.kind = TEEPERF_SCHED_ENDED;
		if (sched->sees_family)
			tp_programs_add(&sched->programs,
			    &(struct tp_programs_event){
				.time_ns = item.time_ns, .kind = TP_PROGRAMS_EXEC, .pid = pid});
		break;
	case PERF_RECORD_FORK:
		take_fork(sched, record);
		return;
	case PERF_RECORD_LOST:
		sched->lost += record->lost.count;
		return;
	default:
		return;
	}
	if (process && pid != (uint32_t)process)
		return;
	add_switch(sched, &item);
	if (goes_on) {
		item.kind = TEEPERF_SCHED_ON;
		add_switch(sched, &item);
	}
}

static void take_ring(struct tp_sched *sched, const struct tp_sched_ring *ring, pid_t process)
{
	const char *data = (const char *)ring->page + sysconf(_SC_PAGESIZE);
	uint64_t at = ring->page->data_tail;
	const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	while (head - at >= sizeof(struct perf_event_header)) {
		struct record record = {0};
		copy_out(ring, data, at, &record.header, sizeof(record.header));
		const uint64_t size = record.header.size;
		if (size < sizeof(record.header) || size > head - at)
			break;
		copy_out(ring, data, at, &record, size < sizeof(record) ? size : sizeof(record));
		if (record.header.type == PERF_RECORD_MMAP2)
			take_mapping(sched, ring, at, size);
		else
			take_record(sched, ring, &record, process);
		at += size;
	}
	__atomic_store_n(&ring->page->data_tail, at, __ATOMIC_RELEASE);
}

// Keep the newer half. The rings were taken one behind the other, so the known switches begin after
// the last one that is removed.
static void forget_old(struct tp_sched *sched)
{
	struct tp_buf *buf = &sched->switches;
	struct teeperf_trace_sched_switch item;
	const size_t gone = buf->size / sizeof(item) / 2 * sizeof(item);
	for (size_t i = 0; i < gone; i += sizeof(item)) {
		memcpy(&item, buf->data + i, sizeof(item));
		if (item.time_ns > sched->from_ns)
			sched->from_ns = item.time_ns;
	}
	memmove(buf->data, buf->data + gone, buf->size - gone);
	buf->size -= gone;
}

static void take_rings(struct tp_sched *sched, pid_t process)
{
	for (uint32_t i = 0; i < sched->ring_count; i++)
		take_ring(sched, &sched->rings[i], process);
}

void tp_sched_take(struct tp_sched *sched, pid_t process)
{
	if (!tp_load32_acquire(&sched->open))
		return;
	const uint64_t now_ns = tp_clock_monotonic_ns();
	take_rings(sched, process);
	if (sched->sees_family)
		tp_programs_settle(&sched->programs, now_ns);
	if (sched->most && sched->switches.size > sched->most)
		forget_old(sched);
}

// ---- a process that runs already

static void close_more(struct tp_sched *sched, uint32_t from)
{
	while (sched->more_count > from)
		close(sched->more[--sched->more_count]);
}

// Its records go to the rings that are there. 0 or an errno.
static int open_thread(struct tp_sched *sched, pid_t tid)
{
	const uint32_t before = sched->more_count;
	int error = 0;
	if (!TP_GROW(sched->more, sched->more_room, before + (uint64_t)sched->ring_count))
		return ENOMEM;
	for (uint32_t i = 0; !error && i < sched->ring_count; i++) {
		const struct tp_sched_ring *ring = &sched->rings[i];
		int fd = open_event(tid, (int)ring->cpu, true, false);
		if (fd < 0 && errno == EINVAL)
			fd = open_event(tid, (int)ring->cpu, false, false);
		error = fd < 0 ? errno : 0;
		if (error)
			break;
		sched->more[sched->more_count++] = fd;
		if (is_one_too_many(fd))
			error = EMFILE;
		else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd))
			error = errno;
	}
	if (error)
		close_more(sched, before);
	return error;
}

// A thread that ends meanwhile is no error.
static int join_thread(struct tp_sched *sched, struct tp_sched_joining *joining, pid_t tid)
{
	const bool is_first = !sched->ring_count;
	int error = 0;
	if (!is_first)
		error = open_thread(sched, tid);
	else
		error = open_rings(sched, tid, TP_SCHED_THREADS, &joining->unmapped);
	if (error && is_first)
		tp_sched_close(sched);
	if (!error || error == ESRCH)
		add_member(joining, (uint32_t)tid, error ? UINT64_MAX : tp_clock_monotonic_ns());
	return error == ESRCH ? 0 : error;
}

// Join the existing threads that were not reported. Returns their number, or a negative errno.
static int join_threads(struct tp_sched *sched, struct tp_sched_joining *joining, pid_t pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	if (!folder)
		return -ESRCH;
	int joined = 0;
	for (struct dirent *entry; joined >= 0 && (entry = readdir(folder));) {
		const pid_t tid = (pid_t)atoi(entry->d_name);
		if (tid <= 0)
			continue;
		// A thread that inherited the events was reported before it could be listed, or at
		// almost the same time.
		take_rings(sched, pid);
		if (find_member(joining, (uint32_t)tid))
			continue;
		const int error = join_thread(sched, joining, tid);
		joined = error ? -error : joined + 1;
	}
	closedir(folder);
	return joining->failed ? -ENOMEM : joined;
}

int tp_sched_join(struct tp_sched *sched, pid_t pid)
{
	struct tp_sched_joining joining = {0};
	int joined;
	sched->joining = &joining;
	do
		joined = join_threads(sched, &joining, pid);
	while (joined > 0);
	sched->joining = NULL;
	free(joining.members);
	tp_index_release(&joining.index);
	if (joined < 0 || !sched->ring_count)
		return refuse(sched, joined < 0 ? -joined : ESRCH, joining.unmapped);
	begin(sched);
	return 0;
}

uint64_t tp_sched_bytes(const struct tp_sched *sched)
{
	return tp_load32_acquire(&sched->open) ? sched->switches.size : 0;
}

void tp_sched_drop(struct tp_sched *sched)
{
	sched->lost += sched->switches.size / sizeof(struct teeperf_trace_sched_switch);
	if (sched->rings)
		tp_buf_reset(&sched->switches);
}

void tp_sched_give_back(struct tp_sched *sched, const struct tp_buf *section)
{
	struct teeperf_trace_sched head;
	if (sched->most || section->size < sizeof(head))
		return; // it has them still
	memcpy(&head, section->data, sizeof(head));
	sched->lost +=
	    head.lost + (section->size - sizeof(head)) / sizeof(struct teeperf_trace_sched_switch);
}

void tp_sched_add(struct tp_sched *sched, struct tp_buf *out)
{
	if (!tp_load32_acquire(&sched->open) || (!sched->switches.size && !sched->lost))
		return;
	const struct teeperf_trace_sched section = {
	    .from_ns = sched->from_ns,
	    .lost = sched->lost,
	};
	tp_buf_add(out, &section, sizeof(section));
	tp_buf_add(out, sched->switches.data, sched->switches.size);
	if (sched->most)
		return;
	tp_buf_reset(&sched->switches);
	sched->switches.failed = false;
	sched->lost = 0;
}
