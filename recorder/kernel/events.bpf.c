// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR GPL-2.0-only
// BPF programs that tell what the kernel does for the program. Runs in the kernel: compiled by
// clang -target bpf, embedded by embed.py, loaded by bpf.c. The kernel takes tracing programs under
// a licence that is compatible with GPL only.
//
// Each thread that is recorded has a state of its own, which its threads and children inherit. All
// others have none, and cost one look. Tracepoints are there on kernels without kprobes, and need
// no tracefs; only SGX has none, so the driver's functions are met where they begin and end.
//
// One file above 600 lines: the kernel takes one object, in which all programs share the maps and
// the state of a thread.
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "recorder/kernel/bpf_shared.h"

// The used parts of the kernel's structures. The loader finds their offsets (CO-RE).
#define KERNEL __attribute__((preserve_access_index))
struct task_struct {
	int pid;
	int tgid;
} KERNEL;
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL;
struct mm_struct {
	unsigned long start_brk;
	unsigned long brk;
} KERNEL;
struct file;
struct page;
struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	struct file *vm_file;
} KERNEL;
struct bpf_perf_event_data {
	__u64 addr;
} KERNEL;
struct gendisk {
	int major;
	int first_minor;
} KERNEL;
struct request_queue {
	struct gendisk *disk;
} KERNEL;
struct bio;
struct request {
	struct request_queue *q;
	struct bio *bio;
	__u32 cmd_flags;
	__u32 __data_len;
	__u64 __sector;
} KERNEL;
#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long di;
	unsigned long si;
	unsigned long sp;
} KERNEL;
#define FIRST(regs) ((regs)->di)
#define SECOND(regs) ((regs)->si)
#define STACK(regs) ((regs)->sp)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 orig_x0;
} KERNEL;
#define FIRST(regs) ((regs)->orig_x0)
#define SECOND(regs) ((regs)->regs[1])
#define STACK(regs) ((regs)->sp)
#else
struct pt_regs {
	unsigned long sp;
	unsigned long a1;
	unsigned long orig_a0;
} KERNEL;
#define FIRST(regs) ((regs)->orig_a0)
#define SECOND(regs) ((regs)->a1)
#define STACK(regs) ((regs)->sp)
#endif

char LICENSE[] SEC("license") = "GPL";

const volatile struct tp_bpf_settings settings;
__u64 lost[TP_BPF_LOST];

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20); // bpf.c takes less where it cannot have so much
} ring SEC(".maps");

enum state {
	STARTS = 1, // forked by the recorder: it is to become the program
	RECORDED,
};

struct thread {
	// of the call that it is in and that may be reported, 0: none; of TP_BPF_CALL_ENDED: of the
	// first wait in it
	__u64 start;
	__u64 argument;
	__u64 woken;
	__u64 fault; // start of the fault that it is in, 0: in none, or not to be reported
	__u32 number;
	__u32 detail;
	__u32 waker;
	__u32 state;
	__u64 entered; // when the call began that allocations are of, 0: in none
	__u64 objects; // allocated in it, or in a fault outside of calls
	__u64 pages;
	__u32 entered_number;
	__u32 tid; // as the recorder sees them, 0: not looked up yet
	__u32 pid;
	__u32 in_call;                     // of any kind
	__u32 is_watched;                  // the call it is in is of TP_BPF_CALL_ENDED
	__u32 maker;                       // that of the thread that made it
	__u64 made;                        // when that was, 0: reported, or not to be
	__u64 functions[TP_BPF_FUNCTIONS]; // when each was called, 0: it is not running
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

static struct thread *current_thread(void)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
}

// pre: the number is not negative.
static enum tp_bpf_call asked_of(__u32 number)
{
	return number < TP_BPF_CALLS ? settings.calls[number] : TP_BPF_CALL_NOT;
}

static int own_ids(struct bpf_pidns_info *ids)
{
	return bpf_get_ns_current_pid_tgid(
	    settings.ids_device, settings.ids_inode, ids, sizeof(*ids));
}

