// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module's file among others in a folder: this very program under several names.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/symbols/files.h"

#define UUID "00112233-4455-6677-8899-aabbccddeeff"

static struct tp_problems notes;
static struct tp_symbol_folder folder;
static struct teeperf_module module;

static void put(const char *path)
{
	char self[4096];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(length > 0);
	self[length] = '\0';
	unlink(path);
	assert_int_equal(symlink(self, path), 0);
}

static int setup(void **state)
{
	struct tp_elf_file elf;
	(void)state;
	mkdir("dir", 0700);
	memset(&notes, 0, sizeof(notes));
	memset(&module, 0, sizeof(module));
	memset(&folder, 0, sizeof(folder));
	assert_int_equal(tp_elf_file_identify(&elf, "/proc/self/exe", NULL), 0);
	if (!elf.build_id_size || elf.build_id_size > sizeof(module.build_id))
		exit(77); // a compiler that leaves none
	memcpy(module.build_id, elf.build_id, elf.build_id_size);
	module.build_id_size = elf.build_id_size;
	folder.module = &module;
	folder.notes = &notes;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tp_elf_file_release(&folder.elf);
	return system("rm -rf dir");
}

static void test_by_any_name(void **state)
{
	(void)state;
	close(open("dir/0", O_CREAT | O_WRONLY, 0600));
	mkdir("dir/1", 0700);
	put("dir/z");
	tp_symbol_folder_look(&folder, "dir");
	assert_true(folder.found);
	assert_string_equal(folder.path, "dir/z");
	assert_true(folder.elf.symbol_count > 10);
	assert_int_equal(notes.count, 0);
}

static void test_by_uuid_and_path(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i++)
		module.uuid[i] = (uint8_t)(0x11 * i);
	strcpy(module.path, "/lib/name");
	put("dir/a");
	put("dir/name");
	put("dir/" UUID ".elf");
	tp_symbol_folder_look(&folder, "dir");
	assert_string_equal(folder.path, "dir/" UUID ".elf");
	assert_int_equal(notes.count, 0);
}

static void test_another_build(void **state)
{
	(void)state;
	module.build_id[0]++;
	strcpy(module.path, "/lib/name");
	put("dir/a");
	put("dir/name");
	tp_symbol_folder_look(&folder, "dir");
	assert_false(folder.found);
	assert_int_equal(notes.count, 1);
	assert_string_equal(notes.kept[0].file, "dir/name");
	assert_non_null(strstr(notes.kept[0].what, "another build than the recorded one"));
}

static void test_unknown(void **state)
{
	(void)state;
	// Nothing is known of it: no file is taken for its own, whatever it is called.
	module.build_id_size = 0;
	module.uuid[15] = 1;
	strcpy(module.path, "/lib/name");
	put("dir/name");
	put("dir/00000000-0000-0000-0000-000000000001.elf");
	tp_symbol_folder_look(&folder, "dir");
	assert_false(folder.found);
	assert_int_equal(notes.count, 0);
	// Nor is a folder that is not there a problem.
	module.code_hash = 1;
	tp_symbol_folder_look(&folder, "nowhere");
	assert_false(folder.found);
	assert_int_equal(notes.count, 0);
}

static void test_too_many(void **state)
{
	(void)state;
	char name[32];
	for (int i = 0; i < TP_FOLDER_FILES + 1; i++) {
		snprintf(name, sizeof(name), "dir/%05d", i);
		close(open(name, O_CREAT | O_WRONLY, 0600));
	}
	tp_symbol_folder_look(&folder, "dir");
	assert_false(folder.found);
	assert_int_equal(notes.count, 1);
	assert_non_null(strstr(notes.kept[0].what, "the first 1024 were examined"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_by_any_name, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_by_uuid_and_path, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_another_build, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unknown, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
