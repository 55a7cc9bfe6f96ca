// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hash of code: the runtime's of the memory and the analyzer's of the file are the same, and
// change with code and names.
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
#include "runtime/runtime.h"

#define FILE_NAME "u_elf_code.tmp"
enum { ADDRESS = 0x5000, CODE_SIZE = 70000, SKIP = 24 };

// A file with code, and a list of functions in two parts with zeroes between them.
struct part {
	uint32_t size;
	uint32_t count;
	uint8_t gates[8];
	uint64_t hashes[3];
};
static struct {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[3];
	char names[40];
	uint64_t code[CODE_SIZE / 8];
	struct part first;
	uint64_t gap[2];
	struct part second;
} image;

static uint64_t offset_of(const void *field)
{
	return (uint64_t)((const char *)field - (const char *)&image);
}

static int setup(void **state)
{
	(void)state;
	memset(&image, 0, sizeof(image));
	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	image.header.e_phoff = offset_of(image.segments);
	image.header.e_phentsize = sizeof(Elf64_Phdr);
	image.header.e_phnum = 2;
	image.header.e_shoff = offset_of(image.sections);
	image.header.e_shentsize = sizeof(Elf64_Shdr);
	image.header.e_shnum = 3;
	image.header.e_shstrndx = 1;
	image.segments[0] = (Elf64_Phdr){
	    .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = ADDRESS - 4096, .p_filesz = 4096};
	image.segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
	    .p_flags = PF_R | PF_X,
	    .p_offset = offset_of(image.code),
	    .p_vaddr = ADDRESS,
	    .p_filesz = sizeof(image.code)};
	image.sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	    .sh_offset = offset_of(image.names),
	    .sh_size = sizeof(image.names)};
	image.sections[2] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
	    .sh_name = 1,
	    .sh_offset = offset_of(&image.first),
	    .sh_size = sizeof(image) - offset_of(&image.first)};
	strcpy(image.names + 1, TEEPERF_FUNCTIONS_SECTION);
	for (size_t i = 0; i < sizeof(image.code) / 8; i++)
		image.code[i] = i * UINT64_C(0x9e3779b97f4a7c15);
	image.first = (struct part){sizeof(struct part), 3, {1, 1, 1}, {1, 77, 88}};
	image.second = (struct part){sizeof(struct part), 2, {1, 1}, {1, 99, 1234}};
	return 0;
}

static void store(size_t size)
{
	FILE *file = fopen(FILE_NAME, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(&image, 1, size, file), size);
	fclose(file);
}

static uint64_t in_file(void)
{
	store(sizeof(image));
	return tp_elf_code_hash(FILE_NAME, ADDRESS + SKIP, CODE_SIZE - SKIP - 8);
}

static uint64_t in_memory(void)
{
	struct teeperf_module_block block = {
	    .functions = (uint8_t *)&image.first, .functions_end = (uint8_t *)(&image + 1)};
	// The runtime takes the whole words of what a port tells.
	struct teeperf_module module = {.start = (uint64_t)(uintptr_t)image.code,
	    .end = (uint64_t)(uintptr_t)image.code + sizeof(image.code),
	    .code_offset = SKIP - 3,
	    .code_size = CODE_SIZE - SKIP - 8 + 3 + 5};
	tp_code_hash_set(&module, tp_gates_names(&block) & TP_BLOCK_NAMES_MASK);
	assert_int_equal(module.code_offset, SKIP);
	assert_int_equal(module.code_size, CODE_SIZE - SKIP - 8);
	return module.code_hash;
}

static void test_both_sides_agree(void **state)
{
	(void)state;
	const uint64_t hash = in_file();
	assert_int_not_equal(hash, 0);
	assert_int_equal(hash, in_memory());
	// Gates are the runtime's to change, and are not in it.
	image.first.gates[1] = 2;
	assert_int_equal(in_memory(), hash);
	assert_int_equal(in_file(), hash);
	// Bytes outside of the range are not in it, either.
	image.code[0]++;
	image.code[CODE_SIZE / 8 - 1]++;
	assert_int_equal(in_file(), hash);
}

