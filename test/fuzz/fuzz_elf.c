// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as the ELF file of a module: its symbols, and the source lines of its functions.
// Mutations mostly stay within a section, or hardly an input would get past the headers.
//
// libdwarf crashes on some inputs. It has a process of its own for this reason, so a crash is not a
// failure here; inputs that it survives are read again without one, so that the code which they
// reach tells them apart.
// Runs: 1 of 40.
#define _GNU_SOURCE
#include "analyzer/symbols/elf/file.h"
#include "analyzer/symbols/lines.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 64 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
// The code of whatever the headers say is code: twice the same, and none where the file is too
// short for it.
static void check_code(const char *path, const uint8_t *data, size_t size)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	if (size < sizeof(header))
		return;
	memcpy(&header, data, sizeof(header));
	for (uint64_t i = 0; i < 4 && i < header.e_phnum; i++) {
		if (header.e_phoff > size || size - header.e_phoff < (i + 1) * sizeof(segment))
			return;
		memcpy(&segment, data + header.e_phoff + i * sizeof(segment), sizeof(segment));
		const uint64_t length = segment.p_filesz & ~UINT64_C(7);
		const uint64_t hash = tp_elf_code_hash(path, segment.p_vaddr, length);
		if (hash != tp_elf_code_hash(path, segment.p_vaddr, length) ||
		    (hash && length > size))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static uint64_t tried;
static uint64_t crashed;

static void report(void)
{
	fprintf(stderr, "libdwarf crashed on %lu of %lu inputs\n", (unsigned long)crashed,
	    (unsigned long)tried);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	atexit(report);
	return 0;
}

// The section that SEED chooses; false if it has no bytes in the file.
static bool choose_section(
    const uint8_t *data, size_t size, unsigned seed, size_t *offset, size_t *length)
{
	Elf64_Ehdr header;
	Elf64_Shdr section;
	if (size < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	if (!header.e_shnum || header.e_shoff > size ||
	    (size - header.e_shoff) / sizeof(section) < header.e_shnum)
		return false;
	const size_t index = seed % header.e_shnum;
	memcpy(&section, data + header.e_shoff + index * sizeof(section), sizeof(section));
	if (section.sh_type == SHT_NOBITS || !section.sh_size || section.sh_offset >= size ||
	    section.sh_size > size - section.sh_offset)
		return false;
	*offset = section.sh_offset;
	*length = section.sh_size;
	return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	size_t offset;
	size_t length;
	if (seed % 8 == 0 || !choose_section(data, size, seed / 8, &offset, &length))
		return LLVMFuzzerMutate(data, size, max_size);
	// Offsets in other sections stay what they are: what the mutation makes shorter is filled
	// up.
	const size_t now = LLVMFuzzerMutate(data + offset, length, length);
	memset(data + offset + now, 0, length - now);
	return size;
}

static void check_symbols(const struct tp_elf_file *elf)
{
	for (uint32_t i = 0; i < elf->symbol_count; i++) {
		const struct tp_elf_symbol *symbol = &elf->symbols[i];
		if (i && symbol[-1].address >= symbol->address)
			abort();
		const struct tp_elf_symbol *found = tp_elf_file_find(elf, symbol->address);
		if (found != symbol || strlen(found->name) > 65536)
			abort();
	}
	if (elf->build_id_size > sizeof(elf->build_id))
		abort();
}

static void check_lines(const char *path, const struct tp_elf_file *elf)
{
	struct tp_source_place places[PLACES] = {0};
	const struct tp_source_place none[PLACES] = {0};
	struct tp_arena arena;
	struct tp_err err = {0};
	uint32_t count = 0;
	for (; count < PLACES && count < elf->symbol_count; count++)
		places[count].address = elf->symbols[count].address;
	if (!count)
		places[count++].address = 0;
	tp_arena_init(&arena);
	struct tp_dwarf_request request = {.path = path};
	struct tp_symbol_lines lines;
	int64_t found = tp_symbol_lines_start(&lines, &request, places, count, &err);
	if (!found)
		found = tp_symbol_lines_finish(&lines, &arena, NULL, &err);
	int64_t there = 0;
	for (uint32_t i = 0; i < count; i++)
		there += places[i].file && strlen(places[i].file) < 65536;
	if (found < 0 ? there || err.code != found || !err.what[0] : there != found)
		abort();
	tried++;
	if (found < 0) {
		crashed += strstr(err.what, "libdwarf crashed") != NULL;
	} else {
		memcpy(places, none, sizeof(places));
		for (uint32_t i = 0; i < count && i < elf->symbol_count; i++)
			places[i].address = elf->symbols[i].address;
		request.slowly = tried % 2;
		tp_symbol_dwarf_find(&request, places, count, &arena, NULL, &err);
	}
	tp_arena_release(&arena);
}

// Whatever is unpacked fits the room that a file of this size has; sizes that headers tell are only
// believed if they are right.
static void check_sections(const char *path)
{
	struct tp_elf_sections sections;
	struct tp_err err = {0};
	const int code = tp_elf_sections_open(&sections, path, &err);
	if (code && (err.code != code || !err.what[0]))
		abort();
	const uint64_t room = sections.room;
	uint64_t unpacked = 0;
	volatile uint8_t sum = 0;
	for (uint32_t i = 0; !code && i < sections.count; i++) {
		const struct tp_elf_section *section = &sections.sections[i];
		const uint8_t *data = tp_elf_sections_data(&sections, i, &err);
		if (!data)
			continue;
		if (section->packing != TP_ELF_PLAIN)
			unpacked += section->size;
		if (section->size)
			sum = (uint8_t)(sum + data[0] + data[section->size - 1]);
		if (tp_elf_sections_data(&sections, i, &err) != data ||
		    tp_elf_sections_find(&sections, section->name) != (int)i)
			abort();
	}
	if (unpacked > room || unpacked + sections.room != room)
		abort();
	tp_elf_sections_close(&sections);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_elf_file elf;
	struct tp_err err = {0};
	char path[64];
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_sections(path);
	check_code(path, data, size);
	const int code = tp_elf_file_read(&elf, path, &err);
	if (code && (err.code != code || !err.what[0]))
		abort();
	if (!code) {
		check_symbols(&elf);
		check_lines(path, &elf);
	}
	tp_elf_file_release(&elf);
	close(fd);
	return 0;
}
