/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The system calls of Linux by their numbers, which differ by processor. */
#ifndef TP_SYSTEM_CALLS_H
#define TP_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum tp_system_call_use {
	TP_SYSTEM_CALL_OTHER = 0,
	/* the first argument is a descriptor, the result bytes read from it */
	TP_SYSTEM_CALL_READS,
	TP_SYSTEM_CALL_WRITES, /* ... written to it */
	TP_SYSTEM_CALL_COPIES, /* the result is bytes that went from one descriptor to another */
	TP_SYSTEM_CALL_FUTEX,  /* the first argument is the address of a futex */
	TP_SYSTEM_CALL_ENDS,   /* it does not return */
	TP_SYSTEM_CALL_SLEEPS, /* until a time; the result is 0 if that has come */
	TP_SYSTEM_CALL_POLLS,  /* for files or until a time; the result is 0 if that has come */
};

struct tp_system_call {
	const char *name;
	enum tp_system_call_use use;
};

/* By the processor's ELF e_machine. NULL: not known. */
const struct tp_system_call *tp_system_call(uint32_t machine, uint32_t number);
/* The same, of the processor that this is compiled for. */
const struct tp_system_call *tp_system_call_here(uint32_t number);

/* Whether the result is a number of bytes. */
static inline bool tp_system_call_moves(const struct tp_system_call *call)
{
	return call->use == TP_SYSTEM_CALL_READS || call->use == TP_SYSTEM_CALL_WRITES ||
	       call->use == TP_SYSTEM_CALL_COPIES;
}

#endif
