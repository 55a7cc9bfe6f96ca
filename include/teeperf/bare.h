/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The port "bare" (teeperf cc --port bare) needs nothing of a system: no libc, no system call, no loader.
 * What it must know it asks these four functions, which the program defines; test/lint/runtime_bare
 * checks that it refers to nothing else. They are called with the program's stack and thread-local
 * storage, in ordinary C; they must not be instrumented (compile them
 * without teeperf, or with --level=off), and must not wait.
 *
 * Of the program it needs: thread-local storage (ELF, `__thread`) for each thread, and that somebody calls the
 * functions in .init_array, at best before everything else.
 */
#ifndef TEEPERF_BARE_H
#define TEEPERF_BARE_H

#include <stdint.h>

#include <teeperf/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The log: its address, or NULL if there is none (yet: see teeperf_region and teeperf_enter in teeperf.h);
 * *size = its bytes. Called once, by the first constructor.
 */
void *teeperf_bare_region(uint64_t *size);

/*
 * Whether the host may write all of [base, base + size), and nothing of it is the program's private
 * memory. Only the program knows; where all memory is shared, always 1. It does not wrap.
 */
int teeperf_bare_is_outside(const void *base, uint64_t size);

/*
 * The id by which the host knows the calling thread, or any other number but 0. Called once for each thread,
 * with vector registers saved.
 */
uint64_t teeperf_bare_thread(void);

/*
 * Fill in bias, start and end, and if it is known path (absolute) and build_id, of the module that holds
 * `anchor`. Without a build ID its file is known by its code, if code_offset and code_size (log.h) say where
 * that is, readable and as in the file. The rest is the runtime's, and all of it is 0 before. A program that is
 * linked to where it runs has bias 0, and with start 0 and end UINT32_MAX all of its addresses are in the module.
 */
void teeperf_bare_module(const void *anchor, struct teeperf_module *module);

#ifdef __cplusplus
}
#endif

#endif
