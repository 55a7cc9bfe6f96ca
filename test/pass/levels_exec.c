// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every optimisation level instruments, and the program still computes the same.
// RUN: %clang -O0 -fpass-plugin=%plugin %s %runtime -o %t.0 && %t.0 | FileCheck %s
// RUN: %clang -O1 -fpass-plugin=%plugin %s %runtime -o %t.1 && %t.1 | FileCheck %s
// RUN: %clang -O2 -fpass-plugin=%plugin %s %runtime -o %t.2 && %t.2 | FileCheck %s
// RUN: %clang -O3 -fpass-plugin=%plugin %s %runtime -o %t.3 && %t.3 | FileCheck %s
// RUN: %clang -Os -fpass-plugin=%plugin %s %runtime -o %t.s && %t.s | FileCheck %s
// RUN: %clang -Oz -fpass-plugin=%plugin %s %runtime -o %t.z && %t.z | FileCheck %s
// RUN: for o in 0 1 2 3 s z; do llvm-nm %t.$o | grep __teeperf_attach_auto >/dev/null || exit 1; done
#include <stdio.h>

__attribute__((noinline)) double scale(double x, long double y, int n, ...)
{
	return x * (double)y + n;
}

__attribute__((noinline)) static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
	// CHECK: 6765 14.000000
	printf("%d %f\n", fib(20), scale(1.5, 8.0L, 2, 7));
	return 0;
}
