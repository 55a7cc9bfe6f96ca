// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The needed parts of an ELF file. Every offset and size is checked against the file's size.
#include "file.h"

#include "common/array.h"
#include "common/bytes.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/abi.h>
#include <zlib.h>

// Of more executable segments there is no program.
#define SEGMENTS_MAX 64
// Maximum bytes of a file's list of functions: 100 million of them.
#define FUNCTIONS_MAX (UINT64_C(1) << 30)

// State of one pass through the file.
struct input {
	struct tp_source source;
	Elf64_Ehdr header;
	Elf64_Shdr *sections;
	uint64_t section_count;
	char *section_names;
	uint64_t section_names_size;
};

// Read SIZE bytes from OFFSET into memory of their own, with a NUL behind.
static void *read_part(
    const struct input *input, uint64_t offset, uint64_t size, struct tp_err *err)
{
	const struct tp_source *source = &input->source;
	if (offset > source->size || size > source->size - offset) {
		tp_err_set_at(err, TP_ERR_FORMAT, source->name, offset,
		    "%" PRIu64 " bytes are outside of the ELF file", size);
		return NULL;
	}
	char *data = malloc(size + 1);
	if (!data) {
		tp_err_set_at(err, TP_ERR_MEMORY, source->name, offset,
		    "out of memory while reading %" PRIu64 " bytes of the ELF file", size);
		return NULL;
	}
	data[size] = '\0';
	if (tp_source_read(source, offset, data, size, err)) {
		free(data);
		return NULL;
	}
	return data;
}

bool tp_elf_is_known(const unsigned char *ident)
{
	return memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS64 &&
	       ident[EI_DATA] == ELFDATA2LSB;
}

static int open_input(struct input *input, const char *path, struct tp_err *err)
{
	int code = tp_source_open(&input->source, path, err);
	if (code)
		return code;
	Elf64_Ehdr *header = &input->header;
	code = tp_source_read(&input->source, 0, header, sizeof(*header), err);
	if (code)
		return code;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return tp_err_set_at(err, TP_ERR_FORMAT, path, 0, "not an ELF file");
	if (!tp_elf_is_known(header->e_ident))
		return tp_err_set_at(err, TP_ERR_FORMAT, path, EI_CLASS,
		    "not a 64-bit little-endian ELF file; symbols of others are not supported");
	if (header->e_shoff == 0)
		return 0;
	if (header->e_shentsize != sizeof(Elf64_Shdr))
		return tp_err_set_at(err, TP_ERR_FORMAT, path, 0, "section headers of %u bytes",
		    header->e_shentsize);
	Elf64_Shdr first;
	code = tp_source_read(&input->source, header->e_shoff, &first, sizeof(first), err);
	if (code)
		return code;
	// More than 65279 sections: the count is in the first one.
	input->section_count = header->e_shnum ? header->e_shnum : first.sh_size;
	if (input->section_count > input->source.size / sizeof(Elf64_Shdr))
		return tp_err_set_at(err, TP_ERR_FORMAT, path, header->e_shoff,
		    "%" PRIu64 " sections", input->section_count);
	input->sections =
	    read_part(input, header->e_shoff, input->section_count * sizeof(Elf64_Shdr), err);
	if (!input->sections)
		return TP_ERR_FORMAT;
	const uint64_t names =
	    header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
	if (names >= input->section_count)
		return 0;
	input->section_names =
	    read_part(input, input->sections[names].sh_offset, input->sections[names].sh_size, err);
	input->section_names_size = input->section_names ? input->sections[names].sh_size : 0;
	return 0;
}

static void close_input(struct input *input)
{
	tp_source_close(&input->source);
	free(input->sections);
	free(input->section_names);
}

static const char *section_name(const struct input *input, const Elf64_Shdr *section)
{
	return section->sh_name < input->section_names_size
		   ? input->section_names + section->sh_name
		   : "";
}

// To be freed. NULL: it is outside of the file, or there is no memory.
static void *read_section(
    const struct input *input, const Elf64_Shdr *section, struct tp_bytes *bytes)
{
	void *data = read_part(input, section->sh_offset, section->sh_size, NULL);
	if (data)
		tp_bytes_init(bytes, data, section->sh_size);
	return data;
}

