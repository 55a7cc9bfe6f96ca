// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notes that the plugin should have taken out, and functions at odd addresses, by libelf.
#define _GNU_SOURCE
#include "build_faults.h"
#include "common/units.h"

#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <teeperf/abi.h>

static uint64_t count_bitcode(Elf_Data *data)
{
	static const char name[] = TEEPERF_NOTE_NAME;
	uint64_t count = 0;
	size_t name_at;
	size_t content_at;
	GElf_Nhdr note;
	for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name_at, &content_at));)
		count += note.n_type == TEEPERF_NOTE_TYPE_BITCODE &&
			 note.n_namesz == sizeof(name) &&
			 !memcmp((const char *)data->d_buf + name_at, name, sizeof(name));
	return count;
}

// Whether one of the teeperf_functions in the section has this hash of a name.
static bool has_hash(const Elf_Data *functions, uint64_t hash)
{
	const unsigned char *bytes = functions->d_buf;
	for (size_t at = 0; functions->d_size - at >= sizeof(struct teeperf_functions);) {
		struct teeperf_functions head;
		memcpy(&head, bytes + at, sizeof(head));
		const uint64_t gates = ((uint64_t)head.count + 7) / 8 * 8;
		const uint64_t least =
		    sizeof(head) + gates + (uint64_t)head.count * sizeof(uint64_t);
		if (head.size < least || head.size > functions->d_size - at)
			return false;
		for (uint32_t i = 0; i < head.count; i++)
			if (!memcmp(bytes + at + sizeof(head) + gates + i * sizeof(hash), &hash,
				sizeof(hash)))
				return true;
		at += head.size;
	}
	return false;
}

// Few functions of a program are there, so names are looked up one by one.
static uint64_t count_odd(
    Elf *elf, const GElf_Shdr *header, Elf_Data *symbols, const Elf_Data *functions)
{
	uint64_t count = 0;
	const size_t all = symbols && header->sh_entsize ? symbols->d_size / header->sh_entsize : 0;
	for (size_t i = 0; i < all && i < INT32_MAX; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(symbols, (int)i, &symbol))
			break;
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_shndx ||
		    symbol.st_value % 4 == 0)
			continue;
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
		count += name && has_hash(functions, teeperf_name_hash(name, strlen(name)));
	}
	return count;
}

static void look(struct tp_build_faults *faults, Elf *elf)
{
	size_t names;
	GElf_Ehdr file;
	GElf_Shdr header;
	GElf_Shdr symbols = {0};
	Elf_Scn *table = NULL;
	Elf_Data *functions = NULL;
	if (!gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &names))
		return;
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		if (!gelf_getshdr(section, &header))
			return;
		const char *name = elf_strptr(elf, names, header.sh_name);
		if (header.sh_type == SHT_NOTE)
			faults->bitcode += count_bitcode(elf_getdata(section, NULL));
		else if (header.sh_type == SHT_SYMTAB || (header.sh_type == SHT_DYNSYM && !table)) {
			table = section;
			symbols = header;
		} else if (name && header.sh_type != SHT_NOBITS &&
			   !strcmp(name, TEEPERF_FUNCTIONS_SECTION))
			functions = elf_getdata(section, NULL);
	}
	// Object files of -r get their addresses later.
	if (table && functions && functions->d_buf && file.e_type != ET_REL)
		faults->odd = count_odd(elf, &symbols, elf_getdata(table, NULL), functions);
}

void tp_build_faults_read(struct tp_build_faults *faults, const char *path)
{
	struct stat info;
	*faults = (struct tp_build_faults){0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	Elf *elf = NULL;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		look(faults, elf);
	elf_end(elf);
	close(fd);
}

char *tp_build_faults_text(const struct tp_build_faults *faults, int i)
{
	char *text = NULL;
	int size = 0;
	if (i == TP_BUILD_FAULT_BITCODE && faults->bitcode)
		size = asprintf(&text,
		    "nothing of %" PRIu64 " object file%s is recorded, whose bitcode a linker "
		    "compiled without TeePerf's plugin: link with 'teeperf cc -flto', or with "
		    "-fuse-ld=lld",
		    faults->bitcode, tp_plural(faults->bitcode));
	else if (i == TP_BUILD_FAULT_ODD && faults->odd)
		size = asprintf(&text,
		    "records of %" PRIu64 " function%s are wrong, whose address is no multiple of "
		    "4: link without SUBALIGN in the linker script, and leave the alignment of "
		    "sections as it is",
		    faults->odd, tp_plural(faults->odd));
	return size < 0 ? NULL : text;
}
