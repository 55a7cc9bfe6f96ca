// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbols that are kept by build ID: they are read back unchanged, damaged ones are not used, and
// their size has a limit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/symbols/module.h"

static const uint8_t id[20] = {
    0xab, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 0xff};
static const char id_file[] = "/teeperf/ab0102030405060708090a0b0c0d0e0f101112ff.symbols";
static char folder[2200];
static char path[8192];
static struct tp_arena arena;
static struct tp_symbol_cache cache;
static struct tp_err err;

static const struct tp_module_symbol symbols[] = {
    {.address = 0x1000, .name = "main", .linkage = "main", .file = "a.c", .line = 7},
    {.address = 0x1010, .name = "n::f(int)", .linkage = "_ZN1n1fEi", .file = "a.c", .line = 9},
    {.address = 0x1020}, // nothing is known to be there
    {.address = UINT64_MAX, .name = "last", .linkage = "last", .file = NULL, .line = 0},
};
enum { COUNT = sizeof(symbols) / sizeof(symbols[0]) };

static int set_up(void **state)
{
	(void)state;
	char here[2048];
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(folder, sizeof(folder), "%s/u_symbol_cache.tmp/deep", here);
	snprintf(path, sizeof(path), "%s%s", folder, id_file);
	assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
	unlink(path);
	return 0;
}

static int read_cache(void)
{
	tp_arena_init(&arena);
	memset(&err, 0, sizeof(err));
	return tp_symbol_cache_read(&cache, id, sizeof(id), &arena, &err);
}

static void same_text(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_true(!a && !b);
}

static void comes_back(void **state)
{
	(void)state;
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, 0);
	tp_arena_release(&arena);
	tp_symbol_cache_write(symbols, COUNT, id, sizeof(id));
	struct stat info;
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, COUNT);
	for (int i = 0; i < COUNT; i++) {
		const struct tp_module_symbol found = tp_symbol_cache_get(&cache, (uint32_t)i);
		assert_int_equal(found.address, symbols[i].address);
		same_text(found.name, symbols[i].name);
		same_text(found.linkage, symbols[i].linkage);
		same_text(found.file, symbols[i].file);
		assert_int_equal(found.line, symbols[i].line);
	}
	tp_arena_release(&arena);
	// Another one in its place, and none.
	tp_symbol_cache_write(symbols + 1, 1, id, sizeof(id));
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, 1);
	tp_arena_release(&arena);
	tp_symbol_cache_write(symbols, 0, id, sizeof(id));
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, 0);
	tp_arena_release(&arena);
}

static void other_ids(void **state)
{
	(void)state;
	uint8_t other[20];
	memcpy(other, id, sizeof(id));
	other[0] = 0xac;
	tp_symbol_cache_write(symbols, COUNT, id, sizeof(id));
	// A file under another name is not believed.
	char wrong[8192];
	snprintf(wrong, sizeof(wrong), "%s", path);
	memcpy(strstr(wrong, "/teeperf/ab"), "/teeperf/ac", 11);
	assert_int_equal(rename(path, wrong), 0);
	tp_arena_init(&arena);
	assert_int_equal(
	    tp_symbol_cache_read(&cache, other, sizeof(other), &arena, &err), TP_ERR_FORMAT);
	assert_int_equal(cache.count, 0);
	assert_int_equal(unlink(wrong), 0);
	// Too short to be unique, too long to be one.
	tp_symbol_cache_write(symbols, COUNT, id, 7);
	assert_int_equal(tp_symbol_cache_read(&cache, id, 7, &arena, &err), 0);
	assert_int_equal(cache.count, 0);
	assert_int_equal(tp_symbol_cache_read(&cache, id, 65, &arena, &err), 0);
	tp_arena_release(&arena);
}

static size_t load(uint8_t *bytes, size_t room)
{
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	const size_t size = fread(bytes, 1, room, file);
	assert_int_equal(fclose(file), 0);
	return size;
}