static void read_build_id(
    struct tp_elf_file *elf, const struct input *input, const Elf64_Shdr *section)
{
	struct tp_bytes bytes;
	void *data = read_section(input, section, &bytes);
	if (!data)
		return;
	while (!bytes.underflow && tp_bytes_left(&bytes)) {
		const uint32_t name_size = tp_bytes_u32(&bytes);
		const uint32_t size = tp_bytes_u32(&bytes);
		const uint32_t type = tp_bytes_u32(&bytes);
		const char *name = tp_bytes_take(&bytes, ((uint64_t)name_size + 3) / 4 * 4);
		const void *id = tp_bytes_take(&bytes, size);
		const size_t padding = (4 - size % 4) % 4;
		if (id && name && type == NT_GNU_BUILD_ID && name_size == 4 &&
		    memcmp(name, "GNU", 4) == 0 && size <= sizeof(elf->build_id)) {
			memcpy(elf->build_id, id, size);
			elf->build_id_size = size;
			break;
		}
		if (tp_bytes_left(&bytes) < padding)
			break;
		tp_bytes_take(&bytes, padding);
	}
	free(data);
}

// A name without folders, padding up to a multiple of four, a checksum.
static void read_debug_link(
    struct tp_elf_file *elf, const struct input *input, const Elf64_Shdr *section)
{
	struct tp_bytes bytes;
	void *data = read_section(input, section, &bytes);
	if (!data)
		return;
	const char *name = tp_bytes_string(&bytes);
	if (name)
		tp_bytes_take(&bytes, (4 - bytes.at % 4) % 4);
	const uint32_t checksum = tp_bytes_u32(&bytes);
	if (!bytes.underflow && name && name[0] && strlen(name) < sizeof(elf->debug_link) &&
	    !strchr(name, '/')) {
		strcpy(elf->debug_link, name);
		elf->debug_link_checksum = checksum;
	}
	free(data);
}

// A file's name and a checksum.
enum { LINK_BYTES_MOST = 8192 };

static void look_at_name(
    struct tp_elf_file *elf, const struct input *input, const Elf64_Shdr *section)
{
	const char *name = section_name(input, section);
	if (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0)
		elf->has_debug_info = true;
	else if (strcmp(name, ".gnu_debuglink") == 0 && !elf->debug_link[0] &&
		 section->sh_size <= LINK_BYTES_MOST)
		read_debug_link(elf, input, section);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct tp_elf_symbol *x = a;
	const struct tp_elf_symbol *y = b;
	int order = TP_COMPARE(x->address, y->address);
	order = order ? order : TP_COMPARE(y->rank, x->rank);
	return order ? order : strcmp(x->name, y->name);
}

static int read_symbols(
    struct tp_elf_file *elf, const struct input *input, const Elf64_Shdr *table, struct tp_err *err)
{
	if (table->sh_link >= input->section_count || table->sh_entsize != sizeof(Elf64_Sym))
		return tp_err_set_at(err, TP_ERR_FORMAT, input->source.name, table->sh_offset,
		    "the symbol table is damaged");
	const Elf64_Shdr *strings = &input->sections[table->sh_link];
	elf->strings = read_part(input, strings->sh_offset, strings->sh_size, err);
	Elf64_Sym *raw =
	    elf->strings ? read_part(input, table->sh_offset, table->sh_size, err) : NULL;
	if (!raw)
		return TP_ERR_FORMAT;
	const uint64_t count = table->sh_size / sizeof(*raw);
	elf->symbols = malloc((count ? count : 1) * sizeof(*elf->symbols));
	if (!elf->symbols || count > UINT32_MAX) {
		free(raw);
		return tp_err_set_at(err, TP_ERR_MEMORY, input->source.name, table->sh_offset,
		    "out of memory while reading %" PRIu64 " symbols", count);
	}
	uint32_t found = 0;
	for (uint64_t i = 0; i < count; i++) {
		const int type = ELF64_ST_TYPE(raw[i].st_info);
		const int binding = ELF64_ST_BIND(raw[i].st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || raw[i].st_shndx == SHN_UNDEF ||
		    raw[i].st_name >= strings->sh_size)
			continue;
		elf->symbols[found++] = (struct tp_elf_symbol){
		    .address = raw[i].st_value,
		    .size = raw[i].st_size,
		    .name = elf->strings + raw[i].st_name,
		    .rank = binding == STB_GLOBAL ? 2
			    : binding == STB_WEAK ? 1
						  : 0,
		};
	}
	free(raw);
	qsort(elf->symbols, found, sizeof(*elf->symbols), compare_symbols);
	uint32_t more = 0;
	for (uint32_t i = 1; i < found; i++)
		more += elf->symbols[i - 1].address == elf->symbols[i].address;
	elf->aliases = malloc((more ? more : 1) * sizeof(*elf->aliases));
	if (!elf->aliases)
		return tp_err_set_at(err, TP_ERR_MEMORY, input->source.name, table->sh_offset,
		    "out of memory while reading %" PRIu32 " more function names", more);
	for (uint32_t i = 0; i < found; i++)
		if (elf->symbol_count &&
		    elf->symbols[elf->symbol_count - 1].address == elf->symbols[i].address)
			elf->aliases[elf->alias_count++] = elf->symbols[i];
		else
			elf->symbols[elf->symbol_count++] = elf->symbols[i];
	return 0;
}

