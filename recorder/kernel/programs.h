/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How many programs of a family of processes are instrumented, whether they find the log or not, by
 * what the kernel reports of each process: forks, programs that start (exec), and files that are
 * mapped to be executed.
 */
#ifndef TP_PROGRAMS_H
#define TP_PROGRAMS_H

#include "common/index.h"

#include <stdbool.h>
#include <stdint.h>

enum tp_programs_kind {
	TP_PROGRAMS_FORK, /* a process, not a thread, was made by another one */
	TP_PROGRAMS_EXEC,
	TP_PROGRAMS_CODE, /* instrumented code was mapped */
};

struct tp_programs_event {
	uint64_t time_ns;
	uint32_t kind; /* enum tp_programs_kind */
	uint32_t pid;
	uint32_t parent; /* TP_PROGRAMS_FORK */
};

/* All zero: none yet. */
struct tp_programs {
	uint64_t count; /* of settled events: programs with instrumented code */
	/* one bit for each process id: its program has been counted */
	uint64_t *counted;
	struct tp_programs_event *events; /* not settled: earlier ones may come */
	uint32_t event_count;
	uint32_t event_room;
	struct tp_programs_file {
		uint64_t key;
		bool instrumented;
	} * files;
	uint32_t file_count;
	uint32_t file_room;
	struct tp_index index; /* of files, by key */
	uint64_t round_ns;     /* when the round of taking before began */
	bool failed;           /* for want of memory: nothing more is counted */
};

void tp_programs_add(struct tp_programs *programs, const struct tp_programs_event *event);

/*
 * Process PID has mapped the code of file PATH; KEY is another one for each file, and for each
 * that takes its place. The file is looked at once.
 */
void tp_programs_map(
    struct tp_programs *programs, uint64_t time_ns, uint32_t pid, const char *path, uint64_t key);

/*
 * All that happened before NOW_NS was added, of each processor in order. Settle what happened
 * before the time of the last call; UINT64_MAX: all of it.
 */
void tp_programs_settle(struct tp_programs *programs, uint64_t now_ns);

/* Only the count stays. */
void tp_programs_release(struct tp_programs *programs);

#endif
