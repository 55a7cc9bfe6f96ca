// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function to which control can return from above carries its position and resynchronises; any
// other one pays nothing.
// RUN: %clangxx -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s
// RUN: %clangxx -O1 -fno-builtin -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s
// RUN: %clangxx -O0 -g -fpass-plugin=%plugin %s %runtime -o %t.0 && %t.0
// RUN: %clangxx -O2 -g -fpass-plugin=%plugin %s %runtime -o %t.2 && %t.2
#include <setjmp.h>

extern "C" {
void may_throw(int);
jmp_buf place;
void *bare[5];

// CHECK-LABEL: define{{.*}} @plain(
// CHECK-NOT: call void @__teeperf_resync
// CHECK: ret
__attribute__((noinline)) int plain(int x)
{
	may_throw(x);
	return x;
}

// CHECK-LABEL: define{{.*}} @catches(
// CHECK: landingpad
// CHECK: call void @__teeperf_resync(i64 %
// CHECK: ret
__attribute__((noinline)) int catches(int x)
{
	try {
		plain(x);
	} catch (int y) {
		return y;
	}
	return 0;
}

// CHECK-LABEL: define{{.*}} @jumps(
// CHECK: [[BACK:%.*]] = {{.*}}call {{.*}}setjmp
// CHECK-NEXT: [[FIRST:%.*]] = icmp eq i32 [[BACK]], 0
// CHECK-NEXT: [[WHERE:%.*]] = select i1 [[FIRST]], i64 0, i64 %
// CHECK-NEXT: call void @__teeperf_resync(i64 [[WHERE]],
__attribute__((noinline)) int jumps(int x)
{
	if (setjmp(place))
		return 1;
	if (x)
		longjmp(place, 1);
	return 0;
}

// Not one of the C library's.
// CHECK-LABEL: define{{.*}} @own(
// CHECK-NOT: call void @__teeperf_resync
// CHECK: ret
__attribute__((noinline)) static int savectx(void)
{
	return 2;
}
__attribute__((noinline)) int own(void)
{
	return savectx();
}

#ifdef __x86_64__ // not every processor has it
// CHECK-LABEL: define{{.*}} @jumps_bare(
// CHECK: [[BARE:%.*]] = {{.*}}call i32 @llvm.eh.sjlj.setjmp(
// CHECK-NEXT: icmp eq i32 [[BARE]], 0
// CHECK-NEXT: select i1 %{{.*}}, i64 0, i64 %
// CHECK-NEXT: call void @__teeperf_resync(i64 %
__attribute__((noinline)) void jump_bare(void)
{
	__builtin_longjmp(bare, 1);
}

__attribute__((noinline)) int jumps_bare(int x)
{
	const int twice = 2 * x;
	if (__builtin_setjmp(bare))
		return twice + x;
	jump_bare();
	return 0;
}
#endif

__attribute__((noinline)) void may_throw(int x)
{
	if (x)
		throw x;
}
}

int main()
{
	int wrong = catches(0) != 0 || catches(5) != 5;
	wrong |= jumps(0) != 0 || jumps(1) != 1;
#ifdef __x86_64__
	wrong |= jumps_bare(5) != 15;
#endif
	return wrong;
}
