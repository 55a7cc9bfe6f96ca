// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR GPL-2.0-only
// BPF programs that tell what the kernel does for the program. Runs in the kernel: compiled by clang -target bpf, embedded by
// embed.py, loaded by bpf.c. The kernel takes tracing programs under a licence that is compatible with GPL only.
//
// Each thread that is recorded has a state of its own, which its threads and children inherit. All others have none, and cost one
// look. Only tracepoints are used: they are there on kernels without kprobes, and need no tracefs.
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "recorder/kernel/bpf_shared.h"

// What is used of the kernel's structures. Where it lies in them the loader finds out (CO-RE).
#define KERNEL __attribute__((preserve_access_index))
struct task_struct {
	int pid;
	int tgid;
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
struct request {
	struct request_queue *q;
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
	__u64 start; // of the call that it is in, 0: in none
	__u64 argument;
	__u64 woken;
	__u64 fault; // when the fault began that it is in, 0: in none, or not told
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
	const struct thread *from = bpf_task_storage_get(&threads, parent, 0, 0);
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
	if (thread)
		thread->state = state;
	else
		__sync_fetch_and_add(&lost[0], 1);
	return 0;
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

// ---- system calls

SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, struct pt_regs *regs, long number)
{
	struct thread *thread = current_thread();
	if (!thread)
		return 0;
	thread->start = 0;
	if (settings.groups & TEEPERF_SYSTEM_MEM) {
		thread->entered = bpf_ktime_get_ns();
		thread->entered_number = number;
		thread->objects = 0;
		thread->pages = 0;
	}
	if (number < 0 || number >= TP_BPF_CALLS || !settings.calls[number])
		return 0;
	thread->number = number;
	thread->argument = FIRST(regs);
	thread->detail = SECOND(regs);
	thread->waker = 0;
	thread->woken = 0;
	thread->start = bpf_ktime_get_ns();
	return 0;
}

// What was allocated since START, in the middle of that time: an allocation has no duration of its own.
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
	// What it does before it has become the program is ours.
	if (!start || thread->state != RECORDED)
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
	end_call(thread, result, 0);
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

// Called by the one that wakes. Timers do that in whatever thread is there; the call's result tells.
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread || !thread->start || thread->number >= TP_BPF_CALLS ||
	    settings.calls[thread->number] != TP_BPF_CALL_FUTEX)
		return 0;
	struct bpf_pidns_info ids = {};
	thread->waker = own_ids(&ids) ? 0 : ids.pid;
	thread->woken = bpf_ktime_get_ns();
	return 0;
}

// ---- page faults: a tracepoint tells when one begins, a software event of perf what it was. One does not nest in another.

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

// ---- requests to block devices: of the thread that hands them to the device; what the kernel writes back later is nobody's

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

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_request, struct request *request)
{
	struct thread *thread = current_thread();
	if (!thread || thread->state != RECORDED)
		return 0;
	const __u64 key = (__u64)request;
	const struct gendisk *disk = request->q->disk;
	find_ids(thread);
	struct request_state state = {
	    .event = {.start_ns = bpf_ktime_get_ns(),
		.os_tid = thread->tid,
		.os_pid = thread->pid,
		.kind = TEEPERF_SYSTEM_BLOCK,
		.number = disk ? (__u32)disk->major << 20 | disk->first_minor : 0,
		.result = request->__data_len,
		.argument = request->__sector,
		.detail = request->cmd_flags & 0xff},
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
