/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For ports that have the program headers of a module in memory. */
#ifndef TP_PORT_ELF_SEGMENTS_H
#define TP_PORT_ELF_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime.h"

/* Of ELF-64, what is needed: no system's elf.h is there to be used. */
struct tp_elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_size, memory_size, alignment;
};

/*
 * Fill in bias, start, end, build ID and where the code is, of a module that was loaded at BIAS. False if it is not
 * loaded at ANCHOR; 0: wherever. What they say is the program's own, so it is believed.
 */
TP_HIDDEN bool tp_elf_segments_describe(const struct tp_elf_segment *segments, unsigned count,
    uint64_t bias, uint64_t anchor, struct teeperf_module *module);

#endif
