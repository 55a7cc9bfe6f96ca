// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The section that holds the inventory: its contents at each level of optimisation, that it is not
// loaded, and that nothing of the note behind it is left in the object file.
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s inventory.c
// RUN: %clang -g -O2 -fpass-plugin=%plugin -c inventory.c -o debug.o
// RUN: %clang -O2 -fpass-plugin=%plugin -c inventory.c -o plain.o
// RUN: %clang -O0 -fpass-plugin=%plugin -c inventory.c -o zero.o
// RUN: llvm-objcopy --dump-section .teeperf.inventory=debug.zst debug.o x && %unpack debug.zst > debug.txt
// RUN: llvm-objcopy --dump-section .teeperf.inventory=plain.zst plain.o x && %unpack plain.zst > plain.txt
// RUN: llvm-objcopy --dump-section .teeperf.inventory=zero.zst zero.o x && %unpack zero.zst > zero.txt
// RUN: FileCheck %s --check-prefixes=ALL,DEBUG < debug.txt
// RUN: FileCheck %s --check-prefixes=ALL,PLAIN < plain.txt
// RUN: FileCheck %s --check-prefix=ZERO < zero.txt
// RUN: llvm-readelf -SW debug.o | FileCheck %s --check-prefix=SECTION
// RUN: llvm-nm debug.o | not grep teeperf.note
//
// Written as text it is the same; with TEEPERF_INVENTORY it is also a file, or neither.
// RUN: %clang -g -O2 -fpass-plugin=%plugin -S inventory.c -o debug.s
// RUN: %clang -c debug.s -o assembled.o
// RUN: llvm-objcopy --dump-section .teeperf.inventory=assembled.zst assembled.o x && %unpack assembled.zst > assembled.txt
// RUN: diff debug.txt assembled.txt
// RUN: mkdir files && env TEEPERF_INVENTORY=%t/files %clang -g -O2 -fpass-plugin=%plugin -c inventory.c -o again.o
// RUN: diff debug.txt files/inventory.c-*.tpinv
// RUN: env TEEPERF_INVENTORY=none %clang -g -O2 -fpass-plugin=%plugin -c inventory.c -o none.o
// RUN: llvm-readelf -SW none.o | not grep inventory
// RUN: not env TEEPERF_INVENTORY=%t/missing %clang -fpass-plugin=%plugin -c inventory.c -o x 2>&1 | FileCheck %s --check-prefix=MISSING
//
// Numbers are LLVM's own and change with it; this tests the parts that this code must have.

// MISSING: error: teeperf: cannot write the inventory to {{.*}}/missing (from TEEPERF_INVENTORY): No such file or directory

// No flags: neither allocated nor merged.
// SECTION: .teeperf.inventory PROGBITS {{0+ [0-9a-f]+ [0-9a-f]+ 00  +0 +0 +1$}}

// ALL: {{^}}teeperf-inventory	1{{$}}
// ALL-NEXT: {{^}}unit	inventory.c	compiler=LLVM {{[0-9.]+}}	level=event{{$}}
// ZERO: {{^}}unit	inventory.c

// DEBUG-NEXT: {{^}}file	inventory.c{{$}}
// DEBUG-NEXT: {{^}}fun	loops	external	emitted	file=#0	line={{[0-9]+}}	start={{[0-9]+}}	instrs={{[0-9]+}}	blocks={{[0-9]+}}	loops=2	depth=2	calls=4	indirect=1	trips=1	did=allow{{$}}
// PLAIN-NEXT: {{^}}fun	loops	external	emitted	start={{[0-9]+}}	instrs={{[0-9]+}}	blocks={{[0-9]+}}	loops=2	depth=2	calls=4	indirect=1	trips=1	did=allow{{$}}
// ALL-NEXT: {{^}}call	#3	sites=3	freq={{[0-9.e+]+}}{{$}}
// DEBUG-NEXT: {{^}}fun	tiny	internal	inlined	file=#0	line={{[0-9]+}}	start={{[0-9]+}}{{$}}
// DEBUG-NEXT: {{^}}into	#0	sites=2{{$}}
// PLAIN-NEXT: {{^}}fun	tiny	internal	inlined	start={{[0-9]+}}{{$}}
// PLAIN-NEXT: {{^}}into	#0	sites=2	guessed=1{{$}}
// Nothing is left of it; without debug information its caller is all that is known.
// DEBUG-NEXT: {{^}}fun	unused	internal	{{removed|inlined}}	file=#0	line={{[0-9]+}}	start={{[0-9]+}}{{$}}
// PLAIN-NEXT: {{^}}fun	unused	internal	inlined	start={{[0-9]+}}{{$}}
// PLAIN-NEXT: {{^}}into	#0	guessed=1{{$}}
// ALL: {{^}}ext	unknown{{$}}
// ALL-NOT: {{.}}
// ZERO-DAG: {{^}}fun	loops	external	emitted	{{.*}}loops=2	depth=2	calls=5	indirect=1
// ZERO-DAG: {{^}}fun	tiny	internal	emitted	{{.*}}	did=allow{{$}}
// ZERO-DAG: {{^}}fun	unused	internal	emitted	{{.*}}	did=allow{{$}}

int unknown(int (*callback)(int), int number);

static int unused(int number)
{
	return number + 1;
}

static int tiny(int number)
{
	return unknown(0, number) * 3;
}

int loops(int count, int (*callback)(int))
{
	int sum = tiny(count) + tiny(count + 1);
	unused(sum);
	for (int i = 0; i < count; i++) {
#pragma clang loop unroll(disable)
		for (int j = 0; j < 1000; j++)
			sum += callback(j);
		unknown(callback, sum);
	}
	return sum;
}
// REQUIRES: x86_64
