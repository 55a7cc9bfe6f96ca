/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The trace file, which the recorder writes and the reader opens. Specified in
 * docs/format.md. A file header, then sections in any order, each 8-byte aligned; a reader stops at
 * the first incomplete section and keeps what precedes it. Little-endian.
 */
#ifndef TEEPERF_TRACE_H
#define TEEPERF_TRACE_H

#include <teeperf/log.h>

/* "TPTRACE1", read as a little-endian word. */
#define TEEPERF_TRACE_MAGIC UINT64_C(0x3145434152545054)
#define TEEPERF_TRACE_MAJOR 1
#define TEEPERF_TRACE_OLDEST_MAJOR 1
#define TEEPERF_TRACE_MINOR 7

struct teeperf_trace_header {
	uint64_t magic; /* TEEPERF_TRACE_MAGIC */
	uint16_t major;
	uint16_t oldest_major; /* the oldest major whose reader can read this file */
	uint16_t minor;
	uint16_t header_size;     /* bytes: 64 */
	uint64_t created_unix_ns; /* wall clock at the start of the recording */
	uint32_t chunk_shift;     /* as in the log header */
	uint32_t machine;         /* ELF e_machine; 0 until the program attached */
	uint64_t reserved[4];
};

enum teeperf_section_type {
	TEEPERF_SECTION_CHUNK = 1,   /* struct teeperf_chunk, then its records (used - 64 bytes) */
	TEEPERF_SECTION_MODULES = 2, /* struct teeperf_module[]; the last such section counts */
	TEEPERF_SECTION_THREADS =
	    3, /* struct teeperf_thread[], by thread number; the last counts */
	TEEPERF_SECTION_CLOCK =
	    4, /* struct teeperf_trace_clock, then its points; the last counts */
	TEEPERF_SECTION_COMMAND = 5, /* the working directory, then each argument; each NUL-ended */
	TEEPERF_SECTION_HOST = 6,    /* text, "key=value\n" lines, UTF-8 */
	TEEPERF_SECTION_SYMBOLS = 7, /* text, for traces that travel without binaries; see below */
	TEEPERF_SECTION_END = 8, /* struct teeperf_trace_end; absent if the recorder was killed */
	TEEPERF_SECTION_SWITCHES = 9, /* uint64_t[], header.switches in order; the last counts */
	TEEPERF_SECTION_PACKED = 10, /* struct teeperf_packed and its two parts: a CHUNK, smaller */
	TEEPERF_SECTION_LOG =
	    11, /* struct teeperf_trace_log: where the rest is if there is no END */
	TEEPERF_SECTION_CPU =
	    12, /* struct teeperf_trace_cpu, then one for each thread; the last counts */
	TEEPERF_SECTION_MISSING =
	    13, /* struct teeperf_trace_missing[]: the chunks that were not written */
	TEEPERF_SECTION_SCHED =
	    14, /* struct teeperf_trace_sched, then its switches; all such sections count */
	TEEPERF_SECTION_SYSTEM =
	    15, /* struct teeperf_trace_system, then its events; all such sections count */
	TEEPERF_SECTION_COUNTERS =
	    16, /* struct teeperf_trace_meters, its meters and readings; the last counts */
	TEEPERF_SECTION_ENERGY = 17,     /* the same */
	TEEPERF_SECTION_SELECTIONS = 18, /* struct teeperf_trace_selection[]; the last counts */
	TEEPERF_SECTION_WINDOWS = 19,    /* struct teeperf_trace_window[]; the last counts */
	TEEPERF_SECTION_MARKS = 20,      /* struct teeperf_trace_mark[]; the last counts */
};

/* "TPSC", read as a little-endian word. */
#define TEEPERF_SECTION_MAGIC UINT32_C(0x43535054)

struct teeperf_section {
	uint32_t magic; /* TEEPERF_SECTION_MAGIC */
	uint32_t type;  /* enum teeperf_section_type; a reader skips types that it does not know */
	uint64_t size;  /* bytes of payload; zeroes pad it to a multiple of 8 */
	uint32_t checksum; /* low half of the XXH3-64 (seed 0) of the payload without padding */
	uint32_t flags;    /* 0 */
};

