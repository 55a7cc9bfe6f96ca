; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The early stage only leaves attributes; `force` keeps a function from being inlined away, and what is
; inlined between the stages leaves no events.
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf-tag,verify -S %s | FileCheck %s --check-prefix=TAG
; RUN: echo 'fun:*' > %t.allow && echo 'fun:small=force' >> %t.allow
; RUN: env TEEPERF_ALLOWLIST=%t.allow %opt -load-pass-plugin=%plugin -passes='teeperf-tag,cgscc(inline),teeperf-instrument,verify' -S %s | FileCheck %s --check-prefix=FORCE
; RUN: %opt -load-pass-plugin=%plugin -passes='teeperf-tag,cgscc(inline),globaldce,teeperf-instrument,verify' -S %s | FileCheck %s --check-prefix=INLINED
target triple = "x86_64-pc-linux-gnu"

; TAG-NOT: rdtsc
; TAG-DAG: "teeperf"="event"
; TAG-DAG: !"teeperf.tagged"

; FORCE-LABEL: define internal i32 @small
; FORCE-COUNT-2: rdtsc
; INLINED-NOT: @small
define internal i32 @small(i32 %x) {
  %r = add i32 %x, 1
  ret i32 %r
}

; FORCE-LABEL: define i32 @big
; FORCE: call i32 @small
; INLINED-LABEL: define i32 @big
; INLINED-COUNT-2: rdtsc
; INLINED-NOT: rdtsc
define i32 @big(i32 %x) {
  %r = call i32 @small(i32 %x)
  ret i32 %r
}
