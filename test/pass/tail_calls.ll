; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Where exit records go: before musttail calls and calls whose convention promises a tail call; behind
; ordinary tail calls by default, before them with TEEPERF_TAIL_CALLS=keep.
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s | FileCheck %s --check-prefixes=CHECK,CALL
; RUN: env TEEPERF_TAIL_CALLS=keep %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s | FileCheck %s --check-prefixes=CHECK,KEEP
target triple = "x86_64-pc-linux-gnu"

declare i32 @callee(i32)
declare tailcc i32 @promised(i32)

; CHECK-LABEL: define i32 @must(
; CHECK-COUNT-2: rdtsc
; CHECK: musttail call i32 @callee
; CHECK-NEXT: ret i32
define i32 @must(i32 %x) {
  %r = musttail call i32 @callee(i32 %x)
  ret i32 %r
}

; CHECK-LABEL: define tailcc i32 @promise(
; CHECK-COUNT-2: rdtsc
; CHECK: tail call tailcc i32 @promised
; CHECK-NEXT: ret i32
define tailcc i32 @promise(i32 %x) {
  %r = tail call tailcc i32 @promised(i32 %x)
  ret i32 %r
}

; CHECK-LABEL: define i32 @ordinary(
; CALL: rdtsc
; CALL: call i32 @callee
; CALL: rdtsc
; KEEP-COUNT-2: rdtsc
; KEEP: tail call i32 @callee
; KEEP-NEXT: ret i32
define i32 @ordinary(i32 %x) {
  %r = tail call i32 @callee(i32 %x)
  ret i32 %r
}

; The value that is returned is not the call's: not a tail call.
; CHECK-LABEL: define i32 @other_value(
; CHECK: rdtsc
; CHECK: call i32 @callee
; CHECK: rdtsc
define i32 @other_value(i32 %x) {
  %r = tail call i32 @callee(i32 %x)
  ret i32 %x
}
