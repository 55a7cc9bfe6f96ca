/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a build did to instrumented code without a word: what nobody instrumented, and what cannot
 * be recorded where it is. The file is untrusted.
 */
#ifndef TP_BUILD_FAULTS_H
#define TP_BUILD_FAULTS_H

#include <stdint.h>

struct tp_build_faults {
	uint64_t bitcode; /* object files that a linker compiled without our plugin (abi.h) */
	uint64_t odd;     /* instrumented functions at addresses that are no multiples of 4 */
};

/* Look at the ELF file PATH. All 0 for other files, and as far as it has no symbols. */
void tp_build_faults_read(struct tp_build_faults *faults, const char *path);

enum { TP_BUILD_FAULT_BITCODE, TP_BUILD_FAULT_ODD, TP_BUILD_FAULTS };

/* What fault I is, and what to do, as a text to be freed; NULL: there is no such fault. */
char *tp_build_faults_text(const struct tp_build_faults *faults, int i);

#endif
