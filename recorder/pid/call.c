// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls the runtime in a thread of a running program, by ptrace(2), and leaves the thread as it
// was: registers, signals and the system call that it was in.
#define _GNU_SOURCE
#include "pid.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <teeperf/atomic.h>

#include "recorder/clock/host_clock.h"

#if defined(__x86_64__)

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/read_all.h"
#include "recorder/region/proc.h"
#include "recorder/region/region.h"

enum {
	STOP_MS = 100,    // for a thread to stop: one that the kernel holds (state D) does not
	CALL_MS = 60000,  // for the call: a program may be swapped out, or frozen
	LONG_MS = 600000, // of one that has begun: left alone there it would be lost
	UNDO_MS = 2000,   // for a thread to stop that did not get to the end of the call
	RED_ZONE = 128,
	STATE_BYTES = 16384, // XSAVE's, with AMX 11 KiB
	FLAGS = 0x202,
	REGSET_SHADOW_STACK = 0x204, // NT_X86_SHSTK, since Linux 6.6
	ENTRY_BYTES = 256,           // tp_late_entry is shorter
	RUN_MS = 2, // of its own time for a call to say that it is done, before it is looked at
};
static const struct timespec NAP = {.tv_nsec = 20 * 1000};

/*
 * While a thread of the program is stopped, this thread does not wait for a processor behind
 * others: each of the steps would wait for a time slice of whatever else runs. Who may not have it
 * so does without.
 */
struct urgency {
	int policy; // to go back to; below 0: none
	int nice;
};
// What the thread of the program has meanwhile, which is in the runtime only: 100 us must not take
// a time slice of all others.
enum { NICE_OF_CALL = -20 };

static struct urgency hurry(void)
{
	const struct sched_param first = {.sched_priority = 1};
	struct urgency before = {sched_getscheduler(0), getpriority(PRIO_PROCESS, 0)};
	// Naps end when they are over, and not 50 us later, which is what the kernel allows itself
	// else.
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	const bool is_first = before.policy == SCHED_FIFO || before.policy == SCHED_RR;
	if (!is_first && !sched_setscheduler(0, SCHED_FIFO, &first))
		return before;
	before.policy = -1;
	setpriority(PRIO_PROCESS, 0, -20);
	return before;
}

static void calm_down(const struct urgency *before)
{
	const struct sched_param none = {.sched_priority = 0};
	if (before->policy >= 0)
		sched_setscheduler(0, before->policy, &none);
	setpriority(PRIO_PROCESS, 0, before->nice);
}

// A thread that is ours, and what it was before.
struct stopped {
	pid_t tid;
	struct user_regs_struct registers;
	unsigned char state[STATE_BYTES];
	size_t state_size;
	uint64_t shadow_stack; // its pointer
	bool has_shadow_stack;
	uint64_t mask;
	uint64_t kept;      // signals that others sent to it meanwhile, to be sent again
	uint64_t ran_ns;    // it ran before it was stopped
	uint64_t waited_ns; // it had waited for a processor before
	int nice;
};

/*
 * What a thread was, in a file of ours while it is in the call: if we are killed there, it is in
 * the entry for ever, and whoever attaches next puts it back.
 */
struct saved {
	uint64_t magic;
	uint64_t size;    // of this, which differs between versions
	uint64_t started; // the thread, in ticks of the kernel's clock: numbers come again
	uint64_t entry;
	struct stopped thread;
};
static const uint64_t SAVED_MAGIC = UINT64_C(0x6465766173707474); // "ttpsaved"
enum { SAVED_PATH = 64 };

static void saved_path(char path[SAVED_PATH], pid_t tid)
{
	snprintf(path, SAVED_PATH, TP_REGION_FOLDER "/teeperf.thread-%d", (int)tid);
}

// 0: it has ended.
static uint64_t start_of(pid_t tid)
{
	char text[512];
	unsigned long long started = 0;
	tp_proc_read(tid, "stat", text, sizeof(text));
	// Behind its name, which may have any characters, the 20th field.
	const char *at = strrchr(text, ')');
	if (at)
		sscanf(at,
		    ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		    "%*s %*s %*s %llu",
		    &started);
	return started;
}