// pre: it is the current one.
static void find_ids(struct thread *thread)
{
	struct bpf_pidns_info ids = {};
	if (thread->tid)
		return;
	if (own_ids(&ids)) {
		ids.pid = (__u32)bpf_get_current_pid_tgid();
		ids.tgid = bpf_get_current_pid_tgid() >> 32;
	}
	thread->tid = ids.pid;
	thread->pid = ids.tgid;
}

// The rest is the caller's. NULL: the ring is full.
static struct teeperf_system_event *begin_event(struct thread *thread, __u16 kind)
{
	struct teeperf_system_event *event = bpf_ringbuf_reserve(&ring, sizeof(*event), 0);
	if (!event) {
		__sync_fetch_and_add(&lost[kind], 1);
		return 0;
	}
	find_ids(thread);
	__builtin_memset(event, 0, sizeof(*event));
	event->os_tid = thread->tid;
	event->os_pid = thread->pid;
	event->kind = kind;
	return event;
}

// Nobody is woken: the recorder looks often enough by itself.
static void end_event(struct teeperf_system_event *event)
{
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

// ---- which threads

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct thread *from = bpf_task_storage_get(&threads, parent, 0, 0);
	const int is_process = parent->tgid != child->tgid;
	__u32 state = STARTS;
	if (from) {
		if (is_process && !settings.follow)
			return 0;
		state = from->state;
	} else {
		struct bpf_pidns_info ids = {};
		if (!is_process || own_ids(&ids) || ids.tgid != settings.recorder)
			return 0;
	}
	struct thread *thread =
	    bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		__sync_fetch_and_add(&lost[0], 1);
		return 0;
	}
	thread->state = state;
	if (from && (settings.groups & TEEPERF_SYSTEM_SCHED)) {
		find_ids(from); // which is the current one
		thread->maker = from->tid;
		thread->made = bpf_ktime_get_ns();
	}
	return 0;
}

// Its first return from the kernel.
static void tell_start(struct thread *thread)
{
	const __u64 made = thread->made;
	thread->made = 0;
	struct teeperf_system_event *event = begin_event(thread, TEEPERF_SYSTEM_START);
	if (!event)
		return;
	event->start_ns = made;
	event->duration_ns = bpf_ktime_get_ns() - made;
	event->waker_tid = thread->maker;
	event->woken_ns = made;
	end_event(event);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (thread) {
		thread->state = RECORDED;
		thread->tid = 0; // whichever thread does it, it is the process's first from now on
	}
	return 0;
}

// Of a program that runs already: each of its threads that has no state. Says one byte of each: 0,
// it has got one; 1, it has not, as its state was in use at the moment or there was no memory.
SEC("iter/task")
int on_task(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	if (!task || bpf_task_storage_get(&threads, task, 0, 0))
		return 0;
	struct thread *thread =
	    bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (thread)
		thread->state = RECORDED;
	const char byte = !thread;
	bpf_seq_write(context->meta->seq, &byte, 1);
	return 0;
}

// ---- system calls

SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, struct pt_regs *regs, long number)
{
	struct thread *thread = current_thread();
	if (!thread)
		return 0;
	thread->start = 0;
	thread->is_watched = 0;
	thread->in_call = 1;
	if (settings.groups & TEEPERF_SYSTEM_MEM) {
		thread->entered = bpf_ktime_get_ns();
		thread->entered_number = number;
		thread->objects = 0;
		thread->pages = 0;
	}
	if (number < 0 || asked_of(number) == TP_BPF_CALL_NOT)
		return 0;
	thread->number = number;
	thread->argument = FIRST(regs);
	thread->detail = SECOND(regs);
	thread->waker = 0;
	thread->woken = 0;
	// Most calls end without a wait: they need not pay for reading the clock.
	if (asked_of(number) == TP_BPF_CALL_ENDED)
		thread->is_watched = 1;
	else
		thread->start = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool is_preempted)
{
	struct thread *thread = is_preempted ? 0 : current_thread(); // the one that goes
	if (thread && thread->is_watched && !thread->start)
		thread->start = bpf_ktime_get_ns();
	return 0;
}

