// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hash of a file's code, as the runtime computes it of what is in memory.
#include "code.h"

#include "analyzer/trace/source.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/abi.h>

// At most so many bytes of a file's list of functions: 100 million of them.
#define NAMES_MAX (UINT64_C(1) << 30)

static void step(uint64_t *hash, uint64_t word)
{
	const uint64_t product = (*hash ^ word) * TEEPERF_CODE_PRIME;
	*hash = product ^ product >> 32;
}

static uint64_t word_at(const uint8_t *at)
{
	uint64_t word;
	memcpy(&word, at, sizeof(word));
	return word;
}

static bool read_header(const struct tp_source *source, Elf64_Ehdr *header)
{
	struct tp_err err;
	return !tp_source_read(source, 0, header, sizeof(*header), &err) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
}

// Where in the file the code is; false if it is not all in an executable segment.
static bool find_code(const struct tp_source *source, const Elf64_Ehdr *header, uint64_t address,
    uint64_t size, uint64_t *offset)
{
	struct tp_err err;
	Elf64_Phdr segment;
	if (header->e_phentsize != sizeof(segment) || header->e_phoff > source->size)
		return false;
	for (uint32_t i = 0; i < header->e_phnum; i++) {
		if (tp_source_read(source, header->e_phoff + i * sizeof(segment), &segment,
			sizeof(segment), &err))
			return false;
		const uint64_t skip = address - segment.p_vaddr;
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
		    address < segment.p_vaddr || skip > segment.p_filesz ||
		    size > segment.p_filesz - skip || segment.p_offset > source->size ||
		    skip > source->size - segment.p_offset)
			continue;
		*offset = segment.p_offset + skip;
		return size <= source->size - *offset;
	}
	return false;
}

static bool hash_code(
    const struct tp_source *source, uint64_t offset, uint64_t size, uint64_t *hash)
{
	uint8_t block[65536];
	struct tp_err err;
	*hash = size;
	for (uint64_t done = 0; done < size;) {
		const uint64_t left = size - done;
		const size_t count = left < sizeof(block) ? (size_t)left : sizeof(block);
		if (tp_source_read(source, offset + done, block, count, &err))
			return false;
		for (size_t i = 0; i < count; i += 8)
			step(hash, word_at(block + i));
		done += count;
	}
	return true;
}

// The parts that object files have brought; the linker may have put zeroes between them.
static bool hash_names(const uint8_t *data, uint64_t size, uint64_t *hash)
{
	for (uint64_t at = 0; size - at >= TEEPERF_GATE_OFFSET;) {
		struct teeperf_functions functions;
		memcpy(&functions, data + at, sizeof(functions));
		if (!functions.size) {
			at += 8;
			continue;
		}
		const uint64_t gates = (functions.count + UINT64_C(7)) & ~UINT64_C(7);
		const uint64_t hashes = TEEPERF_GATE_OFFSET + gates;
		if (functions.size > size - at ||
		    hashes + UINT64_C(8) * functions.count > functions.size)
			return false;
		step(hash, functions.count);
		for (uint32_t i = 0; i < functions.count; i++)
			step(hash, word_at(data + at + hashes + UINT64_C(8) * i));
		at += functions.size;
	}
	return true;
}

static bool is_list(
    const struct tp_source *source, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
	char name[sizeof(TEEPERF_FUNCTIONS_SECTION)];
	struct tp_err err;
	return section->sh_type == SHT_PROGBITS && section->sh_name < names->sh_size &&
	       names->sh_offset <= source->size &&
	       !tp_source_read(
		   source, names->sh_offset + section->sh_name, name, sizeof(name), &err) &&
	       memcmp(name, TEEPERF_FUNCTIONS_SECTION, sizeof(name)) == 0;
}

static bool hash_list(const struct tp_source *source, const Elf64_Ehdr *header, uint64_t *hash)
{
	Elf64_Shdr section;
	Elf64_Shdr names;
	struct tp_err err;
	*hash = 0;
	if (header->e_shentsize != sizeof(section) || header->e_shoff > source->size ||
	    tp_source_read(source, header->e_shoff, &section, sizeof(section), &err))
		return false;
	// More than 65279 sections: both numbers are in the first one.
	const uint64_t count = header->e_shnum ? header->e_shnum : section.sh_size;
	const uint64_t index =
	    header->e_shstrndx == SHN_XINDEX ? section.sh_link : header->e_shstrndx;
	if (index >= count || count > source->size / sizeof(section) ||
	    tp_source_read(
		source, header->e_shoff + index * sizeof(names), &names, sizeof(names), &err))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (tp_source_read(source, header->e_shoff + i * sizeof(section), &section,
			sizeof(section), &err))
			return false;
		if (!is_list(source, &names, &section))
			continue;
		if (section.sh_size > NAMES_MAX || section.sh_offset > source->size ||
		    section.sh_size > source->size - section.sh_offset)
			return false;
		uint8_t *data = malloc(section.sh_size + 1);
		const bool good =
		    data &&
		    !tp_source_read(source, section.sh_offset, data, section.sh_size, &err) &&
		    hash_names(data, section.sh_size, hash);
		free(data);
		return good;
	}
	return true;
}

uint64_t tp_elf_code_hash(const char *path, uint64_t address, uint64_t size)
{
	struct tp_source source;
	struct tp_err err;
	Elf64_Ehdr header;
	uint64_t offset;
	uint64_t names;
	uint64_t hash = 0;
	if (!size || size % 8 || tp_source_open(&source, path, &err))
		return 0;
	if (read_header(&source, &header) && find_code(&source, &header, address, size, &offset) &&
	    hash_list(&source, &header, &names) && hash_code(&source, offset, size, &hash)) {
		step(&hash, names & ~UINT64_C(0xffff));
		hash = hash ? hash : 1;
	} else {
		hash = 0;
	}
	tp_source_close(&source);
	return hash;
}
