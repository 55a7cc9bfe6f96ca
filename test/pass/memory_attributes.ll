; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A function that writes records is not "pure" any more, nor are calls of it: link-time optimisation
; would merge, reorder or drop them.
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
; CHECK-NOT: readnone
; CHECK-NOT: memory(none)
define i32 @pure(i32 %x) readnone nounwind {
  ret i32 %x
}
define i32 @caller(i32 %x) {
  %a = call i32 @pure(i32 %x) readnone
  ret i32 %a
}