// What was allocated since START, in the middle of that time: an allocation has no duration of its
// own.
static void tell_allocations(struct thread *thread, __u64 start, __u32 number, __u16 flags)
{
	const __u64 objects = thread->objects;
	const __u64 pages = thread->pages;
	thread->objects = 0;
	thread->pages = 0;
	if (!start || (!objects && !pages) || thread->state != RECORDED)
		return;
	struct teeperf_system_event *event = begin_event(thread, TEEPERF_SYSTEM_ALLOCATION);
	if (!event)
		return;
	event->start_ns = start + (bpf_ktime_get_ns() - start) / 2;
	event->flags = flags;
	event->number = number;
	event->result = objects;
	event->argument = pages * settings.page_bytes;
	end_event(event);
}

static void end_call(struct thread *thread, long result, __u16 flags)
{
	const __u64 start = thread->start;
	thread->start = 0;
	thread->is_watched = 0;
	// What it does before it has become the program is ours.
	if (!start || thread->state != RECORDED)
		return;
	if (asked_of(thread->number) == TP_BPF_CALL_ENDED && !thread->waker)
		return;
	const __u64 now = bpf_ktime_get_ns();
	struct teeperf_system_event *event = begin_event(thread, TEEPERF_SYSTEM_CALL);
	if (!event)
		return;
	event->start_ns = start;
	event->duration_ns = now - start;
	event->flags = flags;
	event->number = thread->number;
	event->result = result;
	event->argument = thread->argument;
	event->detail = thread->detail;
	event->waker_tid = thread->waker;
	event->woken_ns = thread->woken;
	end_event(event);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, struct pt_regs *regs, long result)
{
	struct thread *thread = current_thread();
	if (!thread)
		return 0;
	thread->in_call = 0;
	if (thread->made && thread->state == RECORDED)
		tell_start(thread);
	end_call(thread, result, 0);
	if (settings.groups & TEEPERF_SYSTEM_MEM)
		tell_allocations(thread, thread->entered, thread->entered_number, 0);
	thread->entered = 0;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit)
{
	struct thread *thread = current_thread();
	if (thread)
		end_call(thread, 0, TEEPERF_SYSTEM_UNFINISHED);
	return 0;
}

// Called by the one that wakes. Timers and devices do that in whatever thread is there: a recorded
// one that is in no call did not do it itself. If it happens to be in one, it is taken for the
// waker; of a futex the result tells.
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread || !(thread->start || thread->is_watched))
		return 0;
	struct thread *waker = current_thread();
	thread->waker = 0;
	thread->woken = bpf_ktime_get_ns();
	if (!thread->start)
		thread->start = thread->woken; // before it had given up its processor
	if (waker && waker->in_call) {
		find_ids(waker);
		thread->waker = waker->tid;
	} else if (!waker && asked_of(thread->number) == TP_BPF_CALL_FUTEX) {
		struct bpf_pidns_info ids = {};
		thread->waker = own_ids(&ids) ? 0 : ids.pid;
	}
	return 0;
}

// ---- page faults: a tracepoint tells when one begins, a software event of perf what it was. One
// does not nest in another.

#define VM_EXEC 4
#define VM_SHARED 8

struct place {
	__u64 address;
	__u64 stack; // of the thread that faults
	__u32 memory;
};

