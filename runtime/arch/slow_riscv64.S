// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// riscv64: the ways from inlined code to tp_slow and tp_count, which the compiler does not see as a call.
#if defined(__riscv) && __riscv_xlen == 64

	.text

// Store (fsd) or load (fld) the caller-saved floating-point registers, 160 bytes from `at`.
	.macro	floats what, at
#if defined(__riscv_flen)
	\what	ft0, \at + 0(sp)
	\what	ft1, \at + 8(sp)
	\what	ft2, \at + 16(sp)
	\what	ft3, \at + 24(sp)
	\what	ft4, \at + 32(sp)
	\what	ft5, \at + 40(sp)
	\what	ft6, \at + 48(sp)
	\what	ft7, \at + 56(sp)
	\what	fa0, \at + 64(sp)
	\what	fa1, \at + 72(sp)
	\what	fa2, \at + 80(sp)
	\what	fa3, \at + 88(sp)
	\what	fa4, \at + 96(sp)
	\what	fa5, \at + 104(sp)
	\what	fa6, \at + 112(sp)
	\what	fa7, \at + 120(sp)
	\what	ft8, \at + 128(sp)
	\what	ft9, \at + 136(sp)
	\what	ft10, \at + 144(sp)
	\what	ft11, \at + 152(sp)
#endif
	.endm

// Store (sd) or load (ld) the caller-saved registers but ra and t0-t2, 96 bytes from 16(sp).
	.macro	integers what
	\what	a0, 16(sp)
	\what	a1, 24(sp)
	\what	a2, 32(sp)
	\what	a3, 40(sp)
	\what	a4, 48(sp)
	\what	a5, 56(sp)
	\what	a6, 64(sp)
	\what	a7, 72(sp)
	\what	t3, 80(sp)
	\what	t4, 88(sp)
	\what	t5, 96(sp)
	\what	t6, 104(sp)
	.endm

// In: t1 = argument, t0 = where to go on. Out: t1 = result. Changes t0, t1 and t2 only. Floating-point
// registers are saved, too: no option keeps every compiler from putting an integer there.
	.macro	cold symbol, target
	.globl	\symbol
	.type	\symbol, @function
	.p2align 4
\symbol:
	.cfi_startproc
	// It goes on at t0, and its own return address still is in ra.
	.cfi_return_column 5
	addi	sp, sp, -272
	.cfi_def_cfa_offset 272
	sd	t0, 0(sp)
	.cfi_offset 5, -272
	sd	ra, 8(sp)
	.cfi_offset 1, -264
	integers sd
	floats	fsd, 112
	mv	a0, t1
	call	\target
	mv	t1, a0
	floats	fld, 112
	integers ld
	ld	ra, 8(sp)
	.cfi_restore 1
	ld	t0, 0(sp)
	.cfi_restore 5
	addi	sp, sp, 272
	.cfi_def_cfa_offset 0
	jr	t0
	.cfi_endproc
	.size	\symbol, . - \symbol
	.endm

// Call circle with runtime/thread.c and runtime/counts.c: code goes in and out of the runtime here, tp_call_preserving is the way out.
	cold	__teeperf_slow, tp_slow
	cold	__teeperf_count, tp_count

// The same place for record_*.S: a jump to an exported symbol goes by way of code that changes t0-t3.
	.globl	tp_slow_entry
	.hidden	tp_slow_entry
	.set	tp_slow_entry, __teeperf_slow

// void tp_call_preserving(void (*function)(void *), void *argument)
// Saves the caller-saved floating-point registers and fcsr; not those of the vector extension.
	.globl	tp_call_preserving
	.hidden	tp_call_preserving
	.type	tp_call_preserving, @function
	.p2align 4
tp_call_preserving:
	.cfi_startproc
	addi	sp, sp, -192
	.cfi_def_cfa_offset 192
	sd	ra, 184(sp)
	.cfi_offset 1, -8
	floats	fsd, 0
#if defined(__riscv_flen)
	frcsr	t1
	sd	t1, 160(sp)
#endif
	mv	t1, a0
	mv	a0, a1
	jalr	t1
#if defined(__riscv_flen)
	ld	t1, 160(sp)
	fscsr	t1
#endif
	floats	fld, 0
	ld	ra, 184(sp)
	.cfi_restore 1
	addi	sp, sp, 192
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	tp_call_preserving, . - tp_call_preserving

#endif
	.section .note.GNU-stack,"",@progbits
