; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; What must not be instrumented is not: naked functions, ifunc resolvers and what they call, bodies that
; are only copies, declarations. noreturn functions get an enter record and no exit.
; REQUIRES: llvm-at-least-15
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@dispatched = ifunc i32 (i32), ptr @resolver

; CHECK-LABEL: define ptr @resolver()
; CHECK-NOT: rdtsc
; CHECK: ret
define ptr @resolver() {
  %r = call ptr @choose()
  ret ptr %r
}

; CHECK-LABEL: define internal ptr @choose()
; CHECK-NOT: rdtsc
; CHECK: ret
define internal ptr @choose() noinline {
  ret ptr @target
}

; CHECK-LABEL: define internal i32 @target
; CHECK-COUNT-2: rdtsc
define internal i32 @target(i32 %x) {
  ret i32 %x
}

; CHECK-LABEL: define void @bare()
; CHECK-NOT: rdtsc
; CHECK: unreachable
define void @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

; CHECK-LABEL: define available_externally i32 @elsewhere
; CHECK-NOT: rdtsc
; CHECK: ret
define available_externally i32 @elsewhere(i32 %x) {
  ret i32 %x
}

; CHECK-LABEL: define void @never_returns()
; CHECK: rdtsc
; CHECK-NOT: rdtsc
; CHECK: unreachable
define void @never_returns() noreturn {
  call void @abort()
  unreachable
}
declare void @abort() noreturn

; CHECK-LABEL: define i32 @user
; CHECK-COUNT-2: rdtsc
define i32 @user(i32 %x) {
  %r = call i32 @elsewhere(i32 %x)
  ret i32 %r
}
