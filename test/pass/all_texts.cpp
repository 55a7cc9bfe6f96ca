// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every text that the pass can write is taken by the assembler, on each processor: with and without
// the record's position (landing pads), each clock, both kinds of exits, each shape, and counted
// calls; for many threads, for one, whose code has no thread-local storage, and constructors in
// three places, and for threads whose blocks are apart, whose code finds all that is thread-local
// by the word at fs:0.
// RUN: for target in x86_64 aarch64 riscv64; do for clock in auto tsc soft; do for exits in timed untimed; do for shape in inline call dual; do env TEEPERF_CLOCK=$clock TEEPERF_EXITS=$exits TEEPERF_SHAPE=$shape %clangxx --target=$target-linux-gnu -O2 -fPIC -fpass-plugin=%plugin -c %s -o %t.$target.$clock.$exits.$shape.o || exit 1; done; done; done; done
// RUN: for target in x86_64 aarch64 riscv64; do env TEEPERF_LEVEL=count %clangxx --target=$target-linux-gnu -O2 -fPIC -fpass-plugin=%plugin -c %s -o %t.$target.count.o || exit 1; done
// RUN: for target in x86_64 aarch64 riscv64; do for clock in auto tsc soft; do for exits in timed untimed; do for shape in inline call dual; do env TEEPERF_LEVEL=sample/3 TEEPERF_CLOCK=$clock TEEPERF_EXITS=$exits TEEPERF_SHAPE=$shape %clangxx --target=$target-linux-gnu -O2 -fPIC -fpass-plugin=%plugin -c %s -o %t.$target.sampled.o || exit 1; done; done; done; done
// RUN: for target in x86_64 aarch64 riscv64; do for clock in auto soft; do for exits in timed untimed; do for shape in inline call dual; do for level in event sample/3; do env TEEPERF_THREADS=one TEEPERF_LEVEL=$level TEEPERF_CLOCK=$clock TEEPERF_EXITS=$exits TEEPERF_SHAPE=$shape %clangxx --target=$target-linux-gnu -O2 -fPIC -fpass-plugin=%plugin -c %s -o %t.$target.one.o || exit 1; ! llvm-readelf -sW %t.$target.one.o | grep -q " TLS " || exit 1; done; done; done; done; done
// RUN: for clock in auto tsc soft; do for exits in timed untimed; do for shape in inline call dual; do for level in event count sample/3; do env TEEPERF_THREADS=apart TEEPERF_LEVEL=$level TEEPERF_CLOCK=$clock TEEPERF_EXITS=$exits TEEPERF_SHAPE=$shape %clangxx --target=x86_64-linux-gnu -O2 -fPIC -fpass-plugin=%plugin -c %s -o %t.apart.o || exit 1; ! llvm-objdump -d %t.apart.o | grep -E "%fs:(0x)?[^0]|%fs:0x0[^,]" || exit 1; done; done; done; done
// RUN: env TEEPERF_THREADS=apart %clangxx --target=x86_64-linux-gnu -O2 -fPIC -fpass-plugin=%plugin -c %s -o %t.apart.o && llvm-objdump -dr %t.apart.o | FileCheck %s --check-prefix=APART
// RUN: not env TEEPERF_THREADS=apart %clangxx --target=aarch64-linux-gnu -O2 -fPIC -fpass-plugin=%plugin -c %s -o %t.apart.o 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: env TEEPERF_THREADS=one %clangxx --target=aarch64-linux-gnu -O2 -fPIC -fpass-plugin=%plugin -c %s -o %t.one.o && llvm-nm -u %t.one.o | FileCheck %s --check-prefix=ONE
// RUN: env TEEPERF_THREADS=one %clangxx --target=aarch64-linux-gnu -O2 -fPIC -fpass-plugin=%plugin -c %s -o %t.one.o && llvm-readelf -SW %t.one.o | FileCheck %s --check-prefix=SECTIONS
// RUN: llvm-nm -u %t.x86_64.auto.timed.call.o | FileCheck %s --check-prefix=CALL
// RUN: llvm-nm -u %t.aarch64.soft.untimed.call.o | FileCheck %s --check-prefixes=CALL,UNTIMED
// RUN: llvm-nm -u %t.aarch64.auto.timed.inline.o | FileCheck %s --check-prefix=INLINE
// RUN: llvm-nm -u %t.aarch64.count.o | FileCheck %s --check-prefix=COUNT
// RUN: llvm-nm -u %t.riscv64.auto.timed.call.o | FileCheck %s --check-prefix=CALL
// RUN: llvm-nm -u %t.riscv64.soft.untimed.call.o | FileCheck %s --check-prefixes=CALL,UNTIMED
// RUN: llvm-nm -u %t.riscv64.auto.timed.inline.o | FileCheck %s --check-prefix=INLINE
// RUN: llvm-nm -u %t.riscv64.count.o | FileCheck %s --check-prefix=COUNT
// CALL-DAG: __teeperf_record{{$}}
// CALL-DAG: __teeperf_record_position{{$}}
// UNTIMED-DAG: __teeperf_record_untimed{{$}}
// INLINE-NOT: __teeperf_record
// INLINE: __teeperf_slow{{$}}
// INLINE-NOT: __teeperf_record
// COUNT: __teeperf_count{{$}}
// APART: mov{{q?}} {{.*}} # {{.*}}
// APART-NEXT: R_X86_64_GOTTPOFF __teeperf_thread_apart
// APART-NEXT: %fs:{{0x0|0}}, %r10
// REFUSED: error: teeperf: TEEPERF_THREADS=apart is for x86-64
// ONE-NOT: __teeperf_thread
// ONE: __teeperf_only_thread{{$}}
// ONE-NOT: __teeperf_thread
// SECTIONS-DAG: .init_array {{.*}}INIT_ARRAY
// SECTIONS-DAG: .init_array.1 {{.*}}INIT_ARRAY
// SECTIONS-DAG: teeperf_constructors
extern "C" int other(int x);

int plain(int x)
{
	return x + 1;
}

int catches(int x)
{
	try {
		return other(x);
	} catch (int y) {
		return y;
	}
}
