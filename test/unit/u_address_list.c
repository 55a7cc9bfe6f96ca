// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses: which texts are some, lines that come in pieces, and the order that sorting makes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>

#include "cli/command/address_list.h"

static void texts(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t address;
	} good[] = {
	    {"0", 0},
	    {"1aF", 0x1af},
	    {"0x10", 0x10},
	    {"0X00000000000000000000ff", 0xff},
	    {"ffffffffffffffff", UINT64_MAX},
	    {"+7", 7},
	};
	static const char *const bad[] = {
	    "", "0x", "g", "12g", "1 2", " 1", "-1", "1\r", "10000000000000000", "0x:", "@", "`"};
	struct tp_address_list list = {0};
	struct tp_err err;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(tp_address_list_add_text(&list, good[i].text, &err), 0);
		assert_true(list.items[i] == good[i].address);
	}
	const uint32_t count = list.count;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char expected[64];
		snprintf(expected, sizeof(expected), "'%s' is not a hexadecimal address", bad[i]);
		assert_int_equal(tp_address_list_add_text(&list, bad[i], &err), TP_ERR_SYNTAX);
		assert_string_equal(err.what, expected);
	}
	assert_int_equal(list.count, count);
	tp_address_list_release(&list);
}

struct written {
	const char *text;
	size_t size;
	size_t piece;
	int fd;
};

static void *write_pieces(void *argument)
{
	const struct written *it = argument;
	for (size_t at = 0; at < it->size; at += it->piece) {
		const size_t left = it->size - at;
		if (write(it->fd, it->text + at, left < it->piece ? left : it->piece) < 0)
			break;
	}
	close(it->fd);
	return NULL;
}

// What reading TEXT says that comes PIECE bytes at a time.
static int read_pieces(
    struct tp_address_list *list, const char *text, size_t size, size_t piece, struct tp_err *err)
{
	int fds[2];
	pthread_t thread;
	assert_int_equal(pipe(fds), 0);
	struct written it = {text, size, piece, fds[1]};
	*list = (struct tp_address_list){0};
	assert_int_equal(pthread_create(&thread, NULL, write_pieces, &it), 0);
	const int code = tp_address_list_read(list, fds[0], err);
	char rest[4096];
	while (read(fds[0], rest, sizeof(rest)) > 0)
		;
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(fds[0]);
	return code;
}

static void lines(void **state)
{
	(void)state;
	enum { COUNT = 20000 };
	char *text = malloc(COUNT * 12);
	assert_non_null(text);
	size_t size = 0;
	for (uint32_t i = 0; i < COUNT; i++)
		size += (size_t)sprintf(text + size, i % 3 ? "%x\n" : "0x%x\n", i * 977);
	struct tp_address_list list;
	struct tp_err err;
	// With the end of the last line and without; 7 and 70000 fall at all places of a line, and
	// of a block.
	for (int i = 0; i < 4; i++) {
		assert_int_equal(
		    read_pieces(&list, text, size - (size_t)(i % 2), i / 2 ? 7 : 70000, &err), 0);
		assert_int_equal(list.count, COUNT);
		for (uint32_t j = 0; j < COUNT; j++)
			assert_true(list.items[j] == (uint64_t)j * 977);
		tp_address_list_release(&list);
	}
	assert_int_equal(read_pieces(&list, "1\n\n2\n", 5, 5, &err), TP_ERR_SYNTAX);
	assert_string_equal(err.what, "'' is not a hexadecimal address");
	tp_address_list_release(&list);
	assert_int_equal(read_pieces(&list, "1\n2\0z\n", 6, 6, &err), TP_ERR_SYNTAX);
	tp_address_list_release(&list);
	assert_int_equal(read_pieces(&list, "", 0, 1, &err), 0);
	assert_int_equal(list.count, 0);
	// A line that is longer than one read is not an address.
	memset(text, 'x', COUNT * 12);
	assert_int_equal(read_pieces(&list, text, COUNT * 12, 4096, &err), TP_ERR_SYNTAX);
	tp_address_list_release(&list);
	free(text);
}

static void sorted(void **state)
{
	(void)state;
	for (int bits = 1; bits <= 64; bits += 7) {
		struct tp_address_list list = {0};
		uint64_t value = 88172645463325252;
		tp_address_list_sort(&list);
		assert_int_equal(list.count, 0);
		for (int i = 0; i < 3000; i++) {
			value ^= value << 13;
			value ^= value >> 7;
			value ^= value << 17;
			assert_true(tp_address_list_add(&list, value >> (64 - bits)));
			assert_true(i % 5 || tp_address_list_add(&list, value >> (64 - bits)));
		}
		const uint32_t before = list.count;
		uint64_t sum = 0;
		for (uint32_t i = 0; i < before; i++)
			sum |= list.items[i];
		tp_address_list_sort(&list);
		assert_true(list.count <= 3000 && list.count && (bits < 40 || list.count == 3000));
		for (uint32_t i = 1; i < list.count; i++)
			assert_true(list.items[i - 1] < list.items[i]);
		for (uint32_t i = 0; i < list.count; i++)
			sum &= ~list.items[i];
		assert_true(sum == 0);
		tp_address_list_release(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(texts),
	    cmocka_unit_test(lines),
	    cmocka_unit_test(sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
