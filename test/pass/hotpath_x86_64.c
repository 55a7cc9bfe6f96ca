// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fast path is inline: no call and no locked instruction on it, no jump out but the cold ones,
// and few instructions. Checked in the linked program, where the thread block is addressed
// directly.
// REQUIRES: x86_64
// RUN: env TEEPERF_CLOCK=tsc  %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.tsc
// RUN: env TEEPERF_CLOCK=soft %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.soft
// RUN: env TEEPERF_CLOCK=auto %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.auto
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.tsc  | FileCheck %s --check-prefixes=ALL,TSC
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.soft | FileCheck %s --check-prefixes=ALL,SOFT
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.auto | FileCheck %s --check-prefixes=ALL,AUTO
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=leaf %t.auto | FileCheck %s --check-prefix=ORDERED
// RUN: env TEEPERF_EXITS=untimed %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.untimed
// RUN: env TEEPERF_SHAPE=dual %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.dual
// RUN: env TEEPERF_SHAPE=dual TEEPERF_CLOCK=tsc %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.dual.tsc
// RUN: %source/test/pass/Inputs/fast_path.py leaf 45 %t.tsc
// RUN: %source/test/pass/Inputs/fast_path.py leaf 48 %t.soft
// RUN: %source/test/pass/Inputs/fast_path.py leaf 51 %t.auto
// RUN: %source/test/pass/Inputs/fast_path.py --hardware leaf 51 %t.auto
// RUN: %source/test/pass/Inputs/fast_path.py leaf 45 %t.untimed
// RUN: %source/test/pass/Inputs/fast_path.py leaf.recorded 49 %t.dual
// RUN: %source/test/pass/Inputs/fast_path.py --hardware leaf.recorded 51 %t.dual
// RUN: %source/test/pass/Inputs/fast_path.py leaf.recorded 43 %t.dual.tsc
// RUN: %t.tsc && %t.soft && %t.auto && %t.untimed && %t.dual && %t.dual.tsc

__attribute__((noinline)) int leaf(int x)
{
	return x * 3 + 1;
}

int main(void)
{
	return leaf(3) != 10;
}

// ALL-LABEL: <leaf>:
// ALL-NOT: {{lock|xchg|push|clock_gettime}}
// TSC-COUNT-2: rdtsc
// TSC-NOT: rdtsc
// SOFT-NOT: rdtsc
// AUTO-COUNT-2: rdtsc
// AUTO-NOT: rdtsc
// ALL: retq
// ORDERED-LABEL: <leaf>:
// ORDERED: jnp
// ORDERED-NEXT: lfence
// ORDERED-NEXT: rdtsc
// ORDERED-NEXT: jnp
// ORDERED-NEXT: lfence
// ORDERED-NEXT: jmp
// ORDERED: rdtsc
