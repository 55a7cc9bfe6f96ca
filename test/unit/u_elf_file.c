// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ELF files: this very program, one that is built here with odd symbols, and damaged ones.
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/symbols/elf/file.h"
#include "common/buf.h"

#define FILE_NAME "u_elf_file.tmp"

static struct tp_elf_file elf;
static struct tp_err err;

// A small ELF file: symbol table, its strings, section names, a note.
enum {
	SECTION_NONE,
	SECTION_SYMBOLS,
	SECTION_STRINGS,
	SECTION_NAMES,
	SECTION_NOTE,
	SECTION_LINK,
	SECTIONS
};
static struct {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	Elf64_Sym symbols[8];
	char strings[64];
	char names[32];
	uint32_t note[24];
	char link[16];
} image;

static void put_symbol(int index, uint64_t value, uint64_t size, int bind, int type, uint32_t name)
{
	image.symbols[index] = (Elf64_Sym){
	    .st_name = name,
	    .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
	    .st_shndx = 1,
	    .st_value = value,
	    .st_size = size,
	};
}

static void make_image(void)
{
	memset(&image, 0, sizeof(image));
	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	image.header.e_shoff = (size_t)((char *)image.sections - (char *)&image);
	image.header.e_shentsize = sizeof(Elf64_Shdr);
	image.header.e_shnum = SECTIONS;
	image.header.e_shstrndx = SECTION_NAMES;
	image.sections[SECTION_SYMBOLS] = (Elf64_Shdr){
	    .sh_type = SHT_SYMTAB,
	    .sh_offset = (size_t)((char *)image.symbols - (char *)&image),
	    .sh_size = sizeof(image.symbols),
	    .sh_entsize = sizeof(Elf64_Sym),
	    .sh_link = SECTION_STRINGS,
	};
	image.sections[SECTION_STRINGS] = (Elf64_Shdr){
	    .sh_type = SHT_STRTAB,
	    .sh_offset = (size_t)(image.strings - (char *)&image),
	    .sh_size = sizeof(image.strings),
	};
	image.sections[SECTION_NAMES] = (Elf64_Shdr){
	    .sh_type = SHT_STRTAB,
	    .sh_offset = (size_t)(image.names - (char *)&image),
	    .sh_size = sizeof(image.names),
	};
	image.sections[SECTION_NOTE] = (Elf64_Shdr){
	    .sh_type = SHT_NOTE,
	    .sh_offset = (size_t)((char *)image.note - (char *)&image),
	    .sh_size = 24,
	};
	image.sections[SECTION_LINK] = (Elf64_Shdr){
	    .sh_type = SHT_PROGBITS,
	    .sh_offset = (size_t)(image.link - (char *)&image),
	    .sh_size = sizeof(image.link),
	    .sh_name = 1,
	};
	memcpy(image.names, "\0.gnu_debuglink", 16);
	memcpy(image.link, "app.debug\0\0\0\x78\x56\x34\x12", 16);
	memcpy(image.strings, "\0local\0weak\0strong\0after\0data", 30);
	put_symbol(1, 0x1000, 16, STB_LOCAL, STT_FUNC, 1);
	put_symbol(2, 0x1000, 16, STB_WEAK, STT_FUNC, 7);
	put_symbol(3, 0x1000, 16, STB_GLOBAL, STT_FUNC, 12);
	put_symbol(4, 0x1020, 0, STB_GLOBAL, STT_FUNC, 19);
	put_symbol(5, 0x1030, 16, STB_GLOBAL, STT_OBJECT, 25);
	put_symbol(6, 0x1040, 16, STB_GLOBAL, STT_FUNC, 64);    // its name is outside
	put_symbol(7, 0x1050, 16, STB_LOCAL, STT_GNU_IFUNC, 0); // without a name, but in the table
	static const uint32_t note[] = {4, 5, NT_GNU_BUILD_ID, 0x00554e47, 0x04030201, 0x05};
	memcpy(image.note, note, sizeof(note));
}

