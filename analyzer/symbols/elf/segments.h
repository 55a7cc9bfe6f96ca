/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the code of an ELF file is in the file, and at which addresses. The file is untrusted. */
#ifndef TP_ELF_SEGMENTS_H
#define TP_ELF_SEGMENTS_H

#include <stdint.h>

struct tp_elf_segment {
	uint64_t address; /* as in the file */
	uint64_t size;
	uint64_t offset; /* in the file */
};

/* The executable segments of the file PATH, at most MAX; how many. 0: it has none, or cannot be read. */
uint32_t tp_elf_segments_read(const char *path, struct tp_elf_segment *segments, uint32_t max);

#endif
