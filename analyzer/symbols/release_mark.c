// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looking for marks of profiling: the bytes of notes anywhere in a file, then symbols by libelf.
#define _GNU_SOURCE
#include "release_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <teeperf/abi.h>

enum { BLOCK = 1 << 20, PATTERN = offsetof(struct teeperf_note, abi) };

static uint32_t word_at(const unsigned char *bytes, bool big)
{
	uint32_t word = 0;
	for (int i = 0; i < 4; i++)
		word |= (uint32_t)bytes[big ? 3 - i : i] << 8 * i;
	return word;
}

// Counts the notes that begin in the first `fresh` of `size` bytes, which are at `offset` in the
// file.
static void scan(struct tp_release_mark *mark, const unsigned char *bytes, size_t size,
    size_t fresh, uint64_t offset)
{
	static const char name[] = TEEPERF_NOTE_NAME;
	const size_t before = offsetof(struct teeperf_note, name);
	for (size_t at = 0; at < size;) {
		const unsigned char *found = memmem(bytes + at, size - at, name, sizeof(name));
		if (!found)
			return;
		const size_t place = (size_t)(found - bytes);
		at = place + 1;
		if (place < before || place - before >= fresh ||
		    size - place < sizeof(struct teeperf_note) - before)
			continue;
		const unsigned char *note = found - before;
		for (int big = 0; big < 2; big++) {
			if (word_at(note, big) != sizeof(name) ||
			    word_at(note + 4, big) != sizeof(uint32_t) ||
			    word_at(note + 8, big) != TEEPERF_NOTE_TYPE)
				continue;
			if (!mark->notes++) {
				mark->first = offset + place - before;
				mark->abi = word_at(note + PATTERN, big);
			}
		}
	}
}

static int scan_file(struct tp_release_mark *mark, int fd, unsigned char *block, const char *path,
    struct tp_err *err)
{
	enum { OVERLAP = sizeof(struct teeperf_note) - 1 };
	size_t kept = 0;
	for (;;) {
		const ssize_t got = pread(fd, block + kept, BLOCK, (off_t)mark->size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tp_err_system(err, errno, path, "cannot read it");
		const size_t size = kept + (size_t)got;
		const size_t fresh = got && size > OVERLAP ? size - OVERLAP : got ? 0 : size;
		scan(mark, block, size, fresh, mark->size - kept);
		mark->size += (uint64_t)got;
		if (!got)
			return 0;
		kept = size - fresh;
		memmove(block, block + fresh, kept);
	}
}

static bool has_symbol(struct tp_release_mark *mark, Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	if (!gelf_getshdr(section, &header) ||
	    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) || !header.sh_entsize)
		return false;
	Elf_Data *data = elf_getdata(section, NULL);
	const size_t count = data ? data->d_size / header.sh_entsize : 0;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(data, (int)i, &symbol))
			return false;
		const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (!name ||
		    strncmp(name, TEEPERF_SYMBOL_PREFIX, strlen(TEEPERF_SYMBOL_PREFIX)) != 0)
			continue;
		snprintf(mark->symbol, sizeof(mark->symbol), "%s", name);
		return true;
	}
	return false;
}

static uint64_t inventory_bytes(Elf *elf, Elf_Scn *section)
{
	size_t names;
	GElf_Shdr header;
	if (elf_getshdrstrndx(elf, &names) || !gelf_getshdr(section, &header))
		return 0;
	const char *name = elf_strptr(elf, names, header.sh_name);
	return name && !strcmp(name, ".teeperf.inventory") ? header.sh_size : 0;
}

static void look_at_symbols(struct tp_release_mark *mark, Elf *elf)
{
	mark->elf = true;
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		mark->inventory += inventory_bytes(elf, section);
		if (!mark->symbol[0])
			has_symbol(mark, elf, section);
	}
}

// What libelf cannot make sense of has no symbols: whatever it is, its bytes were scanned.
static void look_at_elf(struct tp_release_mark *mark, int fd)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return;
	Elf *outer = elf_begin(fd, ELF_C_READ, NULL);
	if (!outer)
		return;
	if (elf_kind(outer) == ELF_K_ELF)
		look_at_symbols(mark, outer);
	for (Elf *member;
	     elf_kind(outer) == ELF_K_AR && (member = elf_begin(fd, ELF_C_READ, outer));) {
		if (elf_kind(member) == ELF_K_ELF)
			look_at_symbols(mark, member);
		const Elf_Cmd next = elf_next(member);
		elf_end(member);
		if (next == ELF_C_NULL)
			break;
	}
	elf_end(outer);
}

int tp_release_mark_read(struct tp_release_mark *mark, const char *path, struct tp_err *err)
{
	*mark = (struct tp_release_mark){0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tp_err_system(err, errno, path, "cannot open it");
	struct stat info;
	int result = 0;
	unsigned char *block = malloc(BLOCK + sizeof(struct teeperf_note));
	if (!block)
		result = tp_err_memory(err, NULL);
	else if (fstat(fd, &info))
		result = tp_err_system(err, errno, path, "cannot examine it");
	else if (!S_ISREG(info.st_mode))
		result = tp_err_set(err, TP_ERR_FORMAT, path, "is not a regular file");
	else
		result = scan_file(mark, fd, block, path, err);
	if (!result)
		look_at_elf(mark, fd);
	free(block);
	close(fd);
	return result;
}