static int read_file(
    struct tp_elf_file *elf, const char *path, bool with_symbols, struct tp_err *err)
{
	// A hostile file may say of each of its sections that it is a note as large as the file.
	enum { NOTES_BYTES_MOST = 1 << 20 };
	uint64_t notes = 0;
	memset(elf, 0, sizeof(*elf));
	struct input input = {.source = {.fd = -1}};
	int code = open_input(&input, path, err);
	if (code)
		goto out;
	const Elf64_Shdr *table = NULL;
	for (uint64_t i = 0; i < input.section_count; i++) {
		const Elf64_Shdr *section = &input.sections[i];
		const bool is_small = section->sh_size <= NOTES_BYTES_MOST - notes;
		if (section->sh_type == SHT_NOTE && !elf->build_id_size && is_small) {
			notes += section->sh_size;
			read_build_id(elf, &input, section);
		} else if (section->sh_type == SHT_SYMTAB)
			table = section;
		else if (section->sh_type == SHT_DYNSYM && !table)
			table = section;
		else if (section->sh_type != SHT_NOBITS)
			look_at_name(elf, &input, section);
	}
	elf->has_symbol_table = table && table->sh_type == SHT_SYMTAB;
	if (table && with_symbols)
		code = read_symbols(elf, &input, table, err);
out:
	close_input(&input);
	return code;
}

int tp_elf_file_read(struct tp_elf_file *elf, const char *path, struct tp_err *err)
{
	return read_file(elf, path, true, err);
}

int tp_elf_file_identify(struct tp_elf_file *elf, const char *path, struct tp_err *err)
{
	return read_file(elf, path, false, err);
}

void tp_elf_file_release(struct tp_elf_file *elf)
{
	free(elf->aliases);
	free(elf->symbols);
	free(elf->strings);
	memset(elf, 0, sizeof(*elf));
}

const struct tp_elf_symbol *tp_elf_file_find(const struct tp_elf_file *elf, uint64_t address)
{
	const uint32_t low =
	    TP_LOWER_BOUND(0, elf->symbol_count, middle, elf->symbols[middle].address <= address);
	const struct tp_elf_symbol *symbol = low ? &elf->symbols[low - 1] : NULL;
	if (!symbol || (symbol->address != address && address - symbol->address >= symbol->size))
		return NULL;
	return symbol;
}

const struct tp_elf_symbol *tp_elf_file_aliases(
    const struct tp_elf_file *elf, const struct tp_elf_symbol *symbol, uint32_t *count)
{
	const uint32_t first = TP_LOWER_BOUND(
	    0U, elf->alias_count, middle, elf->aliases[middle].address < symbol->address);
	uint32_t end = first;
	while (end < elf->alias_count && elf->aliases[end].address == symbol->address)
		end++;
	*count = end - first;
	return *count ? &elf->aliases[first] : NULL;
}

