// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LTO: the compile step only tags, the link instruments functions that survive inlining across
// files; an inlined one leaves no function and no record. (lld 14 loads no plugins: there the
// compile step instruments, and a function keeps its records when the link inlines it.)
// REQUIRES: lld, x86_64
// RUN: %clangxx -DOTHER -O2 -flto -fpass-plugin=%plugin -c %s -o %t.other.o
// RUN: %clangxx -O2 -flto -fpass-plugin=%plugin -c %s -o %t.main.o
// RUN: %clangxx -O2 -flto -fuse-ld=lld %lto_plugin %t.main.o %t.other.o %runtime -o %t.full && %t.full
// RUN: %clangxx -DOTHER -O2 -flto=thin -fpass-plugin=%plugin -c %s -o %t.other.o
// RUN: %clangxx -O2 -flto=thin -fpass-plugin=%plugin -c %s -o %t.main.o
// RUN: %clangxx -O2 -flto=thin -fuse-ld=lld %lto_plugin %t.main.o %t.other.o %runtime -o %t.thin && %t.thin
// RUN: %clangxx -O0 -flto -fpass-plugin=%plugin -c %s -o %t.main.o
// RUN: %clangxx -DOTHER -O0 -flto -fpass-plugin=%plugin -c %s -o %t.other.o
// RUN: %clangxx -O0 -flto -fuse-ld=lld %lto_plugin %t.main.o %t.other.o %runtime -o %t.zero && %t.zero
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=kept %t.full | FileCheck %s %if llvm-at-least-15 %{ --check-prefixes=CHECK,LINK %}
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=kept %t.thin | FileCheck %s %if llvm-at-least-15 %{ --check-prefixes=CHECK,LINK %}
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=kept %t.zero | FileCheck %s %if llvm-at-least-15 %{ --check-prefixes=CHECK,LINK %}
// CHECK-LABEL: <kept>:
// CHECK-COUNT-2: rdtsc
// LINK-NOT: rdtsc
extern "C" int kept(int x);
extern "C" int other(int x);
#ifdef OTHER
extern "C" int other(int x)
{
	return x + 1;
}
#else
extern "C" __attribute__((noinline)) int kept(int x)
{
	return other(x) * 2;
}
int main(int argc, char **)
{
	return kept(19 + argc) != 42;
}
#endif
