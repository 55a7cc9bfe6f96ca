// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Source lines of this very program, which is compiled with -g; and of files without or with
// damaged debug information.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/symbols/elf/file.h"
#include "analyzer/symbols/lines.h"

static const int first_line = __LINE__ + 1;
__attribute__((noinline, used)) static int one(int x)
{
	__asm__ volatile("");
	return x + 1;
}
static const int second_line = __LINE__ + 1;
__attribute__((noinline, used)) static int two(int x)
{
	__asm__ volatile("");
	return one(x) + 1;
}

static uint64_t address_of(const struct tp_elf_file *elf, const char *name)
{
	for (uint32_t i = 0; i < elf->symbol_count; i++)
		if (strcmp(elf->symbols[i].name, name) == 0)
			return elf->symbols[i].address;
	fail_msg("no symbol %s", name);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = ((const struct tp_source_place *)a)->address;
	const uint64_t y = ((const struct tp_source_place *)b)->address;
	return x < y ? -1 : x > y;
}

// The two functions above, sorted, and two addresses where no function begins.
static void make_places(struct tp_source_place places[4])
{
	struct tp_elf_file elf;
	struct tp_err err;
	assert_int_equal(tp_elf_file_read(&elf, "/proc/self/exe", &err), 0);
	const uint64_t address = address_of(&elf, "one");
	memset(places, 0, 4 * sizeof(*places));
	places[0].address = address;
	places[1].address = address_of(&elf, "two");
	places[2].address = address + 1;
	places[3].address = UINT64_MAX;
	qsort(places, 4, sizeof(*places), compare);
	tp_elf_file_release(&elf);
}

static void check_place(const struct tp_source_place *place, int line)
{
	assert_non_null(place->file);
	const char *slash = strrchr(place->file, '/');
	assert_string_equal(slash ? slash + 1 : place->file, "u_symbol_dwarf.c");
	assert_int_equal(place->line, line);
}

static bool slowly;

static int64_t find(const char *path, struct tp_source_place *places, uint32_t count,
    struct tp_arena *arena, struct tp_err *err)
{
	const struct tp_dwarf_request request = {.path = path, .slowly = slowly};
	return tp_symbol_dwarf_find(&request, places, count, arena, NULL, err);
}

static void lines_of_this_program(void **state)
{
	(void)state;
	struct tp_source_place places[4];
	struct tp_arena arena;
	struct tp_err err;
	tp_arena_init(&arena);
	assert_int_equal(two(1), 3);
	make_places(places);
	assert_int_equal(find("/proc/self/exe", places, 4, &arena, &err), 2);
	const bool in_order = places[2].file != NULL;
	int found = 0;
	for (int i = 0; i < 4; i++)
		if (places[i].file)
			check_place(&places[i], found++ == !in_order ? first_line : second_line);
	assert_int_equal(found, 2);
	assert_null(places[3].file);
	tp_arena_release(&arena);
}

// The quick search finds what libdwarf finds, for all functions of this program.
static void quickly_as_slowly(void **state)
{
	(void)state;
	struct tp_elf_file elf;
	struct tp_arena arena;
	struct tp_err err;
	assert_int_equal(tp_elf_file_read(&elf, "/proc/self/exe", &err), 0);
	struct tp_source_place *quick = calloc(elf.symbol_count, sizeof(*quick));
	struct tp_source_place *slow = calloc(elf.symbol_count, sizeof(*slow));
	assert_true(quick && slow);
	for (uint32_t i = 0; i < elf.symbol_count; i++)
		quick[i].address = slow[i].address = elf.symbols[i].address;
	tp_arena_init(&arena);
	const int64_t found = find("/proc/self/exe", quick, elf.symbol_count, &arena, &err);
	slowly = true;
	assert_int_equal(find("/proc/self/exe", slow, elf.symbol_count, &arena, &err), found);
	slowly = false;
	assert_in_range(found, 60, elf.symbol_count);
	for (uint32_t i = 0; i < elf.symbol_count; i++) {
		assert_int_equal(quick[i].file != NULL, slow[i].file != NULL);
		if (!quick[i].file)
			continue;
		assert_string_equal(quick[i].file, slow[i].file);
		assert_int_equal(quick[i].line, slow[i].line);
		assert_int_equal(quick[i].unit, slow[i].unit);
	}
	tp_arena_release(&arena);
	tp_elf_file_release(&elf);
	free(quick);
	free(slow);
}

// Each part searches its own units, and all together find everything once.
static void in_parts(void **state)
{
	(void)state;
	struct tp_elf_file elf;
	struct tp_arena arena;
	struct tp_err err;
	struct tp_dwarf_request request = {.path = "/proc/self/exe", .parts = 3};
	assert_int_equal(tp_elf_file_read(&elf, "/proc/self/exe", &err), 0);
	struct tp_source_place *places = calloc(elf.symbol_count, sizeof(*places));
	assert_non_null(places);
	tp_arena_init(&arena);
	int64_t sum = 0;
	for (request.part = 0; request.part < 4; request.part++) {
		request.parts = request.part == 3 ? 1 : 3;
		memset(places, 0, elf.symbol_count * sizeof(*places));
		for (uint32_t i = 0; i < elf.symbol_count; i++)
			places[i].address = elf.symbols[i].address;
		const uint32_t part = request.part;
		request.part = part == 3 ? 0 : part;
		const int64_t found =
		    tp_symbol_dwarf_find(&request, places, elf.symbol_count, &arena, NULL, &err);
		request.part = part;
		assert_true(found > 0);
		for (uint32_t i = 0; i < elf.symbol_count && part < 3; i++)
			assert_true(!places[i].file || places[i].unit % 3 == part);
		if (part < 3)
			sum += found;
		else
			assert_int_equal(sum, found);
	}
	tp_arena_release(&arena);
	tp_elf_file_release(&elf);
	free(places);
}

static void files_without_debug_information(void **state)
{
	(void)state;
	struct tp_source_place place = {.address = 0x1000};
	struct tp_arena arena;
	struct tp_err err;
	tp_arena_init(&arena);
	assert_true(find("no-such-file", &place, 1, &arena, &err) <= 0);
	FILE *file = fopen("u_symbol_dwarf.tmp", "w");
	assert_non_null(file);
	fputs("no ELF file", file);
	assert_int_equal(fclose(file), 0);
	assert_true(find("u_symbol_dwarf.tmp", &place, 1, &arena, &err) <= 0);
	assert_null(place.file);
	tp_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_of_this_program),
	    cmocka_unit_test(quickly_as_slowly),
	    cmocka_unit_test(in_parts),
	    cmocka_unit_test(files_without_debug_information),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
