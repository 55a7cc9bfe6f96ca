// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads the BPF programs and takes what they tell.
#define _GNU_SOURCE
#include "bpf.h"

#include "recorder/clock/host_clock.h"

#include "common/array.h"
#include "common/sgx_functions.h"
#include "common/system_calls.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { RING_BYTES = 16 << 20, RING_BYTES_LEAST = 64 << 10 };
static const uint64_t MOMENTS_NS = 50 * 1000 * 1000;
// A thread's state is in use for less than a microsecond. Without memory it stays as it is.
enum { WALK_TRIES = 100, WALK_NAP_NS = 1000 * 1000 };
#define BTF_FILE "/sys/kernel/btf/vmlinux"
#define REMEDY                                                                  \
	"run 'teeperf record' as root, or once 'setcap cap_bpf,cap_perfmon+ep " \
	"TEEPERF' with its path"

// ---- clocks

static struct tp_bpf_moment moment(void)
{
	struct tp_bpf_moment best = {0};
	uint64_t least = UINT64_MAX;
	// The narrowest of some tries: we may lose the processor between two looks.
	for (int i = 0; i < 4; i++) {
		const uint64_t before = tp_clock_ns(CLOCK_MONOTONIC);
		const uint64_t raw = tp_clock_monotonic_ns();
		const uint64_t width = tp_clock_ns(CLOCK_MONOTONIC) - before;
		if (width < least) {
			least = width;
			best = (struct tp_bpf_moment){before + width / 2, raw};
		}
	}
	return best;
}

// One more, in place of the last one if that came soon behind the one before it.
static void add_moment(struct tp_bpf *bpf)
{
	const struct tp_bpf_moment now = moment();
	const uint32_t count = bpf->moment_count;
	if (count > 1 && now.monotonic_ns < bpf->moments[count - 2].monotonic_ns + MOMENTS_NS)
		bpf->moments[count - 1] = now;
	else if (TP_GROW(bpf->moments, bpf->moment_room, bpf->moment_count + UINT64_C(1)))
		bpf->moments[bpf->moment_count++] = now;
}

// ---- opening

static int be_silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static int refuse(struct tp_bpf *bpf, int error, const char *what)
{
	if (bpf->missing.code && !bpf->head.groups) {
		bpf->refused = bpf->missing;
		return bpf->refused.code;
	}
	if (access(BTF_FILE, R_OK))
		return tp_err_set(&bpf->refused, TP_ERR_SYSTEM, NULL,
		    "cannot find '" BTF_FILE
		    "', which BPF programs need to read kernel structures: mount /sys, or use a "
		    "kernel built with CONFIG_DEBUG_INFO_BTF");
	if (error == EPERM || error == EACCES)
		return tp_err_set(&bpf->refused, TP_ERR_SYSTEM, NULL,
		    "this user may not load BPF programs: " REMEDY);
	return tp_err_system(&bpf->refused, error, NULL, "cannot %s the BPF programs", what);
}

static void choose_calls(struct tp_bpf_settings *settings, uint32_t groups)
{
	struct utsname name;
	if (uname(&name))
		return;
	for (uint32_t i = 0; i < TP_BPF_CALLS; i++) {
		const struct tp_system_call *call = tp_system_call_here(i);
		const bool is_futex = call && call->use == TP_SYSTEM_CALL_FUTEX;
		const bool is_io = call && tp_system_call_moves(call);
		const bool is_wanted = (groups & TEEPERF_SYSTEM_SYSCALLS) ||
				       ((groups & TEEPERF_SYSTEM_IO) && is_io) ||
				       ((groups & TEEPERF_SYSTEM_SCHED) && is_futex);
		// Only timers and signals end these.
		const bool is_sleep = call && strstr(call->name, "nanosleep");
		if (call && call->use == TP_SYSTEM_CALL_ENDS)
			continue;
		if (is_wanted)
			settings->calls[i] = is_futex ? TP_BPF_CALL_FUTEX : TP_BPF_CALL_RECORD;
		else if ((groups & TEEPERF_SYSTEM_SCHED) && !is_sleep)
			settings->calls[i] = TP_BPF_CALL_ENDED;
	}
}

