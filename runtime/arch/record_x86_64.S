// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// x86-64: the sequence of abi.h as a routine, for code that was compiled in the shape "call".
#if defined(__x86_64__)

#if TP_ONE_THREAD
#define BLOCK
#else
#define BLOCK %fs:
#endif

	.text

// In: r10 = name. Changes rax, rdx, r10, r11 and flags.
	.macro	record symbol, timed, position
	.globl	\symbol
	.type	\symbol, @function
	.p2align 6
\symbol:
	.cfi_startproc
	endbr64
#if TP_ONE_THREAD
	leaq	__teeperf_only_thread(%rip), %r11
#else
	movq	__teeperf_thread@gottpoff(%rip), %r11
#endif
	.if	\timed
	cmpl	$2, tp_gate_current(%rip)
	jb	3f
	ja	6f
	rdtsc
	jmp	4f
6:	lfence
	rdtsc
	lfence
	jmp	4f
	// The low half first: if the upper half then still agrees, the low half belongs to it.
3:	movq	BLOCK 8(%r11), %rdx
	movl	(%rdx), %eax
	movl	4(%rdx), %edx
4:	cmpl	%edx, BLOCK 16(%r11)
	jne	1f
	.else
	cmpl	$-1, BLOCK 16(%r11)
	je	1f
	.endif
	shlq	$32, %r10
	.if	\timed
	orq	%rax, %r10
	.endif
	movq	BLOCK (%r11), %rdx
	testw	%dx, %dx
	je	5f
	.if	\position
	movq	BLOCK 24(%r11), %rax
	.endif
	addq	$8, %rdx
	movq	%rdx, BLOCK (%r11)
	movq	BLOCK 32(%r11), %r11 // see pass/sequence/x86_64.c
	subq	%rdx, %r11
	shrq	$16, %r11
	jne	5f
	cmpq	$0, -8(%rdx)
	jne	5f
	movq	%r10, -8(%rdx)
	prefetchw 1024(%rdx)
	.if	\position
	leaq	-8(%rax, %rdx), %r10
	.endif
	ret
5:	shrq	$32, %r10
1:	jmp	tp_slow_entry
	.cfi_endproc
	.size	\symbol, . - \symbol
	.endm

	record	__teeperf_record, 1, 0
	record	__teeperf_record_untimed, 0, 0
	record	__teeperf_record_position, 1, 1

#endif
	.section .note.GNU-stack,"",@progbits