/*
 * PACKED: names and times of a chunk's records, apart, each as zstd frames. The names are the
 * records' upper halves. A time becomes a code of one byte and, from TEEPERF_PACKED_NEAR on, more
 * bytes after all codes; docs/format.md, Packed chunks, has the rule.
 */
#define TEEPERF_PACKED_NEAR 240 /* to 254: one byte more */
#define TEEPERF_PACKED_FAR 255  /* four bytes more */

struct teeperf_packed {
	struct teeperf_chunk chunk; /* as in CHUNK: `used` is the size unpacked */
	uint32_t names_size;        /* bytes of the first part, which follows */
	uint32_t times_size;        /* bytes of the second part, which follows the first */
	uint32_t level;             /* of zstd, for information */
	uint32_t reserved;
};

/*
 * Clock. Ticks become nanoseconds by the straight line through the first and the last point;
 * points between them show how far the clock strays from it. Without two points of different
 * ticks, hz is used; without hz, times are shown in ticks.
 */
struct teeperf_trace_point {
	uint64_t ticks;
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC_RAW of the recorder's machine */
};
struct teeperf_trace_clock {
	uint32_t kind;        /* enum teeperf_clock */
	uint32_t point_count; /* struct teeperf_trace_point that follow */
	uint64_t hz;          /* nominal ticks per second, 0 if unknown */
	/* Health of a soft clock, 0 for the others. */
	uint64_t stores;     /* times the counter word was stored */
	uint64_t max_gap_ns; /* longest time without a store */
	uint64_t starved_ns; /* sum of the gaps of more than 10 us */
	uint64_t period_ns;  /* aim: the time between stores, 0: as fast as possible */
};

/*
 * The log from which the trace is made. If the recorder was killed, the records not yet written are
 * still there: in a file whose name ends in "RECORDER_PID-ID", ID in 16 hexadecimal digits.
 */
#define TEEPERF_LOG_CONSTANT_WORDS 16
struct teeperf_trace_log {
	uint64_t id;           /* random */
	uint32_t recorder_pid; /* process id of the recorder */
	uint32_t level;        /* of zstd for chunks, 0: as they are */
	uint32_t start_off;    /* 1: recording began switched off */
	uint32_t reserved0;
	uint64_t reserved[5];
	/* The beginning of the log's header: in the log, the program could overwrite it. */
	uint64_t constants[TEEPERF_LOG_CONSTANT_WORDS];
};

/*
 * Processor time, as the operating system counts it: of the process, then of the threads for which
 * it is known, by ascending numbers.
 */
#define TEEPERF_CPU_EXACT UINT32_C(1)    /* cpu_ns is the whole time until the end */
#define TEEPERF_CPU_AT_LEAST UINT32_C(2) /* cpu_ns is the time until the last reading */
#define TEEPERF_CPU_DELAY UINT32_C(4)    /* delay_ns is known, until the last reading */
struct teeperf_trace_cpu_thread {
	uint32_t thread; /* its number */
	uint32_t flags;  /* TEEPERF_CPU_* */
	uint64_t cpu_ns;
	uint64_t delay_ns; /* how long it could have run but had no processor */
};
struct teeperf_trace_cpu {
	uint64_t cpu_ns;       /* of all threads of the process, ended ones included */
	uint64_t wall_ns;      /* from the start of the recording to the last reading */
	uint32_t flags;        /* TEEPERF_CPU_EXACT, TEEPERF_CPU_AT_LEAST; 0: cpu_ns is not known */
	uint32_t thread_count; /* struct teeperf_trace_cpu_thread that follow */
};

/*
 * SCHED: when threads got a processor and lost it, as the operating system reported. Sections
 * follow one another in time, the switches of one need not be in order.
 */
enum teeperf_sched_kind {
	TEEPERF_SCHED_ON = 0,        /* the thread has the processor from here on */
	TEEPERF_SCHED_BLOCKED = 1,   /* it waits for something */
	TEEPERF_SCHED_PREEMPTED = 2, /* it could run but has no processor */
	TEEPERF_SCHED_ENDED = 3,     /* it ended */
};
struct teeperf_trace_sched_switch {
	uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
	uint32_t os_tid;
	uint16_t kind; /* enum teeperf_sched_kind */
	uint16_t cpu;  /* where */
};
struct teeperf_trace_sched {
	uint64_t from_ns; /* CLOCK_MONOTONIC_RAW: earlier switches are unknown */
	uint64_t lost;    /* switches, of any thread, that are in no section */
};