static int choose(struct tp_bpf *bpf, uint32_t groups, enum tp_bpf_whose whose)
{
	struct stat ids;
	size_t size = 0;
	struct bpf_map *map = bpf_object__find_map_by_name(bpf->object, ".rodata");
	struct tp_bpf_settings *settings =
	    map ? (void *)(uintptr_t)bpf_map__initial_value(map, &size) : NULL;
	if (!settings || size < sizeof(*settings))
		return EINVAL;
	if (stat("/proc/self/ns/pid", &ids))
		return errno;
	settings->ids_device = ids.st_dev;
	settings->ids_inode = ids.st_ino;
	settings->recorder = whose == TP_BPF_JOINED ? 0 : (uint32_t)getpid();
	settings->follow = whose == TP_BPF_FAMILY;
	settings->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	settings->groups = groups;
	choose_calls(settings, groups);
	return 0;
}

// Runs when tp_bpf_join says so.
#define JOINER "on_task"
#define IN_CALLS \
	(TEEPERF_SYSTEM_SCHED | TEEPERF_SYSTEM_SYSCALLS | TEEPERF_SYSTEM_IO | TEEPERF_SYSTEM_MEM)
#define IN_FAULTS (TEEPERF_SYSTEM_FAULTS | TEEPERF_SYSTEM_MEM)

// Which groups need a program, by its name in events.bpf.c; those that are not here are always
// needed.
static const struct {
	const char *name;
	uint32_t groups;
	const char *tracepoint; // it can be done without; NULL: it cannot
} users[] = {
    {"on_waking", TEEPERF_SYSTEM_SCHED | TEEPERF_SYSTEM_SYSCALLS, NULL},
    {"on_call", IN_CALLS, NULL},
    {"on_return", IN_CALLS, NULL},
    {"on_exit", IN_CALLS, NULL},
    {"on_user_fault", IN_FAULTS, "btf_trace_page_fault_user"},
    {"on_kernel_fault", IN_FAULTS, "btf_trace_page_fault_kernel"},
    {"on_minor", IN_FAULTS, NULL},
    {"on_major", IN_FAULTS, NULL},
    {"on_kmalloc", TEEPERF_SYSTEM_MEM, NULL},
    {"on_cache_alloc", TEEPERF_SYSTEM_MEM, NULL},
    {"on_page_alloc", TEEPERF_SYSTEM_MEM, NULL},
    {"on_piece", TEEPERF_SYSTEM_IO, NULL},
    {"on_piece_before", TEEPERF_SYSTEM_IO, NULL},
    {"on_request", TEEPERF_SYSTEM_IO, NULL},
    {"on_completion", TEEPERF_SYSTEM_IO, NULL},
};

static bool is_wanted(
    const char *name, uint32_t groups, enum tp_bpf_whose whose, const struct btf *kernel)
{
	if (!strcmp(name, JOINER))
		return whose == TP_BPF_JOINED;
	// No call is of TP_BPF_CALL_ENDED where all are recorded.
	if (!strcmp(name, "on_switch"))
		return (groups & (TEEPERF_SYSTEM_SCHED | TEEPERF_SYSTEM_SYSCALLS)) ==
		       TEEPERF_SYSTEM_SCHED;
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		if (!strcmp(users[i].name, name))
			return (users[i].groups & groups) &&
			       (!users[i].tracepoint ||
				   btf__find_by_name_kind(
				       kernel, users[i].tracepoint, BTF_KIND_TYPEDEF) > 0);
	return true;
}

_Static_assert(TP_BPF_FUNCTIONS == TP_SGX_FUNCTIONS, "a pair of programs for each function");

