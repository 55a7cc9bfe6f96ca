// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways from inlined code to tp_slow and tp_count, which the compiler does not see as a call.
#include "routine.inc"

	.macro	cold symbol, target
	begin	\symbol, 4
	cold_body \target
	end	\symbol
	.endm

// Call circle with runtime/thread.c and runtime/counts.c: code goes in and out of the runtime here, tp_call_preserving is the way out.
	cold	__teeperf_slow, tp_slow
	cold	__teeperf_count, tp_count

// The same place for record.S: a jump to an exported symbol goes by way of code that changes registers: r10 on x86-64, where
// it is the dynamic linker, x16 and x17 on aarch64, t0-t3 on riscv64.
	.globl	tp_slow_entry
	.hidden	tp_slow_entry
	.set	tp_slow_entry, __teeperf_slow

// void tp_call_preserving(void (*function)(void *), void *argument)
	.hidden	tp_call_preserving
	begin	tp_call_preserving, 4
	preserving_body
	end	tp_call_preserving
