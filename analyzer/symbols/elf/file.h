/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The needed parts of a 64-bit little-endian ELF file: function symbols, build ID, whether it has
 * debug information, or where that is; and its code. The file is untrusted.
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
	struct tp_elf_symbol *aliases; /* the other functions at these addresses, by address */
	uint32_t alias_count;
	char *strings; /* the names */
	uint8_t build_id[64];
	uint32_t build_id_size; /* 0: none */
	bool has_debug_info;
	bool has_symbol_table; /* the whole one, which strip takes away */
	char
	    debug_link[256]; /* name of the file with its debug information; empty: none is named */
	uint32_t debug_link_checksum;
};

/* Read the file PATH. 0 or a negative tp_error. Release it in any case. */
int tp_elf_file_read(struct tp_elf_file *elf, const char *path, struct tp_err *err);
/* The same without the symbols. */
int tp_elf_file_identify(struct tp_elf_file *elf, const char *path, struct tp_err *err);
void tp_elf_file_release(struct tp_elf_file *elf);
/* The function at ADDRESS (as in the file), or that contains it; NULL if there is none. */
const struct tp_elf_symbol *tp_elf_file_find(const struct tp_elf_file *elf, uint64_t address);

/* The *count other names of a function of the file; NULL if it has none. */
const struct tp_elf_symbol *tp_elf_file_aliases(
    const struct tp_elf_file *elf, const struct tp_elf_symbol *symbol, uint32_t *count);

/*
 * The checksum of the file PATH as debug_link_checksum has it (that of zlib). 0 or a negative
 * tp_error.
 */
int tp_elf_file_checksum(const char *path, uint32_t *checksum, struct tp_err *err);

/* Whether a file that begins with these EI_NIDENT bytes is a 64-bit little-endian ELF file. */
bool tp_elf_is_known(const unsigned char *ident);

struct tp_elf_segment {
	uint64_t address; /* as in the file */
	uint64_t size;
	uint64_t offset; /* in the file */
};

/*
 * The executable segments of the file PATH, at most MAX; how many. 0: it has none, or cannot be
 * read.
 */
uint32_t tp_elf_segments_read(const char *path, struct tp_elf_segment *segments, uint32_t max);

/*
 * By what a module without a build ID is known: the hash of its code and of its functions' names
 * (log.h), of the file PATH: SIZE bytes from ADDRESS (as in the file) on are the code. 0 if the
 * file has no such code, or cannot be read. It is the same for a file and what strip leaves of it.
 */
uint64_t tp_elf_code_hash(const char *path, uint64_t address, uint64_t size);

/* ---- debug sections */

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
 * The bytes of a section, unpacked; sections[index].size of them. NULL: it cannot be unpacked, or
 * all together are more than a file of this size may hold. They live until the file is closed.
 */
const uint8_t *tp_elf_sections_data(
    struct tp_elf_sections *sections, uint32_t index, struct tp_err *err);

/* The number of the section with this name, or -1. */
int tp_elf_sections_find(const struct tp_elf_sections *sections, const char *name);

#endif
