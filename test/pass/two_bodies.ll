; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; TEEPERF_SHAPE=dual: a function is one test of its gate and its body as it was; the records are in a second body, which
; names the first. Where exceptions may end it is gates[0] that is tested, and both bodies say so. What cannot have two
; bodies has its records in line. On x86-64 the test is bytes before the function's own code, and a jump can be made with
; any arguments; elsewhere it is code, and a call that takes the function's place.
; REQUIRES: llvm-at-least-15
; RUN: env TEEPERF_SHAPE=dual %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s -o %t.ll
; RUN: FileCheck %s --check-prefixes=BOTH,X86 --implicit-check-not='@kept_{{[a-z_]*}}.recorded' < %t.ll
; RUN: llc -filetype=obj -relocation-model=pic %t.ll -o %t.o
; RUN: llvm-readelf -SWs %t.o | FileCheck %s --check-prefix=OBJECT
; RUN: llvm-objdump -dr --no-show-raw-insn %t.o | FileCheck %s --check-prefix=CODE
; RUN: env TEEPERF_SHAPE=dual %opt -mtriple=aarch64-linux-gnu -load-pass-plugin=%plugin -passes=teeperf,verify -S %s -o %t.arm.ll
; RUN: FileCheck %s --check-prefixes=BOTH,CHECK --implicit-check-not='@{{kept|stack}}_{{[a-z_]*}}.recorded' < %t.arm.ll
; RUN: env TEEPERF_SHAPE=dual TEEPERF_CLOCK=tsc %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s | FileCheck %s --check-prefix=TSC
; RUN: env TEEPERF_SHAPE=dual TEEPERF_LEVEL=sample/2 %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %s | FileCheck %s --check-prefix=SAMPLED
; SAMPLED-NOT: .recorded
target triple = "x86_64-pc-linux-gnu"

@table = constant [1 x ptr] [ptr blockaddress(@kept_computed_goto, %there)]
@g_ecall_table = constant { i64, [1 x { ptr, i8, i8 }] } { i64 1, [1 x { ptr, i8, i8 }] [{ ptr, i8, i8 } { ptr @kept_bridge, i8 0, i8 0 }] }
$shared = comdat any

declare i32 @other(i32)
declare i32 @setjmp(ptr) returns_twice
declare i32 @__gxx_personality_v0(...)

; OBJECT-DAG: .text.unlikely.teeperf.plain.recorded PROGBITS {{.*}} AX
; OBJECT-DAG: .text.unlikely.teeperf.shared.recorded PROGBITS {{.*}} AXG
; OBJECT-DAG: FUNC LOCAL DEFAULT {{.*}} plain.recorded{{$}}

; BOTH-DAG: @plain.teeperf = private alias i8, ptr @plain
; BOTH-DAG: @shared.teeperf = private alias i8, ptr @shared

