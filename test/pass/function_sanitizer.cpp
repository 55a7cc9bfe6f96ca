// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TEEPERF_SHAPE=dual: what -fsanitize=function puts at a function's address, before LLVM 17, stays
// there, or calls by pointer were no longer checked; such a function has its records in line. Later
// it is before the address.
// REQUIRES: x86_64
// RUN: env TEEPERF_SHAPE=dual %clangxx -O1 -fpass-plugin=%plugin -fsanitize=function -c %s -o %t.o
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=_Z5worksi %t.o | FileCheck %s --check-prefix=%if llvm-at-least-17 %{AFTER%} %else %{BEFORE%}
// BEFORE: <_Z5worksi>:
// BEFORE-NEXT: jmp
// AFTER: <_Z5worksi>:
// AFTER-NEXT: cmpb
int works(int x)
{
	return x * 3;
}
