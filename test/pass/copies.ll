; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A line about a copy that an optimisation makes takes effect, whether it records what the line about the
; function leaves out, or leaves out what that records. Without one, the function's line covers its copies, by
; whatever name they go. Hot-cold splitting makes the same copy with every LLVM.
; RUN: rm -rf %t && mkdir %t && cd %t
; RUN: printf 'default:allow\nfun:work.cold.1=skip\n' > out.allow
; RUN: printf 'fun:work=skip\nfun:work.cold.1\n' > in.allow
; RUN: printf 'fun:work=count\n' > both.allow
; RUN: printf 'name:work=count\nfun:work.cold.1=forbid\n' > never.allow
; RUN: env TEEPERF_ALLOWLIST=out.allow %opt -load-pass-plugin=%plugin -passes='teeperf-tag,hotcoldsplit,teeperf-instrument,verify' -hotcoldsplit-threshold=-1 -S %s -o out.ll
; RUN: FileCheck %s --check-prefix=OUT < out.ll
; RUN: env TEEPERF_ALLOWLIST=in.allow %opt -load-pass-plugin=%plugin -passes='teeperf-tag,hotcoldsplit,teeperf-instrument,verify' -hotcoldsplit-threshold=-1 -S %s -o in.ll
; RUN: FileCheck %s --check-prefix=IN < in.ll
; RUN: mkdir both && env TEEPERF_ALLOWLIST=both.allow TEEPERF_INVENTORY=both %opt -load-pass-plugin=%plugin -passes='teeperf-tag,hotcoldsplit,teeperf-instrument,verify' -hotcoldsplit-threshold=-1 -S %s -o both.ll
; RUN: %teeperf inventory --format csv both | FileCheck %s --check-prefix=BOTH
; RUN: mkdir never && env TEEPERF_ALLOWLIST=never.allow TEEPERF_INVENTORY=never %opt -load-pass-plugin=%plugin -passes='teeperf-tag,hotcoldsplit,teeperf-instrument,verify' -hotcoldsplit-threshold=-1 -S %s -o never.ll
; RUN: %teeperf inventory --format csv never | FileCheck %s --check-prefix=NEVER
target triple = "x86_64-unknown-linux-gnu"

; OUT-LABEL: define{{.*}} @work(
; OUT: rdtsc
; OUT-LABEL: define{{.*}} @work.cold.1(
; OUT-NOT: rdtsc
; OUT-LABEL: {{^}}}

; IN-LABEL: define{{.*}} @work(
; IN-NOT: rdtsc
; IN-LABEL: define{{.*}} @work.cold.1(
; IN: rdtsc

; BOTH-DAG: {{^}}work,emitted,external,{{.*}},count,{{.*}}both.allow:1,{{.*}},work,{{$}}
; BOTH-DAG: {{^}}work.cold.1,emitted,internal,{{.*}},count,{{.*}}both.allow:1,{{.*}},work.cold.1,work{{$}}

; NEVER-DAG: {{^}}work,emitted,external,{{.*}},count,{{.*}}never.allow:1,
; NEVER-DAG: {{^}}work.cold.1,emitted,internal,{{.*}},skip,{{.*}}never.allow:2,

declare void @sink(i32) cold

define void @work(i32 %x) {
entry:
	%rare = icmp eq i32 %x, 7
	br i1 %rare, label %if.then, label %if.end

if.then:
	call void @sink(i32 0)
	call void @sink(i32 1)
	call void @sink(i32 2)
	call void @sink(i32 3)
	br label %if.end

if.end:
	ret void
}
; REQUIRES: x86_64