// Give each pair of programs enter_N, leave_N its function, if the kernel has that. Whether there
// is any.
static bool choose_functions(
    struct tp_bpf *bpf, const char *const *functions, const struct btf *kernel)
{
	bool any = false;
	struct bpf_program *program;
	bpf_object__for_each_program(program, bpf->object)
	{
		const char *name = bpf_program__name(program);
		uint32_t number;
		if ((sscanf(name, "enter_%u", &number) != 1 &&
			sscanf(name, "leave_%u", &number) != 1) ||
		    number >= TP_BPF_FUNCTIONS)
			continue;
		const bool wanted =
		    functions && functions[number] &&
		    btf__find_by_name_kind(kernel, functions[number], BTF_KIND_FUNC) > 0 &&
		    !bpf_program__set_attach_target(program, 0, functions[number]);
		bpf_program__set_autoload(program, wanted);
		any |= wanted;
	}
	return any;
}

// 0, or an errno value. *FUNCTIONS becomes NULL if the kernel has none of them.
static int load(struct tp_bpf *bpf, uint32_t groups, enum tp_bpf_whose whose,
    const char *const **functions, uint32_t ring_bytes)
{
	const struct bpf_object_open_opts options = {
	    .sz = sizeof(options), .object_name = "teeperf"};
	bpf->object = bpf_object__open_mem(tp_bpf_object, tp_bpf_object_size, &options);
	if (!bpf->object)
		return errno;
	struct btf *kernel = btf__load_vmlinux_btf();
	if (!kernel) {
		const int missing = errno ? errno : ENOENT;
		bpf_object__close(bpf->object);
		bpf->object = NULL;
		return missing;
	}
	struct bpf_program *program;
	bpf_object__for_each_program(program, bpf->object) bpf_program__set_autoload(
	    program, is_wanted(bpf_program__name(program), groups, whose, kernel));
	if (!choose_functions(bpf, *functions, kernel))
		*functions = NULL;
	btf__free(kernel);
	struct bpf_map *ring = bpf_object__find_map_by_name(bpf->object, "ring");
	int error = ring ? -bpf_map__set_max_entries(ring, ring_bytes) : EINVAL;
	if (!error)
		error = choose(bpf, groups, whose);
	if (!error)
		error = -bpf_object__load(bpf->object);
	if (!error)
		return 0;
	bpf_object__close(bpf->object);
	bpf->object = NULL;
	return error;
}

static int keep_link(struct tp_bpf *bpf, struct bpf_link *link)
{
	if (!link)
		return errno;
	if (!TP_GROW(bpf->links, bpf->link_room, bpf->link_count + UINT64_C(1))) {
		bpf_link__destroy(link);
		return ENOMEM;
	}
	bpf->links[bpf->link_count++] = link;
	return 0;
}

// A program that is called at each software event COUNTER, of whichever process: on each processor
// that there is.
static int attach_counter(struct tp_bpf *bpf, struct bpf_program *program, uint64_t counter)
{
	struct perf_event_attr wanted = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(wanted),
	    .config = counter,
	    .sample_period = 1,
	};
	const int processors = libbpf_num_possible_cpus();
	int error = processors < 0 ? -processors : 0;
	for (int cpu = 0; !error && cpu < processors; cpu++) {
		const int fd =
		    (int)syscall(SYS_perf_event_open, &wanted, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ENODEV)
			continue; // it is not running
		error = fd < 0 ? errno : 0;
		if (!error) {
			struct bpf_link *link = bpf_program__attach_perf_event(program, fd);
			error = keep_link(bpf, link); // its descriptor, too
			if (error)
				close(fd);
		}
	}
	return error;
}

