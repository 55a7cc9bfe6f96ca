// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests analyzer/symbols/lines.c: a file that crashes libdwarf costs its lines and nothing else.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include "analyzer/symbols/elf/file.h"
#include "analyzer/symbols/lines.h"

__attribute__((noinline)) static int wanted_one(int x)
{
	return x + 1;
}

enum { WANTED_LINE = __LINE__ - 5 };

// The address of the function NAME in the file of this program.
static uint64_t address_of(const char *name)
{
	struct tp_elf_file elf;
	struct tp_err err;
	uint64_t address = 0;
	assert_int_equal(tp_elf_file_read(&elf, "/proc/self/exe", &err), 0);
	for (uint32_t i = 0; i < elf.symbol_count; i++)
		if (strcmp(elf.symbols[i].name, name) == 0)
			address = elf.symbols[i].address;
	tp_elf_file_release(&elf);
	return address;
}

static int64_t find(const char *path, struct tp_source_place *places, uint32_t count,
    struct tp_arena *arena, struct tp_err *err)
{
	const struct tp_dwarf_request request = {.path = path};
	struct tp_symbol_lines lines;
	const int code = tp_symbol_lines_start(&lines, &request, places, count, err);
	return code ? code : tp_symbol_lines_finish(&lines, arena, NULL, err);
}

static void check_own(void)
{
	struct tp_arena arena;
	struct tp_err err;
	struct tp_source_place places[] = {{.address = 1}, {.address = address_of("wanted_one")}};
	tp_arena_init(&arena);
	assert_int_equal(find("/proc/self/exe", places, 2, &arena, &err), 1);
	assert_null(places[0].file);
	assert_non_null(places[1].file);
	const char *slash = strrchr(places[1].file, '/');
	assert_string_equal(slash ? slash + 1 : places[1].file, "u_symbol_lines.c");
	assert_int_equal(places[1].line, WANTED_LINE);
	tp_arena_release(&arena);
}

static void test_finds(void **state)
{
	(void)state;
	assert_int_equal(wanted_one(1), 2);
	check_own();
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // nobody is left
}

// With SIGCHLD ignored nobody learns how a process has ended.
static void test_without_sigchld(void **state)
{
	(void)state;
	void (*const old)(int) = signal(SIGCHLD, SIG_IGN);
	check_own();
	signal(SIGCHLD, old);
}

static void test_errors(void **state)
{
	(void)state;
	struct tp_arena arena;
	struct tp_err err;
	struct tp_source_place place = {.address = 4096};
	tp_arena_init(&arena);
	assert_int_equal(find("no-such-file", &place, 1, &arena, &err), TP_ERR_SYSTEM);
	assert_null(place.file);
	tp_arena_release(&arena);
}

// Each of them ended the process that looked at it, with Debian's libdwarf 20210528.
static void test_survives(void **state)
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
		struct tp_arena arena;
		struct tp_err err = {0};
		struct tp_source_place places[8] = {0};
		uint32_t wanted = 0;
		if (!strstr(entry->d_name, "-libdwarf"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		assert_int_equal(tp_elf_file_read(&elf, path, &err), 0);
		for (; wanted < 8 && wanted < elf.symbol_count; wanted++)
			places[wanted].address = elf.symbols[wanted].address;
		tp_arena_init(&arena);
		const int64_t found = find(path, places, wanted, &arena, &err);
		// Another libdwarf may bear it.
		if (found < 0) {
			assert_int_equal(found, TP_ERR_FORMAT);
			assert_non_null(strstr(err.what, "debug information"));
			for (uint32_t i = 0; i < wanted; i++)
				assert_null(places[i].file);
		}
		tp_arena_release(&arena);
		tp_elf_file_release(&elf);
		count++;
	}
	closedir(dir);
	assert_in_range(count, 2, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_finds),
	    cmocka_unit_test(test_without_sigchld),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_survives),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