// To be written to while it is stopped; -1: it is not kept.
static int open_saved(pid_t tid)
{
	char path[SAVED_PATH];
	saved_path(path, tid);
	unlink(path);
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static void close_saved(pid_t tid, int fd)
{
	char path[SAVED_PATH];
	saved_path(path, tid);
	if (fd >= 0 && !close(fd))
		unlink(path);
}

static void write_saved(int fd, const struct tp_pid *target, const struct stopped *thread)
{
	struct saved saved = {.magic = SAVED_MAGIC,
	    .size = sizeof(saved),
	    .started = start_of(thread->tid),
	    .entry = target->entry,
	    .thread = *thread};
	if (fd >= 0)
		tp_write_at(fd, &saved, sizeof(saved), 0);
}

// What a recorder of this user that was killed has left of the thread. False: there is nothing.
static bool read_saved(const struct tp_pid *target, pid_t tid, struct saved *saved)
{
	char path[SAVED_PATH];
	struct stat info;
	saved_path(path, tid);
	const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	const bool whole = !fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
			   !(info.st_mode & (S_IRWXG | S_IRWXO)) &&
			   read(fd, saved, sizeof(*saved)) == sizeof(*saved);
	close(fd);
	return whole && saved->magic == SAVED_MAGIC && saved->size == sizeof(*saved) &&
	       saved->started == start_of(tid) && saved->entry == target->entry &&
	       saved->thread.tid == tid && saved->thread.state_size <= STATE_BYTES;
}

enum stop { STOP_TRAP, STOP_SYSCALL, STOP_SIGNAL, STOP_GONE, STOP_LATE };

static bool trace(int request, pid_t tid, uint64_t address, const void *data)
{
	return !ptrace((enum __ptrace_request)request, tid, (void *)(uintptr_t)address, data);
}

// Whether it has stopped since the last look. *number: of STOP_SIGNAL.
static bool has_stopped(pid_t tid, enum stop *stop, int *number)
{
	int status;
	const pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
	if (!got || (got < 0 && errno == EINTR))
		return false;
	*stop = STOP_GONE;
	if (got < 0 || !WIFSTOPPED(status))
		return true;
	*number = WSTOPSIG(status);
	*stop = status >> 16 == PTRACE_EVENT_STOP ? STOP_TRAP
		: *number == (SIGTRAP | 0x80)     ? STOP_SYSCALL
						  : STOP_SIGNAL;
	return true;
}

// Where it was not asked to stop. Signals that are on their way go on to it.
static void go_on(pid_t tid, enum stop stop, int number)
{
	trace(PTRACE_CONT, tid, 0, stop == STOP_SIGNAL ? (void *)(intptr_t)number : NULL);
}

/*
 * What the kernel does not begin again by itself when a debugger has interrupted it: EINTR is for
 * the program's own signals. Interrupted so, none of these has had an effect. (The timeout begins
 * again, too.)
 */
static bool is_ours_to_restart(const struct user_regs_struct *registers)
{
	static const int calls[] = {SYS_epoll_wait, SYS_epoll_pwait, SYS_rt_sigtimedwait, SYS_semop,
	    SYS_semtimedop, SYS_io_getevents, SYS_read, SYS_readv, SYS_write, SYS_writev,
	    SYS_accept, SYS_accept4, SYS_connect, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg,
	    SYS_sendto, SYS_sendmsg, SYS_sendmmsg, 333 /* io_pgetevents */,
	    426 /* io_uring_enter */, 441 /* epoll_pwait2 */};
	if ((int64_t)registers->rax != -EINTR)
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (registers->orig_rax == (unsigned long long)calls[i])
			return true;
	return false;
}

static uint64_t signals_of(const char *status, const char *key)
{
	const char *line = strstr(status, key);
	return line ? strtoull(line + strlen(key), NULL, 16) : 0;
}

// One of the program's handlers is about to run in this thread.
static bool has_signal(pid_t tid)
{
	char status[4096];
	tp_proc_read(tid, "status", status, sizeof(status));
	return (signals_of(status, "\nSigPnd:") | signals_of(status, "\nShdPnd:")) &
	       ~signals_of(status, "\nSigBlk:") & signals_of(status, "\nSigCgt:");
}

/*
 * Let it make the call anew, unless a handler comes first, which is what EINTR is for. One that
 * comes from here on comes as if just before the call. (Left when it is in the call again, as
 * PTRACE_SYSCALL would allow, it would be interrupted by that.)
 */
static void restart(const struct stopped *thread)
{
	enum { INSTRUCTION_BYTES = 2 };
	struct user_regs_struct again = thread->registers;
	if (has_signal(thread->tid))
		return;
	again.rax = again.orig_rax;
	again.orig_rax = UINT64_MAX;
	again.rip -= INSTRUCTION_BYTES;
	trace(PTRACE_SETREGS, thread->tid, 0, &again);
}

static void leave(const struct stopped *thread, pid_t pid)
{
	if (is_ours_to_restart(&thread->registers))
		restart(thread);
	trace(PTRACE_DETACH, thread->tid, 0, NULL);
	for (int number = 1; number <= 64; number++)
		if (thread->kept >> (number - 1) & 1)
			syscall(SYS_tgkill, pid, number == SIGSTOP ? pid : thread->tid, number);
}

// It was stopped for nothing.
static void let_go(pid_t tid, pid_t pid)
{
	struct stopped thread = {.tid = tid};
	trace(PTRACE_GETREGS, tid, 0, &thread.registers);
	leave(&thread, pid);
}

// Threads that did not stop in time, and do now, while another one is waited for.
static void let_go_late(struct tp_pid *target)
{
	int kept = 0;
	for (int i = 0; i < target->late_count; i++) {
		const pid_t tid = target->late[i];
		enum stop stop = STOP_LATE;
		int number = 0;
		const bool stopped = has_stopped(tid, &stop, &number);
		if (stopped && stop == STOP_TRAP)
			let_go(tid, target->pid);
		else if (stopped && stop != STOP_GONE)
			go_on(tid, stop, number);
		if (!stopped || stop == STOP_SIGNAL || stop == STOP_SYSCALL)
			target->late[kept++] = tid;
	}
	target->late_count = kept;
}

// Wait for the next stop. *number: of STOP_SIGNAL. *before_ns: when it was not stopped yet.
static enum stop await_stop(
    struct tp_pid *target, pid_t tid, int timeout_ms, int *number, uint64_t *before_ns)
{
	const uint64_t end = tp_clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000;
	for (;;) {
		enum stop stop;
		const uint64_t now = tp_clock_monotonic_ns();
		if (has_stopped(tid, &stop, number))
			return stop;
		*before_ns = now;
		if (now > end)
			return STOP_LATE;
		let_go_late(target);
		nanosleep(&NAP, NULL);
	}
}

// It was asked to stop: where it may be stopped.
static enum stop await_interrupt(
    struct tp_pid *target, pid_t tid, int timeout_ms, uint64_t *before_ns)
{
	int number;
	for (;;) {
		const enum stop stop = await_stop(target, tid, timeout_ms, &number, before_ns);
		if (stop != STOP_SIGNAL && stop != STOP_SYSCALL)
			return stop;
		go_on(tid, stop, number);
	}
}

// Ours, and asked to stop: now, or by an earlier try in which it did not in time. False: *ERROR,
// which is ESRCH for a thread that is ending, and *TRACER if another process traces it.
static bool seize(pid_t tid, int *error, int *tracer)
{
	// One that traced it may have let it go before we look.
	for (int tries = 0; tries < 3; tries++) {
		*error = *tracer = 0;
		if (trace(PTRACE_SEIZE, tid, 0, (void *)PTRACE_O_TRACESYSGOOD))
			return true;
		*error = errno;
		char state = 'X';
		tp_proc_scan(tid, "status", "State: %c", &state);
		if (*error == EPERM && (state == 'Z' || state == 'X'))
			*error = ESRCH;
		tp_proc_scan(tid, "status", "TracerPid: %d", tracer);
		if (*tracer || *error != EPERM)
			break;
	}
	return *tracer == (int)syscall(SYS_gettid);
}

// The process may have called exec since its runtime was found, or be another one that has its
// number now.
static bool has_entry(const struct tp_pid *target, pid_t tid)
{
	unsigned char code[TP_PID_CODE_BYTES];
	const struct iovec here = {code, sizeof(code)};
	const struct iovec there = {(void *)(uintptr_t)target->entry, sizeof(code)};
	return process_vm_readv(tid, &here, 1, &there, 1, 0) == sizeof(code) &&
	       !memcmp(code, target->code, sizeof(code));
}

// In the middle of a restartable sequence (rseq(2)), which the kernel forgets when we move the
// thread from IP elsewhere. Libraries leave it behind when they have passed it.
static bool in_rseq(pid_t tid, uint64_t ip)
{
	// As in Linux 5.13, of which C libraries may know nothing.
	enum { GET_RSEQ_CONFIGURATION = 0x420f, OFFSET_OF_SECTION = 8 };
	struct {
		uint64_t address;
		uint32_t size, signature, flags, padding;
	} where = {.address = 0};
	if (ptrace((enum __ptrace_request)GET_RSEQ_CONFIGURATION, tid, (void *)sizeof(where),
		&where) <= 0 ||
	    !where.address)
		return false;
	uint64_t section = 0;
	const struct iovec here = {&section, sizeof(section)};
	const struct iovec there = {
	    (void *)(uintptr_t)(where.address + OFFSET_OF_SECTION), sizeof(section)};
	if (process_vm_readv(tid, &here, 1, &there, 1, 0) != sizeof(section) || !section)
		return false;
	struct {
		uint32_t version, flags;
		uint64_t start, length, abort;
	} of = {.version = 0};
	const struct iovec it = {&of, sizeof(of)};
	const struct iovec its = {(void *)(uintptr_t)section, sizeof(of)};
	return process_vm_readv(tid, &it, 1, &its, 1, 0) != sizeof(of) || ip - of.start < of.length;
}

static bool save(struct stopped *thread)
{
	enum { CODE_64 = 0x33 };
	struct iovec state = {thread->state, sizeof(thread->state)};
	if (!trace(PTRACE_GETREGS, thread->tid, 0, &thread->registers) ||
	    !trace(PTRACE_GETREGSET, thread->tid, NT_X86_XSTATE, &state) ||
	    !trace(PTRACE_GETSIGMASK, thread->tid, sizeof(thread->mask), &thread->mask))
		return false;
	thread->state_size = state.iov_len;
	const bool in_syscall = (int64_t)thread->registers.orig_rax >= 0;
	// The kernel's own threads in a process, those of io_uring, are never outside of it.
	if (!thread->registers.rip || !thread->registers.rsp)
		return false;
	struct iovec shadow = {&thread->shadow_stack, sizeof(thread->shadow_stack)};
	thread->has_shadow_stack =
	    trace(PTRACE_GETREGSET, thread->tid, REGSET_SHADOW_STACK, &shadow) &&
	    shadow.iov_len == sizeof(thread->shadow_stack);
	return thread->registers.cs == CODE_64 &&
	       (in_syscall || !in_rseq(thread->tid, thread->registers.rip));
}

static void restore(const struct stopped *thread)
{
	const struct iovec state = {(void *)(uintptr_t)thread->state, thread->state_size};
	trace(PTRACE_SETREGS, thread->tid, 0, &thread->registers);
	trace(PTRACE_SETREGSET, thread->tid, NT_X86_XSTATE, &state);
	trace(PTRACE_SETSIGMASK, thread->tid, sizeof(thread->mask), &thread->mask);
	// Calls that a crash has left open are on it.
	const struct iovec shadow = {
	    (void *)(uintptr_t)&thread->shadow_stack, sizeof(thread->shadow_stack)};
	if (thread->has_shadow_stack)
		trace(PTRACE_SETREGSET, thread->tid, REGSET_SHADOW_STACK, &shadow);
}

// A fault that is blocked would change what the program does about it.
static uint64_t mask_of_call(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	uint64_t mask = UINT64_MAX;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		mask &= ~(UINT64_C(1) << (faults[i] - 1));
	return mask;
}

static bool begin_call(
    const struct stopped *thread, uint64_t entry, uint64_t command, const char *path)
{
	union {
		char bytes[TEEPERF_LATE_PATH_SIZE];
		unsigned long long words[TEEPERF_LATE_PATH_SIZE / 8];
	} name = {.words = {0}};
	snprintf(name.bytes, sizeof(name.bytes), "%s", path ? path : "");
	struct user_regs_struct registers = thread->registers;
	unsigned long long *const to[] = {&registers.rbx, &registers.rbp, &registers.rcx,
	    &registers.rdx, &registers.r8, &registers.r9, &registers.r10, &registers.r11,
	    &registers.r12, &registers.r13, &registers.r14, &registers.r15};
	_Static_assert(sizeof(to) == sizeof(name), "as in late.h");
	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++)
		*to[i] = name.words[i];
	registers.rdi = command;
	registers.rip = entry;
	registers.rsp = (registers.rsp - RED_ZONE) & ~UINT64_C(15);
	registers.eflags = FLAGS;
	// No system call is to be begun again there.
	registers.orig_rax = UINT64_MAX;
	const uint64_t mask = mask_of_call();
	return trace(PTRACE_SETSIGMASK, thread->tid, sizeof(mask), &mask) &&
	       trace(PTRACE_SETREGS, thread->tid, 0, &registers);
}

