// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A missing or malformed list, or a wrong option, stops the compilation and says where and why,
// once.
// RUN: not env TEEPERF_ALLOWLIST=%t.missing %clang -c -O1 -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: printf 'fun:a\nfunc:b\n' > %t.bad
// RUN: not env TEEPERF_ALLOWLIST=%t.bad %clang -c -O1 -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: printf '!fun:a\nf\n[nver]\n' > %t.dubious
// RUN: env TEEPERF_ALLOWLIST=%t.dubious %clang -c -O1 -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=DUBIOUS
// RUN: env TEEPERF_ALLOWLIST=%t.dubious %clang -c -O1 -Wno-source-mgr -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// RUN: not env TEEPERF_ALLOWLIST=%t.dubious:%t.bad %clang -c -O1 -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not env TEEPERF_ALLOWLIST=%t.bad %clang -c -O0 -fpass-plugin=%plugin %s -o %t.o
// RUN: not env TEEPERF_CLOCK=sundial %clang -c -O1 -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=CLOCK
// RUN: not env TEEPERF_THREADS=two %clang -c -O1 -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not env TEEPERF_TAIL_CALLS=perhaps %clang -c -O1 -fpass-plugin=%plugin %s -o %t.o 2>&1 | FileCheck %s --check-prefix=TAIL
// MISSING: error: {{.*}}.missing{{.*}}No such file
// MISSING-NOT: error:
// BAD: {{^[^ ]*}}.bad:2:1: error: unknown prefix 'func:'
// BAD-NEXT: func:b
// BAD-NEXT: {{\^}}
// BAD-NOT: error:
// DUBIOUS: {{^}}{{.*}}.dubious:1:1: warning: '!' is deprecated
// DUBIOUS: {{^}}{{.*}}.dubious:2:1: warning: a line without a prefix
// DUBIOUS: {{^}}{{.*}}.dubious:3:2: warning: section '[nver]' is not read; did you mean '[never]'?
// QUIET-NOT: dubious
// CLOCK: error: teeperf: invalid value 'sundial' for TEEPERF_CLOCK {{.*}}: expected auto, tsc or soft
// THREADS: error: teeperf: invalid value 'two' for TEEPERF_THREADS {{.*}}: expected many, one or apart
// TAIL: error: teeperf: invalid value 'perhaps' for TEEPERF_TAIL_CALLS {{.*}}: expected auto, call or keep
int f(int x)
{
	return x;
}