// 0, or an errno value.
static int attach(struct tp_bpf *bpf)
{
	struct bpf_program *program;
	int error = 0;
	bpf_object__for_each_program(program, bpf->object)
	{
		if (error || !bpf_program__autoload(program) ||
		    !strcmp(bpf_program__name(program), JOINER))
			continue;
		if (!strcmp(bpf_program__name(program), "on_minor"))
			error = attach_counter(bpf, program, PERF_COUNT_SW_PAGE_FAULTS_MIN);
		else if (!strcmp(bpf_program__name(program), "on_major"))
			error = attach_counter(bpf, program, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
		else
			error = keep_link(bpf, bpf_program__attach(program));
	}
	return error;
}

static int on_event(void *context, void *data, size_t size)
{
	struct tp_bpf *bpf = context;
	const struct teeperf_system_event *event = data;
	if (size != sizeof(*event) || event->kind >= TP_BPF_LOST)
		return 0;
	tp_buf_add(&bpf->taken, event, size);
	bpf->dropped[event->kind] += bpf->taken.failed;
	return 0;
}

// Functions that are unavailable do not affect the rest. 0, or an errno value.
static int load_any(
    struct tp_bpf *bpf, enum tp_bpf_whose whose, const char *const *functions, uint32_t ring_bytes)
{
	const uint32_t groups = bpf->head.groups;
	const char *const *found = groups & TEEPERF_SYSTEM_SGX ? functions : NULL;
	const bool wants = found != NULL;
	int error = load(bpf, groups, whose, &found, ring_bytes);
	int cause = 0;
	if (error && error != ENOMEM && found && groups != TEEPERF_SYSTEM_SGX) {
		cause = error;
		found = NULL;
		error = load(bpf, groups, whose, &found, ring_bytes);
	}
	if (error || !wants || found)
		return error;
	bpf->head.groups &= ~TEEPERF_SYSTEM_SGX;
	tp_err_set(&bpf->missing, TP_ERR_NOT_FOUND, NULL,
	    "%s%s%s: this needs Linux 5.11 with CONFIG_X86_SGX, CONFIG_DEBUG_INFO_BTF and "
	    "CONFIG_FUNCTION_TRACER, and a processor with SGX",
	    cause ? "the kernel does not allow tracing of its SGX driver ("
		  : "this kernel has no SGX driver",
	    cause ? strerror(cause) : "", cause ? ")" : "");
	if (bpf->head.groups)
		return 0;
	bpf_object__close(bpf->object);
	bpf->object = NULL;
	return ENXIO;
}

int tp_bpf_open(struct tp_bpf *bpf, uint32_t groups, enum tp_bpf_whose whose)
{
	return tp_bpf_open_functions(bpf, groups, whose, tp_sgx_functions);
}

int tp_bpf_open_functions(struct tp_bpf *bpf, uint32_t groups, enum tp_bpf_whose whose,
    const char *const functions[TP_BPF_FUNCTIONS])
{
	*bpf = (struct tp_bpf){.head.groups = groups};
	tp_buf_init(&bpf->taken);
	pthread_mutex_init(&bpf->lock, NULL);
	libbpf_set_print(be_silent);
	const char *what = "load";
	int error = ENOMEM;
	add_moment(bpf);
	for (uint32_t bytes = RING_BYTES;
	     bpf->moment_count && error == ENOMEM && bytes >= RING_BYTES_LEAST; bytes /= 4)
		error = load_any(bpf, whose, functions, bytes);
	if (!error) {
		struct bpf_map *ring = bpf_object__find_map_by_name(bpf->object, "ring");
		what = "start";
		bpf->ring = ring_buffer__new(bpf_map__fd(ring), on_event, bpf, NULL);
		error = bpf->ring ? 0 : errno;
	}
	if (!error && whose != TP_BPF_JOINED)
		error = attach(bpf);
	if (!error)
		return 0;
	const int code = refuse(bpf, error, what);
	bpf->head.groups = 0;
	tp_bpf_close(bpf);
	return code;
}

// Give the threads their states: how many have got one, or a negative errno; *LEFT have not.
static int walk(struct bpf_link *link, uint32_t *left)
{
	char bytes[256];
	const int fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		return -errno;
	int count = 0;
	ssize_t got;
	*left = 0;
	while ((got = read(fd, bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR))
		for (ssize_t i = 0; i < got; i++) {
			count += !bytes[i];
			*left += bytes[i] != 0;
		}
	const int error = got < 0 ? errno : 0;
	close(fd);
	return error ? -error : count;
}

// Until nobody is left: a thread that was made meanwhile has the state of its maker, if that had
// one. 0, or an errno value.
static int walk_all(struct tp_bpf *bpf, struct bpf_link *link)
{
	const struct timespec nap = {.tv_nsec = WALK_NAP_NS};
	uint32_t left = 0;
	int joined = 1;
	for (int tries = 0; joined > 0 || (!joined && left && ++tries < WALK_TRIES);) {
		if (tries)
			nanosleep(&nap, NULL);
		joined = walk(link, &left);
	}
	bpf->dropped[0] += joined ? 0 : left;
	return -joined;
}

int tp_bpf_join(struct tp_bpf *bpf, pid_t pid)
{
	// Not before: other processes would pay for it as long as nobody comes.
	const int unattached = attach(bpf);
	if (unattached)
		return refuse(bpf, unattached, "start");
	const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return refuse(bpf, errno, "start");
	union bpf_iter_link_info process;
	memset(&process, 0, sizeof(process));
	process.task.pid_fd = (uint32_t)pidfd;
	// The padding between its fields must be 0, too.
	LIBBPF_OPTS(
	    bpf_iter_attach_opts, options, .link_info = &process, .link_info_len = sizeof(process));
	struct bpf_link *link = bpf_program__attach_iter(
	    bpf_object__find_program_by_name(bpf->object, JOINER), &options);
	const int error = link ? walk_all(bpf, link) : errno;
	bpf_link__destroy(link);
	close(pidfd);
	if (!error)
		return 0;
	if (error == EINVAL)
		return tp_err_set(&bpf->refused, TP_ERR_SYSTEM, NULL,
		    "system events of a running program need Linux 6.1 or newer");
	return refuse(bpf, error, "start");
}

// ---- what they tell

static void convert(const struct tp_bpf *bpf, struct teeperf_system_event *event)
{
	const uint64_t end =
	    tp_bpf_raw_ns(bpf->moments, bpf->moment_count, event->start_ns + event->duration_ns);
	event->start_ns = tp_bpf_raw_ns(bpf->moments, bpf->moment_count, event->start_ns);
	event->duration_ns = end - event->start_ns;
	if (event->woken_ns)
		event->woken_ns = tp_bpf_raw_ns(bpf->moments, bpf->moment_count, event->woken_ns);
}

// To their readers, by the process.
static void give(struct tp_bpf *bpf)
{
	struct teeperf_system_event event;
	for (size_t at = 0; at + sizeof(event) <= bpf->taken.size; at += sizeof(event)) {
		memcpy(&event, bpf->taken.data + at, sizeof(event));
		convert(bpf, &event);
		struct tp_bpf_reader *reader = bpf->readers;
		while (reader && reader->process && reader->process != event.os_pid)
			reader = reader->next;
		if (reader)
			tp_buf_add(&reader->events, &event, sizeof(event));
		bpf->dropped[event.kind] += reader && reader->events.failed;
	}
	if (bpf->taken.failed)
		tp_buf_release(&bpf->taken); // there may be memory again
	tp_buf_reset(&bpf->taken);
}

static void count_lost(struct tp_bpf *bpf)
{
	uint64_t lost[TP_BPF_LOST];
	const int key = 0;
	struct bpf_map *map = bpf_object__find_map_by_name(bpf->object, ".bss");
	if (!map || bpf_map__value_size(map) != sizeof(lost) ||
	    bpf_map_lookup_elem(bpf_map__fd(map), &key, lost))
		return;
	for (int i = 0; i < TP_BPF_LOST; i++)
		lost[i] += bpf->dropped[i];
	bpf->head.lost_threads = lost[0] + lost[TEEPERF_SYSTEM_START];
	bpf->head.lost_calls = lost[TEEPERF_SYSTEM_CALL];
	bpf->head.lost_faults = lost[TEEPERF_SYSTEM_FAULT];
	bpf->head.lost_blocks = lost[TEEPERF_SYSTEM_BLOCK];
	bpf->head.lost_sgx = lost[TEEPERF_SYSTEM_DRIVER] < UINT32_MAX
				 ? (uint32_t)lost[TEEPERF_SYSTEM_DRIVER]
				 : UINT32_MAX;
	bpf->head.lost_allocations = lost[TEEPERF_SYSTEM_ALLOCATION];
}

// pre: the lock is held.
static void take(struct tp_bpf *bpf)
{
	if (!bpf->ring)
		return;
	const int taken = ring_buffer__consume(bpf->ring);
	// A wait may have begun long ago: moments are kept, some 20 a second.
	if (taken > 0 || tp_clock_ns(CLOCK_MONOTONIC) >
			     bpf->moments[bpf->moment_count - 1].monotonic_ns + MOMENTS_NS)
		add_moment(bpf);
	if (taken > 0)
		give(bpf);
}

void tp_bpf_take(struct tp_bpf *bpf)
{
	pthread_mutex_lock(&bpf->lock);
	take(bpf);
	pthread_mutex_unlock(&bpf->lock);
}

void tp_bpf_close(struct tp_bpf *bpf)
{
	if (!bpf->object)
		return;
	for (uint32_t i = 0; i < bpf->link_count; i++)
		bpf_link__destroy(bpf->links[i]);
	bpf->link_count = 0;
	tp_bpf_take(bpf);
	if (bpf->head.groups)
		count_lost(bpf);
	ring_buffer__free(bpf->ring);
	bpf->ring = NULL;
	bpf_object__close(bpf->object);
	bpf->object = NULL;
}

void tp_bpf_release(struct tp_bpf *bpf)
{
	tp_bpf_close(bpf);
	free(bpf->links);
	free(bpf->moments);
	tp_buf_release(&bpf->taken);
	*bpf = (struct tp_bpf){0};
}

// ---- readers

void tp_bpf_reader_init(struct tp_bpf_reader *reader, struct tp_bpf *bpf, uint32_t process)
{
	*reader = (struct tp_bpf_reader){.process = process};
	tp_buf_init(&reader->events);
	if (!bpf || !bpf->head.groups)
		return;
	pthread_mutex_lock(&bpf->lock);
	reader->bpf = bpf;
	reader->next = bpf->readers;
	bpf->readers = reader;
	pthread_mutex_unlock(&bpf->lock);
}

void tp_bpf_reader_release(struct tp_bpf_reader *reader)
{
	struct tp_bpf *bpf = reader->bpf;
	if (bpf) {
		pthread_mutex_lock(&bpf->lock);
		struct tp_bpf_reader **at = &bpf->readers;
		while (*at != reader)
			at = &(*at)->next;
		*at = reader->next;
		pthread_mutex_unlock(&bpf->lock);
	}
	tp_buf_release(&reader->events);
	*reader = (struct tp_bpf_reader){0};
}

void tp_bpf_reader_lose(struct tp_bpf_reader *reader, uint64_t count)
{
	if (!reader->bpf)
		return;
	pthread_mutex_lock(&reader->bpf->lock);
	reader->bpf->dropped[TEEPERF_SYSTEM_CALL] += count;
	reader->bpf->head.lost_calls += count;
	pthread_mutex_unlock(&reader->bpf->lock);
}

size_t tp_bpf_reader_bytes(const struct tp_bpf_reader *reader)
{
	if (!reader->bpf)
		return 0;
	pthread_mutex_lock(&reader->bpf->lock);
	const size_t size = sizeof(reader->bpf->head) + reader->events.size;
	pthread_mutex_unlock(&reader->bpf->lock);
	return size;
}

void tp_bpf_reader_add(struct tp_bpf_reader *reader, struct tp_buf *out)
{
	struct tp_bpf *bpf = reader->bpf;
	if (!bpf)
		return;
	pthread_mutex_lock(&bpf->lock);
	take(bpf);
	if (bpf->object)
		count_lost(bpf);
	tp_buf_add(out, &bpf->head, sizeof(bpf->head));
	tp_buf_add(out, reader->events.data, reader->events.size);
	if (reader->events.failed)
		tp_buf_release(&reader->events);
	tp_buf_reset(&reader->events);
	pthread_mutex_unlock(&bpf->lock);
}
