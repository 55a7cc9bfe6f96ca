// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// x86-64: the ways from inlined code to tp_slow and tp_count, which the compiler does not see as a call.
#if defined(__x86_64__)

	.text

// In: r10 = argument. Out: r10 = result. Changes r10, r11 and flags only.
	.macro	cold symbol, target
	.globl	\symbol
	.type	\symbol, @function
	.p2align 4
\symbol:
	.cfi_startproc
	endbr64
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	andq	$-16, %rsp
	cld
	movq	%r10, %rdi
	call	\target
	movq	%rax, %r10
	movq	-8(%rbx), %rax
	movq	-16(%rbx), %rcx
	movq	-24(%rbx), %rdx
	movq	-32(%rbx), %rsi
	movq	-40(%rbx), %rdi
	movq	-48(%rbx), %r8
	movq	-56(%rbx), %r9
	movq	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	popq	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size	\symbol, . - \symbol
	.endm

// Call circle with runtime/thread.c and runtime/counts.c: code goes in and out of the runtime here, tp_call_preserving is the way out.
	cold	__teeperf_slow, tp_slow
	cold	__teeperf_count, tp_count

// The same place for record_*.S: the first jump to an exported symbol goes through the dynamic linker, which
// changes r10.
	.globl	tp_slow_entry
	.hidden	tp_slow_entry
	.set	tp_slow_entry, __teeperf_slow

// void tp_call_preserving(void (*function)(void *), void *argument)
// Saves x87, SSE, AVX and AVX-512 state (XSAVE components 0-2 and 5-7, at most 2688 bytes); what has
// no XSAVE has no more than FXSAVE covers.
	.globl	tp_call_preserving
	.hidden	tp_call_preserving
	.type	tp_call_preserving, @function
	.p2align 4
tp_call_preserving:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	movq	%rdi, %r12
	movq	%rsi, %r13
	subq	$2752, %rsp
	andq	$-64, %rsp
#ifdef TP_HAS_XSAVE
	movb	$1, %r14b
#else
	movl	$1, %eax
	xorl	%ecx, %ecx
	cpuid
	btl	$27, %ecx
	setc	%r14b
	jnc	1f
#endif
	xorl	%eax, %eax
	// The header of an XSAVE area must be zero before the first use.
	movq	%rax, 512(%rsp)
	movq	%rax, 520(%rsp)
	movq	%rax, 528(%rsp)
	movq	%rax, 536(%rsp)
	movq	%rax, 544(%rsp)
	movq	%rax, 552(%rsp)
	movq	%rax, 560(%rsp)
	movq	%rax, 568(%rsp)
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xsave64	(%rsp)
	jmp	2f
1:	fxsave64 (%rsp)
2:	movq	%r13, %rdi
	callq	*%r12
	testb	%r14b, %r14b
	je	3f
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	4f
3:	fxrstor64 (%rsp)
4:	leaq	-32(%rbp), %rsp
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
	.cfi_endproc
	.size	tp_call_preserving, . - tp_call_preserving

#endif
	.section .note.GNU-stack,"",@progbits
