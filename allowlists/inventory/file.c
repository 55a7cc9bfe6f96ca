// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the inventories in ELF files, archives, text files and folders. Files are read with pread,
// never mapped: a compiler may be writing them.
#define _GNU_SOURCE

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/read_all.h"
#include "common/zipped_text.h"
#include "build.h"

enum { FOLDER_DEPTH = 64, ARCHIVE_HEADER = 60 };

// A file, a member of an archive, or memory.
struct region {
	const char *name; // of the file
	int fd;           // -1: memory
	const uint8_t *data;
	uint64_t start;
	uint64_t size;
};

struct finder {
	struct tp_inventory_builder *builder;
	struct tp_err *err;
	bool bitcode; // for link-time optimisation was found
};

static int damaged(struct finder *finder, const struct region *region, const char *what)
{
	return tp_err_set_at(finder->err, TP_ERR_FORMAT, region->name, region->start, "%s", what);
}

static int no_memory(struct finder *finder, const struct region *region)
{
	return tp_err_memory(finder->err, region->name);
}

static bool is_inside(const struct region *region, uint64_t offset, uint64_t size)
{
	return offset <= region->size && size <= region->size - offset;
}

// False if the region has not as many bytes (any more).
static bool read_at(const struct region *region, uint64_t offset, void *to, uint64_t size)
{
	if (!is_inside(region, offset, size))
		return false;
	if (region->fd < 0) {
		if (size)
			memcpy(to, region->data + region->start + offset, size);
		return true;
	}
	return tp_read_at(region->fd, to, size, region->start + offset) == (int64_t)size;
}

// SIZE bytes from OFFSET on and a NUL, to be freed. NULL, and *code, if the file is too short; WHAT
// then names the missing part.
static char *read_part(struct finder *finder, const struct region *region, uint64_t offset,
    uint64_t size, const char *what, int *code)
{
	char *part = is_inside(region, offset, size) ? malloc(size + 1) : NULL;
	if (part && read_at(region, offset, part, size)) {
		part[size] = '\0';
		return part;
	}
	*code = part || !is_inside(region, offset, size) ? damaged(finder, region, what)
							 : no_memory(finder, region);
	free(part);
	return NULL;
}

// The packed inventory at *AT in SECTION of SIZE bytes; moves *AT behind it. *ALL is what has been
// unpacked.
static int add_packed(struct finder *finder, const struct region *region, const char *section,
    uint64_t size, uint64_t *at, uint64_t *all, const char *module)
{
	struct tp_arena *arena = &finder->builder->inventory->arena;
	size_t packed;
	size_t unpacked;
	if (!tp_zipped_size(section + *at, size - *at, &packed, &unpacked))
		return damaged(finder, region, "the packed inventory is damaged or too large");
	*all += unpacked;
	if (*all > TP_ZIPPED_BYTES_MAX)
		return damaged(finder, region, "its inventories unpack to more than 1 GiB");
	char *text = tp_arena_alloc(arena, unpacked + 1);
	if (!text)
		return no_memory(finder, region);
	text[unpacked] = '\0';
	if (!tp_zipped_unpack(section + *at, packed, text, unpacked))
		return damaged(finder, region, "the packed inventory is damaged");
	*at += packed;
	return tp_inventory_parse(
	    finder->builder, text, unpacked, region->name, module, finder->err);
}

