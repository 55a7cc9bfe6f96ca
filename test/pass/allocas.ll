; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Fixed-size allocations stay in the entry block; the record comes behind those at its top.
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
; CHECK-LABEL: define void @f(
; CHECK: %a = alloca i32
; CHECK-NEXT: call {{.*}}rdtsc
; CHECK-NEXT: %m = add
; CHECK-NEXT: %b = alloca i64
; CHECK: %dynamic = alloca i8, i64 %n
define void @f(i64 %n) {
  %a = alloca i32
  %m = add i64 %n, 1
  %b = alloca i64
  %dynamic = alloca i8, i64 %n
  ret void
}
