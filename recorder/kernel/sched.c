// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When the threads of the program got a processor and lost it.
#define _GNU_SOURCE
#include "sched.h"

#include "recorder/clock/host_clock.h"

#include <teeperf/atomic.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Of a ring: half a second at 10,000 switches a second on one processor; less for each of the other processes of a recording. An
 * ordinary user may have about 512 KiB for each processor (perf_event_mlock_kb), of all that he records at a time.
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
			uint64_t id;
			uint64_t count;
		} lost;
	};
};

static int open_event(pid_t pid, int cpu, bool threads)
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
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC_RAW,
	    .watermark = 1,
	    .wakeup_watermark = UINT32_MAX, // nobody waits
	};
	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

// The largest ring that is to be had, of MOST bytes; false: none, and errno says why.
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
		    "; raise 'sysctl kernel.perf_event_mlock_kb', or record fewer programs at a time";
	else if (error == EACCES || error == EPERM)
		remedy = "; 'sysctl kernel.perf_event_paranoid=2' permits it";
	else if (error == EMFILE)
		remedy = "; raise the limit of open files (ulimit -n)";
	return tp_err_set(&sched->refused, TP_ERR_SYSTEM, NULL,
	    "the kernel does not tell of thread switches: %s%s", strerror(error), remedy);
}

int tp_sched_open(struct tp_sched *sched, pid_t pid, enum tp_sched_scope scope)
{
	const long count = sysconf(_SC_NPROCESSORS_CONF);
	bool threads = scope == TP_SCHED_THREADS;
	tp_buf_init(&sched->switches);
	sched->rings = calloc(count > 0 ? (size_t)count : 1, sizeof(*sched->rings));
	if (!sched->rings)
		return tp_err_memory(&sched->refused, NULL);
	for (int cpu = 0; cpu < count; cpu++) {
		struct tp_sched_ring *ring = &sched->rings[sched->ring_count];
		*ring = (struct tp_sched_ring){.cpu = (uint32_t)cpu};
		ring->fd = open_event(pid, cpu, threads);
		if (ring->fd < 0 && threads && errno == EINVAL) {
			threads = false;
			ring->fd = open_event(pid, cpu, threads);
		}
		if (ring->fd < 0 && errno == ENODEV)
			continue; // switched off
		if (ring->fd < 0)
			return refuse(sched, errno, false);
		sched->ring_count++;
		if (is_one_too_many(ring->fd))
			return refuse(sched, EMFILE, false);
		if (!map_ring(ring, scope == TP_SCHED_FAMILY ? RING_BYTES : RING_BYTES_FOLLOWED))
			return refuse(sched, errno, true);
	}
	if (!sched->ring_count)
		return refuse(sched, ENODEV, false);
	sched->from_ns = tp_clock_monotonic_ns();
	tp_store32_release(&sched->open, 1);
	return 0;
}

void tp_sched_close(struct tp_sched *sched)
{
	for (uint32_t i = 0; i < sched->ring_count; i++)
		close_ring(&sched->rings[i]);
	if (sched->rings)
		tp_buf_release(&sched->switches);
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

static void take_record(struct tp_sched *sched, const struct tp_sched_ring *ring,
    const struct record *record, pid_t process)
{
	if (record->header.type == PERF_RECORD_LOST)
		sched->lost += record->lost.count;
	if (record->header.type != PERF_RECORD_SWITCH ||
	    (process && record->change.pid != (uint32_t)process))
		return;
	const uint16_t misc = record->header.misc;
	const struct teeperf_trace_sched_switch item = {
	    .time_ns = record->change.time_ns,
	    .os_tid = record->change.tid,
	    .kind =
		(uint16_t)(!(misc & PERF_RECORD_MISC_SWITCH_OUT)        ? TEEPERF_SCHED_ON
			   : misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? TEEPERF_SCHED_PREEMPTED
									: TEEPERF_SCHED_BLOCKED),
	    .cpu = (uint16_t)ring->cpu,
	};
	tp_buf_add(&sched->switches, &item, sizeof(item));
	sched->lost += sched->switches.failed;
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
		take_record(sched, ring, &record, process);
		at += size;
	}
	__atomic_store_n(&ring->page->data_tail, at, __ATOMIC_RELEASE);
}

// Keep the newer half. The rings were taken one behind the other, so what is known begins behind all that goes.
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

void tp_sched_take(struct tp_sched *sched, pid_t process)
{
	if (!tp_load32_acquire(&sched->open))
		return;
	for (uint32_t i = 0; i < sched->ring_count; i++)
		take_ring(sched, &sched->rings[i], process);
	if (sched->most && sched->switches.size > sched->most)
		forget_old(sched);
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