static int read_image(size_t size)
{
	FILE *file = fopen(FILE_NAME, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(&image, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return tp_elf_file_read(&elf, FILE_NAME, &err);
}

__attribute__((noinline)) static const char *name_at(uint64_t address)
{
	const struct tp_elf_symbol *symbol = tp_elf_file_find(&elf, address);
	return symbol ? symbol->name : NULL;
}

static void symbols_by_rank_and_place(void **state)
{
	(void)state;
	make_image();
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_int_equal(elf.symbol_count, 3);
	assert_null(name_at(0xfff));
	assert_string_equal(name_at(0x1000), "strong");
	uint32_t count;
	const struct tp_elf_symbol *aliases =
	    tp_elf_file_aliases(&elf, tp_elf_file_find(&elf, 0x1000), &count);
	assert_int_equal(count, 2);
	assert_string_equal(aliases[0].name, "weak");
	assert_string_equal(aliases[1].name, "local");
	assert_null(tp_elf_file_aliases(&elf, tp_elf_file_find(&elf, 0x1020), &count));
	assert_int_equal(count, 0);
	assert_string_equal(name_at(0x100f), "strong");
	assert_null(name_at(0x1010));
	assert_string_equal(name_at(0x1020), "after");
	assert_null(name_at(0x1021));
	assert_null(name_at(0x1030));
	assert_null(name_at(0x1040));
	assert_null(name_at(UINT64_MAX));
	assert_int_equal(elf.build_id_size, 5);
	assert_memory_equal(elf.build_id, "\1\2\3\4\5", 5);
	assert_false(elf.has_debug_info);
	tp_elf_file_release(&elf);
	assert_null(elf.symbols);
}

static void this_program(void **state)
{
	(void)state;
	assert_int_equal(tp_elf_file_read(&elf, "/proc/self/exe", &err), 0);
	assert_true(elf.has_debug_info);
	const struct tp_elf_symbol *found = NULL;
	for (uint32_t i = 0; i < elf.symbol_count; i++) {
		assert_true(i == 0 || elf.symbols[i - 1].address < elf.symbols[i].address);
		if (strcmp(elf.symbols[i].name, "name_at") == 0)
			found = &elf.symbols[i];
	}
	assert_non_null(found);
	assert_ptr_equal(tp_elf_file_find(&elf, found->address), found);
	assert_ptr_equal(tp_elf_file_find(&elf, found->address + found->size - 1), found);
	tp_elf_file_release(&elf);
}

static void debug_links(void **state)
{
	(void)state;
	make_image();
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_string_equal(elf.debug_link, "app.debug");
	assert_int_equal(elf.debug_link_checksum, 0x12345678);
	tp_elf_file_release(&elf);
	make_image();
	assert_int_equal(read_image(sizeof(image)), 0);
	tp_elf_file_release(&elf);
	assert_int_equal(tp_elf_file_identify(&elf, FILE_NAME, &err), 0);
	assert_string_equal(elf.debug_link, "app.debug");
	assert_int_equal(elf.build_id_size, 5);
	assert_int_equal(elf.symbol_count, 0);
	tp_elf_file_release(&elf);
	// A name with folders, none at all, one without end, no room for the checksum.
	make_image();
	image.link[3] = '/';
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_string_equal(elf.debug_link, "");
	tp_elf_file_release(&elf);
	make_image();
	image.link[0] = '\0';
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_string_equal(elf.debug_link, "");
	tp_elf_file_release(&elf);
	make_image();
	memset(image.link, 'x', sizeof(image.link));
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_string_equal(elf.debug_link, "");
	tp_elf_file_release(&elf);
	make_image();
	image.sections[SECTION_LINK].sh_size = 15;
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_string_equal(elf.debug_link, "");
	tp_elf_file_release(&elf);
}

// As zlib and gdb compute it: "123456789" is the well-known check value.
static void checksums(void **state)
{
	(void)state;
	uint32_t checksum = 0;
	FILE *file = fopen(FILE_NAME, "w");
	assert_non_null(file);
	fputs("123456789", file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(tp_elf_file_checksum(FILE_NAME, &checksum, &err), 0);
	assert_int_equal(checksum, 0xcbf43926);
	assert_int_equal(tp_elf_file_checksum("no-such-file", &checksum, &err), TP_ERR_SYSTEM);
}

static void check_refused(const char *what)
{
	assert_int_equal(read_image(sizeof(image)), TP_ERR_FORMAT);
	assert_string_equal(err.what, what);
	assert_string_equal(err.file, FILE_NAME);
	tp_elf_file_release(&elf);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	make_image();
	image.header.e_ident[0] = 'x';
	check_refused("not an ELF file");
	make_image();
	image.header.e_ident[EI_CLASS] = ELFCLASS32;
	check_refused("not a 64-bit little-endian ELF file; symbols of others are not supported");
	make_image();
	image.header.e_ident[EI_DATA] = ELFDATA2MSB;
	check_refused("not a 64-bit little-endian ELF file; symbols of others are not supported");
	make_image();
	image.header.e_shentsize = 63;
	check_refused("section headers of 63 bytes");
	make_image();
	image.header.e_shnum = 0xfff0;
	check_refused("65520 sections");
	make_image();
	image.header.e_shnum = 0;
	image.sections[0].sh_size = UINT64_MAX / 8;
	check_refused("2305843009213693951 sections");
	make_image();
	image.sections[SECTION_SYMBOLS].sh_link = SECTIONS;
	check_refused("the symbol table is damaged");
	make_image();
	image.sections[SECTION_SYMBOLS].sh_entsize = 0;
	check_refused("the symbol table is damaged");
	make_image();
	image.sections[SECTION_STRINGS].sh_offset = UINT64_MAX - 1;
	check_refused("64 bytes are outside of the ELF file");
	make_image();
	image.sections[SECTION_SYMBOLS].sh_size = UINT64_MAX;
	check_refused("18446744073709551615 bytes are outside of the ELF file");
	assert_int_equal(tp_elf_file_read(&elf, "no-such-file", &err), TP_ERR_SYSTEM);
	tp_elf_file_release(&elf);
}

// Names and notes are no reason to refuse the symbols.
static void small_damage_is_passed_over(void **state)
{
	(void)state;
	make_image();
	image.header.e_shstrndx = SECTIONS;
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_int_equal(elf.symbol_count, 3);
	tp_elf_file_release(&elf);
	make_image();
	image.note[0] = UINT32_MAX;
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_int_equal(elf.build_id_size, 0);
	tp_elf_file_release(&elf);
	make_image();
	// Longer than an ID may be, and all there; then longer than the note.
	image.note[1] = 65;
	image.sections[SECTION_NOTE].sh_size = sizeof(image.note);
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_int_equal(elf.build_id_size, 0);
	tp_elf_file_release(&elf);
	make_image();
	image.note[1] = 9;
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_int_equal(elf.build_id_size, 0);
	assert_int_equal(elf.symbol_count, 3);
	tp_elf_file_release(&elf);
	make_image();
	image.header.e_shoff = 0;
	assert_int_equal(read_image(sizeof(image)), 0);
	assert_int_equal(elf.symbol_count, 0);
	assert_null(name_at(0x1000));
	tp_elf_file_release(&elf);
}

static void any_damage_is_survived(void **state)
{
	(void)state;
	uint32_t seed = 1;
	for (int i = 0; i < 3000; i++) {
		make_image();
		for (int j = 0; j <= i % 4; j++) {
			seed = seed * 1664525 + 1013904223;
			((uint8_t *)&image)[(seed >> 8) % sizeof(image)] ^=
			    (uint8_t)(1 << (seed >> 29));
		}
		const size_t size = i % 8 ? sizeof(image) : (seed >> 16) % sizeof(image);
		if (read_image(size) == 0)
			for (uint64_t address = 0xff0; address < 0x1060; address += 8) {
				const char *name = name_at(address);
				assert_true(!name || strlen(name) < sizeof(image));
			}
		tp_elf_file_release(&elf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(symbols_by_rank_and_place),
	    cmocka_unit_test(this_program),
	    cmocka_unit_test(debug_links),
	    cmocka_unit_test(checksums),
	    cmocka_unit_test(other_files_are_refused),
	    cmocka_unit_test(small_damage_is_passed_over),
	    cmocka_unit_test(any_damage_is_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