static bool is_fault(pid_t tid)
{
	siginfo_t info = {.si_code = 0};
	return !trace(PTRACE_GETSIGINFO, tid, 0, &info) || info.si_code > 0;
}

// How long it has run; 0: the kernel does not say.
static uint64_t time_of(pid_t tid)
{
	unsigned long long ns = 0;
	tp_proc_scan(tid, "schedstat", "%llu", &ns);
	return ns;
}

// How long it has waited for a processor in its life; 0: the kernel does not say.
static uint64_t wait_of(pid_t tid)
{
	unsigned long long ns = 0;
	tp_proc_scan(tid, "schedstat", "%*u %llu", &ns);
	return ns;
}

/*
 * Let it run until it reports that it has taken the log, and then ask it to stop: until it does, it
 * repeats the entry's last system call. Otherwise it would stop twice at each system call, and wait
 * for a processor each time. While it waits for a processor we do not ask it, since that would
 * delay the entry's system calls further. False: it does not run, or, *late, not to the end.
 */
static bool run_freely(const struct tp_pid *target, pid_t tid, uint64_t ran_ns, bool *late)
{
	const uint64_t most = RUN_MS * UINT64_C(1000000);
	uint64_t look = tp_clock_monotonic_ns() + most;
	const uint64_t end = look + CALL_MS * UINT64_C(1000000);
	siginfo_t stop = {.si_pid = 0};
	if (!trace(PTRACE_CONT, tid, 0, NULL))
		return false;
	while (!tp_load32_acquire(target->told) &&
	       !waitid(P_PID, (id_t)tid, &stop, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) &&
	       !stop.si_pid) {
		if (tp_clock_monotonic_ns() >= look) {
			*late = look > end;
			if (*late)
				return false;
			if (!ran_ns || time_of(tid) >= ran_ns + most)
				break;
			look += most;
		}
		nanosleep(&NAP, NULL);
	}
	trace(PTRACE_INTERRUPT, tid, 0, NULL);
	return true;
}