int tp_elf_file_checksum(const char *path, uint32_t *checksum, struct tp_err *err)
{
	struct tp_source source;
	int code = tp_source_open(&source, path, err);
	if (code)
		return code;
	uLong sum = crc32(0, NULL, 0);
	uint8_t block[65536];
	for (uint64_t at = 0; at < source.size && !code;) {
		const uint64_t left = source.size - at;
		const size_t size = left < sizeof(block) ? (size_t)left : sizeof(block);
		code = tp_source_read(&source, at, block, size, err);
		if (!code)
			sum = crc32(sum, block, (uInt)size);
		at += size;
	}
	tp_source_close(&source);
	*checksum = (uint32_t)sum;
	return code;
}

// ---- code

// The executable segments.
static uint32_t read_segments(const struct tp_source *source, const Elf64_Ehdr *header,
    struct tp_elf_segment *segments, uint32_t max)
{
	uint32_t count = 0;
	if (!tp_elf_is_known(header->e_ident) || header->e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	for (uint32_t i = 0; i < header->e_phnum && count < max; i++) {
		Elf64_Phdr segment;
		const uint64_t at = i * sizeof(segment);
		if (header->e_phoff > source->size ||
		    tp_source_read(source, header->e_phoff + at, &segment, sizeof(segment), NULL))
			break;
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X && segment.p_filesz)
			segments[count++] = (struct tp_elf_segment){
			    segment.p_vaddr, segment.p_filesz, segment.p_offset};
	}
	return count;
}

uint32_t tp_elf_segments_read(const char *path, struct tp_elf_segment *segments, uint32_t max)
{
	struct tp_source source;
	Elf64_Ehdr header;
	uint32_t count = 0;
	if (tp_source_open(&source, path, NULL))
		return 0;
	if (!tp_source_read(&source, 0, &header, sizeof(header), NULL))
		count = read_segments(&source, &header, segments, max);
	tp_source_close(&source);
	return count;
}

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

// Where in the file the code is; false if it is not all in an executable segment.
static bool find_code(const struct input *input, uint64_t address, uint64_t size, uint64_t *offset)
{
	struct tp_elf_segment segments[SEGMENTS_MAX];
	const uint64_t end = input->source.size;
	const uint32_t count =
	    read_segments(&input->source, &input->header, segments, SEGMENTS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_elf_segment *segment = &segments[i];
		const uint64_t skip = address - segment->address;
		if (address < segment->address || skip > segment->size ||
		    size > segment->size - skip || segment->offset > end ||
		    skip > end - segment->offset)
			continue;
		*offset = segment->offset + skip;
		return size <= end - *offset;
	}
	return false;
}

static bool hash_code(
    const struct tp_source *source, uint64_t offset, uint64_t size, uint64_t *hash)
{
	uint8_t block[65536];
	*hash = size;
	for (uint64_t done = 0; done < size;) {
		const uint64_t left = size - done;
		const size_t count = left < sizeof(block) ? (size_t)left : sizeof(block);
		if (tp_source_read(source, offset + done, block, count, NULL))
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

static bool hash_list(const struct input *input, uint64_t *hash)
{
	*hash = 0;
	for (uint64_t i = 0; i < input->section_count; i++) {
		const Elf64_Shdr *section = &input->sections[i];
		if (section->sh_type != SHT_PROGBITS ||
		    strcmp(section_name(input, section), TEEPERF_FUNCTIONS_SECTION) != 0)
			continue;
		uint8_t *data = section->sh_size <= FUNCTIONS_MAX
				    ? read_part(input, section->sh_offset, section->sh_size, NULL)
				    : NULL;
		const bool good = data && hash_names(data, section->sh_size, hash);
		free(data);
		return good;
	}
	return input->section_names;
}

uint64_t tp_elf_code_hash(const char *path, uint64_t address, uint64_t size)
{
	struct input input = {.source = {.fd = -1}};
	uint64_t offset;
	uint64_t names;
	uint64_t hash = 0;
	if (size && size % 8 == 0 && !open_input(&input, path, NULL) &&
	    find_code(&input, address, size, &offset) && hash_list(&input, &names) &&
	    hash_code(&input.source, offset, size, &hash)) {
		step(&hash, names & ~UINT64_C(0xffff));
		hash = hash ? hash : 1;
	} else {
		hash = 0;
	}
	close_input(&input);
	return hash;
}
