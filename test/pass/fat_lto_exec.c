// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// -ffat-lto-objects: the native half of the object, which a link without LTO takes, is
// instrumented, and so is what an LTO link makes of the other half.
// REQUIRES: lld, x86_64, llvm-at-least-18
// RUN: %clang -O2 -flto -ffat-lto-objects -fpass-plugin=%plugin -c %s -o %t.full.o
// RUN: %clang -O2 -flto=thin -ffat-lto-objects -fpass-plugin=%plugin -c %s -o %t.thin.o
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=kept %t.full.o | FileCheck %s
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=kept %t.thin.o | FileCheck %s
// RUN: %clang %t.full.o %runtime -o %t.native && %t.native
// RUN: %clang -O2 -flto -ffat-lto-objects -fuse-ld=lld -Wl,--fat-lto-objects %lto_plugin %t.full.o %runtime -o %t.linked
// RUN: %t.linked
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=kept %t.linked | FileCheck %s
// CHECK-LABEL: <kept>:
// CHECK-COUNT-2: rdtsc
// CHECK-NOT: rdtsc
__attribute__((noinline)) int kept(int x)
{
	__asm__ volatile("");
	return x * 2;
}
int main(int argc, char **argv)
{
	(void)argv;
	return kept(20 + argc) != 42;
}
