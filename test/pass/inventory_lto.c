// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With LTO the compiled file has no inventory, and the linked program has one, which knows of
// inlining across files and tells internal functions of one name apart. (lld 14 loads no plugins:
// there the compile step writes it.)
// REQUIRES: lld, x86_64, llvm-at-least-15
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s main.c && cp %s other.c
// RUN: %clang -g -O2 -flto -fpass-plugin=%plugin -c main.c
// RUN: %clang -g -O2 -flto -fpass-plugin=%plugin -DOTHER -c other.c
// RUN: %clang -flto -fuse-ld=lld %lto_plugin main.o other.o %runtime -o full && ./full
// RUN: llvm-objcopy --dump-section .teeperf.inventory=full.zst full x && %unpack full.zst > full.txt
// RUN: FileCheck %s --check-prefixes=CHECK,FULL < full.txt
// RUN: %clang -g -O2 -flto=thin -fpass-plugin=%plugin -c main.c
// RUN: %clang -g -O2 -flto=thin -fpass-plugin=%plugin -DOTHER -c other.c
// RUN: %clang -flto=thin -fuse-ld=lld %lto_plugin main.o other.o %runtime -o thin && ./thin
// RUN: llvm-objcopy --dump-section .teeperf.inventory=thin.zst thin x && %unpack thin.zst > thin.txt
// RUN: FileCheck %s --check-prefixes=CHECK,THIN < thin.txt
// RUN: grep -c '^teeperf-inventory' full.txt | FileCheck %s --check-prefix=ONE
// RUN: grep -c '^teeperf-inventory' thin.txt | FileCheck %s --check-prefix=TWO
// RUN: %teeperf inventory --format csv full | FileCheck %s --check-prefixes=CSV,CSVFULL
// RUN: %teeperf inventory --format csv thin | FileCheck %s --check-prefixes=CSV,CSVTHIN
// RUN: not %teeperf inventory main.o 2>&1 | FileCheck %s --check-prefix=BITCODE
//
// Taken over into native code by the compiler as well, it is there once.
// RUN: %if llvm-at-least-18 %{ %clang -g -O2 -flto -ffat-lto-objects -fpass-plugin=%plugin -c main.c -o fat.o %}
// RUN: %if llvm-at-least-18 %{ llvm-objcopy --dump-section .teeperf.inventory=fat.zst fat.o x && %unpack fat.zst > fat.txt %}
// RUN: %if llvm-at-least-18 %{ grep -c '^unit' fat.txt | FileCheck %s --check-prefix=ONE %}

// ONE: {{^1$}}
// TWO: {{^2$}}
// BITCODE: 'main.o': compiled for link-time optimisation

// CHECK: {{^}}unit	main.c
// CHECK-DAG: {{^}}fun	both	internal	emitted	file=#0
// CHECK-DAG: {{^}}fun	main	external	emitted	file=#0
// CHECK: {{^}}unit	other.c
// FULL-DAG: {{^}}fun	both.{{[0-9]+}}	internal	emitted	file=#1
// THIN-DAG: {{^}}fun	both{{.*}}	internal	emitted	file=#0
// CHECK-DAG: {{^}}fun	other	external

// CSV-DAG: {{^}}main,emitted,external
// CSVFULL-DAG: {{^}}other,inlined,external
// CSVTHIN-DAG: {{^}}other,partly,external
__attribute__((noinline)) static int both(int x)
{
#ifdef OTHER
	__asm__ volatile("");
	return x + 1;
#else
	__asm__ volatile("");
	return x + 2;
#endif
}

int other(int x);
#ifdef OTHER
int other(int x)
{
	return both(x) * 2;
}
#else
int main(int argc, char **argv)
{
	(void)argv;
	return other(both(17 + argc)) != 42;
}
#endif
