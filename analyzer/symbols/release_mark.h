/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whether a file was made for profiling: the notes that pass and runtime leave (abi.h,
 * teeperf_note), and for ELF files their symbols. The file is untrusted.
 */
#ifndef TP_RELEASE_MARK_H
#define TP_RELEASE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct tp_release_mark {
	uint64_t size;   /* bytes of the file that were looked at: all of it */
	uint64_t notes;  /* found anywhere in it, also in archives, images and signed containers */
	uint64_t first;  /* offset of the first */
	uint32_t abi;    /* ... and what it says */
	char symbol[64]; /* a symbol of instrumented code, in ELF files; empty: none */
	uint64_t inventory; /* bytes of inventories (docs/inventory.md) in ELF files */
	bool elf;           /* an ELF file, or an archive, whose symbols were looked at */
};

/* Read the file PATH. 0 or a negative tp_error. */
int tp_release_mark_read(struct tp_release_mark *mark, const char *path, struct tp_err *err);

#endif
