// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Debug sections: plain, packed by zlib and zstd, in the old .zdebug form; headers that lie, bombs,
// damage.
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/symbols/elf/file.h"
#include "common/buf.h"

#define FILE_NAME "u_elf_sections.tmp"
enum { CONTENT = 100000 };

static struct tp_elf_sections sections;
static struct tp_err err;
static struct tp_buf file;
static Elf64_Shdr headers[16];
static uint32_t header_count;
static char names[256];
static size_t names_size;
static uint8_t content[CONTENT];

static void begin(void)
{
	tp_buf_init(&file);
	const Elf64_Ehdr empty = {0};
	tp_buf_add(&file, &empty, sizeof(empty));
	memset(headers, 0, sizeof(headers));
	memset(names, 0, sizeof(names));
	header_count = 1;
	names_size = 1;
	for (int i = 0; !content[1] && i < CONTENT; i++)
		content[i] = (uint8_t)(i * 7 ^ i >> 9);
}

static void add(const char *name, uint64_t flags, const void *head, size_t head_size,
    const void *data, size_t size)
{
	headers[header_count++] = (Elf64_Shdr){
	    .sh_name = (Elf64_Word)names_size,
	    .sh_type = SHT_PROGBITS,
	    .sh_flags = flags,
	    .sh_offset = file.size,
	    .sh_size = head_size + size,
	};
	strcpy(names + names_size, name);
	names_size += strlen(name) + 1;
	tp_buf_add(&file, head, head_size);
	tp_buf_add(&file, data, size);
}

static void add_packed(
    const char *name, uint32_t type, uint64_t size, const void *data, size_t packed)
{
	const Elf64_Chdr head = {.ch_type = type, .ch_size = size, .ch_addralign = 1};
	add(name, SHF_COMPRESSED, &head, sizeof(head), data, packed);
}

