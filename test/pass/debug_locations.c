// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Debug information stays valid, and a debugger's idea of where a function begins does not move.
// RUN: %clang -g -O2 -c -fpass-plugin=%plugin %s -o %t.2.o && llvm-dwarfdump --verify %t.2.o
// RUN: %clang -g -O0 -c -fpass-plugin=%plugin %s -o %t.0.o && llvm-dwarfdump --verify %t.0.o
// RUN: %clang -g -O0 -c -emit-llvm -S %s -o %t.ll && %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %t.ll -o - | FileCheck %s
// RUN: llvm-dwarfdump --debug-line %t.0.o | FileCheck %s --check-prefix=LINES
// LINES: [[#%d,BODY:]]{{.*}}prologue_end
// CHECK-LABEL: define{{.*}} @f(
// CHECK: call {{.*}}rdtsc{{.*}}, !dbg [[ENTRY:![0-9]+]]
// CHECK: call {{.*}}rdtsc{{.*}}, !dbg [[EXIT:![0-9]+]]
// CHECK-DAG: [[ENTRY]] = !DILocation(line: 0,
// CHECK-DAG: [[EXIT]] = !DILocation(line: {{[1-9]}}
int f(int x)
{
	int y = x * 2;
	return y + 1;
}
// REQUIRES: x86_64
