// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of functions: which module an address belongs to, the note where there is no name, and that
// this program's own functions are found with any load bias.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/symbols/elf/file.h"
#include "analyzer/symbols/symbols.h"

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_arena arena;
static struct tp_problems notes;
static struct tp_symbol symbols[8];
static struct tp_err err;

static void resolve(const char *text, const uint32_t *names, uint32_t count)
{
	static const char *const dirs[] = {"no-such-folder"};
	const struct tp_symbol_options options = {.debug_dirs = dirs, .debug_dir_count = 1};
	tp_buf_init(&file);
	tp_arena_init(&arena);
	memset(&notes, 0, sizeof(notes));
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	struct tp_symbol_key keys[8];
	for (uint32_t i = 0; i < count; i++)
		keys[i] = (struct tp_symbol_key){.address = names[i], .low_half = true};
	assert_int_equal(
	    tp_symbols_resolve(&trace, &options, keys, count, symbols, &arena, &notes, &err), 0);
}

static void end(void)
{
	tp_tracefile_close(&trace);
	tp_arena_release(&arena);
	tp_buf_release(&file);
}

static void check(uint32_t index, const char *name, const char *linkage, const char *module,
    const char *source, uint64_t line, uint64_t address)
{
	assert_string_equal(symbols[index].name, name);
	assert_string_equal(symbols[index].linkage, linkage);
	assert_string_equal(symbols[index].module, module);
	assert_string_equal(symbols[index].file, source);
	assert_int_equal(symbols[index].line, line);
	assert_int_equal(symbols[index].address, address);
}

static void names_of_the_trace_itself(void **state)
{
	(void)state;
	static const uint32_t names[] = {0x401000, 0x401010, 0x401020};
	resolve("symbols\n"
		"	symbol 0x401000 _ZN1a1bEv file=\"a.cc\" line=7\n"
		"	symbol 0x401010 \"bad\\x1b[0m\\x7f\"\n"
		"	line \"malformed\"\n"
		"end\n",
	    names, 3);
	check(0, "a::b()", "_ZN1a1bEv", "", "a.cc", 7, 0x401000);
	// No byte of a name steers a terminal.
	check(1, "bad?[0m?", "bad?[0m?", "", "", 0, 0x401010);
	check(2, "0x401020", "", "", "", 0, 0x401020);
	assert_int_equal(notes.count, 2);
	assert_string_equal(notes.kept[0].what,
	    "1 lines of the symbols section are malformed; the first is line 3");
	assert_string_equal(
	    notes.kept[1].what, "1 functions are in no module: they are shown by address");
	end();
}

static void places_in_modules(void **state)
{
	(void)state;
	static const uint32_t names[] = {0x00001000, 0x10000000, 0x7fff0000, 0xfffff000};
	resolve("modules\n"
		// Straddles a multiple of 4 GiB.
		"	module bias=0x7effffff0000 start=0x7efffffff000 end=0x7f0000002000 "
		"path=\"/gone/libwide.so\"\n"
		"	module bias=0x10000000 start=0x10000000 end=0x10001000 path=\"\"\n"
		// 4 GiB apart: records cannot tell them apart.
		"	module bias=0 start=0x7fff0000 end=0x7fff1000 path=\"/one\"\n"
		"	module bias=0 start=0x17fff0000 end=0x17fff1000 path=\"/two\"\n"
		"end\n",
	    names, 4);
	check(0, "libwide.so+0x11000", "", "libwide.so", "", 0, 0x11000);
	check(1, "?+0x0", "", "", "", 0, 0);
	check(2, "0x7fff0000", "", "", "", 0, 0x7fff0000);
	check(3, "libwide.so+0xf000", "", "libwide.so", "", 0, 0xf000);
	assert_int_equal(notes.count, 3);
	assert_string_equal(notes.kept[0].file, "/gone/libwide.so");
	assert_string_equal(notes.kept[0].what,
	    "cannot open it: No such file or directory; its functions have no names");
	end();
}

// This program as a module of a trace, with BIAS, and the build ID that it has or another one.
static void resolve_self(uint64_t bias, bool right, const char *path)
{
	char text[2048];
	struct tp_elf_file elf;
	assert_int_equal(tp_elf_file_read(&elf, path, &err), 0);
	uint64_t address = 0;
	for (uint32_t i = 0; i < elf.symbol_count; i++)
		if (strcmp(elf.symbols[i].name, "resolve_self") == 0)
			address = elf.symbols[i].address;
	assert_int_not_equal(address, 0);
	int at = snprintf(text, sizeof(text),
	    "modules\n	module bias=0x%" PRIx64 " start=0x%" PRIx64 " end=0x%" PRIx64
	    " path=\"%s\" build-id=",
	    bias, bias, bias + 0x1000000, path);
	for (uint32_t i = 0; i < elf.build_id_size; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%02x",
		    right ? elf.build_id[i] : elf.build_id[i] ^ 1);
	// Without an ID nothing can be said about it.
	if (!elf.build_id_size && !right)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "0102");
	snprintf(text + at, sizeof(text) - (size_t)at, "\nend\n");
	tp_elf_file_release(&elf);
	const uint32_t name = (uint32_t)(bias + address);
	resolve(text, &name, 1);
	assert_int_equal(symbols[0].address, address);
}

static void this_program(void **state)
{
	(void)state;
	char path[1024] = "";
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	static const uint64_t biases[] = {0, UINT64_C(0x555555554000), UINT64_C(0x7fffff800000)};
	for (size_t i = 0; i < sizeof(biases) / sizeof(biases[0]); i++) {
		resolve_self(biases[i], true, path);
		assert_string_equal(symbols[0].name, "resolve_self");
		assert_non_null(strstr(symbols[0].file, "u_symbols.c"));
		assert_int_not_equal(symbols[0].line, 0);
		assert_int_equal(notes.count, 0);
		end();
		// Another file at its path: no names rather than wrong ones.
		resolve_self(biases[i], false, path);
		assert_non_null(strstr(symbols[0].name, "+0x"));
		assert_string_equal(symbols[0].linkage, "");
		assert_string_equal(symbols[0].file, "");
		assert_int_equal(notes.count, 1);
		assert_non_null(strstr(notes.kept[0].what, "its build ID differs"));
		end();
	}
}

static void no_functions(void **state)
{
	(void)state;
	resolve("modules\n	module start=0x1000 end=0x2000 path=\"/gone\"\nend\n", NULL, 0);
	assert_int_equal(notes.count, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_of_the_trace_itself),
	    cmocka_unit_test(places_in_modules),
	    cmocka_unit_test(this_program),
	    cmocka_unit_test(no_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