static long on_place(struct task_struct *task, struct vm_area_struct *area, struct place *place)
{
	if (area->vm_file)
		place->memory = area->vm_flags & VM_EXEC ? TEEPERF_SYSTEM_MEMORY_CODE
							 : TEEPERF_SYSTEM_MEMORY_FILE;
	else if (place->stack >= area->vm_start && place->stack < area->vm_end)
		place->memory = TEEPERF_SYSTEM_MEMORY_STACK;
	else if (place->address >= area->vm_mm->start_brk && place->address < area->vm_mm->brk)
		place->memory = TEEPERF_SYSTEM_MEMORY_HEAP;
	else if (!(area->vm_flags & VM_SHARED))
		place->memory = TEEPERF_SYSTEM_MEMORY_ANON;
	return 0;
}

static int begin_fault(void)
{
	struct thread *thread = current_thread();
	if (!thread)
		return 0;
	thread->fault = bpf_ktime_get_ns();
	if (!thread->entered) {
		thread->objects = 0;
		thread->pages = 0;
	}
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_user_fault)
{
	return begin_fault();
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_kernel_fault)
{
	return begin_fault();
}

static int end_fault(const struct bpf_perf_event_data *data, __u16 flags)
{
	struct thread *thread = current_thread();
	if (!thread)
		return 0;
	const __u64 start = thread->fault;
	thread->fault = 0;
	if (!thread->entered)
		tell_allocations(thread, start, 0, TEEPERF_SYSTEM_IN_FAULT);
	if (thread->state != RECORDED || !(settings.groups & TEEPERF_SYSTEM_FAULTS))
		return 0;
	const __u64 now = bpf_ktime_get_ns();
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	struct place place = {.address = data->addr, .stack = STACK(regs)};
	bpf_find_vma(task, place.address, on_place, &place, 0);
	struct teeperf_system_event *event = begin_event(thread, TEEPERF_SYSTEM_FAULT);
	if (!event)
		return 0;
	event->start_ns = start ? start : now;
	event->duration_ns = now - event->start_ns;
	event->flags = flags;
	event->argument = place.address;
	event->detail = place.memory;
	end_event(event);
	return 0;
}

SEC("perf_event")
int on_minor(const struct bpf_perf_event_data *data)
{
	return end_fault(data, 0);
}

SEC("perf_event")
int on_major(const struct bpf_perf_event_data *data)
{
	return end_fault(data, TEEPERF_SYSTEM_MAJOR);
}

// ---- allocations: those of interrupts that come meanwhile count, too

SEC("tp_btf/kmalloc")
int BPF_PROG(on_kmalloc)
{
	struct thread *thread = current_thread();
	if (thread)
		thread->objects++;
	return 0;
}

SEC("tp_btf/kmem_cache_alloc")
int BPF_PROG(on_cache_alloc)
{
	struct thread *thread = current_thread();
	if (thread)
		thread->objects++;
	return 0;
}

SEC("tp_btf/mm_page_alloc")
int BPF_PROG(on_page_alloc, struct page *page, unsigned int order)
{
	struct thread *thread = current_thread();
	if (thread && page)
		thread->pages += 1ULL << (order & 31);
	return 0;
}

// ---- requests to block devices: of the thread that asks for them; what the kernel writes back
// later is nobody's

// The kernel may keep a request in a queue, and whichever thread comes next gives it to the device.
// So who asked is noted with the first of its pieces (struct bio), by which the request is known.
struct asker {
	__u64 time;
	__u32 tid;
	__u32 pid;
};

struct {
	__uint(
	    type, BPF_MAP_TYPE_LRU_HASH); // pieces that were joined to another request stay in it
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct asker);
} askers SEC(".maps");

struct request_state {
	struct teeperf_system_event event;
	__u32 left; // bytes
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct request_state);
} requests SEC(".maps");

static int find_asker(struct asker *asker)
{
	struct thread *thread = current_thread();
	if (!thread || thread->state != RECORDED)
		return 0;
	find_ids(thread);
	asker->time = bpf_ktime_get_ns();
	asker->tid = thread->tid;
	asker->pid = thread->pid;
	return 1;
}

