/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The compiler or linker that has loaded us, seen without a single symbol of LLVM: a plugin of the
 * wrong LLVM major crashes its host, so this is asked before anything else runs.
 */
#ifndef TP_HOST_LLVM_H
#define TP_HOST_LLVM_H

/* The major of the LLVM in this process, 0: none is found. */
unsigned tp_host_llvm(void);
/*
 * Print "error: ..." in one line, and end the process: there is no other way to report without
 * LLVM.
 */
_Noreturn void tp_host_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