static int add_text(struct finder *finder, const struct region *region, uint64_t offset,
    uint64_t size, const char *module)
{
	struct tp_arena *arena = &finder->builder->inventory->arena;
	char *text = is_inside(region, offset, size) ? tp_arena_alloc(arena, size + 1) : NULL;
	const char *kept = tp_arena_copy(arena, module, strlen(module));
	if (!is_inside(region, offset, size))
		return damaged(finder, region, "the inventory extends past the file's end");
	if (!text || !kept)
		return no_memory(finder, region);
	if (!read_at(region, offset, text, size))
		return damaged(finder, region, "the inventory cannot be read");
	// Of each object file one inventory, packed or, from older plugins, as it is.
	uint64_t all = 0;
	for (uint64_t at = 0; at < size;) {
		if (!text[at]) {
			at++; // a linker may fill up between inventories
			continue;
		}
		if (tp_zipped_begins(text + at, size - at)) {
			const int code = add_packed(finder, region, text, size, &at, &all, kept);
			if (code)
				return code;
			continue;
		}
		uint64_t end = at + 1;
		while (end < size && !((text[end - 1] == '\n' || !text[end - 1]) &&
					 tp_zipped_begins(text + end, size - end)))
			end++;
		// The parser wants a NUL behind the text.
		char *plain = text + at;
		if (end < size)
			plain = tp_arena_copy(arena, text + at, end - at);
		if (!plain)
			return no_memory(finder, region);
		const int code = tp_inventory_parse(
		    finder->builder, plain, end - at, region->name, kept, finder->err);
		if (code)
			return code;
		at = end;
	}
	return 0;
}

// What both classes of ELF files say about a section.
struct section {
	uint64_t offset, size, flags;
	uint32_t name, type, link;
};

static struct section section_of(const uint8_t *raw, bool is_64)
{
	if (is_64) {
		Elf64_Shdr header;
		memcpy(&header, raw, sizeof(header));
		return (struct section){header.sh_offset, header.sh_size, header.sh_flags,
		    header.sh_name, header.sh_type, header.sh_link};
	}
	Elf32_Shdr header;
	memcpy(&header, raw, sizeof(header));
	return (struct section){header.sh_offset, header.sh_size, header.sh_flags, header.sh_name,
	    header.sh_type, header.sh_link};
}

// Where the table of section headers is.
struct elf {
	bool is_64;
	uint16_t type;
	uint64_t offset, count, names;
	size_t entry;
};

static bool read_elf(const struct region *region, struct elf *elf)
{
	union {
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
		unsigned char ident[EI_NIDENT];
	} header;
	if (!read_at(region, 0, &header.e32, sizeof(header.e32)))
		return false;
	elf->is_64 = header.ident[EI_CLASS] == ELFCLASS64;
	if (header.ident[EI_DATA] != ELFDATA2LSB ||
	    (elf->is_64 && !read_at(region, 0, &header.e64, sizeof(header.e64))))
		return false;
	elf->entry = elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	elf->type = elf->is_64 ? header.e64.e_type : header.e32.e_type;
	elf->offset = elf->is_64 ? header.e64.e_shoff : header.e32.e_shoff;
	elf->count = elf->is_64 ? header.e64.e_shnum : header.e32.e_shnum;
	elf->names = elf->is_64 ? header.e64.e_shstrndx : header.e32.e_shstrndx;
	const uint16_t entry = elf->is_64 ? header.e64.e_shentsize : header.e32.e_shentsize;
	if (!elf->offset || entry != elf->entry)
		return false;
	// More sections than fit 16 bits: the first header, which is no section's, has the numbers.
	uint8_t raw[sizeof(Elf64_Shdr)];
	if (!read_at(region, elf->offset, raw, elf->entry))
		return false;
	const struct section first = section_of(raw, elf->is_64);
	if (!elf->count)
		elf->count = first.size;
	if (elf->names == SHN_XINDEX)
		elf->names = first.link;
	return elf->count <= region->size / elf->entry && elf->names < elf->count;
}

static int add_sections(struct finder *finder, const struct region *region, const struct elf *elf,
    const char *headers, const char *names, uint64_t names_size, const char *module)
{
	int code = 0;
	uint64_t text_left = region->size; // sections do not overlap
	for (uint64_t i = 1; !code && i < elf->count; i++) {
		const struct section section =
		    section_of((const uint8_t *)headers + i * elf->entry, elf->is_64);
		if (section.name >= names_size || section.type == SHT_NOBITS ||
		    strcmp(names + section.name, TP_INVENTORY_SECTION) != 0)
			continue;
		if (section.flags & SHF_COMPRESSED)
			code = damaged(finder, region,
			    "section " TP_INVENTORY_SECTION " is compressed: decompress it "
			    "with objcopy --decompress-debug-sections");
		else if (section.size > text_left)
			code = damaged(finder, region, "its inventories are larger than the file");
		else
			code = add_text(finder, region, section.offset, section.size,
			    elf->type == ET_REL ? module : basename(region->name));
		text_left -= section.size <= text_left ? section.size : 0;
	}
	return code;
}

