// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The debug sections of an ELF file. libdwarf could read them itself, but Debian's refuses what
// zlib packed to less than a sixteenth, and does not know zstd.
#include "file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

// What may be unpacked of a file in all: zlib makes debug information three times smaller, zstd
// four times, single sections a hundred times. More is a bomb.
#define UNPACKED_BASE (UINT64_C(64) << 20)
#define UNPACKED_FACTOR 16

#define COMPRESS_ZSTD 2 // ELFCOMPRESS_ZSTD, since glibc 2.37

static int map_file(struct tp_elf_sections *sections, const char *path, struct tp_err *err)
{
	struct stat info;
	// Names of split files are from the file: opening a pipe would wait, opening a device may
	// do things.
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		return tp_err_set(err, TP_ERR_FORMAT, path, "not an ELF file");
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return tp_err_system(err, errno, path, "cannot open it");
	if (fstat(fd, &info)) {
		const int error = errno;
		close(fd);
		return tp_err_system(err, error, path, "cannot read its size");
	}
	if (!S_ISREG(info.st_mode) || info.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		close(fd);
		return tp_err_set_at(err, TP_ERR_FORMAT, path, 0, "not an ELF file");
	}
	void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	const int error = errno;
	close(fd);
	if (map == MAP_FAILED)
		return tp_err_system(err, error, path, "cannot map it");
	sections->map = map;
	sections->map_size = (size_t)info.st_size;
	return 0;
}

// SIZE bytes at OFFSET of the file, or NULL.
static const uint8_t *part(const struct tp_elf_sections *sections, uint64_t offset, uint64_t size)
{
	if (offset > sections->map_size || size > sections->map_size - offset)
		return NULL;
	return sections->map + offset;
}

static bool read_header(const struct tp_elf_sections *sections, uint64_t offset, Elf64_Shdr *header)
{
	const uint8_t *data = part(sections, offset, sizeof(*header));
	if (data)
		memcpy(header, data, sizeof(*header));
	return data;
}

// Find how the section is compressed, and its contents behind the compression header.
static void look_inside(struct tp_elf_section *section, const Elf64_Shdr *header)
{
	Elf64_Chdr compression;
	const uint8_t *data = section->packed;
	section->size = section->packed_size;
	if (header->sh_flags & SHF_COMPRESSED) {
		section->packing = TP_ELF_UNKNOWN;
		if (section->packed_size < sizeof(compression))
			return;
		memcpy(&compression, data, sizeof(compression));
		section->size = compression.ch_size;
		section->packed += sizeof(compression);
		section->packed_size -= sizeof(compression);
		if (compression.ch_type == ELFCOMPRESS_ZLIB)
			section->packing = TP_ELF_ZLIB;
		else if (compression.ch_type == COMPRESS_ZSTD)
			section->packing = TP_ELF_ZSTD;
	} else if (strncmp(section->name, ".zdebug_", 8) == 0) {
		memmove(section->name + 1, section->name + 2, strlen(section->name + 1));
		section->packing = TP_ELF_UNKNOWN;
		if (section->packed_size < 12 || memcmp(data, "ZLIB", 4) != 0)
			return;
		section->size = 0;
		for (int i = 4; i < 12; i++)
			section->size = section->size << 8 | data[i];
		section->packed += 12;
		section->packed_size -= 12;
		section->packing = TP_ELF_ZLIB;
	}
}

static void add_section(struct tp_elf_sections *sections, const Elf64_Shdr *header,
    const char *names, uint64_t names_size)
{
	if (sections->count == TP_ELF_SECTIONS_MAX || header->sh_type == SHT_NOBITS ||
	    header->sh_name >= names_size)
		return;
	const char *name = names + header->sh_name;
	const size_t length = strnlen(name, names_size - header->sh_name);
	struct tp_elf_section *section = &sections->sections[sections->count];
	if (length >= sizeof(section->name) || length == names_size - header->sh_name ||
	    (strncmp(name, ".debug_", 7) != 0 && strncmp(name, ".zdebug_", 8) != 0))
		return;
	memset(section, 0, sizeof(*section));
	memcpy(section->name, name, length);
	section->packed = part(sections, header->sh_offset, header->sh_size);
	section->packed_size = header->sh_size;
	if (!section->packed)
		return;
	look_inside(section, header);
	if (tp_elf_sections_find(sections, section->name) < 0)
		sections->count++;
}