/*
 * SYSTEM: the kernel's work for the program. Each section has the events that ended since the
 * previous one; they need not be in order. The head's numbers are totals so far: in the last
 * section, of the whole recording.
 */
enum teeperf_system_kind {
	TEEPERF_SYSTEM_CALL = 1,  /* a system call */
	TEEPERF_SYSTEM_FAULT = 2, /* a page fault */
	TEEPERF_SYSTEM_BLOCK = 3, /* a request to a block device */
	TEEPERF_SYSTEM_ALLOCATION =
	    4, /* memory that the kernel allocated in a system call or page fault */
	TEEPERF_SYSTEM_START = 5,  /* a thread was made; until it first ran */
	TEEPERF_SYSTEM_DRIVER = 6, /* a call within the kernel: a function of its SGX driver */
};
/* The recorded groups of events, as bits of `groups`. */
#define TEEPERF_SYSTEM_SCHED UINT32_C(1) /* futex calls, calls that other threads ended, starts */
#define TEEPERF_SYSTEM_SYSCALLS UINT32_C(2) /* all system calls */
#define TEEPERF_SYSTEM_IO UINT32_C(4)       /* calls that read and write, and block devices */
#define TEEPERF_SYSTEM_FAULTS UINT32_C(8)   /* page faults */
#define TEEPERF_SYSTEM_MEM UINT32_C(16)     /* memory that the kernel allocates in them */
#define TEEPERF_SYSTEM_SGX UINT32_C(32)     /* functions of the kernel's SGX driver */
/* Bits of an event's `flags`. */
#define TEEPERF_SYSTEM_UNFINISHED 1 /* the thread ended in it: it has no result */
#define TEEPERF_SYSTEM_MAJOR 2      /* of a fault: it read from a device */
#define TEEPERF_SYSTEM_IN_FAULT 4   /* of an allocation: in a page fault, not in a call */
/* `detail` of a fault: the kind of memory at the address. */
enum teeperf_system_memory {
	TEEPERF_SYSTEM_MEMORY_OTHER = 0, /* not known, or shared memory without a file */
	TEEPERF_SYSTEM_MEMORY_STACK = 1, /* of the thread that faulted */
	TEEPERF_SYSTEM_MEMORY_HEAP = 2,  /* memory from brk() */
	TEEPERF_SYSTEM_MEMORY_ANON = 3,  /* mapped without a file */
	TEEPERF_SYSTEM_MEMORY_FILE = 4,  /* a mapped file, or one in shared memory */
	TEEPERF_SYSTEM_MEMORY_CODE = 5,  /* the same, and it may be run */
};
/*
 * `number` of a function of the SGX driver: the kernel's own name of it. They call each other, so
 * their times overlap.
 */
