/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the BPF programs (events.bpf.c) and the recorder (bpf.c) agree on. */
#ifndef TP_BPF_SHARED_H
#define TP_BPF_SHARED_H

#include <teeperf/trace.h>

/* More system calls than any processor has. */
#define TP_BPF_CALLS 512

/* How much of a system call to record, by its number. */
enum tp_bpf_call {
	TP_BPF_CALL_NOT = 0, /* nothing */
	TP_BPF_CALL_RECORD,
	TP_BPF_CALL_FUTEX, /* and who ends it, whoever it is */
	/* that it waited, from when on, and who ended that, if a recorded thread did */
	TP_BPF_CALL_ENDED,
};

/* Constant from before the programs are loaded. */
struct tp_bpf_settings {
	uint64_t ids_device; /* the namespace of process ids that the recorder is in */
	uint64_t ids_inode;
	uint32_t recorder; /* its process id there */
	uint32_t follow;   /* 1: processes that the program starts, too */
	uint32_t page_bytes;
	uint32_t groups;             /* TEEPERF_SYSTEM_SCHED, ... */
	uint8_t calls[TP_BPF_CALLS]; /* enum tp_bpf_call */
};

/* What did not fit into the ring, by enum teeperf_system_kind; 0: threads. */
#define TP_BPF_LOST 7

/* Functions of the kernel that are timed, by enum teeperf_sgx_function. */
#define TP_BPF_FUNCTIONS 9

#endif
