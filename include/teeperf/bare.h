/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The port "bare" (teeperf cc --port bare) needs no system: no libc, no system call, no loader. It
 * gets all it must know from these four functions, which the program defines;
 * test/lint/runtime_bare checks that it refers to nothing else. They are called as ordinary C
 * functions, with the program's stack and thread-local storage. They must not be instrumented
 * (compile them without teeperf, or with --level=off), and must not wait.
 *
 * The program must have thread-local storage (ELF, `__thread`) for each thread, and must call the
 * functions in .init_array, preferably before everything else.
 */
#ifndef TEEPERF_BARE_H
#define TEEPERF_BARE_H

#include <stdint.h>

#include <teeperf/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The log: its address, or NULL if there is none (yet: see teeperf_region and teeperf_enter in
 * teeperf.h); *size = its bytes. Called once, by the first constructor.
 */
void *teeperf_bare_region(uint64_t *size);

/*
 * Whether the host may write all of [base, base + size), and none of it is the program's private
 * memory. Only the program knows; where all memory is shared, always 1. The range does not wrap.
 */
int teeperf_bare_is_outside(const void *base, uint64_t size);

/*
 * The host's id of the calling thread, or any other number except 0. Called once for each thread,
 * with vector registers saved.
 */
uint64_t teeperf_bare_thread(void);

/*
 * Fill in bias, start and end of the module that holds `anchor`, and path (absolute) and build_id
 * if known. Without a build ID, its file is identified by its code, if code_offset and code_size
 * (log.h) say where the code is, readable and as in the file. The other fields belong to the
 * runtime; all fields are 0 at first. A program that runs at its link address has bias 0; with
 * start 0 and end UINT32_MAX, all its addresses are in the module.
 */
void teeperf_bare_module(const void *anchor, struct teeperf_module *module);

#ifdef __cplusplus
}
#endif

#endif