static int end(void)
{
	add("", 0, "", 0, names, names_size);
	Elf64_Ehdr header = {
	    .e_shoff = file.size,
	    .e_shentsize = sizeof(Elf64_Shdr),
	    .e_shnum = (Elf64_Half)header_count,
	    .e_shstrndx = (Elf64_Half)(header_count - 1),
	};
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	tp_buf_add(&file, headers, header_count * sizeof(Elf64_Shdr));
	memcpy(file.data, &header, sizeof(header));
	FILE *out = fopen(FILE_NAME, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
	assert_int_equal(fclose(out), 0);
	tp_buf_release(&file);
	memset(&err, 0, sizeof(err));
	return tp_elf_sections_open(&sections, FILE_NAME, &err);
}

static const uint8_t *data_of(const char *name, uint64_t *size)
{
	const int index = tp_elf_sections_find(&sections, name);
	assert_true(index >= 0);
	*size = sections.sections[index].size;
	return tp_elf_sections_data(&sections, (uint32_t)index, &err);
}

static void check_content(const char *name)
{
	uint64_t size;
	const uint8_t *data = data_of(name, &size);
	assert_non_null(data);
	assert_int_equal(size, CONTENT);
	assert_memory_equal(data, content, CONTENT);
	assert_ptr_equal(data_of(name, &size), data);
}

static void check_refused(const char *name, int code, const char *what)
{
	uint64_t size;
	memset(&err, 0, sizeof(err));
	assert_null(data_of(name, &size));
	assert_int_equal(err.code, code);
	assert_string_equal(err.file, FILE_NAME);
	assert_non_null(strstr(err.what, what));
	assert_null(data_of(name, &size)); // and once more
}

static uint8_t *packed_zlib(const void *data, size_t data_size, size_t *size)
{
	uLongf bound = compressBound(data_size);
	uint8_t *packed = malloc(bound);
	assert_non_null(packed);
	assert_int_equal(compress(packed, &bound, data, data_size), Z_OK);
	*size = bound;
	return packed;
}

static uint8_t *packed_zstd(const void *data, size_t data_size, size_t *size)
{
	const size_t bound = ZSTD_compressBound(data_size);
	uint8_t *packed = malloc(bound);
	assert_non_null(packed);
	*size = ZSTD_compress(packed, bound, data, data_size, 3);
	assert_false(ZSTD_isError(*size));
	return packed;
}

static void each_packing(void **state)
{
	(void)state;
	size_t zlib_size;
	size_t zstd_size;
	const uint8_t old[] = {'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 1, 0x86, 0xa0};
	begin();
	uint8_t *zlib = packed_zlib(content, CONTENT, &zlib_size);
	uint8_t *zstd = packed_zstd(content, CONTENT, &zstd_size);
	assert_int_equal(CONTENT, 0x186a0);
	add(".text", 0, "", 0, content, 16);
	add(".debug_info", 0, "", 0, content, CONTENT);
	add_packed(".debug_abbrev", ELFCOMPRESS_ZLIB, CONTENT, zlib, zlib_size);
	add_packed(".debug_line", 2, CONTENT, zstd, zstd_size);
	add(".zdebug_str", 0, old, sizeof(old), zlib, zlib_size);
	add(".debug_info", 0, "", 0, "twice", 5);
	add(".debug_a_name_that_no_section_has_in_dwarf", 0, "", 0, "long", 4);
	assert_int_equal(end(), 0);
	assert_int_equal(sections.count, 4);
	check_content(".debug_info");
	check_content(".debug_abbrev");
	check_content(".debug_line");
	check_content(".debug_str");
	assert_int_equal(tp_elf_sections_find(&sections, ".text"), -1);
	tp_elf_sections_close(&sections);
	free(zlib);
	free(zstd);
}

static void lies(void **state)
{
	(void)state;
	size_t zlib_size;
	size_t zstd_size;
	begin();
	uint8_t *zlib = packed_zlib(content, CONTENT, &zlib_size);
	uint8_t *zstd = packed_zstd(content, CONTENT, &zstd_size);
	add_packed(".debug_a", ELFCOMPRESS_ZLIB, CONTENT - 1, zlib, zlib_size);
	add_packed(".debug_b", ELFCOMPRESS_ZLIB, CONTENT + 1, zlib, zlib_size);
	add_packed(".debug_c", ELFCOMPRESS_ZLIB, CONTENT, zlib, zlib_size - 1);
	add_packed(".debug_d", 2, CONTENT - 1, zstd, zstd_size);
	add_packed(".debug_e", 2, CONTENT + 1, zstd, zstd_size);
	add_packed(".debug_f", 2, CONTENT, zstd, zstd_size - 1);
	add_packed(".debug_g", 3, CONTENT, zstd, zstd_size);
	add(".debug_h", SHF_COMPRESSED, "", 0, "short", 5);
	add(".zdebug_i", 0, "", 0, "ZLIB", 4);
	add_packed(".debug_huge", ELFCOMPRESS_ZLIB, UINT64_MAX, zlib, zlib_size);
	assert_int_equal(end(), 0);
	assert_int_equal(sections.count, 10);
	for (int which = 'a'; which <= 'i'; which++) {
		char name[] = ".debug_x";
		name[7] = (char)which;
		check_refused(name, TP_ERR_FORMAT, "cannot be unpacked");
	}
	check_refused(".debug_huge", TP_ERR_LIMIT, "18446744073709551615 bytes");
	tp_elf_sections_close(&sections);
	free(zlib);
	free(zstd);
}

// 60 MB of nothing are 60 kB packed: one such section may be, not several.
static void bombs(void **state)
{
	(void)state;
	const size_t large = (size_t)60 << 20;
	uint8_t *nothing = calloc(1, large);
	assert_non_null(nothing);
	size_t size;
	uint64_t told;
	begin();
	uint8_t *packed = packed_zlib(nothing, large, &size);
	add_packed(".debug_a", ELFCOMPRESS_ZLIB, large, packed, size);
	add_packed(".debug_b", ELFCOMPRESS_ZLIB, large, packed, size);
	assert_int_equal(end(), 0);
	assert_non_null(data_of(".debug_a", &told));
	check_refused(".debug_b", TP_ERR_LIMIT, "too large for a file of");
	tp_elf_sections_close(&sections);
	free(packed);
	free(nothing);
}

static void other_files(void **state)
{
	(void)state;
	assert_int_equal(tp_elf_sections_open(&sections, "no-such-file", &err), TP_ERR_SYSTEM);
	tp_elf_sections_close(&sections);
	assert_int_equal(tp_elf_sections_open(&sections, "/", &err), TP_ERR_FORMAT);
	tp_elf_sections_close(&sections);
	// Opening it would wait for a writer.
	unlink(FILE_NAME);
	assert_int_equal(mkfifo(FILE_NAME, 0600), 0);
	assert_int_equal(tp_elf_sections_open(&sections, FILE_NAME, &err), TP_ERR_FORMAT);
	tp_elf_sections_close(&sections);
	assert_int_equal(unlink(FILE_NAME), 0);
	FILE *out = fopen(FILE_NAME, "w");
	assert_non_null(out);
	for (int i = 0; i < 64; i++)
		fputc('x', out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(tp_elf_sections_open(&sections, FILE_NAME, &err), TP_ERR_FORMAT);
	tp_elf_sections_close(&sections);
	assert_int_equal(tp_elf_sections_open(&sections, "/proc/self/exe", &err), 0);
	assert_true(tp_elf_sections_find(&sections, ".debug_info") >= 0);
	tp_elf_sections_close(&sections);
}

static void any_damage_is_survived(void **state)
{
	(void)state;
	uint32_t seed = 1;
	for (int i = 0; i < 1000; i++) {
		size_t zlib_size;
		begin();
		uint8_t *zlib = packed_zlib(content, 500, &zlib_size);
		add(".debug_info", 0, "", 0, content, 100);
		add_packed(".debug_abbrev", ELFCOMPRESS_ZLIB, 500, zlib, zlib_size);
		free(zlib);
		assert_int_equal(end(), 0);
		tp_elf_sections_close(&sections);
		FILE *out = fopen(FILE_NAME, "r+");
		assert_non_null(out);
		fseek(out, 0, SEEK_END);
		const long size = ftell(out);
		for (int j = 0; j <= i % 4; j++) {
			seed = seed * 1664525 + 1013904223;
			fseek(out, (long)(seed >> 8) % size, SEEK_SET);
			fputc((int)(seed >> 24), out);
		}
		assert_int_equal(fclose(out), 0);
		if (tp_elf_sections_open(&sections, FILE_NAME, &err) == 0)
			for (uint32_t j = 0; j < sections.count; j++) {
				const uint8_t *data = tp_elf_sections_data(&sections, j, &err);
				const uint64_t length = sections.sections[j].size;
				volatile uint8_t last = data && length ? data[length - 1] : 0;
				(void)last;
			}
		tp_elf_sections_close(&sections);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_packing),
	    cmocka_unit_test(lies),
	    cmocka_unit_test(bombs),
	    cmocka_unit_test(other_files),
	    cmocka_unit_test(any_damage_is_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
