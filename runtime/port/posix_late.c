// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A log for a program that began without one ('teeperf record --pid'): calls that the recorder
// makes by ptrace in one thread, at any instruction, while the others run. See
// docs/decisions/0038-attach.md.
#define _GNU_SOURCE
#include "runtime/port.h"
#include "posix.h"

#include <errno.h>

#include "posix_system.h"

#include <teeperf/late.h>

#if defined(__x86_64__)

bool tp_port_is_late(void)
{
	return true;
}

// ---- Where modules are. The loader, who knows, may be in the middle of something when a log
// comes.

struct remembered {
	struct remembered *next;
	const void *anchor; // NULL: the place is free
	struct teeperf_module module;
};
// Not 0 once a module has come: a recorder tells by that which of several runtimes of a process are
// in use (late.h).
extern TP_HIDDEN struct remembered *tp_late_modules;
struct remembered *tp_late_modules;

// More of them; one place is left out where there is no memory, and its module has no name in a
// later log.
static struct remembered *find_place(void)
{
	enum { BYTES = 64 << 10, COUNT = BYTES / sizeof(struct remembered) };
	for (struct remembered *at = tp_late_modules; at; at = at->next)
		if (!at->anchor)
			return at;
	struct remembered *more =
	    tp_system_map(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (more == MAP_FAILED)
		return NULL;
	for (unsigned i = 0; i < COUNT; i++) {
		more[i].next = tp_late_modules;
		tp_late_modules = &more[i];
	}
	return tp_late_modules;
}

static struct remembered *find(const void *anchor)
{
	struct remembered *at = tp_late_modules;
	while (at && at->anchor != anchor)
		at = at->next;
	return at;
}

void tp_port_remember(const void *anchor)
{
	const int error = errno;
	struct teeperf_module module;
	tp_module_clear(&module);
	// A module with code for two clocks comes twice.
	struct remembered *place = find(anchor) ? NULL : find_place();
	if (place && tp_port_find_module(anchor, &module)) {
		place->module = module;
		place->anchor = anchor;
	}
	errno = error;
}

void tp_port_forget(const void *anchor)
{
	struct remembered *place = find(anchor);
	if (place)
		place->anchor = NULL;
}

bool tp_port_recall(const void *anchor, struct teeperf_module *module)
{
	const struct remembered *place = find(anchor);
	const uint64_t at = module->anchor;
	if (!place && tp_late_is_changing()) {
		// A log comes, and the loader must not be asked. There was no memory to remember
		// it: as one that nobody knows (modules.c).
		module->start = (uint64_t)(uintptr_t)anchor;
		module->end = module->start + 1;
		return true;
	}
	if (!place)
		return false;
	*module = place->module;
	module->anchor = at;
	return true;
}

// ---- The calls.

void tp_port_drop(uint64_t address, uint64_t size)
{
	const int error = errno;
	tp_system(SYS_madvise, address, size, MADV_REMOVE);
	errno = error;
}

// The writer of this chunk will not return to it. The id is under the host's control, and decides
// about memory of the log.
static bool is_of_dead_thread(const struct teeperf_chunk *chunk)
{
	return tp_system(
		   SYS_tgkill, tp_system_process(), (pid_t)tp_load_relaxed(&chunk->os_tid), 0) &&
	       errno == ESRCH;
}

enum { WORDS = TP_CHUNK_SIZE / 8, FIRST_WORD = sizeof(struct teeperf_chunk) / 8 };

// Behind the last word of a chunk that is not 0. A recorder that is done with the log has said
// where that is, and has taken away the pages behind it, which would come back if we looked.
static uint64_t end_of_words(const struct teeperf_chunk *chunk, bool over)
{
	const uint64_t *words = (const uint64_t *)(const void *)chunk;
	uint64_t end = over ? tp_load_relaxed(&chunk->used) / 8 : WORDS;
	if (end > WORDS)
		end = WORDS;
	while (!over && end > FIRST_WORD && !tp_load_relaxed(&words[end - 1]))
		end--;
	return end < FIRST_WORD ? FIRST_WORD : end;
}

/*
 * A thread that was in the middle of the last log still has its cursor there, and would go on there
 * in the fast path. The sequence uses no place that is not 0 (abi.h), so it enters the cold path,
 * which knows the new log. Several words are set, since it may have moved its cursor already, and
 * its handlers may have, too. Each last log stays mapped for ever: a thread that was stopped
 * between the look and the store stores there. The memory that its recorder has left is given back
 * unless it keeps a thread away; the threads give back the rest (thread.c).
 */
static void block_last_log(void)
{
	struct teeperf_log_header *header = tp_process.header;
	const bool over = header && tp_load_acquire(&header->magic) == TEEPERF_LOG_OVER;
	for (uint64_t i = 0; header && i <= tp_process.chunk_mask; i++) {
		if (tp_load_relaxed(&tp_process.states[i]) != TEEPERF_CHUNK_OWNED)
			continue;
		struct teeperf_chunk *chunk = tp_chunk_at(i + 1);
		if (over && is_of_dead_thread(chunk)) {
			tp_port_drop((uint64_t)(uintptr_t)chunk, TP_CHUNK_SIZE);
			continue;
		}
		uint64_t *words = (uint64_t *)(void *)chunk;
		const uint64_t end = end_of_words(chunk, over);
		for (uint64_t at = end; at < WORDS && at < end + TEEPERF_LATE_WORDS; at++)
			tp_store_relaxed(&words[at], (uint64_t)TEEPERF_CONTROL_PAD << 32);
	}
	const uint64_t start = (uint64_t)(uintptr_t)header;
	if (over)
		tp_port_drop(start, tp_process.chunks - start);
	tp_process.header = NULL;
}

static enum teeperf_late_result result_of(enum teeperf_attach attach)
{
	switch (attach) {
	case TEEPERF_ATTACH_DONE:
		return TEEPERF_LATE_DONE;
	case TEEPERF_ATTACH_BAD_CLOCK:
		return TEEPERF_LATE_BAD_CLOCK;
	case TEEPERF_ATTACH_BAD_MODULE:
		return TEEPERF_LATE_BAD_MODULE;
	default:
		return TEEPERF_LATE_BAD_LOG;
	}
}

// 0, or why there is no log.
static uint64_t map_log(const char *path, void **base, uint64_t *size)
{
	errno = 0;
	const int fd = tp_system_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const bool mapped = fd >= 0 && tp_port_map_file(fd, 0, base, size);
	const uint64_t error = (uint64_t)errno;
	if (fd >= 0)
		tp_system_close(fd);
	return mapped ? 0 : error << 32 | TEEPERF_LATE_NO_LOG;
}

static uint64_t take_log(void *base, uint64_t size)
{
	block_last_log();
	const enum teeperf_attach attach = tp_attach_late(base, size);
	if (attach == TEEPERF_ATTACH_DONE)
		return TEEPERF_LATE_DONE;
	tp_process.header = NULL;
	return result_of(attach);
}

static uint64_t come(const char *path)
{
	const uint32_t state = tp_load32_acquire(&tp_process.state);
	if (state == TP_STATE_START)
		return TEEPERF_LATE_NO_MODULE;
	if (state != TP_STATE_OFF || !tp_process.late)
		return TEEPERF_LATE_TAKEN;
	if (tp_counts_used())
		return TEEPERF_LATE_COUNTS;
	void *base;
	uint64_t size;
	uint64_t result = map_log(path, &base, &size);
	if (result)
		return result;
	if (!tp_late_begin()) {
		tp_port_unmap_log(base, size);
		return TEEPERF_LATE_BUSY;
	}
	// No thread enters: the process is off. A thread that is still inside uses the state that
	// is about to change.
	const bool used = tp_load_seq_cst(&tp_process.inside) || tp_switch_is_busy();
	// Another recorder's log may have come meanwhile.
	const bool off = tp_load32_acquire(&tp_process.state) == TP_STATE_OFF;
	result = !off ? TEEPERF_LATE_TAKEN : used ? TEEPERF_LATE_BUSY : take_log(base, size);
	tp_late_end();
	if (result != TEEPERF_LATE_DONE)
		tp_port_unmap_log(base, size);
	return result;
}

uint64_t tp_late_call(uint64_t command, const char *path)
{
	const int error = errno;
	uint64_t result = TEEPERF_LATE_DONE;
	if (command == TEEPERF_LATE_ATTACH)
		result = come(path);
	else if (command == TEEPERF_LATE_LOOK)
		__teeperf_poll();
	else if (command == TEEPERF_LATE_ABANDON)
		tp_late_end(); // what come() had mapped stays: nobody knows where
	else if (tp_process.late && tp_load32_acquire(&tp_process.state) != TP_STATE_OFF)
		tp_attach_late_end();
	errno = error;
	return result;
}

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
__asm__(".pushsection .text\n"
	".p2align 4\n"
	".type tp_late_entry, @function\n"
	"tp_late_entry:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	cld\n"
	"	pushq %r15\n"
	"	pushq %r14\n"
	"	pushq %r13\n"
	"	pushq %r12\n"
	"	pushq %r11\n"
	"	pushq %r10\n"
	"	pushq %r9\n"
	"	pushq %r8\n"
	"	pushq %rdx\n"
	"	pushq %rcx\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	movq %rsp, %rsi\n"
	"	xorl %ebp, %ebp\n"
	"	call tp_late_call\n"
	"	movq %rax, %rdx\n"
	"	movabsq $0x6574616c70656574, %rsi\n"
	"1:	movl $3, %eax\n" // close
	"	movq $-1, %rdi\n"
	"	syscall\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	".size tp_late_entry, . - tp_late_entry\n"
	".popsection\n"
	".pushsection " TEEPERF_NOTE_SECTION ", \"a\", %note\n"
	".balign 4\n"
	".4byte 8, 12, " TEXT(
	    TEEPERF_NOTE_TYPE_LATE) "\n"
				    ".asciz \"" TEEPERF_NOTE_NAME "\"\n"
				    ".4byte " TEXT(TEEPERF_ABI) "\n"
								".4byte tp_late_entry - .\n"
								".4byte tp_late_modules - .\n"
								".popsection\n");
_Static_assert(
    SYS_close == 3 && TEEPERF_LATE_MARK == UINT64_C(0x6574616c70656574), "tp_late_entry");

#endif
