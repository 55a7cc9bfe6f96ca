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

/* ---- For ports whose program is one ELF image that is in memory with its header (port/elf_image.c). */

/*
 * What the ELF header at `image` tells: bias, start, end, build ID and where the code is. False if there is no such header.
 * What it says is the program's own, so it is believed.
 */
TP_HIDDEN bool tp_elf_image_describe(const void *image, struct teeperf_module *module);

/* The program may define it: where its file is, absolute, for whoever looks up names. */
extern const char *const teeperf_image_path __attribute__((weak));

/* Its path into the module, if there is one. */
TP_HIDDEN void tp_elf_image_path(struct teeperf_module *module);

#endif
