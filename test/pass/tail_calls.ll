; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Where exit records go: before musttail calls and calls whose convention promises a tail call; behind
; ordinary tail calls by default, but before those in circles of functions; before all of them with
; TEEPERF_TAIL_CALLS=keep.
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

; A return that several blocks share: the call gets one of its own.
; CHECK-LABEL: define i32 @shared(
; CALL: call i32 @callee
; CALL-NEXT: br label
; KEEP: rdtsc
; KEEP: tail call i32 @callee
; KEEP-NEXT: ret i32
define i32 @shared(i32 %x) {
  %done = icmp eq i32 %x, 0
  br i1 %done, label %common, label %more
more:
  %r = tail call i32 @callee(i32 %x)
  br label %common
common:
  %value = phi i32 [ %r, %more ], [ 7, %0 ]
  ret i32 %value
}

; By default calls stay jumps in circles of functions, which are these two.
; CHECK-LABEL: define i32 @even(
; CHECK: rdtsc
; CHECK: more:
; CHECK: rdtsc
; CHECK: tail call i32 @odd
; CHECK-NEXT: ret i32
define i32 @even(i32 %x) {
  %done = icmp eq i32 %x, 0
  br i1 %done, label %common, label %more
more:
  %less = sub i32 %x, 1
  %r = tail call i32 @odd(i32 %less)
  br label %common
common:
  %value = phi i32 [ %r, %more ], [ 1, %0 ]
  ret i32 %value
}
; CHECK-LABEL: define i32 @odd(
; CHECK-COUNT-2: rdtsc
; CHECK: tail call i32 @even
; CHECK-NEXT: ret i32
define i32 @odd(i32 %x) {
  %less = sub i32 %x, 1
  %r = tail call i32 @even(i32 %less)
  ret i32 %r
}

; Not in one: it only leads to them.
; CHECK-LABEL: define i32 @leads(
; CALL: call i32 @even
; CALL: rdtsc
; KEEP-COUNT-2: rdtsc
; KEEP: tail call i32 @even
; KEEP-NEXT: ret i32
define i32 @leads(i32 %x) {
  %r = tail call i32 @even(i32 %x)
  ret i32 %r
}

; Nor is one whose code generation makes no jumps.
; CHECK-LABEL: define i32 @no_jumps(
; CHECK: call i32 @no_jumps
; CHECK: rdtsc
define i32 @no_jumps(i32 %x) "disable-tail-calls"="true" {
  %r = tail call i32 @no_jumps(i32 %x)
  ret i32 %r
}

; What makes no code is no obstacle.
; CHECK-LABEL: define i32 @self(
; CHECK-COUNT-2: rdtsc
; CHECK: tail call i32 @self
; CHECK-NEXT: llvm.assume
; CHECK-NEXT: ret i32
define i32 @self(i32 %x) {
  %r = tail call i32 @self(i32 %x)
  call void @llvm.assume(i1 true)
  ret i32 %r
}
declare void @llvm.assume(i1)
