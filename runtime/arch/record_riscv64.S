// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// riscv64: the sequence of abi.h as a routine, for code that was compiled in the shape "call".
#if defined(__riscv) && __riscv_xlen == 64

	.text

// In: t1 = name, t0 = where to go on. Changes t0-t5.
	.macro	record symbol, timed, position
	.globl	\symbol
	.type	\symbol, @function
	.p2align 6
\symbol:
	.cfi_startproc
	.cfi_return_column 5 // see slow_riscv64.S
#if TP_ONE_THREAD
	lla	t3, __teeperf_only_thread
#else
	la.tls.ie t3, __teeperf_thread
	add	t3, t3, tp
#endif
	.if	\timed
	lw	t2, tp_gate_current
	addi	t2, t2, -2
	bnez	t2, 3f
	rdtime	t4
	j	4f
3:	ld	t2, 8(t3)
	ld	t4, 0(t2)
4:	lwu	t2, 16(t3)
	srli	t5, t4, 32
	bne	t5, t2, 1f
	.else
	lw	t2, 16(t3)
	addi	t2, t2, 1
	beqz	t2, 1f
	.endif
	ld	t2, 0(t3)
	slli	t5, t2, 48
	beqz	t5, 1f
	.if	\position
	ld	t5, 24(t3)
	.endif
	addi	t2, t2, 8
	sd	t2, 0(t3)
	ld	t3, 32(t3) // see pass/sequence/riscv64.c
	sub	t3, t3, t2
	srli	t3, t3, 16
	bnez	t3, 1f
	ld	t3, -8(t2)
	bnez	t3, 1f
	slli	t1, t1, 32
	.if	\timed
	slli	t4, t4, 32
	srli	t4, t4, 32
	or	t1, t1, t4
	.endif
	sd	t1, -8(t2)
	.if	\position
	add	t1, t5, t2
	addi	t1, t1, -8
	.endif
	jr	t0
1:	lla	t2, tp_slow_entry
	jr	t2
	.cfi_endproc
	.size	\symbol, . - \symbol
	.endm

	record	__teeperf_record, 1, 0
	record	__teeperf_record_untimed, 0, 0
	record	__teeperf_record_position, 1, 1

#endif
	.section .note.GNU-stack,"",@progbits
