// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As hotpath_x86_64.c, for riscv64; the program is run under emulation. (--discard-locals: labels
// of assembly would cut the function in pieces for llvm-objdump 14.)
// REQUIRES: riscv64-cross
// RUN: env TEEPERF_CLOCK=tsc  %clang %riscv64 -O2 -fpass-plugin=%plugin -Wl,--discard-locals %s %cross_runtime/riscv64/libteeperf.a -o %t.hard
// RUN: env TEEPERF_CLOCK=soft %clang %riscv64 -O2 -fpass-plugin=%plugin -Wl,--discard-locals %s %cross_runtime/riscv64/libteeperf.a -o %t.soft
// RUN: env TEEPERF_CLOCK=auto %clang %riscv64 -O2 -fpass-plugin=%plugin -Wl,--discard-locals %s %cross_runtime/riscv64/libteeperf.a -o %t.auto
// RUN: env TEEPERF_SHAPE=call %clang %riscv64 -O2 -fpass-plugin=%plugin -Wl,--discard-locals %s %cross_runtime/riscv64/libteeperf.a -o %t.call
// RUN: env TEEPERF_EXITS=untimed %clang %riscv64 -O2 -fpass-plugin=%plugin -Wl,--discard-locals %s %cross_runtime/riscv64/libteeperf.a -o %t.untimed
// RUN: env TEEPERF_EXITS=untimed TEEPERF_SHAPE=call %clang %riscv64 -O2 -fpass-plugin=%plugin -Wl,--discard-locals %s %cross_runtime/riscv64/libteeperf.a -o %t.both
// RUN: env TEEPERF_SHAPE=dual %clang %riscv64 -O2 -fpass-plugin=%plugin %s %cross_runtime/riscv64/libteeperf.a -o %t.dual && %qemu_riscv64 %t.dual
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.dual | FileCheck %s --check-prefix=DUAL
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.hard | FileCheck %s --check-prefixes=ALL,HARD
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.soft | FileCheck %s --check-prefixes=ALL,SOFT
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.auto | FileCheck %s --check-prefixes=ALL,HARD
// RUN: %source/test/pass/Inputs/fast_path.py leaf 70 %t.hard %t.soft %t.auto %t.untimed
// RUN: %qemu_riscv64 %t.hard && %qemu_riscv64 %t.soft && %qemu_riscv64 %t.auto
// RUN: %qemu_riscv64 %t.call && %qemu_riscv64 %t.untimed && %qemu_riscv64 %t.both

__attribute__((noinline)) int leaf(int x)
{
	return x * 3 + 1;
}

int main(void)
{
	return leaf(3) != 10;
}

// ALL-LABEL: <leaf>:
// ALL-NOT: {{[[:space:]](jal|call|lr\..*|sc\..*|amo.*|fence.*)[[:space:]]}}
// HARD-COUNT-2: rdtime
// HARD-NOT: rdtime
// SOFT-NOT: rdtime
// ALL: ret
// DUAL-LABEL: <leaf>:
// DUAL: bnez
// DUAL-NOT: {{[[:space:]](rdtime|jalr|sd)[[:space:]]}}
// DUAL: {{[[:space:]]jr?[[:space:]]}}
