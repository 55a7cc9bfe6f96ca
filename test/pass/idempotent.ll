; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Running either stage again changes nothing (fat LTO runs the callback twice), and one constructor
; registers the module.
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s -o %t.once
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf,teeperf,teeperf-instrument,verify -S %s -o %t.more
; RUN: diff %t.once %t.more
; RUN: FileCheck %s < %t.once
target triple = "x86_64-pc-linux-gnu"

; CHECK: @llvm.global_ctors = appending global [1 x
; CHECK-SAME: @__teeperf_attach_auto
; CHECK-LABEL: define i32 @f(
; CHECK-COUNT-2: rdtsc
; CHECK-NOT: rdtsc
define i32 @f(i32 %x) {
  ret i32 %x
}