static int note_asker(const struct bio *piece)
{
	const __u64 key = (__u64)piece;
	struct asker asker = {};
	if (!find_asker(&asker))
		bpf_map_delete_elem(&askers, &key); // the kernel uses the structure again
	else if (bpf_map_update_elem(&askers, &key, &asker, BPF_ANY))
		__sync_fetch_and_add(&lost[TEEPERF_SYSTEM_BLOCK], 1);
	return 0;
}

SEC("tp_btf/block_getrq")
int BPF_PROG(on_piece, struct bio *piece)
{
	return note_asker(piece);
}

SEC("tp_btf/block_bio_frontmerge")
int BPF_PROG(on_piece_before, struct bio *piece)
{
	return note_asker(piece);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_request, struct request *request)
{
	struct asker asker = {};
	const __u64 key = (__u64)request;
	const __u64 piece = (__u64)request->bio;
	const struct asker *noted = piece ? bpf_map_lookup_elem(&askers, &piece) : 0;
	const struct request_state *last = bpf_map_lookup_elem(&requests, &key);
	if (last && !noted && last->event.argument == request->__sector)
		return 0; // the device had refused it
	if (last) {       // its end was not seen, and the kernel uses the structure again
		__sync_fetch_and_add(&lost[TEEPERF_SYSTEM_BLOCK], 1);
		bpf_map_delete_elem(&requests, &key);
	}
	if (noted) {
		asker = *noted;
		bpf_map_delete_elem(&askers, &piece);
	} else if (piece || !find_asker(&asker)) {
		return 0;
	}
	const struct gendisk *disk = request->q->disk;
	struct request_state state = {
	    .event = {.start_ns = bpf_ktime_get_ns(),
		.os_tid = asker.tid,
		.os_pid = asker.pid,
		.kind = TEEPERF_SYSTEM_BLOCK,
		.number = disk ? (__u32)disk->major << 20 | disk->first_minor : 0,
		.result = request->__data_len,
		.argument = request->__sector,
		.detail = request->cmd_flags & 0xff,
		.woken_ns = asker.time},
	    .left = request->__data_len,
	};
	if (bpf_map_update_elem(&requests, &key, &state, BPF_ANY))
		__sync_fetch_and_add(&lost[TEEPERF_SYSTEM_BLOCK], 1);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_completion, struct request *request, int error, unsigned int bytes)
{
	const __u64 key = (__u64)request;
	struct request_state *state = bpf_map_lookup_elem(&requests, &key);
	if (!state)
		return 0;
	if (bytes < state->left) {
		state->left -= bytes;
		return 0;
	}
	state->event.duration_ns = bpf_ktime_get_ns() - state->event.start_ns;
	if (bpf_ringbuf_output(&ring, &state->event, sizeof(state->event), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&lost[TEEPERF_SYSTEM_BLOCK], 1);
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

// ---- functions of the kernel: bpf.c says which one each pair is of, before it loads them. The
// trace has their numbers.

static int begin_function(__u32 number)
{
	struct thread *thread = current_thread();
	if (thread && thread->state == RECORDED)
		thread->functions[number] = bpf_ktime_get_ns();
	return 0;
}

static int end_function(__u32 number)
{
	struct thread *thread = current_thread();
	const __u64 start = thread ? thread->functions[number] : 0;
	if (!start)
		return 0;
	const __u64 now = bpf_ktime_get_ns();
	thread->functions[number] = 0;
	struct teeperf_system_event *event = begin_event(thread, TEEPERF_SYSTEM_DRIVER);
	if (!event)
		return 0;
	event->start_ns = start;
	event->duration_ns = now - start;
	event->number = number;
	end_event(event);
	return 0;
}

#define FUNCTION(number)                       \
	SEC("fentry")                          \
	int BPF_PROG(enter_##number)           \
	{                                      \
		return begin_function(number); \
	}                                      \
	SEC("fexit")                           \
	int BPF_PROG(leave_##number)           \
	{                                      \
		return end_function(number);   \
	}
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)