static void store(const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

// Each bit turned and each length: never more than refused.
static void damage(void **state)
{
	(void)state;
	uint8_t bytes[4096];
	tp_symbol_cache_write(symbols, COUNT, id, sizeof(id));
	const size_t size = load(bytes, sizeof(bytes));
	assert_in_range(size, 200, sizeof(bytes) - 1);
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= (uint8_t)(1 << i % 8);
		store(bytes, size);
		assert_int_equal(read_cache(), TP_ERR_FORMAT);
		assert_non_null(strstr(err.what, "damaged"));
		assert_int_equal(cache.count, 0);
		tp_arena_release(&arena);
		bytes[i] ^= (uint8_t)(1 << i % 8);
		store(bytes, i);
		assert_int_equal(read_cache(), TP_ERR_FORMAT);
		tp_arena_release(&arena);
	}
	store(bytes, size);
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, COUNT);
	tp_arena_release(&arena);
}

// What a forger would write, with a checksum that is right: names that steer terminals, wrong
// order.
static void forged(void **state)
{
	(void)state;
	static const char *const bad[] = {"a\x1b[0m", "a\nb", "\x7f", "\xc2\x9b"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct tp_module_symbol symbol = {
		    .name = bad[i], .linkage = "x", .file = "y"};
		tp_symbol_cache_write(&symbol, 1, id, sizeof(id));
		assert_int_equal(read_cache(), TP_ERR_FORMAT);
		tp_arena_release(&arena);
	}
	const struct tp_module_symbol twice[] = {symbols[1], symbols[0]};
	tp_symbol_cache_write(twice, 2, id, sizeof(id));
	assert_int_equal(read_cache(), TP_ERR_FORMAT);
	tp_arena_release(&arena);
	const struct tp_module_symbol same[] = {symbols[1], symbols[1]};
	tp_symbol_cache_write(same, 2, id, sizeof(id));
	assert_int_equal(read_cache(), TP_ERR_FORMAT);
	tp_arena_release(&arena);
	// Letters beyond ASCII are fine.
	const struct tp_module_symbol good = {
	    .name = "\xc3\xa4", .linkage = "x", .file = "\xc2\xa0"};
	tp_symbol_cache_write(&good, 1, id, sizeof(id));
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, 1);
	tp_arena_release(&arena);
}

// Large files that were not used for long make room; others in the folder are not ours.
static void room(void **state)
{
	(void)state;
	static const char *const names[] = {
	    "00.symbols", "01.symbols", "02.symbols.x1y2z3", "other"};
	char other[4][4200];
	tp_symbol_cache_write(symbols, COUNT, id, sizeof(id));
	for (int i = 0; i < 4; i++) {
		snprintf(other[i], sizeof(other[i]), "%s/teeperf/%s", folder, names[i]);
		const int fd = open(other[i], O_CREAT | O_WRONLY | O_TRUNC, 0600);
		assert_true(fd >= 0);
		assert_int_equal(ftruncate(fd, (off_t)TP_SYMBOL_CACHE_MAX * 2 / 5), 0);
		const struct timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
		assert_int_equal(futimens(fd, times), 0);
		close(fd);
	}
	tp_symbol_cache_write(symbols, COUNT, id, sizeof(id));
	assert_int_equal(access(other[0], F_OK), -1);
	assert_int_equal(access(other[1], F_OK), 0);
	assert_int_equal(access(other[2], F_OK), 0);
	assert_int_equal(access(other[3], F_OK), 0);
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, COUNT);
	tp_arena_release(&arena);
	for (int i = 1; i < 4; i++)
		unlink(other[i]);
}

static void places(void **state)
{
	(void)state;
	// Below a file there is no folder; nothing happens.
	assert_int_equal(setenv("XDG_CACHE_HOME", "/dev/null", 1), 0);
	tp_symbol_cache_write(symbols, COUNT, id, sizeof(id));
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, 0);
	tp_arena_release(&arena);
	// Relative ones do not count (XDG), then HOME does.
	assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
	assert_int_equal(setenv("HOME", folder, 1), 0);
	tp_symbol_cache_write(symbols, COUNT, id, sizeof(id));
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, COUNT);
	tp_arena_release(&arena);
	snprintf(path, sizeof(path), "%s/.cache%s", folder, id_file);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unsetenv("HOME"), 0);
	tp_symbol_cache_write(symbols, COUNT, id, sizeof(id));
	assert_int_equal(read_cache(), 0);
	assert_int_equal(cache.count, 0);
	tp_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(comes_back, set_up),
	    cmocka_unit_test_setup(other_ids, set_up),
	    cmocka_unit_test_setup(damage, set_up),
	    cmocka_unit_test_setup(forged, set_up),
	    cmocka_unit_test_setup(room, set_up),
	    cmocka_unit_test_setup(places, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
