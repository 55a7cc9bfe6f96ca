// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions a list chooses, by option and by environment; no list chooses all.
// RUN: %clang -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=EVERY
// RUN: echo 'fun:al*' > %t.fun
// RUN: env TEEPERF_ALLOWLIST=%t.fun %clang -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=ALPHA
// RUN: %clang -O1 -S -emit-llvm -fplugin=%plugin -fpass-plugin=%plugin -mllvm -teeperf-allowlist=%t.fun %s -o - | FileCheck %s --check-prefix=ALPHA
// RUN: echo 'src:*allowlist.c' > %t.src && echo 'fun:beta=skip' >> %t.src
// RUN: env TEEPERF_ALLOWLIST=%t.src %clang -g -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=ALPHA
// RUN: echo 'src:*nothing.c' > %t.none
// RUN: env TEEPERF_ALLOWLIST=%t.none %clang -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=NONE
// RUN: echo 'name:alpha' > %t.name
// RUN: env TEEPERF_ALLOWLIST=%t.name %clang -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=ALPHA

// EVERY-LABEL: define{{.*}} @alpha(
// EVERY: rdtsc
// ALPHA-LABEL: define{{.*}} @alpha(
// ALPHA: rdtsc
// NONE-NOT: rdtsc
// NONE-NOT: __teeperf_attach
int alpha(int x)
{
	return x + 1;
}

// EVERY-LABEL: define{{.*}} @beta(
// EVERY: rdtsc
// ALPHA-LABEL: define{{.*}} @beta(
// ALPHA-NOT: rdtsc
// ALPHA: ret
int beta(int x)
{
	return x + 2;
}
// REQUIRES: x86_64
