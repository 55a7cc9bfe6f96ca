// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line that names one function which is gone by the end is a warning that says where it went; one
// that a later line overrides, a glob, and a function that other files may define are none.
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s warnings.c
// RUN: echo 'fun:hot' > hot.allow && echo 'fun:deep' >> hot.allow && echo 'fun:dead' >> hot.allow
// RUN: echo 'fun:kept=force' >> hot.allow && echo 'fun:over' >> hot.allow && echo 'fun:over=skip' >> hot.allow
// RUN: echo 'fun:glob*' >> hot.allow && echo 'fun:shared' >> hot.allow && echo 'fun:always=force' >> hot.allow
// RUN: echo 'fun:no_such_function' >> hot.allow
// RUN: env TEEPERF_ALLOWLIST=hot.allow %clang -g -O2 -Werror -Wno-error=source-mgr -fpass-plugin=%plugin -c warnings.c -o debug.o 2>debug.err
// RUN: FileCheck %s --check-prefixes=CHECK,DEBUG < debug.err
// RUN: env TEEPERF_ALLOWLIST=hot.allow %clang -O2 -fpass-plugin=%plugin -c warnings.c -o plain.o 2>plain.err
// RUN: FileCheck %s --check-prefixes=CHECK,PLAIN < plain.err
// RUN: env TEEPERF_ALLOWLIST=hot.allow %clang -g -O2 -Werror -Wno-source-mgr -fpass-plugin=%plugin -c warnings.c -o quiet.o 2>&1 | count 0
// RUN: env TEEPERF_INVENTORY=none TEEPERF_ALLOWLIST=hot.allow %clang -g -O2 -fpass-plugin=%plugin -c warnings.c -o none.o 2>none.err
// RUN: FileCheck %s --check-prefixes=CHECK,DEBUG < none.err
// RUN: env TEEPERF_ALLOWLIST=hot.allow %teeperf cc --llvm %llvm_major -g -O2 -Werror -c warnings.c -o driver.o 2>driver.err
// RUN: FileCheck %s --check-prefixes=CHECK,DEBUG < driver.err

// CHECK-NOT: {{glob|over|shared|no_such|kept}}
// CHECK: hot.allow:9:5: warning: 'always' is declared always_inline, so '=force' cannot keep it
// DEBUG: hot.allow:1:5: warning: 'hot' was inlined into 'one' (2 times) and 'two' and has no events of its own: keep it with '=force', or name its callers
// PLAIN: hot.allow:1:5: warning: 'hot' was probably inlined into 'one' (2 times) and 'two' and has no events
// DEBUG: hot.allow:2:5: warning: 'deep' was inlined into
// PLAIN: hot.allow:2:5: warning: 'deep' was probably inlined into 'one' (2 times) and 'two' and has no events
// DEBUG: hot.allow:3:5: warning: 'dead' was removed, as nothing calls it
// PLAIN: hot.allow:3:5: warning: 'dead' was probably inlined into 'two'
// CHECK-NOT: {{glob|over|shared|no_such|kept|always}}

int unknown(int);

static int deep(int x)
{
	return unknown(x) + 1;
}
static int hot(int x)
{
	return deep(x) * 3;
}
static int dead(int x)
{
	return x + 4;
}
static int kept(int x)
{
	return unknown(x) + 5;
}
static int over(int x)
{
	return unknown(x) + 6;
}
static int glob_one(int x)
{
	return unknown(x) + 7;
}
inline int shared(int x)
{
	return unknown(x) + 8;
}
__attribute__((always_inline)) static inline int always(int x)
{
	return unknown(x) + 9;
}
int one(int x)
{
	return hot(x) + hot(x + 1) + kept(x) + over(x) + glob_one(x) + shared(x);
}
int two(int x)
{
	dead(x);
	return hot(x) + always(x);
}
// REQUIRES: x86_64
