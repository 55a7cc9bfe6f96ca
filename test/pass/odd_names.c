// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names that assemblers would not take: what names a function in records has a plain one of its
// own.
// RUN: %clang -O1 -c -fpass-plugin=%plugin %s -o %t.o && llvm-nm %t.o | FileCheck %s
// RUN: %clang -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=ALIAS
// CHECK-DAG: T quo"te
// CHECK-DAG: T foo_VER_1
// CHECK-DAG: T foo@VER_1
// ALIAS-DAG: @quo_te.teeperf = private alias
// ALIAS-DAG: @new_line.teeperf = private alias
// ALIAS-DAG: @foo_VER_1.teeperf = private alias
// ALIAS-DAG: @foo_VER_1.teeperf.{{[0-9]+}} = private alias
int quote(int) __asm__("quo\"te");
int quote(int x)
{
	return x + 1;
}

int line(int) __asm__("new\nline");
int line(int x)
{
	return x + 2;
}

int versioned(int) __asm__("foo@VER_1");
int versioned(int x)
{
	return x + 3;
}

int other(int) __asm__("foo_VER_1");
int other(int x)
{
	return x + 4;
}