// Where the entry tells its result, again and again.
static bool is_at_end(pid_t tid, uint64_t entry, uint64_t *result)
{
	struct user_regs_struct now = {.rsi = 0};
	if (!trace(PTRACE_GETREGS, tid, 0, &now) || now.rsi != TEEPERF_LATE_MARK ||
	    now.rip - entry > ENTRY_BYTES)
		return false;
	*result = now.rdx;
	return true;
}

static bool is_at(pid_t tid, uint64_t address)
{
	struct user_regs_struct now = {.rip = 0};
	return trace(PTRACE_GETREGS, tid, 0, &now) && now.rip == address;
}

/*
 * Let it run to the system call by which the entry tells its result, and stop it behind that, where
 * the kernel looks for signals: only there it begins interrupted system calls again.
 */
static enum tp_pid_outcome run_call(
    struct tp_pid *target, struct stopped *thread, bool tells, uint64_t *result)
{
	const uint64_t entry = target->entry;
	bool done = false;
	bool late = false;
	bool asked = false;
	bool runs = tells && (run_freely(target, thread->tid, thread->ran_ns, &late) || late);
	int limit_ms = late ? 0 : CALL_MS;
	for (;;) {
		int number;
		uint64_t before_ns;
		if (!runs && !trace(done ? PTRACE_CONT : PTRACE_SYSCALL, thread->tid, 0, NULL))
			return TP_PID_GONE;
		runs = false;
		enum stop stop = await_stop(target, thread->tid, limit_ms, &number, &before_ns);
		// Frozen, swapped out, or without a processor: one that has not begun is left as it
		// was, which a frozen one allows, too. One that has begun is waited for.
		if (stop == STOP_LATE && !asked) {
			asked = true;
			limit_ms = LONG_MS;
			trace(PTRACE_INTERRUPT, thread->tid, 0, NULL);
			stop = await_stop(target, thread->tid, UNDO_MS, &number, &before_ns);
			if (stop == STOP_TRAP && is_at(thread->tid, entry))
				return TP_PID_LATE;
			runs = stop == STOP_LATE;
			if (runs)
				continue;
		}
		if (stop == STOP_GONE || stop == STOP_LATE)
			return TP_PID_GONE;
		if (stop == STOP_TRAP && is_at_end(thread->tid, entry, result))
			return TP_PID_CALLED;
		if (stop == STOP_SIGNAL && is_fault(thread->tid))
			return TP_PID_FAILED;
		if (stop == STOP_SIGNAL)
			thread->kept |= UINT64_C(1) << (number - 1);
		if (stop != STOP_SYSCALL || !is_at_end(thread->tid, entry, result))
			continue;
		done = true;
		trace(PTRACE_INTERRUPT, thread->tid, 0, NULL);
	}
}

