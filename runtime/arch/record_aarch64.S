// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// aarch64: the sequence of abi.h as a routine, for code that was compiled in the shape "call".
#if defined(__aarch64__)

	.text

// In: x16 = name. Changes x9, x15, x16, x17 and flags.
	.macro	record symbol, timed, position
	.globl	\symbol
	.type	\symbol, %function
	.p2align 6
\symbol:
	.cfi_startproc
	hint	34 // bti c
#if TP_ONE_THREAD
	adrp	x9, __teeperf_only_thread
	add	x9, x9, :lo12:__teeperf_only_thread
#else
	adrp	x9, :gottprel:__teeperf_thread
	ldr	x9, [x9, :gottprel_lo12:__teeperf_thread]
	mrs	x17, tpidr_el0
	add	x9, x9, x17
#endif
	.if	\timed
	adrp	x17, tp_gate_current
	ldr	w17, [x17, :lo12:tp_gate_current]
	cmp	w17, 2
	b.ne	3f
	mrs	x15, cntvct_el0
	b	4f
3:	ldr	x17, [x9, 8]
	ldr	x15, [x17]
4:	ldr	w17, [x9, 16]
	cmp	x17, x15, lsr 32
	b.ne	1f
	.else
	ldr	w17, [x9, 16]
	cmn	w17, 1
	b.eq	1f
	mov	x15, 0
	.endif
	ldr	x17, [x9]
	tst	x17, 0xffff
	b.eq	1f
	bfi	x15, x16, 32, 32
	.if	\position
	ldr	x16, [x9, 24]
	.endif
	add	x17, x17, 8
	str	x17, [x9]
	ldr	x9, [x9, 32] // see pass/sequence/aarch64.c
	sub	x9, x9, x17
	lsr	x9, x9, 16
	cbnz	x9, 5f
	ldr	x9, [x17, -8]
	cbnz	x9, 5f
	str	x15, [x17, -8]
	.if	\position
	add	x16, x16, x17
	sub	x16, x16, 8
	.endif
	ret
5:	lsr	x16, x15, 32
1:	adr	x15, 2f
	b	tp_slow_entry
2:	ret
	.cfi_endproc
	.size	\symbol, . - \symbol
	.endm

	record	__teeperf_record, 1, 0
	record	__teeperf_record_untimed, 0, 0
	record	__teeperf_record_position, 1, 1

#endif
	.section .note.GNU-stack,"",@progbits