enum teeperf_sgx_function {
	TEEPERF_SGX_FAULT = 1,      /* sgx_vma_fault: a page fault in an enclave */
	TEEPERF_SGX_VEPC_FAULT = 2, /* sgx_vepc_fault: one in a virtual machine's EPC */
	TEEPERF_SGX_LOAD_PAGE = 3,  /* sgx_encl_load_page: a page of an enclave is looked for */
	TEEPERF_SGX_ELDU = 4,       /* sgx_encl_eldu: it is read back into the EPC */
	TEEPERF_SGX_EAUG = 5,       /* sgx_encl_eaug_page: a page is added while the enclave runs */
	TEEPERF_SGX_ALLOC_PAGE = 6, /* sgx_alloc_epc_page: memory of the EPC is allocated */
	TEEPERF_SGX_RECLAIM = 7,    /* sgx_reclaim_pages: pages are written out of the EPC */
	TEEPERF_SGX_IOCTL = 8,      /* sgx_ioctl: an enclave is made, given pages, or changed */
};
struct teeperf_system_event {
	uint64_t start_ns; /* CLOCK_MONOTONIC_RAW */
	uint64_t duration_ns;
	uint32_t os_tid; /* of the thread for which it was done */
	uint32_t os_pid;
	uint16_t kind;  /* enum teeperf_system_kind */
	uint16_t flags; /* TEEPERF_SYSTEM_UNFINISHED, ... */
	/*
	 * A call: its number; a request: the device, major << 20 | minor; an allocation: the call;
	 * of SGX: the function.
	 */
	uint32_t number;
	/*
	 * A call: its result, signed; a request: its bytes; an allocation: the number of objects.
	 */
	uint64_t result;
	/*
	 * A call: its first argument; a fault: the address; a request: its sector; an allocation:
	 * bytes of pages.
	 */
	uint64_t argument;
	/* a call: its second argument; see above; a request: 0 reads, 1 writes, else REQ_OP_ */
	uint32_t detail;
	uint32_t waker_tid; /* a call: the thread that woke this one, 0: none; a start: its maker */
	uint64_t woken_ns;  /* when; a request: when the thread made it; the same clock */
};
struct teeperf_trace_system {
	uint32_t groups; /* TEEPERF_SYSTEM_SCHED, ...: the recorded groups */
	/* Events that are in no section, because they came too fast. */
	uint32_t lost_sgx;
	uint64_t lost_calls;
	uint64_t lost_faults;
	uint64_t lost_blocks;
	uint64_t lost_allocations;
	uint64_t lost_threads; /* threads without any event here */
};

/*
 * SELECTIONS: which functions recorded, and since when. For each selection an entry with hash 0,
 * then one for each hash that is in its list but not in that of the previous selection, or the
 * other way round. The first is that of the recording's start.
 */
struct teeperf_trace_selection {
	uint64_t time;   /* ticks: header.selected_time; of the first: 0 */
	uint64_t hash;   /* of a function's name (abi.h) */
	uint32_t number; /* of the selection, as in the log; of the first: 0 */
	uint32_t only;   /* enum teeperf_only */
};

/*
 * WINDOWS: selections whose time and duration the recorder chose independently of the program's
 * work, so that the records in them are a fair sample. A window lasts until the next selection.
 */
struct teeperf_trace_window {
	uint32_t selection; /* its number; ascending */
	uint32_t reserved;  /* 0 */
};

/* MARKS: moments that were marked from outside, by 'teeperf ctl mark', in order of time. */
struct teeperf_trace_mark {
	uint64_t monotonic_ns;        /* CLOCK_MONOTONIC_RAW of the recorder's machine */
	char name[TEEPERF_MARK_NAME]; /* UTF-8, NUL-terminated */
};

/* How the program ended. */
enum teeperf_exit_kind {
	TEEPERF_EXIT_UNKNOWN = 0, /* still running when the recording ended, or unknown */
	TEEPERF_EXIT_CODE = 1,    /* exited; value = exit code */
	TEEPERF_EXIT_SIGNAL = 2,  /* killed; value = signal number */
};
struct teeperf_trace_end {
	uint32_t exit_kind;
	uint32_t exit_value;
	uint64_t start_ns;      /* CLOCK_MONOTONIC_RAW when the program was started */
	uint64_t end_ns;        /* ... and when it had ended */
	uint64_t chunk_count;   /* CHUNK and PACKED sections in this file */
	uint64_t chunk_draws;   /* the log's tail: chunks taken by threads */
	uint64_t lost_early;    /* as in the log header */
	uint64_t lost_overflow; /* as in the log header */
	uint64_t refused;       /* as in the log header */
	uint64_t log_bytes;     /* size of the region that was used */
	uint32_t mode;          /* enum teeperf_mode */
	uint32_t attach;        /* enum teeperf_attach */
	uint64_t module_count;  /* modules seen, also those beyond the table */
	uint64_t thread_count;  /* threads seen, also those beyond the table */
	uint64_t forked;        /* as in the log header */
	/*
	 * Chunks that the recorder had but could not write, for example because the disk was full.
	 */
	uint32_t missing_chunks; /* chunks that are not in this file */
	uint32_t unwritten;      /* bit N: the last section of type N is not in this file */
	uint64_t missing_events; /* enters and exits in these chunks */
	uint64_t missing_calls;  /* calls in their COUNTS records */
};

