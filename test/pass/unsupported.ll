; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A processor without a sequence is refused in words.
; RUN: not %opt -load-pass-plugin=%plugin -passes=teeperf -S %s 2>&1 | FileCheck %s
; CHECK: teeperf: cannot instrument for this processor: x86-64, aarch64 and riscv64 are supported
target triple = "i686-pc-linux-gnu"
define i32 @f(i32 %x) {
  ret i32 %x
}