// It is stopped: the call, and all as it was. SAVED: where that is kept meanwhile.
static enum tp_pid_outcome call_stopped(struct tp_pid *target, pid_t tid,
    enum teeperf_late_command command, const char *path, int saved, uint64_t *result,
    uint64_t *waited_ns)
{
	struct stopped thread = {.tid = tid};
	const bool there = has_entry(target, tid);
	if (!there || !save(&thread)) {
		let_go(tid, target->pid);
		return there ? TP_PID_UNFIT : TP_PID_OTHER;
	}
	const bool tells = command == TEEPERF_LATE_ATTACH && target->told;
	thread.ran_ns = tells ? time_of(tid) : 0;
	thread.nice = getpriority(PRIO_PROCESS, (id_t)tid);
	write_saved(saved, target, &thread);
	setpriority(PRIO_PROCESS, (id_t)tid, NICE_OF_CALL);
	thread.waited_ns = wait_of(tid);
	enum tp_pid_outcome outcome = TP_PID_UNFIT;
	if (begin_call(&thread, target->entry, command, path))
		outcome = run_call(target, &thread, tells, result);
	setpriority(PRIO_PROCESS, (id_t)tid, thread.nice);
	if (outcome == TP_PID_GONE)
		return outcome;
	*waited_ns = wait_of(tid) - thread.waited_ns;
	restore(&thread);
	leave(&thread, target->pid);
	return outcome;
}

