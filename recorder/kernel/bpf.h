/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the kernel does for the program: system calls, waits, page faults, requests to block
 * devices, reported by BPF programs (events.bpf.c). Needs root, or CAP_BPF and CAP_PERFMON, and a
 * kernel with BTF; a recording can do without.
 */
#ifndef TP_BPF_H
#define TP_BPF_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <teeperf/trace.h>

#include "recorder/kernel/bpf_shared.h"

#include "common/buf.h"
#include "common/err.h"

/* Two clocks at one moment. */
struct tp_bpf_moment {
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC: what BPF programs have */
	uint64_t raw_ns;       /* CLOCK_MONOTONIC_RAW: what traces have */
};

/*
 * Who takes the events of a process, for its trace; all zero: nobody does. Each has a thread of its
 * own.
 */
struct tp_bpf_reader {
	struct tp_bpf *bpf;
	uint32_t process;     /* 0: of all processes that have no reader */
	struct tp_buf events; /* struct teeperf_system_event[], not added to a section yet */
	struct tp_bpf_reader *next;
};

/* All zero: nothing is recorded. */
struct tp_bpf {
	struct bpf_object *object; /* NULL: not open */
	struct bpf_link **links;
	uint32_t link_count;
	uint32_t link_room;
	struct teeperf_trace_system head;
	struct tp_err refused; /* why tp_bpf_open failed; 0: it did not */
	/* why there will be no events of SGX, though they were asked for; 0: there will */
	struct tp_err missing;
	pthread_mutex_t lock; /* of all that follows */
	struct ring_buffer *ring;
	struct tp_buf taken;           /* from the ring, and not given to readers yet */
	struct tp_bpf_reader *readers; /* the one of the rest is the last */
	uint64_t dropped[TP_BPF_LOST]; /* of each kind, for want of memory */
	struct tp_bpf_moment *moments;
	uint32_t moment_count;
	uint32_t moment_room;
};

/* Whose events are reported. */
enum tp_bpf_whose {
	/*
	 * of the process that the caller forks next and that becomes another program, and of all
	 * its threads
	 */
	TP_BPF_CHILD = 0,
	TP_BPF_FAMILY, /* and of the processes that it starts */
	TP_BPF_JOINED, /* of the process of tp_bpf_join, and of all its threads */
};

/*
 * Receive the events of GROUPS (TEEPERF_SYSTEM_SCHED, ...); with TP_BPF_JOINED only get ready for
 * it. 0, or a negative tp_error, and bpf->refused says the same, with what to do about it. Release
 * it in any case.
 */
int tp_bpf_open(struct tp_bpf *bpf, uint32_t groups, enum tp_bpf_whose whose);
/*
 * The same with other functions of the kernel in place of those of SGX; NULL: that number has none.
 */
int tp_bpf_open_functions(struct tp_bpf *bpf, uint32_t groups, enum tp_bpf_whose whose,
    const char *const functions[TP_BPF_FUNCTIONS]);
/*
 * pre: it is open, for TP_BPF_JOINED, and has no readers. From now on receive the events of process
 * PID, which is running. Takes a while. Fails as tp_bpf_open does; close it then.
 */
int tp_bpf_join(struct tp_bpf *bpf, pid_t pid);
/* Give the readers what there is. Costs next to nothing if there is nothing. */
void tp_bpf_take(struct tp_bpf *bpf);
/* Take the rest, and receive no more. */
void tp_bpf_close(struct tp_bpf *bpf);
/* pre: it has no readers. */
void tp_bpf_release(struct tp_bpf *bpf);

/*
 * Read from now on the events of process PROCESS, or 0: of all that have no reader; that one comes
 * first. Nothing if BPF is NULL or not open.
 */
void tp_bpf_reader_init(struct tp_bpf_reader *reader, struct tp_bpf *bpf, uint32_t process);
void tp_bpf_reader_release(struct tp_bpf_reader *reader);
/* How much it could add. */
size_t tp_bpf_reader_bytes(const struct tp_bpf_reader *reader);
/* Number of events in sections that are not in the trace any more. */
void tp_bpf_reader_lose(struct tp_bpf_reader *reader, uint64_t count);
/*
 * Add the payload of a SYSTEM section with all that there is now, and forget that; nothing if
 * nothing is recorded.
 */
void tp_bpf_reader_add(struct tp_bpf_reader *reader, struct tp_buf *out);

/* The groups in a list such as "syscalls,io"; 0, and *err, if a word of it is none. */
uint32_t tp_bpf_groups(const char *list, struct tp_err *err);

/*
 * For tests: CLOCK_MONOTONIC_RAW when CLOCK_MONOTONIC was NS, by COUNT moments (from 1 on) in order
 * of time.
 */
uint64_t tp_bpf_raw_ns(const struct tp_bpf_moment *moments, uint32_t count, uint64_t ns);

/* The compiled programs. */
extern const unsigned char tp_bpf_object[];
extern const size_t tp_bpf_object_size;

#endif
