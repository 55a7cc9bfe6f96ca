// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that calls something which may switch to another stack says so before and behind the
// call, and notes at its entry which thread it begins in. One that calls nothing of the kind pays
// nothing.
// RUN: env TEEPERF_SWITCHES=not_this,my_switch %clang -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s
// RUN: echo 'fun:nothing' > %t.allow
// RUN: env TEEPERF_ALLOWLIST=%t.allow TEEPERF_SWITCHES=my_switch %clang -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s
// RUN: %clang -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=UNKNOWN
// RUN: env TEEPERF_TAIL_CALLS=keep %clang -O2 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=TAIL
// RUN: %clang -O0 -g -fpass-plugin=%plugin -DRUN %s %runtime -o %t.0 && %t.0
// RUN: %clang -O2 -g -fpass-plugin=%plugin -DRUN %s %runtime -o %t.2 && %t.2
#include <stdlib.h>
#include <ucontext.h>

void elsewhere(int);
int my_switch(int);

// CHECK-LABEL: define{{.*}} @plain(
// CHECK-NOT: call {{.*}} @__teeperf_home
// CHECK-NOT: call i64 @__teeperf_leave
// CHECK: ret
__attribute__((noinline)) int plain(int x)
{
	elsewhere(x);
	return x;
}

// CHECK-LABEL: define{{.*}} @switches(
// CHECK: [[HOME:%.*]] = {{.*}}call i64 @__teeperf_home()
// CHECK: [[LEFT:%.*]] = {{.*}}call i64 @__teeperf_leave(i64 [[POSITION:%.*]], i64 {{.*}}, i64 [[HOME]])
// CHECK-NEXT: store i64 [[LEFT]], {{.*}} [[ROOM:%.*]],
// CHECK-NEXT: call i32 @swapcontext(
// CHECK-NEXT: [[BACK:%.*]] = load i64, {{.*}} [[ROOM]],
// CHECK-NEXT: call void @__teeperf_arrive(i64 [[POSITION]], i64 {{.*}}, i64 [[BACK]])
// CHECK-NEXT: store i64 0, {{.*}} [[ROOM]],
// CHECK: ret
// TAIL-LABEL: define{{.*}} @switches(
// TAIL: call i32 @swapcontext(
// TAIL-NEXT: load i64
// TAIL-NEXT: call void @__teeperf_arrive(
__attribute__((noinline)) int switches(ucontext_t *from, ucontext_t *to)
{
	return swapcontext(from, to);
}

// CHECK-LABEL: define{{.*}} @named(
// CHECK: call i64 @__teeperf_leave(
// CHECK-NEXT: store i64
// CHECK-NEXT: call i32 @my_switch(
// CHECK-NEXT: load i64
// CHECK-NEXT: call void @__teeperf_arrive(
// UNKNOWN-LABEL: define{{.*}} @named(
// UNKNOWN-NOT: call i64 @__teeperf_leave(
// UNKNOWN: ret
__attribute__((noinline)) int named(int x)
{
	return my_switch(x) + 1;
}

#ifdef RUN
static ucontext_t home, there;
static int steps;
void elsewhere(int x)
{
	steps += x;
}
int my_switch(int x)
{
	return x;
}
static void body(void)
{
	steps++;
	switches(&there, &home);
	steps++;
}
int main(void)
{
	getcontext(&there);
	there.uc_stack.ss_sp = malloc(65536);
	there.uc_stack.ss_size = 65536;
	there.uc_link = &home;
	makecontext(&there, body, 0);
	switches(&home, &there);
	steps *= 10;
	switches(&home, &there);
	return !(steps == 11 && plain(1) == 1 && steps == 12 && named(1) == 2);
}
#endif