; CODE-LABEL: <plain>:
; CODE-NEXT: cmpb $0x0, (%rip)
; CODE-NEXT: R_X86_64_PC32 {{.*}}teeperf_functions+0x4
; CODE-NEXT: jne
; CODE-NEXT: R_X86_64_P{{C|LT}}32 .text.unlikely.teeperf.plain.recorded-0x4
; CODE-NEXT: push
; BOTH-LABEL: define i32 @plain(
; X86-SAME: prologue <{ [2 x i8], i32, [3 x i8], i32 }>
; CHECK-SAME: {
; CHECK-NEXT: %{{.*}} = load volatile i8, ptr getelementptr ({{.*}} @__teeperf_functions, i64 9)
; CHECK-NEXT: icmp ne i8 %{{.*}}, 0
; CHECK-NEXT: br i1 %{{.*}}, label %[[AWAY:.*]], label %{{.*}}, !prof ![[PROF:.*]]
; BOTH-NOT: asm
; BOTH: call i32 @plain(i32 %x)
; BOTH-NOT: asm
; CHECK: [[AWAY]]:
; CHECK-NEXT: %[[R:.*]] = musttail call i32 @plain.recorded(i32 %x)
; CHECK-NEXT: ret i32 %[[R]]
; CHECK-NEXT: }
define i32 @plain(i32 %x) memory(none) {
  %r = call i32 @plain(i32 %x)
  ret i32 %r
}

; Its allocation stays one of fixed size.
; BOTH-LABEL: define linkonce_odr signext i8 @shared(
; CHECK-SAME: comdat align 4 {
; X86-SAME: comdat align 4 prologue
; X86-NEXT: %place = alloca i32
; CHECK-NEXT: %place = alloca i32
; CHECK-NEXT: load volatile i8
; CHECK: musttail call signext i8 @shared.recorded(ptr noundef %to)
define linkonce_odr signext i8 @shared(ptr noundef %to) alwaysinline comdat {
  %place = alloca i32
  store i32 1, ptr %place
  %r = load i8, ptr %place
  ret i8 %r
}

; It began while nothing was recorded: TEEPERF_POSITION_OFF.
; BOTH-LABEL: define void @catches(
; X86-SAME: prologue {{.*}}getelementptr ({{.*}} @__teeperf_functions, i64 8)
; CHECK: load volatile i8, ptr getelementptr ({{.*}} @__teeperf_functions, i64 8)
; BOTH: landingpad
; BOTH-NEXT: catch
; BOTH-NEXT: call void @__teeperf_resync(i64 1, i64 ptrtoint (ptr @catches.teeperf to i64))
; CHECK: musttail call void @catches.recorded()
; CHECK-NEXT: ret void
define void @catches() personality ptr @__gxx_personality_v0 {
  %r = invoke i32 @other(i32 1) to label %done unwind label %pad
done:
  ret void
pad:
  %e = landingpad { ptr, i32 } catch ptr null
  %n = call i32 @other(i32 2)
  ret void
}

; What only cleans up, or ends the program there, has its own gate: whoever catches says so.
; BOTH-LABEL: define void @cleans(
; X86-SAME: prologue {{.*}}getelementptr ({{.*}} @__teeperf_functions, i64 12)
; CHECK: load volatile i8, ptr getelementptr ({{.*}} @__teeperf_functions, i64 12)
; BOTH: landingpad
; BOTH-NEXT: cleanup
; BOTH-NEXT: call i32 @other(i32 2)
define void @cleans() personality ptr @__gxx_personality_v0 {
  %r = invoke i32 @other(i32 1) to label %done unwind label %pad
done:
  ret void
pad:
  %e = landingpad { ptr, i32 } cleanup
  %n = call i32 @other(i32 2)
  resume { ptr, i32 } %e
}

; BOTH-LABEL: define void @ends(
; X86-SAME: prologue {{.*}}getelementptr ({{.*}} @__teeperf_functions, i64 13)
; CHECK: load volatile i8, ptr getelementptr ({{.*}} @__teeperf_functions, i64 13)
; BOTH: landingpad
; BOTH-NEXT: catch
; BOTH-NEXT: extractvalue
; BOTH-NEXT: call void @__clang_call_terminate
define void @ends() personality ptr @__gxx_personality_v0 {
  %r = invoke i32 @other(i32 1) to label %done unwind label %pad
done:
  ret void
pad:
  %e = landingpad { ptr, i32 } catch ptr null
  %what = extractvalue { ptr, i32 } %e, 0
  call void @__clang_call_terminate(ptr %what)
  unreachable
}
declare void @__clang_call_terminate(ptr)

; BOTH-LABEL: define i32 @stack_variadic(
; CHECK: asm {{.*}}__teeperf_slow
define i32 @stack_variadic(i32 %x, ...) {
  ret i32 %x
}

; BOTH-LABEL: define i32 @stack_copied(
; CHECK: asm {{.*}}__teeperf_slow
define i32 @stack_copied(ptr byval([64 x i8]) %x) {
  ret i32 1
}

; LLVM would return that in memory.
; BOTH-LABEL: define [9 x i64] @stack_result(
; CHECK: asm {{.*}}__teeperf_slow
define [9 x i64] @stack_result() {
  ret [9 x i64] zeroinitializer
}

; BOTH-LABEL: define i32 @kept_computed_goto(
; BOTH: asm {{.*}}__teeperf_slow
define i32 @kept_computed_goto(ptr %x) {
  indirectbr ptr %x, [label %there]
there:
  ret i32 1
}

; BOTH-LABEL: define i32 @kept_jump(
; BOTH: asm {{.*}}__teeperf_slow
define i32 @kept_jump(ptr %x) {
  %r = call i32 @setjmp(ptr %x) returns_twice
  ret i32 %r
}

; BOTH-LABEL: define void @kept_numbered(
define void @kept_numbered() {
  call void asm sideeffect "once_${0:c}: nop", "i"(i32 3)
  ret void
}

; BOTH-LABEL: define void @kept_behind_number(
define void @kept_behind_number() {
  call void asm sideeffect "1: behind: nop", ""()
  ret void
}

; BOTH-LABEL: define void @kept_behind_comment(
define void @kept_behind_comment() {
  call void asm sideeffect "/* entry */ entered: nop", ""()
  ret void
}

; BOTH-LABEL: define void @kept_quoted(
define void @kept_quoted() {
  call void asm sideeffect "\22once more\22: nop", ""()
  ret void
}

; BOTH-LABEL: define void @kept_macro(
define void @kept_macro() {
  call void asm sideeffect ".macro m\0A nop\0A .endm\0A m", ""()
  ret void
}

; Too large for the registers of any x86-64.
; BOTH-LABEL: define <4 x i128> @stack_wide_vector(
define <4 x i128> @stack_wide_vector(ptr %p) {
  %r = load <4 x i128>, ptr %p
  ret <4 x i128> %r
}

; BOTH-LABEL: define <33 x i8> @stack_odd_vector(
define <33 x i8> @stack_odd_vector(ptr %p) {
  %r = load <33 x i8>, ptr %p
  ret <33 x i8> %r
}

; BOTH-LABEL: define <4 x float> @stack_short_vector(
define <4 x float> @stack_short_vector(ptr %p) {
  %r = load <4 x float>, ptr %p
  ret <4 x float> %r
}

; BOTH-LABEL: define void @kept_label(
; BOTH: asm {{.*}}__teeperf_slow
define void @kept_label() {
  call void asm sideeffect "nop\0Aonly_once: nop", ""()
  ret void
}

; Labels that may be there more than once.
; BOTH-LABEL: define void @numbers(
; CHECK: musttail call void @numbers.recorded()
define void @numbers() {
  call void asm sideeffect "1: nop; .Lhere${:uid}: movq %fs:0, %rax\0A jmp 1f\0A1:", "~{rax}"()
  ret void
}

; BOTH-LABEL: define void @kept_section(
; BOTH: asm {{.*}}__teeperf_slow
define void @kept_section() section ".text.startup" {
  ret void
}

; BOTH-LABEL: define void @kept_bridge(
; BOTH: asm {{.*}}__teeperf_slow
define void @kept_bridge() {
  ret void
}

; BOTH-LABEL: define void @kept_noreturn(
; BOTH: asm {{.*}}__teeperf_slow
define void @kept_noreturn() noreturn {
  unreachable
}

; The second bodies: calls of itself are calls of the first.
; BOTH-LABEL: define internal i32 @plain.recorded(
; BOTH-SAME: #[[SECOND:[0-9]+]] section ".text.unlikely.teeperf.plain.recorded" align 4 {
; BOTH-NEXT: call {{.*}} asm {{.*}}__teeperf_slow{{.*}}@plain.teeperf
; BOTH-NEXT: call i32 @plain(i32 %x)
; BOTH-NEXT: call {{.*}} asm {{.*}}__teeperf_slow{{.*}}@plain.teeperf
; BOTH-NEXT: ret i32
; BOTH-LABEL: define internal signext i8 @shared.recorded(ptr noundef %to)
; BOTH-SAME: section ".text.unlikely.teeperf.shared.recorded" comdat($shared)
; BOTH-LABEL: define internal void @catches.recorded(
; BOTH: landingpad
; BOTH: call void @__teeperf_resync(i64 %
; BOTH-LABEL: define internal void @cleans.recorded(
; BOTH: landingpad
; BOTH: call void @__teeperf_resync(i64 %
; X86: attributes #[[SECOND]] = {{{.*}}noinline noredzone{{.*}}}
; CHECK: attributes #[[SECOND]] = {{{.*}}noinline{{.*}}}
; CHECK: ![[PROF]] = !{!"branch_weights", i32 1, i32 100000}

; Where the gate chooses no clock it has been looked at once.
; TSC-LABEL: define internal i32 @plain.recorded(
; TSC: asm
; TSC-NOT: cmpb $$0, ${{.*}}:c}+9(%rip)
; TSC-SAME: @plain.teeperf
; TSC: asm {{.*}}cmpb $$0, ${0:c}+9(%rip){{.*}}@plain.teeperf
