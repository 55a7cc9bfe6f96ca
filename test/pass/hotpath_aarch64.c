// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As hotpath_x86_64.c, for aarch64; the program is run under emulation.
// REQUIRES: aarch64-cross
// RUN: env TEEPERF_CLOCK=tsc  %clang %aarch64 -O2 -fpass-plugin=%plugin %s %cross_runtime/aarch64/libteeperf.a -o %t.hard
// RUN: env TEEPERF_CLOCK=soft %clang %aarch64 -O2 -fpass-plugin=%plugin %s %cross_runtime/aarch64/libteeperf.a -o %t.soft
// RUN: env TEEPERF_CLOCK=auto %clang %aarch64 -O2 -fpass-plugin=%plugin %s %cross_runtime/aarch64/libteeperf.a -o %t.auto
// RUN: env TEEPERF_SHAPE=call %clang %aarch64 -O2 -fpass-plugin=%plugin %s %cross_runtime/aarch64/libteeperf.a -o %t.call
// RUN: env TEEPERF_EXITS=untimed %clang %aarch64 -O2 -fpass-plugin=%plugin %s %cross_runtime/aarch64/libteeperf.a -o %t.untimed
// RUN: env TEEPERF_EXITS=untimed TEEPERF_SHAPE=call %clang %aarch64 -O2 -fpass-plugin=%plugin %s %cross_runtime/aarch64/libteeperf.a -o %t.both
// RUN: env TEEPERF_SHAPE=dual %clang %aarch64 -O2 -fpass-plugin=%plugin %s %cross_runtime/aarch64/libteeperf.a -o %t.dual && %qemu_aarch64 %t.dual
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.dual | FileCheck %s --check-prefix=DUAL
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.hard | FileCheck %s --check-prefixes=ALL,HARD
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.soft | FileCheck %s --check-prefixes=ALL,SOFT
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.auto | FileCheck %s --check-prefixes=ALL,HARD
// RUN: %source/test/pass/Inputs/fast_path.py leaf 65 %t.hard %t.soft %t.auto %t.untimed
// RUN: %qemu_aarch64 %t.hard && %qemu_aarch64 %t.soft && %qemu_aarch64 %t.auto
// RUN: %qemu_aarch64 %t.call && %qemu_aarch64 %t.untimed && %qemu_aarch64 %t.both

__attribute__((noinline)) int leaf(int x)
{
	return x * 3 + 1;
}

int main(void)
{
	return leaf(3) != 10;
}

// ALL-LABEL: <leaf>:
// ALL-NOT: {{[[:space:]](bl|blr|ldadd.*|ldxr|stxr|ldaxr|stlxr|cas.*|swp.*|dmb|stp)[[:space:]]}}
// HARD-COUNT-2: {{CNTVCT_EL0|cntvct_el0}}
// HARD-NOT: {{CNTVCT_EL0|cntvct_el0}}
// SOFT-NOT: {{CNTVCT_EL0|cntvct_el0}}
// ALL: ret
// DUAL-LABEL: <leaf>:
// DUAL: cbnz
// DUAL-NOT: {{[[:space:]](mrs|bl|stp|str)[[:space:]]}}
// DUAL: b{{[[:space:]].*}}<leaf.recorded>