static void test_changes_show(void **state)
{
	(void)state;
	const uint64_t hash = in_file();
	const size_t places[] = {SKIP / 8, 1000, 8191, 8192, 8195, CODE_SIZE / 8 - 2};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (int bit = 0; bit < 64; bit += 21) {
			image.code[places[i]] ^= UINT64_C(1) << bit;
			assert_int_not_equal(in_file(), hash);
			assert_int_equal(in_file(), in_memory());
			image.code[places[i]] ^= UINT64_C(1) << bit;
		}
	// The same change twice, in the highest bits, which a multiplication moves nowhere.
	image.code[1000] ^= UINT64_C(1) << 63;
	image.code[1001] ^= UINT64_C(1) << 63;
	assert_int_not_equal(in_file(), hash);
	setup(NULL);
	image.first.hashes[1]++;
	assert_int_not_equal(in_file(), hash);
	assert_int_equal(in_file(), in_memory());
	setup(NULL);
	image.second.hashes[1] = image.first.hashes[1];
	image.first.hashes[1] = 99;
	assert_int_not_equal(in_file(), hash);
	setup(NULL);
	assert_int_equal(in_file(), hash);
	// Without the list it is another file.
	image.names[1] = 'x';
	assert_int_not_equal(in_file(), hash);
	assert_int_not_equal(in_file(), 0);
}

static void test_not_there(void **state)
{
	(void)state;
	store(sizeof(image));
	assert_int_not_equal(tp_elf_code_hash(FILE_NAME, ADDRESS, CODE_SIZE), 0);
	assert_int_equal(tp_elf_code_hash(FILE_NAME, ADDRESS, 0), 0);
	assert_int_equal(tp_elf_code_hash(FILE_NAME, ADDRESS, 12), 0);
	assert_int_equal(tp_elf_code_hash(FILE_NAME, ADDRESS + 8, CODE_SIZE), 0);
	assert_int_equal(tp_elf_code_hash(FILE_NAME, ADDRESS - 8, 8), 0);
	assert_int_equal(tp_elf_code_hash(FILE_NAME, UINT64_MAX - 7, 8), 0);
	assert_int_equal(tp_elf_code_hash(FILE_NAME, ADDRESS, UINT64_MAX - 7), 0);
	assert_int_equal(tp_elf_code_hash("nowhere", ADDRESS, 8), 0);
	image.segments[1].p_flags = PF_R;
	assert_int_equal(in_file(), 0);
	setup(NULL);
	image.segments[1].p_offset = UINT64_MAX - 64;
	assert_int_equal(in_file(), 0);
	setup(NULL);
	image.segments[1].p_filesz = UINT64_MAX;
	assert_int_not_equal(in_file(), 0);
	assert_int_equal(tp_elf_code_hash(FILE_NAME, ADDRESS, UINT64_C(1) << 40), 0);
}

static void test_damaged_lists(void **state)
{
	(void)state;
	image.first.size = 8;
	assert_int_equal(in_file(), 0);
	setup(NULL);
	image.second.count = UINT32_MAX;
	assert_int_equal(in_file(), 0);
	setup(NULL);
	image.second.size = UINT32_MAX;
	assert_int_equal(in_file(), 0);
	setup(NULL);
	image.sections[2].sh_offset = UINT64_MAX - 8;
	assert_int_equal(in_file(), 0);
	setup(NULL);
	image.sections[1].sh_offset = UINT64_MAX - 8;
	in_file();
	setup(NULL);
	image.header.e_shoff = UINT64_MAX - 8;
	assert_int_equal(in_file(), 0);
	// A file of any length: no crash, and never what the whole file is.
	setup(NULL);
	const uint64_t hash = in_file();
	for (size_t size = 0; size < sizeof(image); size += size < 1000 ? 7 : 997) {
		store(size);
		assert_int_not_equal(
		    tp_elf_code_hash(FILE_NAME, ADDRESS + SKIP, CODE_SIZE - SKIP - 8), hash);
	}
	remove(FILE_NAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_both_sides_agree, setup),
	    cmocka_unit_test_setup(test_changes_show, setup),
	    cmocka_unit_test_setup(test_not_there, setup),
	    cmocka_unit_test_setup(test_damaged_lists, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
