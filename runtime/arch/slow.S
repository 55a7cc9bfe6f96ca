// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways from inlined code to tp_slow and tp_count, which the compiler does not see as a call.
/*
 * lose_body: while the thread has no chunk, lose the event here, unless the next look for one is
 * due (thread.c); then go on behind it. The position of a lost event is that of tp_slow: the
 * block's bias, which is that of a cursor of 0, less 4. A handler may come anywhere, and find a
 * chunk, or lose events as well. So an event is lost by one instruction that counts it and takes
 * one skip (abi.h), or two of which the second fails behind a handler. If a handler came just
 * before it and left no skip, the event is not lost here. The bias is read before. The count that
 * the log gets is checked again behind the store, since a handler's store may have come before
 * ours. (To count in the log itself would be shorter, but would count twice what a handler reports
 * between the two.)
 */
#define BIAS 24
#define LOST 48 // bits 0-15: skips
#define LOST_SHIFT 16
#define LOSE 0xffff
#define LOST_PLACE 56
#define LOG 64
#define HEADER 16 // in tp_process
#include "routine.inc"

	.macro	cold symbol, target
	begin	\symbol, 4
	cold_body \target
	end	\symbol
	.endm

// Call circle with runtime/thread.c and runtime/counts.c: code goes in and out of the runtime here,
// tp_call_preserving is the way out.
	begin	__teeperf_slow, 4
	lose_body
	cold_body tp_slow
	end	__teeperf_slow
	cold	__teeperf_count, tp_count

// The same place for record.S: a jump to an exported symbol goes by way of code that changes
// registers: r10 on x86-64, where it is the dynamic linker, x16 and x17 on aarch64, t0-t3 on
// riscv64.
	.globl	tp_slow_entry
	.hidden	tp_slow_entry
	.set	tp_slow_entry, __teeperf_slow

// void tp_call_preserving(void (*function)(void *), void *argument)
	.hidden	tp_call_preserving
	begin	tp_call_preserving, 4
	preserving_body
	end	tp_call_preserving