static int add_elf(struct finder *finder, const struct region *region, const char *module)
{
	struct elf elf;
	if (!read_elf(region, &elf))
		return 0; // of another kind, or without sections
	int code = 0;
	struct section table = {0};
	char *names = NULL;
	char *headers = read_part(finder, region, elf.offset, elf.count * elf.entry,
	    "section headers extend past the file's end", &code);
	if (headers) {
		table = section_of((const uint8_t *)headers + elf.names * elf.entry, elf.is_64);
		names = read_part(finder, region, table.offset, table.size,
		    "section names extend past the file's end", &code);
	}
	if (names)
		code = add_sections(finder, region, &elf, headers, names, table.size, module);
	free(names);
	free(headers);
	return code;
}

static int add_region(struct finder *finder, const struct region *region, const char *module);
static int add_file(struct finder *finder, const char *path, const char *module);

// The member of a thin archive is a file beside the archive.
static int add_thin_member(
    struct finder *finder, const struct region *archive, const char *name, const char *module)
{
	const char *base = basename(archive->name);
	char *path = NULL;
	if (asprintf(&path, "%.*s%s", *name == '/' ? 0 : (int)(base - archive->name), archive->name,
		name) < 0)
		return no_memory(finder, archive);
	const int code = add_file(finder, path, module);
	free(path);
	return code;
}

// The name of a member: NAME/, or /OFFSET into the archive's table of long names.
static void member_name(
    const char *field, const char *names, size_t names_size, char *name, size_t size)
{
	const char *from = field;
	size_t room = 16;
	if (field[0] == '/' && field[1] >= '0' && field[1] <= '9') {
		const size_t offset = strtoul(field + 1, NULL, 10);
		from = offset < names_size ? names + offset : "";
		room = offset < names_size ? names_size - offset : 0;
	}
	size_t length = 0;
	while (length < room && length + 1 < size && from[length] && from[length] != '\n')
		length++;
	while (length && (from[length - 1] == '/' || from[length - 1] == ' '))
		length--;
	memcpy(name, from, length);
	name[length] = '\0';
}

static int add_archive(struct finder *finder, const struct region *archive, bool thin)
{
	const char *module = basename(archive->name);
	char *names = NULL;
	size_t names_size = 0;
	int code = 0;
	uint64_t at = 8;
	while (!code && at < archive->size) {
		char header[ARCHIVE_HEADER + 1] = "";
		if (!read_at(archive, at, header, ARCHIVE_HEADER) ||
		    memcmp(header + 58, "`\n", 2) != 0) {
			code = damaged(finder, archive,
			    "the archive is damaged: no header where a member should begin");
			break;
		}
		at += ARCHIVE_HEADER;
		header[58] = '\0';
		const uint64_t size = strtoull(header + 48, NULL, 10);
		const bool is_table = !memcmp(header, "// ", 3);
		const bool is_special =
		    is_table || !memcmp(header, "/ ", 2) || !memcmp(header, "/SYM64/ ", 8);
		if ((!thin || is_special) && !is_inside(archive, at, size)) {
			code = damaged(finder, archive, "the archive ends within a member");
		} else if (is_table && !names) {
			names = read_part(
			    finder, archive, at, size, "the archive cannot be read", &code);
			names_size = names ? size : 0;
		} else if (!is_special && thin) {
			char name[4096];
			member_name(header, names, names_size, name, sizeof(name));
			code = add_thin_member(finder, archive, name, module);
		} else if (!is_special) {
			const struct region member = {.name = archive->name,
			    .fd = archive->fd,
			    .data = archive->data,
			    .start = archive->start + at,
			    .size = size};
			code = add_region(finder, &member, module);
		}
		if (!thin || is_special)
			at += size + (size & 1);
	}
	free(names);
	return code;
}

