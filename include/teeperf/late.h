/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How a recorder gives a log to a running program ('teeperf record --pid'): the runtime's answers
 * to calls that the recorder makes in one of the program's threads, by ptrace(2). Not installed.
 * x86-64 only.
 *
 * The runtime has an ELF note, TEEPERF_NOTE_NAME of type TEEPERF_NOTE_TYPE_LATE, which is also in
 * memory and in stripped files: struct teeperf_late_note. A thread enters with
 *
 *   rdi   enum teeperf_late_command
 *   rbx, rbp, rcx, rdx, r8 ... r15   in this order the path of the log, NUL-terminated
 *         (TEEPERF_LATE_PATH_SIZE bytes), so that the program's memory is not written from outside
 *   rsp   a multiple of 16, below which the stack is free
 *
 * and when it is done it makes the system call close(-1, TEEPERF_LATE_MARK, result). It is stopped
 * there: the entry does not return. The result is an enum teeperf_late_result, and from bit 32 on
 * an errno value. The entry takes no lock and allocates no memory, and makes only system calls,
 * wherever the thread was interrupted.
 */
#ifndef TEEPERF_LATE_H
#define TEEPERF_LATE_H

#include <stdint.h>

#define TEEPERF_NOTE_TYPE_LATE 2
struct teeperf_late_note {
	uint32_t abi;  /* TEEPERF_ABI */
	int32_t entry; /* its address less that of this field */
	/*
	 * likewise of a word of 64 bits: 0 until instrumented code has registered with this runtime
	 */
	int32_t modules;
};

#define TEEPERF_LATE_PATH_SIZE 96
/*
 * Most words, other than records, that the runtime stores after a thread's last record in a log
 * that it has left.
 */
#define TEEPERF_LATE_WORDS 128
#define TEEPERF_LATE_MARK UINT64_C(0x6574616c70656574)

enum teeperf_late_command {
	TEEPERF_LATE_ATTACH = 1,  /* take the log, switched off or on as its control word says */
	TEEPERF_LATE_LOOK = 2,    /* obey the control word */
	TEEPERF_LATE_LEAVE = 3,   /* leave the log: nothing is written any more */
	TEEPERF_LATE_ABANDON = 4, /* a call to take a log crashed, and was undone */
};

enum teeperf_late_result {
	TEEPERF_LATE_DONE = 1,
	TEEPERF_LATE_BUSY =
	    2, /* a thread is in the runtime, or a module is loaded or unloaded: try again */
	TEEPERF_LATE_NO_MODULE = 3, /* no instrumented code has registered yet */
	TEEPERF_LATE_TAKEN = 4,     /* it has a log */
	TEEPERF_LATE_NO_LOG = 5,    /* the file cannot be opened or mapped; with errno */
	TEEPERF_LATE_BAD_LOG = 6,
	TEEPERF_LATE_BAD_CLOCK = 7,
	TEEPERF_LATE_BAD_MODULE = 8,
	/* It counts calls, and threads that counted for the last log would continue there. */
	TEEPERF_LATE_COUNTS = 9,
};

#endif
