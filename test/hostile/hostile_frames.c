// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into hostile_program, where it sends frames (HOSTILE_FRAMES): the private log with its tables,
// between two stretches of memory that nobody may touch, and a host that answers the runtime's
// system calls, or the edge calls of Keystone, as it likes. What it answers HOSTILE_CALLS says:
// "MODE,SEED".
//
//   MODE 0  as the kernel
//   MODE 1  as a kernel may: interrupted, not now, a few bytes only; the stream must come out whole
//   MODE 2  lies as well: errors, numbers that cannot be, written where nothing was
//   MODE 3  as a kernel may: no room for a chunk now and then
//   MODE 4  as a disk that is full once: a part of one frame, no room for the rest of it, and room
//           again
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// The log itself, in the place of the archive's.
enum { GUARD = 1 << 16 };
static char before[GUARD] __attribute__((aligned(GUARD), used));
#include "runtime/port/private_log.c"
static char behind[GUARD] __attribute__((aligned(GUARD), used));

#include <teeperf/keystone.h>

bool hostile_frames_begin(void);
uint64_t hostile_frames_wrong(void);

static uint64_t mode, state;

__attribute__((constructor(101))) static void read_mode(void)
{
	const char *text = getenv("HOSTILE_CALLS");
	char *rest = NULL;
	mode = text ? strtoull(text, &rest, 10) : 0;
	state = rest && *rest ? strtoull(rest + 1, NULL, 10) : 0;
}

// Of any thread, at any instruction.
static uint64_t any(uint64_t below)
{
	const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t x = __atomic_add_fetch(&state, step, __ATOMIC_RELAXED);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x >> 16) % below;
}

typedef long kernel(long number, ...);
static kernel *real(void)
{
	static kernel *found;
	if (!found)
		found = (kernel *)dlsym(RTLD_NEXT, "syscall");
	return found;
}

static long refuse(int error)
{
	errno = error;
	return -1;
}

static long write_all(int fd, const struct iovec *parts, long count)
{
	return real()(SYS_writev, (long)fd, parts, count, 0L, 0L, 0L);
}

static long write_lie(long total)
{
	static const int errors[] = {EIO, ENOSPC, EFBIG, EINVAL, ENOMEM, EBADF, EPIPE, 0, 5000, -7};
	const long answers[] = {
	    0, LONG_MAX, LONG_MIN, -2, -4095, total, total + 1, total - 1, INT_MAX};
	errno = errors[any(sizeof(errors) / sizeof(errors[0]))];
	return any(2) ? -1 : answers[any(sizeof(answers) / sizeof(answers[0]))];
}

// Half of the first chunk, and then nothing once.
static long write_half(int fd, const struct iovec *parts, long count, bool is_chunk)
{
	static int calls;
	if (calls == 1) {
		calls = 2;
		return refuse(ENOSPC);
	}
	if (!is_chunk || calls)
		return write_all(fd, parts, count);
	calls = 1;
	const struct iovec half[2] = {parts[0], {parts[1].iov_base, parts[1].iov_len / 2}};
	return write_all(fd, half, 2);
}

// As writev(2), or not.
static long write_some(int fd, const struct iovec *parts, long count)
{
	const struct teeperf_frame *head = parts[0].iov_base;
	const bool is_chunk =
	    count == 2 && parts[0].iov_len == sizeof(*head) && head->kind == TEEPERF_FRAME_CHUNK;
	if (mode == 2 && !any(32))
		return write_lie((long)(parts[0].iov_len + (count > 1 ? parts[1].iov_len : 0)));
	if (mode == 3)
		return is_chunk && !any(3) ? refuse(any(2) ? ENOSPC : EFBIG)
					   : write_all(fd, parts, count);
	if (mode == 4)
		return write_half(fd, parts, count, is_chunk);
	struct iovec few = parts[0];
	switch (any(5)) {
	case 0:
		return refuse(EINTR);
	case 1:
		return refuse(EAGAIN);
	case 2:
		few.iov_len = few.iov_len ? 1 + any(few.iov_len) : 0;
		return write_all(fd, &few, 1);
	default:
		return write_all(fd, parts, count);
	}
}

// In place of libc's; the runtime's stream makes its calls by this.
long syscall(long number, ...)
{
	long values[6];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		values[i] = va_arg(list, long);
	va_end(list);
	if (mode && number == SYS_writev)
		return write_some((int)values[0], (const struct iovec *)values[1], values[2]);
	if (mode && number == SYS_ppoll && !any(3))
		return mode == 2 && !any(8) ? 0 : refuse(EINTR);
	if (mode && number == SYS_nanosleep && !any(2))
		return refuse(EINTR);
	return real()(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

// ---- Keystone: the host takes a frame; in MODE 2 it may say so only, in 2 and 3 that it has not.

const uint64_t teeperf_keystone_clock_hz = 1000000000;

int teeperf_keystone_send(
    const void *head, uint64_t head_size, const void *body, uint64_t body_size)
{
	static int fd = -2;
	if (fd == -2) {
		const char *text = getenv("TEEPERF_STREAM");
		signal(SIGPIPE, SIG_IGN); // it is the host's
		fd = text && text[0] == 'f' ? atoi(text + 3) : -1;
	}
	if (mode == 2 && !any(4))
		return any(2) ? 0 : (int)any(UINT_MAX);
	const struct teeperf_frame *frame = head;
	if (mode == 3 && frame->kind == TEEPERF_FRAME_CHUNK && !any(3))
		return any(2) ? -1 : INT_MAX;
	struct iovec parts[2] = {
	    {(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)body, body_size}};
	for (int i = 0; i < 2;) {
		const long done = real()(SYS_writev, (long)fd, &parts[i], 2L - i, 0L, 0L, 0L);
		if (done < 0 && errno != EINTR && errno != EAGAIN)
			return 1;
		for (uint64_t left = done > 0 ? (uint64_t)done : 0; i < 2; i++) {
			const uint64_t taken = left < parts[i].iov_len ? left : parts[i].iov_len;
			parts[i].iov_base = (char *)parts[i].iov_base + taken;
			parts[i].iov_len -= taken;
			left -= taken;
			if (parts[i].iov_len)
				break;
		}
	}
	return 0;
}

// Where it is, so that the compiler does not know what cannot be equal.
static uintptr_t at(const void *object)
{
	uintptr_t address = (uintptr_t)object;
	__asm__("" : "+r"(address));
	return address;
}

bool hostile_frames_begin(void)
{
	// Directly behind the log is the queue, and behind that other private data.
	return at(before) + sizeof(before) == at(&place) && at(&place + 1) <= at(queue) &&
	       at(&sent_words[CHUNKS]) <= at(behind) &&
	       !mprotect(before, sizeof(before), PROT_NONE) &&
	       !mprotect(behind, sizeof(behind), PROT_NONE);
}

uint64_t hostile_frames_wrong(void)
{
	uint64_t wrong = 0;
	for (unsigned i = 0; i < CHUNKS; i++)
		wrong += tp_load_relaxed(&queue[i]) > CHUNKS ||
			 tp_load_relaxed(&sent_words[i]) > TP_CHUNK_SIZE / 8;
	return wrong + (place.header.region_size != sizeof(place)) +
	       (place.header.magic != TEEPERF_LOG_MAGIC) + (tp_process.header != &place.header) +
	       (tp_process.chunk_mask != CHUNKS - 1);
}
