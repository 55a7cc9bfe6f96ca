// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the linker says of code that was compiled for a port whose threads have their blocks
// elsewhere (abi.h): it looks for the name of the block here, and for the one below nowhere.
#include "runtime/runtime.h"

extern const char is_missing __asm__(
    TEEPERF_SYMBOL_PREFIX "wrong_port__compile_all_files_with_the_port_of_the_link");

#if !TP_ONE_THREAD
TP_HIDDEN const char *tp_stranger_one __asm__(TEEPERF_SYMBOL_ONLY_THREAD) = &is_missing;
#endif
TP_HIDDEN _Thread_local const char *tp_stranger_many __asm__(TEEPERF_SYMBOL_THREAD) = &is_missing;
#if !TP_THREADS_APART
TP_HIDDEN _Thread_local const char *tp_stranger_apart __asm__(
    TEEPERF_SYMBOL_THREAD_APART) = &is_missing;
#endif
