// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// aarch64: the ways from inlined code to tp_slow and tp_count, which the compiler does not see as a call.
#if defined(__aarch64__)

	.text

// In: x16 = argument, x15 = where to go on. Out: x16 = result. Changes x15, x16, x17 and flags only.
	.macro	cold symbol, target
	.globl	\symbol
	.type	\symbol, %function
	.p2align 4
\symbol:
	.cfi_startproc
	hint	#34			// bti c
	// The frame is that of an ordinary function that was called from x15.
	stp	x29, x15, [sp, #-192]!
	.cfi_def_cfa_offset 192
	.cfi_offset 29, -192
	.cfi_offset 30, -184
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	stp	x8, x9, [sp, #80]
	stp	x10, x11, [sp, #96]
	stp	x12, x13, [sp, #112]
	stp	x14, x18, [sp, #128]
	str	x30, [sp, #144]
	mov	x0, x16
	bl	\target
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldp	x8, x9, [sp, #80]
	ldp	x10, x11, [sp, #96]
	ldp	x12, x13, [sp, #112]
	ldp	x14, x18, [sp, #128]
	ldr	x30, [sp, #144]
	ldp	x29, x15, [sp], #192
	.cfi_restore 29
	.cfi_def_cfa_offset 0
	ret	x15
	.cfi_endproc
	.size	\symbol, . - \symbol
	.endm

// Call circle with runtime/thread.c and runtime/counts.c: code goes in and out of the runtime here, tp_call_preserving is the way out.
	cold	__teeperf_slow, tp_slow
	cold	__teeperf_count, tp_count

// The same place for record_*.S: a jump to an exported symbol goes by way of code that changes x16 and x17.
	.globl	tp_slow_entry
	.hidden	tp_slow_entry
	.set	tp_slow_entry, __teeperf_slow

// void tp_call_preserving(void (*function)(void *), void *argument)
// Saves q0-q31 and the floating-point control and status registers.
	.globl	tp_call_preserving
	.hidden	tp_call_preserving
	.type	tp_call_preserving, %function
	.p2align 4
tp_call_preserving:
	.cfi_startproc
	hint	#34			// bti c
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	.cfi_def_cfa_register 29
	mrs	x9, fpcr
	mrs	x10, fpsr
	stp	x9, x10, [sp, #16]
	sub	sp, sp, #512
	stp	q0, q1, [sp]
	stp	q2, q3, [sp, #32]
	stp	q4, q5, [sp, #64]
	stp	q6, q7, [sp, #96]
	stp	q8, q9, [sp, #128]
	stp	q10, q11, [sp, #160]
	stp	q12, q13, [sp, #192]
	stp	q14, q15, [sp, #224]
	stp	q16, q17, [sp, #256]
	stp	q18, q19, [sp, #288]
	stp	q20, q21, [sp, #320]
	stp	q22, q23, [sp, #352]
	stp	q24, q25, [sp, #384]
	stp	q26, q27, [sp, #416]
	stp	q28, q29, [sp, #448]
	stp	q30, q31, [sp, #480]
	mov	x9, x0
	mov	x0, x1
	blr	x9
	ldp	q0, q1, [sp]
	ldp	q2, q3, [sp, #32]
	ldp	q4, q5, [sp, #64]
	ldp	q6, q7, [sp, #96]
	ldp	q8, q9, [sp, #128]
	ldp	q10, q11, [sp, #160]
	ldp	q12, q13, [sp, #192]
	ldp	q14, q15, [sp, #224]
	ldp	q16, q17, [sp, #256]
	ldp	q18, q19, [sp, #288]
	ldp	q20, q21, [sp, #320]
	ldp	q22, q23, [sp, #352]
	ldp	q24, q25, [sp, #384]
	ldp	q26, q27, [sp, #416]
	ldp	q28, q29, [sp, #448]
	ldp	q30, q31, [sp, #480]
	add	sp, sp, #512
	ldp	x9, x10, [sp, #16]
	msr	fpcr, x9
	msr	fpsr, x10
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa 31, 0
	.cfi_restore 29
	.cfi_restore 30
	ret
	.cfi_endproc
	.size	tp_call_preserving, . - tp_call_preserving

#endif
	.section .note.GNU-stack,"",%progbits
