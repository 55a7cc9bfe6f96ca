/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For the programs of flow/programs: KEEP is a function that stays one, and DONE a place that no
 * optimiser passes, so that the call before it is no tail call and recursion no loop. A program's
 * expectations are in its comments: "want: PATH CALLS" for each path, where NAME.resume and
 * NAME.destroy are a coroutine's "NAME [clone .resume]" and "NAME [clone .destroy]", "ends: STATUS"
 * unless it is 0, "says: PATTERN" for each oddity that is right (else there are none), "args: ..."
 * for a run of its own with the lines up to the next; "flags: ..." and "allow: LINE" of an
 * allowlist for the compiler.
 */
#ifndef FLOW_H
#define FLOW_H

#ifdef __cplusplus
#define KEEP extern "C" __attribute__((noinline, used))
#else
#define KEEP __attribute__((noinline, used))
#endif
#define DONE __asm__ volatile("" ::: "memory")

#endif
