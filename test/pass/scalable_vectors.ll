; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Functions compiled for vectors whose size the processor decides are left out, as recording would not keep their
; registers; of those that would have been recorded there is one warning. So it is with those that are counted.
; RUN: sed s/PROCESSOR/aarch64/ %s >%t.arm.ll && sed s/PROCESSOR/riscv64/ %s >%t.riscv.ll
; RUN: sed s/PROCESSOR/x86_64/ %s >%t.x86.ll && echo default:allow >%t.allow
; RUN: echo 'fun:s*v*=skip' >>%t.allow
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %t.arm.ll -o %t.arm 2>%t.arm.err
; RUN: FileCheck %s --check-prefix=ARM <%t.arm && FileCheck %s --check-prefix=ARM-SAYS <%t.arm.err
; RUN: env TEEPERF_LEVEL=count %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %t.arm.ll -o %t.arm 2>&1 | FileCheck %s --check-prefix=ARM-SAYS
; RUN: FileCheck %s --check-prefix=ARM <%t.arm
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf,verify -S %t.riscv.ll -o %t.riscv 2>%t.riscv.err
; RUN: FileCheck %s --check-prefix=RISCV <%t.riscv && FileCheck %s --check-prefix=RISCV-SAYS <%t.riscv.err
; RUN: %opt -load-pass-plugin=%plugin -passes=teeperf -S %t.x86.ll -o %t.x86 2>&1 | count 0
; RUN: env TEEPERF_ALLOWLIST=%t.allow %opt -load-pass-plugin=%plugin -passes=teeperf -S %t.arm.ll -o %t.arm 2>&1 | count 0
target triple = "PROCESSOR-unknown-linux-gnu"

; ARM-SAYS-COUNT-1: 3 functions are compiled for scalable vectors (SVE or SME), {{.*}} are not recorded
; ARM-SAYS-NOT: scalable
; RISCV-SAYS: 2 functions are compiled for scalable vectors (V), {{.*}} are not recorded
; RISCV-SAYS-NOT: scalable

; ARM-LABEL: define i32 @sve(
; ARM-NOT: asm sideeffect
; ARM: ret
; RISCV-LABEL: define i32 @sve(
; RISCV: asm sideeffect
; RISCV: ret
define i32 @sve(i32 %x) "target-features"="+neon,+sve,+v8a" {
	ret i32 %x
}

; ARM-LABEL: define i32 @sve2(
; ARM-NOT: asm sideeffect
; ARM: ret
define i32 @sve2(i32 %x) "target-features"="+sve2" {
	ret i32 %x
}

; RISC-V's Smepmp has nothing to do with vectors.
; ARM-LABEL: define i32 @sme_v(
; ARM-NOT: asm sideeffect
; ARM: ret
; RISCV-LABEL: define i32 @sme_v(
; RISCV: asm sideeffect
; RISCV: ret
define i32 @sme_v(i32 %x) "target-features"="+smepmp" {
	ret i32 %x
}

; ARM-LABEL: define i32 @v(
; ARM: asm sideeffect
; ARM: ret
; RISCV-LABEL: define i32 @v(
; RISCV-NOT: asm sideeffect
; RISCV: ret
define i32 @v(i32 %x) "target-features"="+m,+v,-zvbb" {
	ret i32 %x
}

; RISCV-LABEL: define i32 @zve_v(
; RISCV-NOT: asm sideeffect
; RISCV: ret
define i32 @zve_v(i32 %x) "target-features"="+zve32x" {
	ret i32 %x
}

; ARM-LABEL: define i32 @without(
; ARM: asm sideeffect
; ARM: ret
; RISCV-LABEL: define i32 @without(
; RISCV: asm sideeffect
; RISCV: ret
define i32 @without(i32 %x) "target-features"="+neon,+v8a,-sve,-sme,-v,-zve32x" {
	ret i32 %x
}
