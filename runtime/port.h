/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The platform interface: all that the runtime asks of the system it runs on, one file port/NAME.c
 * for each platform. Except where a line says otherwise, functions are called in ordinary context.
 */
#ifndef TP_PORT_H
#define TP_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <teeperf/log.h>

/*
 * Map the shared log. On success [*base, *base + *size) is untrusted memory, entirely outside
 * private memory, for the rest of the process's life, and preferably aligned to the chunk size.
 * False, without a message, when there is no log (the usual case: no recorder).
 */
bool tp_port_map_log(void **base, uint64_t *size);

/*
 * Whether all of [base, base + size) is memory that the host may write, and none of it is private.
 * Called before anything in it is read. True on platforms that cannot say: there all memory that a
 * port maps is.
 * pre: it does not wrap.
 */
bool tp_port_is_outside(const void *base, uint64_t size);

/*
 * The same for a log of our own, where the host gives one to each process that asks. *counter: the
 * counter word that the host stores, if it stores one.
 */
bool tp_port_own_log(void **base, uint64_t *size, const uint64_t **counter);

/* Undo one of the two: the log is not ours, or is none. Nothing refers to it any more. */
void tp_port_unmap_log(void *log, uint64_t size);

/* The counter word of tp_port_own_log and tp_port_fork_log is private memory from now on. */
void tp_port_hide_counter(void);

/* ---- In a forked child. Called where a signal handler may call it, signals being blocked. */

struct tp_port_fork {
	uint64_t parent;  /* its process id */
	uint32_t chunk;   /* number + 1 of the chunk for us in the new log, 0: none */
	uint32_t padding; /* words of it that are not ours */
	void *log;        /* the parent's log, `size` bytes */
	uint64_t size;
	void *same; /* the part that must be the same in the new log, in words */
	uint64_t same_size;
};
/* Put a log of our own in the place of the parent's. False: it is as before. */
bool tp_port_fork_log(const struct tp_port_fork *fork, const uint64_t **counter);

/* Replace the log by private memory, so that later writes are not visible to others. */
void tp_port_hide_log(void *log, uint64_t size);

/* ---- In ordinary context again. */

/* The host's id of this process. */
uint64_t tp_port_process_id(void);

/*
 * A thread's first event. *os_tid = the host's id of the thread, *name = its name, NUL
 * padded. Arranges that tp_thread_end() is called when the thread ends, if the platform can.
 * Runs with vector registers saved.
 */
void tp_port_thread_start(uint64_t *os_tid, uint64_t name[2]);

/* The thread's current name, NUL padded. Called from tp_thread_end. */
void tp_port_thread_name(uint64_t name[2]);

/*
 * Nanoseconds for which the calling thread has had a processor since it began; 0: unknown. A value
 * is reported to the host. Called when a thread or the process ends.
 */
uint64_t tp_port_thread_cpu(void);

/*
 * Describe the module that holds address `anchor`: bias, start, end, build ID, path and
 * TEEPERF_MODULE_PATH_CUT; the rest of *module is the caller's. False if no module holds it.
 */
bool tp_port_find_module(const void *anchor, struct teeperf_module *module);

/* Once, when the log has been attached: whatever must be watched (fork). False: give up. */
bool tp_port_attached(void);

/*
 * Called once, after tp_port_attached: arrange that the host's commands are obeyed at once
 * (tp_switch_look), if the recorder requested it. Returns how, and with which *value (log.h,
 * listens_value).
 */
enum teeperf_listens tp_port_listen(uint32_t *value);

/*
 * ---- For ports whose programs may get a log at any time, and lose it again (port/posix_late.c).
 * Weak: others have none. What then cannot be asked, how tp_port_find_module would describe the
 * module that holds ANCHOR, is kept from when it came.
 */
bool tp_port_is_late(void);
void tp_port_remember(const void *anchor);
void tp_port_forget(const void *anchor);
/*
 * Nobody needs this part of a log any more: give its memory back. It reads as 0. Runs with vector
 * registers saved.
 */
void tp_port_drop(uint64_t address, uint64_t size);

/* ---- For ports that have the program headers of a module in memory (elf_segments.c). */

/* The needed parts of ELF-64: no system's elf.h is there to be used. */
struct tp_elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_size, memory_size, alignment;
};

/*
 * Fill in bias, start, end, build ID and where the code is, of a module that was loaded at BIAS.
 * False if it is not loaded at ANCHOR; 0: wherever. What they say is the program's own, so it is
 * believed.
 */
bool tp_elf_segments_describe(const struct tp_elf_segment *segments, unsigned count, uint64_t bias,
    uint64_t anchor, struct teeperf_module *module);

/*
 * ---- For ports whose program is one ELF image that is in memory with its header
 * (port/elf_image.c).
 */

/*
 * The facts in the ELF header at `image`: bias, start, end, build ID and the place of the code.
 * False if there is no such header. It is the program's own, so it is trusted.
 */
bool tp_elf_image_describe(const void *image, struct teeperf_module *module);

/* The program may define it: the absolute path of its file, for readers that look up names. */
extern const char *const teeperf_image_path __attribute__((weak));

/* Its path into the module, if there is one. */
void tp_elf_image_path(struct teeperf_module *module);

/*
 * ---- For ports whose programs share no memory with the host (port/private_log.c): a log in
 * private memory, whose host is the runtime itself, and which is sent as frames (stream.h) by the
 * port's functions below.
 */

/*
 * Lay out the log, for tp_port_map_log to return. CLOCK is the processor's or TEEPERF_CLOCK_NONE;
 * HZ its rate, 0 if it is not known. pre: once.
 */
void tp_private_log_make(uint32_t clock, uint64_t hz, void **base, uint64_t *size);

/*
 * Send one frame: both parts, one after the other, or nothing, and return false. Called by one
 * thread at a time, at any instruction of the program, with vector registers saved. Unsent records
 * are lost, and counted.
 */
bool tp_port_flush(const void *head, uint64_t head_size, const void *body, uint64_t body_size);

/*
 * Around the sending of a chunk, called as the above. Between them nothing may remove the thread
 * permanently, like a handler that does not return: then no thread could send any more. The result
 * of the first is passed to the other.
 */
uint64_t tp_port_flush_begin(void);
void tp_port_flush_end(uint64_t mask);

/* Wait about 10 ms for another thread that sends. False: no thread to wait for. */
bool tp_port_flush_nap(void);

/* Nanoseconds of a monotonic clock, 0 if there is none. Called like the above. */
uint64_t tp_port_flush_time_ns(void);

#endif