/* MISSING: the same for each thread with such chunks, by number. */
struct teeperf_trace_missing {
	uint32_t thread;
	uint32_t reserved;
	uint64_t chunks;
	uint64_t events;
	uint64_t calls;
};

/*
 * COUNTERS and ENERGY: meters that the recorder read at moments of the recording. struct
 * teeperf_trace_meters, then meter_count struct teeperf_trace_meter, then reading_count struct
 * teeperf_trace_reading by ascending time. The last such section counts.
 */
enum teeperf_meter_unit {
	TEEPERF_METER_COUNT = 0, /* events */
	TEEPERF_METER_NS = 1,
	TEEPERF_METER_BYTES = 2,
	TEEPERF_METER_MICROJOULES = 3,
};
enum teeperf_meter_kind {
	TEEPERF_METER_TOTAL = 0, /* it grows: the difference of two readings counts */
	TEEPERF_METER_GAUGE = 1, /* it rises and falls */
	TEEPERF_METER_FINAL = 2, /* known at the end only */
};
#define TEEPERF_METER_COUNTED UINT32_C(1)   /* it has readings; else `note` says why not */
#define TEEPERF_METER_USER_ONLY UINT32_C(2) /* without events in the kernel */
#define TEEPERF_METER_BROKEN UINT32_C(4)    /* a reading failed: values may be too small */
#define TEEPERF_METER_TIMED UINT32_C(8)     /* enabled_ns and running_ns are known */
struct teeperf_trace_meter {
	char name[48];  /* UTF-8, NUL-terminated */
	char note[128]; /* the same: its limits, or empty */
	uint32_t unit;  /* enum teeperf_meter_unit */
	uint32_t kind;  /* enum teeperf_meter_kind */
	uint32_t flags; /* TEEPERF_METER_* */
	uint32_t reserved;
};

/* Why a meter was read. SWITCH and MARK begin a new phase. */
enum teeperf_reading_cause {
	TEEPERF_READING_START = 0,
	TEEPERF_READING_INTERVAL = 1,
	TEEPERF_READING_SWITCH = 2, /* recording was switched on or off */
	TEEPERF_READING_MARK = 3,   /* 'teeperf ctl mark' */
	TEEPERF_READING_END = 4,
};
struct teeperf_trace_reading {
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC_RAW of the recorder's machine */
	uint32_t meter;        /* index of the meter */
	uint32_t cause;        /* enum teeperf_reading_cause */
	uint64_t value;
	uint64_t enabled_ns; /* processor time, summed over threads, in which it was enabled ... */
	uint64_t running_ns; /* ... and in which it counted: less if the hardware was shared */
};
struct teeperf_trace_meters {
	uint64_t interval_ns; /* between INTERVAL readings; 0: none */
	uint64_t left_out;    /* moments of SWITCH and MARK that did not fit */
	uint32_t meter_count;
	uint32_t reading_count;
	uint64_t reserved;
};

/*
 * SYMBOLS: one line per symbol, fields separated by tabs, addresses at run time, in hexadecimal
 * without prefix: "address<TAB>size<TAB>linkage name<TAB>file<TAB>line\n"; file may be empty, line
 * 0.
 */

TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_header) == 64, "trace header");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_section) == 24, "section");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_packed) == 80, "packed chunk");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_point) == 16, "point");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_clock) == 48, "clock");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_log) == 192, "log");
TEEPERF_STATIC_ASSERT(
    8 * TEEPERF_LOG_CONSTANT_WORDS == offsetof(struct teeperf_log_header, counter), "constants");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_cpu_thread) == 24, "processor time");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_cpu) == 24, "processor time of all");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_sched_switch) == 16, "switch of a thread");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_sched) == 16, "switches of threads");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_system_event) == 64, "system event");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_system) == 48, "system events");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_selection) == 24, "selection");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_window) == 8, "window");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_end) == 128, "end");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_missing) == 32, "missing");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_meter) == 192, "meter");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_reading) == 40, "reading");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_trace_meters) == 32, "meters");

#endif
