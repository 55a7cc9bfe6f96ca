// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two low bits of a function's address carry a record's kind. What -fpatchable-function-entry puts
// before the entry moves it off its alignment: such a function is not recorded, and one warning
// says so. A multiple of 4 bytes does no harm.
// RUN: %clang -O1 -S -fpass-plugin=%plugin -fpatchable-function-entry=5 %s -o %t.s 2>&1 | count 0
// RUN: FileCheck %s --check-prefixes=PLAIN,KEPT <%t.s
// RUN: %clang -O1 -S -fpass-plugin=%plugin -fpatchable-function-entry=16,8 %s -o %t.s 2>&1 | count 0
// RUN: FileCheck %s --check-prefixes=PLAIN,KEPT <%t.s
// RUN: %clang -O1 -S -fpass-plugin=%plugin -fpatchable-function-entry=5,1 %s -o %t.s 2>%t.err
// RUN: FileCheck %s --check-prefix=LOST <%t.s && FileCheck %s --check-prefix=SAYS2 <%t.err
// RUN: env TEEPERF_LEVEL=count %clang -O1 -S -fpass-plugin=%plugin -fpatchable-function-entry=16,2 %s -o %t.s 2>%t.err
// RUN: FileCheck %s --check-prefix=SAYS2 <%t.err
// RUN: %clang -O1 -S -fpass-plugin=%plugin -DODD='__attribute__((patchable_function_entry(5,3)))' %s -o %t.s 2>%t.err
// RUN: FileCheck %s --check-prefixes=PLAIN,LOST <%t.s && FileCheck %s --check-prefix=SAYS1 <%t.err
// RUN: echo default:skip >%t.allow
// RUN: env TEEPERF_ALLOWLIST=%t.allow %clang -O1 -S -fpass-plugin=%plugin -fpatchable-function-entry=5,1 %s -o %t.s 2>&1 | count 0
// RUN: %clang --target=aarch64-linux-gnu -O1 -S -fpass-plugin=%plugin -fpatchable-function-entry=5,1 %s -o %t.s 2>&1 | count 0
// RUN: FileCheck %s --check-prefixes=PLAIN,KEPT <%t.s
// RUN: %clang --target=riscv64-linux-gnu -O1 -S -fpass-plugin=%plugin -fpatchable-function-entry=5,1 %s -o %t.s 2>&1 | FileCheck %s --check-prefix=SAYS2
#ifndef ODD
#define ODD
#endif

// SAYS1: 1 function begins at an address that records cannot hold, and is not recorded:
// SAYS2-COUNT-1: 2 functions begin at an address that records cannot hold, and are not recorded:
// SAYS2-NOT: addresses that

// PLAIN-LABEL: plain:
// PLAIN: __teeperf_
int plain(int x)
{
	return x + 1;
}

// KEPT-LABEL: entry:
// KEPT: __teeperf_
// LOST-LABEL: entry:
// LOST-NOT: __teeperf_slow
// LOST: .size	entry
ODD int entry(int x)
{
	return x + 2;
}
