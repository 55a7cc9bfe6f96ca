// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks over the note segments of a file, or of its image in memory.
#define _GNU_SOURCE
#include "own_notes.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <teeperf/abi.h>

enum { SEGMENTS_MAX = 64, NOTES_MAX = 1 << 16 };

struct reading {
	int file;
	tp_own_note *see;
	void *context;
};

static bool read_at(int file, uint64_t at, void *to, size_t size)
{
	return at <= INT64_MAX && pread(file, to, size, (off_t)at) == (ssize_t)size;
}

static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

// Notes at AT, of SIZE bytes, of which a copy is at BYTES. Each size is checked.
static void look_at_notes(
    const struct reading *reading, uint64_t at, const unsigned char *bytes, size_t size)
{
	for (size_t place = 0; size - place >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr note;
		memcpy(&note, bytes + place, sizeof(note));
		place += sizeof(note);
		const size_t name = padded(note.n_namesz);
		const size_t content = padded(note.n_descsz);
		if (name > size - place || content > size - place - name)
			return;
		if (note.n_namesz == sizeof(TEEPERF_NOTE_NAME) &&
		    !memcmp(bytes + place, TEEPERF_NOTE_NAME, sizeof(TEEPERF_NOTE_NAME)))
			reading->see(reading->context, note.n_type, at + place + name,
			    bytes + place + name, content);
		place += name + content;
	}
}

void tp_own_notes_read(int file, uint64_t start, bool loaded, tp_own_note *see, void *context)
{
	const struct reading reading = {file, see, context};
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MAX];
	if (!read_at(file, start, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(segments[0]) || header.e_phnum > SEGMENTS_MAX ||
	    !read_at(file, start + header.e_phoff, segments, header.e_phnum * sizeof(segments[0])))
		return;
	uint64_t low = UINT64_MAX;
	for (unsigned i = 0; i < header.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr < low)
			low = segments[i].p_vaddr & ~UINT64_C(4095);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		const uint64_t at =
		    start + (loaded ? segments[i].p_vaddr - low : segments[i].p_offset);
		const uint64_t size = loaded ? segments[i].p_memsz : segments[i].p_filesz;
		if (segments[i].p_type != PT_NOTE || size > NOTES_MAX)
			continue;
		unsigned char *notes = malloc(size);
		if (notes && read_at(file, at, notes, size))
			look_at_notes(&reading, at, notes, size);
		free(notes);
	}
}

static void see(
    void *context, uint32_t type, uint64_t at, const unsigned char *content, size_t size)
{
	(void)type;
	(void)at;
	(void)content;
	(void)size;
	*(bool *)context = true;
}

bool tp_own_notes_are_in(const char *path)
{
	bool found = false;
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		return false;
	tp_own_notes_read(file, 0, false, see, &found);
	close(file);
	return found;
}
