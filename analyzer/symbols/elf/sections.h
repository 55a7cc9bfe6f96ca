/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The debug sections of a 64-bit little-endian ELF file, unpacked where they are compressed (zlib and
 * zstd; the old .zdebug_ names, too). The file is untrusted; and it is mapped: whoever must not end when
 * another process cuts it reads it in a process of its own.
 */
#ifndef TP_ELF_SECTIONS_H
#define TP_ELF_SECTIONS_H

#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_ELF_SECTIONS_MAX = 64 };

enum tp_elf_packing { TP_ELF_PLAIN, TP_ELF_ZLIB, TP_ELF_ZSTD, TP_ELF_UNKNOWN };

struct tp_elf_section {
	char name[32];         /* begins with ".debug_" */
	const uint8_t *packed; /* in the file */
	uint64_t packed_size;
	uint64_t size; /* unpacked */
	enum tp_elf_packing packing;
	uint8_t *unpacked; /* NULL until it was asked for */
	bool failed;       /* it cannot be unpacked */
};

struct tp_elf_sections {
	const char *path; /* the caller's */
	const uint8_t *map;
	size_t map_size;
	struct tp_elf_section sections[TP_ELF_SECTIONS_MAX]; /* each name once */
	uint32_t count;
	uint64_t room; /* bytes that may still be unpacked */
};

/* Open the file PATH, which must outlive it. 0 or a negative tp_error. Close it in any case. */
int tp_elf_sections_open(struct tp_elf_sections *sections, const char *path, struct tp_err *err);
void tp_elf_sections_close(struct tp_elf_sections *sections);

/*
 * The bytes of a section, unpacked; sections[index].size of them. NULL: it cannot be unpacked, or all together
 * are more than a file of this size may hold. They live until the file is closed.
 */
const uint8_t *tp_elf_sections_data(
    struct tp_elf_sections *sections, uint32_t index, struct tp_err *err);

/* The number of the section with this name, or -1. */
int tp_elf_sections_find(const struct tp_elf_sections *sections, const char *name);

#endif
