/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Between the stand-ins of client library and application: a command, with the memory's descriptor
 * beside it, and back.
 */
#ifndef TA_WIRE_H
#define TA_WIRE_H

#include <stdint.h>

enum { WIRE_OPEN, WIRE_INVOKE, WIRE_CLOSE };

struct wire {
	uint32_t what;
	uint32_t command;
	uint32_t types;
	uint32_t result;
	uint64_t offset; /* in the memory, of the given data */
	uint64_t size;
	uint32_t values[4][2];
	int32_t caller_pid; // of a command: the thread that waits for it
	int32_t caller_tid;
};

#endif
