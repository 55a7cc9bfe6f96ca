/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is needed of a 64-bit little-endian ELF file: function symbols, build ID, whether it has
 * debug information, or where that was put. The file is untrusted.
 */
#ifndef TP_ELF_FILE_H
#define TP_ELF_FILE_H

#include "analyzer/trace/source.h"

#include <stdbool.h>

struct tp_elf_symbol {
	uint64_t address;
	uint64_t size;
	const char *name;
	uint32_t rank; /* 2 global, 1 weak, 0 local */
};

struct tp_elf_file {
	struct tp_elf_symbol *symbols; /* functions, by address; one for each address */
	uint32_t symbol_count;
	char *strings; /* the names */
	uint8_t build_id[64];
	uint32_t build_id_size; /* 0: none */
	bool has_debug_info;
	bool has_symbol_table; /* the whole one, which strip takes away */
	char debug_link[256]; /* name of the file with its debug information; empty: none is told */
	uint32_t debug_link_checksum;
};

/* Read the file PATH. 0 or a negative tp_error. Release it in any case. */
int tp_elf_file_read(struct tp_elf_file *elf, const char *path, struct tp_err *err);
/* The same without the symbols. */
int tp_elf_file_identify(struct tp_elf_file *elf, const char *path, struct tp_err *err);
void tp_elf_file_release(struct tp_elf_file *elf);
/* The function at ADDRESS (as in the file), or that contains it; NULL if there is none. */
const struct tp_elf_symbol *tp_elf_file_find(const struct tp_elf_file *elf, uint64_t address);

/* The checksum of the file PATH as debug_link_checksum has it (that of zlib). 0 or a negative tp_error. */
int tp_elf_file_checksum(const char *path, uint32_t *checksum, struct tp_err *err);

#endif