static void forget_late(struct tp_pid *target, pid_t tid)
{
	int kept = 0;
	for (int i = 0; i < target->late_count; i++)
		if (target->late[i] != tid)
			target->late[kept++] = target->late[i];
	target->late_count = kept;
}

static enum tp_pid_outcome stop_and_call(struct tp_pid *target, pid_t tid,
    enum teeperf_late_command command, const char *path, int saved, uint64_t *result, int *error)
{
	int tracer;
	if (!seize(tid, error, &tracer)) {
		if (*error == ESRCH)
			return TP_PID_GONE;
		if (!tracer)
			return TP_PID_REFUSED;
		*error = tracer;
		return TP_PID_TRACED;
	}
	// Until it gets a processor it is not stopped, but waits as it would without us.
	uint64_t before = tp_clock_monotonic_ns();
	const bool again = *error;
	if (!again && !trace(PTRACE_INTERRUPT, tid, 0, NULL))
		return TP_PID_GONE;
	forget_late(target, tid);
	const enum stop stop = await_interrupt(target, tid, again ? 0 : STOP_MS, &before);
	// It is let go when it stops, or when our thread ends.
	if (stop == STOP_LATE && target->late_count < TP_PID_LATE_MOST)
		target->late[target->late_count++] = tid;
	if (stop != STOP_TRAP)
		return stop == STOP_GONE ? TP_PID_GONE : TP_PID_UNFIT;
	uint64_t waited = 0;
	const enum tp_pid_outcome outcome =
	    call_stopped(target, tid, command, path, saved, result, &waited);
	const uint64_t pause = tp_clock_monotonic_ns() - before;
	if (outcome != TP_PID_GONE && pause > target->pause_ns) {
		tp_store_relaxed(&target->pause_waited_ns, waited);
		tp_store_relaxed(&target->pause_ns, pause);
	}
	return outcome;
}

