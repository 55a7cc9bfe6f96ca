// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counted functions: one increment in line, no clock, no call but the cold one; the object
// registers; without a recorder all runs as it was.
// REQUIRES: x86_64
// RUN: echo 'fun:counted=count' > %t.list && echo 'fun:main' >> %t.list
// RUN: env TEEPERF_ALLOWLIST=%t.list %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.some && %t.some
// RUN: env TEEPERF_LEVEL=count %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.all && %t.all
// RUN: env TEEPERF_LEVEL=count %clang -O0 -fpass-plugin=%plugin %s %runtime -o %t.0 && %t.0
// RUN: env TEEPERF_LEVEL=sample/8 %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.sample && %t.sample
// RUN: env TEEPERF_LEVEL=sample/3 %clang -O0 -fpass-plugin=%plugin %s %runtime -o %t.sample0 && %t.sample0
// RUN: not env TEEPERF_LEVEL=sample/0 %clang -c -O1 -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not env TEEPERF_LEVEL=maybe %clang -c -O1 -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=counted %t.some | FileCheck %s
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=counted,main %t.all | FileCheck %s --check-prefix=ALL
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=counted %t.sample | FileCheck %s --check-prefix=SAMPLE
// LEVEL: error: teeperf: invalid value 'maybe' for TEEPERF_LEVEL {{.*}}: expected event, count, sample or sample/N, with N from 1 to 1000000
// CHECK-LABEL: <counted>:
// CHECK-NOT: {{rdtsc|lock}}
// CHECK: incq
// CHECK: __teeperf_count>
// CHECK: incq
// CHECK-NOT: {{rdtsc|incq|call}}
// CHECK: retq
// ALL-NOT: rdtsc
// ZERO: error: teeperf: invalid value 'sample/0' for TEEPERF_LEVEL
// SAMPLE-LABEL: <counted>:
// SAMPLE: incq
// SAMPLE-COUNT-2: rdtsc
// SAMPLE-NOT: {{rdtsc|lock}}
// SAMPLE: retq
__attribute__((noinline)) int counted(int x)
{
	__asm__ volatile("");
	return x * 3 + 1;
}

int main(void)
{
	return counted(3) != 10;
}
