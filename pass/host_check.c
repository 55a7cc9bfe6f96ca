// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plugin of one LLVM major makes sure that it was loaded by that major, before its options register.
#define _GNU_SOURCE
#include "host_llvm.h"

#include <dlfcn.h>
#include <stdint.h>

// Priority 101 comes before the constructors of options, which call LLVM.
__attribute__((constructor(101))) static void check_host(void)
{
	const unsigned major = tp_host_llvm();
	if (!major || major == TP_LLVM_MAJOR)
		return;
	Dl_info info = {0};
	dladdr((const void *)(uintptr_t)tp_host_llvm, &info);
	tp_host_refuse(
	    "'%s' is the TeePerf plugin for LLVM %d, but this compiler has LLVM %u: give it "
	    "the TeePerf.so in the folder above, which takes the plugin that fits",
	    info.dli_fname ? info.dli_fname : "TeePerf.so", TP_LLVM_MAJOR, major);
}
