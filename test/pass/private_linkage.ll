; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A private function, as LLVM 18 and 19 make of what a coroutine awaits, has no symbol: a profile could only show
; its address. Once it is recorded it has one.
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s | FileCheck %s
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf %s -o %t.bc
; RUN: %clang -c %t.bc -o %t.o && llvm-nm %t.o | FileCheck %s --check-prefix=SYMBOL
target triple = "x86_64-unknown-linux-gnu"

; CHECK: define internal i32 @hidden(
; SYMBOL: t hidden
define private i32 @hidden(i32 %x) noinline {
	%y = add i32 %x, 1
	ret i32 %y
}

define i32 @user(i32 %x) {
	%y = call i32 @hidden(i32 %x)
	ret i32 %y
}
; REQUIRES: x86_64
