// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses of functions: read, and sorted.
#include "address_list.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t)64 << 10)
#define DIGIT_BITS 11 // that one pass of sorting looks at

void tp_address_list_release(struct tp_address_list *list)
{
	free(list->items);
	*list = (struct tp_address_list){0};
}

bool tp_address_list_add(struct tp_address_list *list, uint64_t address)
{
	if (!TP_GROW(list->items, list->room, list->count + UINT64_C(1)))
		return false;
	list->items[list->count++] = address;
	return true;
}

// Of a hexadecimal digit; 16: it is none.
static inline uint32_t digit(char c)
{
	const uint32_t number = (uint32_t)(unsigned char)c - '0';
	const uint32_t letter = ((uint32_t)(unsigned char)c | 0x20) - 'a';
	return number < 10 ? number : letter < 6 ? letter + 10 : 16;
}

// TEXT has SIZE bytes and a NUL behind. What strtoull takes is an address, but for blanks and a
// minus sign; it is asked about the unusual ones only.
static bool parse(const char *text, size_t size, uint64_t *address)
{
	const bool prefixed = size > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
	uint64_t value = 0;
	size_t i = prefixed ? 2 : 0;
	const size_t most = i + 16;
	for (uint32_t next; i < size && i < most && (next = digit(text[i])) < 16; i++)
		value = value << 4 | next;
	if (size && i == size) {
		*address = value;
		return true;
	}
	char *end;
	errno = 0;
	*address = strtoull(text, &end, 16);
	return !errno && end != text && end == text + size && !strpbrk(text, " \t-");
}

static int add_line(struct tp_address_list *list, const char *text, size_t size, struct tp_err *err)
{
	uint64_t address;
	if (!parse(text, size, &address))
		return tp_err_set(
		    err, TP_ERR_SYNTAX, NULL, "'%s' is not a hexadecimal address", text);
	if (!tp_address_list_add(list, address))
		return tp_err_memory(err, NULL);
	return 0;
}

int tp_address_list_add_text(struct tp_address_list *list, const char *text, struct tp_err *err)
{
	return add_line(list, text, strlen(text), err);
}

int tp_address_list_read(struct tp_address_list *list, int fd, struct tp_err *err)
{
	char block[BLOCK + 1];
	size_t kept = 0; // of a line that has not ended yet
	for (;;) {
		const ssize_t got = read(fd, block + kept, BLOCK - kept);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tp_err_system(err, errno, "standard input", "cannot read it");
		char *at = block;
		char *end = block + kept + got;
		for (char *stop; (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
			*stop = '\0';
			const int code = add_line(list, at, (size_t)(stop - at), err);
			if (code)
				return code;
		}
		kept = (size_t)(end - at);
		*end = '\0';
		// A line without an end is the last one, or so long that it is none.
		if (kept && (!got || kept == BLOCK))
			return add_line(list, at, kept, err);
		if (!got)
			return 0;
		memmove(block, at, kept);
	}
}

// Digit by digit from below, those that all have in common left out. False: no memory for it.
static bool sort_digits(struct tp_address_list *list)
{
	uint64_t *other = malloc((size_t)list->room * sizeof(*other));
	uint64_t differ = 0;
	if (!other)
		return false;
	for (uint32_t i = 1; i < list->count; i++)
		differ |= list->items[i] ^ list->items[0];
	for (uint32_t shift = 0; shift < 64 && differ >> shift; shift += DIGIT_BITS) {
		const uint64_t mask = (1U << DIGIT_BITS) - 1;
		uint32_t starts[1 << DIGIT_BITS] = {0};
		if (!(differ >> shift & mask))
			continue;
		for (uint32_t i = 0; i < list->count; i++)
			starts[list->items[i] >> shift & mask]++;
		for (uint32_t i = 0, before = 0; i <= mask; i++) {
			const uint32_t count = starts[i];
			starts[i] = before;
			before += count;
		}
		for (uint32_t i = 0; i < list->count; i++)
			other[starts[list->items[i] >> shift & mask]++] = list->items[i];
		uint64_t *sorted = other;
		other = list->items;
		list->items = sorted;
	}
	free(other);
	return true;
}

void tp_address_list_sort(struct tp_address_list *list)
{
	uint32_t kept = 0;
	if (!list->count)
		return;
	if (!sort_digits(list))
		qsort(list->items, list->count, sizeof(*list->items), tp_compare_u64);
	for (uint32_t i = 0; i < list->count; i++)
		if (!kept || list->items[kept - 1] != list->items[i])
			list->items[kept++] = list->items[i];
	list->count = kept;
}