enum tp_pid_outcome tp_pid_call_in(struct tp_pid *target, pid_t tid,
    enum teeperf_late_command command, const char *path, uint64_t *result, int *error)
{
	const int saved = open_saved(tid);
	const struct urgency before = hurry();
	const enum tp_pid_outcome outcome =
	    stop_and_call(target, tid, command, path, saved, result, error);
	calm_down(&before);
	close_saved(tid, saved);
	return outcome;
}

// It is stopped, and is not in the entry: it was not sent there, or had come back. What it got for
// the call it loses.
static void undo_rest(const struct stopped *thread)
{
	const uint64_t call = mask_of_call();
	uint64_t mask = 0;
	if (getpriority(PRIO_PROCESS, (id_t)thread->tid) == NICE_OF_CALL)
		setpriority(PRIO_PROCESS, (id_t)thread->tid, thread->nice);
	// The kernel blocks neither SIGKILL nor SIGSTOP.
	const uint64_t never = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);
	if (trace(PTRACE_GETSIGMASK, thread->tid, sizeof(mask), &mask) &&
	    (mask | never) == (call | never))
		trace(PTRACE_SETSIGMASK, thread->tid, sizeof(thread->mask), &thread->mask);
}

// One look at a thread that may be in the entry. True: it was, at its end, and is back.
static bool try_to_free(struct tp_pid *target, struct stopped *thread, bool last)
{
	uint64_t result;
	uint64_t before_ns;
	int error;
	int tracer;
	if (!seize(thread->tid, &error, &tracer) ||
	    !trace(PTRACE_INTERRUPT, thread->tid, 0, NULL) ||
	    await_interrupt(target, thread->tid, UNDO_MS, &before_ns) != STOP_TRAP)
		return false;
	if (is_at_end(thread->tid, target->entry, &result)) {
		setpriority(PRIO_PROCESS, (id_t)thread->tid, thread->nice);
		restore(thread);
		leave(thread, target->pid);
		return true;
	}
	if (last)
		undo_rest(thread);
	let_go(thread->tid, target->pid);
	return false;
}

// One that is in the entry gets to its end by itself, and stays there.
static bool free_thread(struct tp_pid *target, pid_t tid)
{
	enum { TRIES = 5 };
	struct saved saved;
	if (!read_saved(target, tid, &saved) || !has_entry(target, tid))
		return false;
	bool freed = false;
	saved.thread.kept = 0;
	for (int i = 1; i <= TRIES && !freed; i++) {
		freed = try_to_free(target, &saved.thread, i == TRIES);
		if (!freed)
			nanosleep(&(struct timespec){.tv_nsec = RUN_MS * 1000000}, NULL);
	}
	char path[SAVED_PATH];
	saved_path(path, tid);
	unlink(path);
	return freed;
}

int tp_pid_free(struct tp_pid *target)
{
	char path[SAVED_PATH];
	int freed = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)target->pid);
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		const pid_t tid = (pid_t)atoi(entry->d_name);
		saved_path(path, tid);
		freed += tid > 0 && !access(path, F_OK) && free_thread(target, tid);
	}
	if (folder)
		closedir(folder);
	return freed;
}

#else

int tp_pid_free(struct tp_pid *target)
{
	(void)target;
	return 0;
}

enum tp_pid_outcome tp_pid_call_in(struct tp_pid *target, pid_t tid,
    enum teeperf_late_command command, const char *path, uint64_t *result, int *error)
{
	(void)target;
	(void)tid;
	(void)command;
	(void)path;
	(void)result;
	*error = ENOSYS; // tp_pid_find has refused
	return TP_PID_REFUSED;
}

#endif