int tp_elf_sections_open(struct tp_elf_sections *sections, const char *path, struct tp_err *err)
{
	memset(sections, 0, sizeof(*sections));
	sections->path = path;
	const int code = map_file(sections, path, err);
	if (code)
		return code;
	sections->room = UNPACKED_BASE + (uint64_t)sections->map_size * UNPACKED_FACTOR;
	Elf64_Ehdr header;
	Elf64_Shdr first = {0};
	memcpy(&header, sections->map, sizeof(header));
	if (!tp_elf_is_known(header.e_ident))
		return tp_err_set_at(
		    err, TP_ERR_FORMAT, path, 0, "not a 64-bit little-endian ELF file");
	if (!header.e_shoff)
		return 0;
	if (header.e_shentsize != sizeof(first) || !read_header(sections, header.e_shoff, &first))
		return tp_err_set_at(
		    err, TP_ERR_FORMAT, path, header.e_shoff, "its section headers are damaged");
	const uint64_t count = header.e_shnum ? header.e_shnum : first.sh_size;
	const uint64_t names_index =
	    header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
	Elf64_Shdr names;
	if (count > sections->map_size / sizeof(first) || names_index >= count ||
	    !read_header(sections, header.e_shoff + names_index * sizeof(names), &names))
		return tp_err_set_at(
		    err, TP_ERR_FORMAT, path, header.e_shoff, "its section headers are damaged");
	const char *text = (const char *)part(sections, names.sh_offset, names.sh_size);
	for (uint64_t i = 1; text && i < count; i++) {
		Elf64_Shdr section;
		if (read_header(sections, header.e_shoff + i * sizeof(section), &section))
			add_section(sections, &section, text, names.sh_size);
	}
	return 0;
}

void tp_elf_sections_close(struct tp_elf_sections *sections)
{
	for (uint32_t i = 0; i < sections->count; i++)
		free(sections->sections[i].unpacked);
	if (sections->map)
		munmap((void *)sections->map, sections->map_size);
	memset(sections, 0, sizeof(*sections));
}

// Fill TO with exactly what the section holds.
static bool unpack_zlib(const struct tp_elf_section *section, uint8_t *to)
{
	z_stream stream = {0};
	uint64_t in = section->packed_size;
	uint64_t out = section->size;
	if (inflateInit(&stream) != Z_OK)
		return false;
	stream.next_in = (Bytef *)section->packed;
	stream.next_out = to;
	int status = Z_OK;
	// zlib counts in 32 bits.
	while (status == Z_OK) {
		const uInt in_now = in < UINT32_MAX ? (uInt)in : UINT32_MAX;
		const uInt out_now = out < UINT32_MAX ? (uInt)out : UINT32_MAX;
		stream.avail_in = in_now;
		stream.avail_out = out_now;
		status = inflate(&stream, Z_NO_FLUSH);
		in -= in_now - stream.avail_in;
		out -= out_now - stream.avail_out;
	}
	inflateEnd(&stream);
	return status == Z_STREAM_END && out == 0;
}

static bool unpack(const struct tp_elf_section *section, uint8_t *to)
{
	if (section->packing == TP_ELF_ZLIB)
		return unpack_zlib(section, to);
	return section->packing == TP_ELF_ZSTD &&
	       ZSTD_decompress(to, section->size, section->packed, section->packed_size) ==
		   section->size;
}

const uint8_t *tp_elf_sections_data(
    struct tp_elf_sections *sections, uint32_t index, struct tp_err *err)
{
	struct tp_elf_section *section = &sections->sections[index];
	const uint64_t offset = (uint64_t)(section->packed - sections->map);
	if (section->packing == TP_ELF_PLAIN)
		return section->packed;
	if (section->unpacked)
		return section->unpacked;
	if (!section->failed && section->size > sections->room) {
		section->failed = true;
		tp_err_set_at(err, TP_ERR_LIMIT, sections->path, offset,
		    "its section %s is %" PRIu64
		    " bytes when unpacked, too large for a file of %zu bytes",
		    section->name, section->size, sections->map_size);
		return NULL;
	}
	uint8_t *data = section->failed ? NULL : malloc(section->size ? section->size : 1);
	if (data && unpack(section, data)) {
		sections->room -= section->size;
		section->unpacked = data;
		return data;
	}
	free(data);
	section->failed = true;
	tp_err_set_at(err, TP_ERR_FORMAT, sections->path, offset,
	    "its section %s cannot be unpacked: it is damaged, or packed in an unknown way",
	    section->name);
	return NULL;
}

int tp_elf_sections_find(const struct tp_elf_sections *sections, const char *name)
{
	for (uint32_t i = 0; i < sections->count; i++)
		if (strcmp(sections->sections[i].name, name) == 0)
			return (int)i;
	return -1;
}