// `module` is what object files end up in: "" if that is not known, else the archive.
static int add_region(struct finder *finder, const struct region *region, const char *module)
{
	static const char text[] = "teeperf-inventory\t";
	char magic[sizeof(text)] = "";
	read_at(
	    region, 0, magic, region->size < sizeof(text) - 1 ? region->size : sizeof(text) - 1);
	if (!memcmp(magic, ELFMAG, SELFMAG))
		return add_elf(finder, region, module);
	if (!memcmp(magic, text, sizeof(text) - 1) || tp_zipped_begins(magic, sizeof(magic)))
		return add_text(finder, region, 0, region->size, module);
	if (!memcmp(magic, "BC\xc0\xde", 4))
		finder->bitcode = true;
	else if (!*module && !memcmp(magic, "!<arch>\n", 8))
		return add_archive(finder, region, false);
	else if (!*module && region->fd >= 0 && !memcmp(magic, "!<thin>\n", 8))
		return add_archive(finder, region, true);
	return 0;
}

static int add_file(struct finder *finder, const char *path, const char *module)
{
	struct region region = {.name = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	struct stat status;
	if (region.fd < 0)
		return tp_err_system(finder->err, errno, path, "cannot open it");
	int code = 0;
	if (fstat(region.fd, &status))
		code = tp_err_system(finder->err, errno, path, "cannot examine it");
	else if (!S_ISREG(status.st_mode))
		code = tp_err_set(finder->err, TP_ERR_FORMAT, path, "neither a file nor a folder");
	region.size = code ? 0 : (uint64_t)status.st_size;
	if (!code)
		code = add_region(finder, &region, module);
	close(region.fd);
	return code;
}

static int is_candidate(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static bool ends_in(const char *name, const char *suffix)
{
	const size_t length = strlen(name);
	const size_t wanted = strlen(suffix);
	return length > wanted && !strcmp(name + length - wanted, suffix);
}

// All *.tpinv files below the folder; links to folders are not followed.
static int add_folder(struct finder *finder, const char *folder, int depth)
{
	struct dirent **entries = NULL;
	const int count = scandir(folder, &entries, is_candidate, alphasort);
	if (count < 0)
		return tp_err_system(finder->err, errno, folder, "cannot search the folder");
	int code = 0;
	for (int i = 0; i < count; i++) {
		char *path = NULL;
		struct stat status;
		if (!code && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			code = tp_err_memory(finder->err, folder);
		else if (!code && !lstat(path, &status) && S_ISDIR(status.st_mode))
			code = depth < FOLDER_DEPTH ? add_folder(finder, path, depth + 1) : 0;
		else if (!code && ends_in(path, ".tpinv"))
			code = add_file(finder, path, "");
		free(path);
		free(entries[i]);
	}
	free(entries);
	return code;
}

int tp_inventory_add_memory(struct tp_inventory_builder *builder, const void *data, size_t size,
    const char *name, struct tp_err *err)
{
	struct finder finder = {.builder = builder, .err = err};
	const struct region region = {.name = name, .fd = -1, .data = data, .size = size};
	return add_region(&finder, &region, "");
}

int tp_inventory_add_path(
    struct tp_inventory_builder *builder, const char *path, struct tp_err *err)
{
	struct finder finder = {.builder = builder, .err = err};
	struct stat status;
	if (stat(path, &status))
		return tp_err_system(err, errno, path, "cannot read it");
	const bool folder = S_ISDIR(status.st_mode);
	const uint32_t before = builder->unit_count;
	const int code = folder ? add_folder(&finder, path, 0) : add_file(&finder, path, "");
	if (code || builder->unit_count > before)
		return code;
	if (folder)
		return tp_err_set(err, TP_ERR_NOT_FOUND, path,
		    "this folder has no inventory: name programs, libraries or object files, or "
		    "compile with 'teeperf cc --inventory DIR' and name DIR");
	if (finder.bitcode)
		return tp_err_set(err, TP_ERR_NOT_FOUND, path,
		    "compiled for link-time optimisation: the inventory is in the linked program "
		    "or library; name that");
	return tp_err_set(err, TP_ERR_NOT_FOUND, path,
	    "it has no inventory: compile it with 'teeperf cc', without '--inventory none', and do "
	    "not strip the section " TP_INVENTORY_SECTION);
}
