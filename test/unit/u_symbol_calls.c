// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls by line in this very program, which is compiled with -O2 -g; and files without debug
// information.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "analyzer/symbols/elf/file.h"
#include "analyzer/symbols/lines.h"

#define KEEP __attribute__((noinline, used)) static

// Other units know it.
int once(int x);
__attribute__((noinline)) int once(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}
KEEP int often(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 2;
}
KEEP int pointed(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 3;
}
KEEP int deep(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}
static inline __attribute__((always_inline)) int inner(int x)
{
	return deep(x + 1) ^ 1;
}
static inline __attribute__((always_inline)) int outer(int x)
{
	return inner(x) + 7;
}
KEEP int work(int x, int (*step)(int))
{
	int sum = once(x);
	sum += often(sum);
	sum ^= often(sum);
	sum += step(sum);
	sum -= outer(sum);
	__asm__ volatile("" : "+r"(sum));
	return sum;
}
enum { ONCE = __LINE__ - 8, OFTEN, AGAIN, POINTED, OUTER };

enum { FUNCTIONS = 5 };
static const char *const names[FUNCTIONS] = {"once", "often", "pointed", "deep", "work"};

static struct tp_arena arena;
static struct tp_err err;

static int compare(const void *a, const void *b)
{
	const uint64_t x = ((const struct tp_call_function *)a)->address;
	const uint64_t y = ((const struct tp_call_function *)b)->address;
	return x < y ? -1 : x > y;
}

// The functions of this program; `number` is that of the name.
static void list(struct tp_call_function functions[FUNCTIONS])
{
	struct tp_elf_file elf;
	int (*step)(int) = pointed;
	__asm__ volatile("" : "+r"(step));
	assert_int_not_equal(work(1, step), 0);
	assert_int_equal(tp_elf_file_read(&elf, "/proc/self/exe", &err), 0);
	memset(functions, 0, FUNCTIONS * sizeof(*functions));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		for (uint32_t j = 0; j < elf.symbol_count; j++)
			if (strcmp(elf.symbols[j].name, names[i]) == 0)
				functions[i].address = elf.symbols[j].address;
		assert_int_not_equal(functions[i].address, 0);
		functions[i].linkage = names[i];
		functions[i].number = i;
		functions[i].wanted = strcmp(names[i], "deep") != 0;
	}
	qsort(functions, FUNCTIONS, sizeof(*functions), compare);
	tp_elf_file_release(&elf);
}

static int find(const char *path, struct tp_call_function *functions, struct tp_call_sites *sites)
{
	const struct tp_dwarf_request request = {.path = path};
	return tp_symbol_calls_find(&request, functions, FUNCTIONS, sites, &arena, &err);
}

static void calls_of_this_program(void **state)
{
	(void)state;
	static const struct {
		uint64_t line;
		const char *callee;
		uint32_t inlined;
	} wanted[] = {
	    {ONCE, "once", 0}, {OFTEN, "often", 0}, {AGAIN, "often", 0}, {OUTER, "deep", 2}};
	struct tp_call_function functions[FUNCTIONS];
	struct tp_call_sites sites;
	tp_arena_init(&arena);
	list(functions);
	assert_int_equal(find("/proc/self/exe", functions, &sites), 0);
	assert_false(sites.cut);
	assert_int_equal(sites.count, sizeof(wanted) / sizeof(wanted[0]));
	for (uint32_t i = 0; i < sites.count; i++) {
		const struct tp_call_site *site = &sites.items[i];
		assert_string_equal(functions[site->caller].linkage, "work");
		assert_string_equal(functions[site->callee].linkage, wanted[i].callee);
		assert_int_equal(site->line, wanted[i].line);
		assert_int_equal(site->inlined_count, wanted[i].inlined);
		if (site->inlined_count) {
			assert_string_equal(site->inlined[0], "outer");
			assert_string_equal(site->inlined[1], "inner");
		}
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		assert_int_equal(functions[i].described, functions[i].wanted);
	tp_arena_release(&arena);
}

// By name a function is found only if it is the only one, and other units know it by that; not if
// it has code here, as 'once' has: then the one elsewhere is another.
static void callees_that_are_not_there(void **state)
{
	(void)state;
	struct tp_call_function functions[FUNCTIONS];
	struct tp_call_sites sites;
	tp_arena_init(&arena);
	list(functions);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		if (functions[i].number != 4)
			functions[i].address = TP_CALL_ELSEWHERE;
	qsort(functions, FUNCTIONS, sizeof(*functions), compare);
	assert_int_equal(find("/proc/self/exe", functions, &sites), 0);
	assert_int_equal(sites.count, 0);
	tp_arena_release(&arena);
}

static void nothing_there(void **state)
{
	(void)state;
	struct tp_call_function functions[FUNCTIONS];
	struct tp_call_sites sites;
	tp_arena_init(&arena);
	list(functions);
	assert_int_equal(find("no-such-file", functions, &sites), TP_ERR_SYSTEM);
	assert_int_equal(sites.count, 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		functions[i].address = i + 1;
	assert_int_equal(find("/proc/self/exe", functions, &sites), 0);
	assert_int_equal(sites.count, 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		assert_false(functions[i].described);
	tp_arena_release(&arena);
}

// What libdwarf crashes on costs the calls and no more.
static void damaged_files(void **state)
{
	(void)state;
	char folder[4096];
	const char *root = getenv("TEEPERF_SOURCE");
	assert_non_null(root);
	snprintf(folder, sizeof(folder), "%s/test/fuzz/corpus/elf", root);
	DIR *dir = opendir(folder);
	assert_non_null(dir);
	int count = 0;
	for (struct dirent *entry; (entry = readdir(dir));) {
		char path[8192];
		struct tp_elf_file elf;
		struct tp_call_sites sites;
		if (!strstr(entry->d_name, "-libdwarf"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		assert_int_equal(tp_elf_file_read(&elf, path, &err), 0);
		struct tp_call_function *functions = calloc(elf.symbol_count, sizeof(*functions));
		assert_non_null(functions);
		for (uint32_t i = 0; i < elf.symbol_count; i++)
			functions[i] = (struct tp_call_function){.address = elf.symbols[i].address,
			    .linkage = elf.symbols[i].name,
			    .wanted = true};
		const struct tp_dwarf_request request = {.path = path};
		tp_arena_init(&arena);
		const int code = tp_symbol_calls_find(
		    &request, functions, elf.symbol_count, &sites, &arena, &err);
		assert_true(code == 0 || code == TP_ERR_FORMAT);
		assert_true(code == 0 || sites.count == 0);
		tp_arena_release(&arena);
		tp_elf_file_release(&elf);
		free(functions);
		count++;
	}
	closedir(dir);
	assert_in_range(count, 2, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(calls_of_this_program),
	    cmocka_unit_test(callees_that_are_not_there),
	    cmocka_unit_test(nothing_there),
	    cmocka_unit_test(damaged_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
