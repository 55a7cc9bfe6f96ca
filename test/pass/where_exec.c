// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts after optimisation decide lines about facts, also at link time with LTO; the name of
// the module that the build gives decides mod: lines.
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s where.c
// RUN: echo 'default:allow' > small.allow && echo 'where:instrs<20,loops=0=skip' >> small.allow
// RUN: echo 'where:loops>0=count' >> small.allow && echo 'fun:small_kept' >> small.allow
// RUN: env TEEPERF_ALLOWLIST=small.allow %clang -g -O2 -fpass-plugin=%plugin -c where.c -o where.o
// RUN: %teeperf inventory --format csv where.o | FileCheck %s
// RUN: env TEEPERF_ALLOWLIST=small.allow TEEPERF_INVENTORY=none %clang -O2 -fpass-plugin=%plugin -S -emit-llvm where.c -o - | FileCheck %s --check-prefix=IR
// RUN: echo 'mod:app' > mod.allow
// RUN: env TEEPERF_ALLOWLIST=mod.allow TEEPERF_MODULE=app %clang -O2 -fpass-plugin=%plugin -c where.c -o app.o
// RUN: %teeperf inventory --format csv app.o | FileCheck %s --check-prefix=APP
// RUN: env TEEPERF_ALLOWLIST=mod.allow %clang -O2 -fpass-plugin=%plugin -c where.c -o other.o
// RUN: %teeperf inventory --format csv other.o | FileCheck %s --check-prefix=OTHER
// RUN: %if lld %{ %if llvm-at-least-15 %{ env TEEPERF_ALLOWLIST=small.allow %clang -g -O2 -fPIC -flto -fpass-plugin=%plugin -c where.c -o lto.o %} %}
// RUN: %if lld %{ %if llvm-at-least-15 %{ env TEEPERF_ALLOWLIST=small.allow %clang -flto -shared -fuse-ld=lld %lto_plugin lto.o -o lto.so %} %}
// RUN: %if lld %{ %if llvm-at-least-15 %{ %teeperf inventory --format csv lto.so | FileCheck %s %} %}

// CHECK-DAG: {{^}}small,emitted,external,{{.*}},skip,small.allow:2,
// CHECK-DAG: {{^}}small_kept,emitted,external,{{.*}},allow,small.allow:4,
// CHECK-DAG: {{^}}looping,emitted,external,{{.*}},count,small.allow:3,
// CHECK-DAG: {{^}}large,emitted,external,{{.*}},allow,small.allow:1,
// APP-DAG: {{^}}small,emitted,external,{{.*}},allow,mod.allow:1,
// OTHER-DAG: {{^}}small,emitted,external,{{.*}},skip,,

// IR-LABEL: define{{.*}} @small(
// IR-NOT: rdtsc
// IR-LABEL: define{{.*}} @small_kept(
// IR: rdtsc
// IR-LABEL: define{{.*}} @looping(
// IR-NOT: rdtsc
// IR-LABEL: define{{.*}} @large(
// IR: rdtsc
int unknown(int);
int small(int x)
{
	return unknown(x) + 1;
}
int small_kept(int x)
{
	return unknown(x) + 1;
}
int looping(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += unknown(i);
	return sum;
}
int large(int x)
{
	int sum = unknown(1) ^ unknown(2) * unknown(3) ^ unknown(4) * unknown(5) ^ unknown(6);
	return sum ^ unknown(x + 1) * unknown(7) ^ unknown(8) * unknown(9) ^ unknown(10);
}
// REQUIRES: x86_64
