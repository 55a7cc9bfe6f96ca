// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parquet's encodings of values, both ways.
#include "parquet_encode.h"

#include "common/hash.h"
#include "common/index.h"
#include "common/varint.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128, MINIS = 4, MINI = BLOCK / MINIS }; // numbers in a block, its parts
enum { GROUP = 8 };                                    // numbers that are packed together
enum { DICTIONARY_MOST = 1 << 16 };                    // different values

// ---- bits, the lowest first

struct packer {
	struct tp_buf *out;
	unsigned __int128 bits;
	uint32_t count;
};

static void pack(struct packer *packer, uint64_t value, uint32_t width)
{
	packer->bits |= (unsigned __int128)value << packer->count;
	packer->count += width;
	while (packer->count >= 8) {
		tp_buf_add_char(packer->out, (char)packer->bits);
		packer->bits >>= 8;
		packer->count -= 8;
	}
}

// Number AT of WIDTH bits. pre: there is all of it.
static uint64_t unpack(const uint8_t *data, uint64_t at, uint32_t width)
{
	const uint64_t bit = at * width;
	const uint8_t *from = data + bit / 8;
	const uint32_t skip = bit % 8;
	unsigned __int128 bits = 0;
	for (uint32_t i = 0; i * 8 < skip + width; i++)
		bits |= (unsigned __int128)from[i] << (8 * i);
	bits >>= skip;
	return width == 64 ? (uint64_t)bits : (uint64_t)bits & ((UINT64_C(1) << width) - 1);
}

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static uint64_t read_varint(struct cursor *cursor)
{
	uint64_t value;
	if (tp_varint_take(&cursor->at, cursor->end, &value))
		return value;
	cursor->failed = true;
	return 0;
}

static int64_t read_zigzag(struct cursor *cursor)
{
	const uint64_t value = read_varint(cursor);
	return (int64_t)(value >> 1 ^ -(value & 1));
}

// The next SIZE bytes, or NULL.
static const uint8_t *take(struct cursor *cursor, uint64_t size)
{
	if (size > (uint64_t)(cursor->end - cursor->at)) {
		cursor->failed = true;
		return NULL;
	}
	const uint8_t *at = cursor->at;
	cursor->at += size;
	return at;
}

// ---- differences

static void add_zigzag(struct tp_buf *out, int64_t value)
{
	tp_varint_add(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static int64_t number_at(const void *numbers, uint32_t size, uint32_t i)
{
	if (size == 4) {
		int32_t value;
		memcpy(&value, (const char *)numbers + (size_t)i * 4, sizeof(value));
		return value;
	}
	int64_t value;
	memcpy(&value, (const char *)numbers + (size_t)i * 8, sizeof(value));
	return value;
}

// Of narrow numbers the difference is narrow, too, and goes round as they do.
static int64_t difference(int64_t to, int64_t from, uint32_t size)
{
	const uint64_t value = (uint64_t)to - (uint64_t)from;
	return size == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static void add_block(struct tp_buf *out, const int64_t *deltas, uint32_t count, uint32_t size)
{
	uint8_t widths[MINIS] = {0};
	int64_t least = deltas[0];
	for (uint32_t i = 1; i < count; i++)
		least = deltas[i] < least ? deltas[i] : least;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t above = (uint64_t)deltas[i] - (uint64_t)least;
		if (size == 4)
			above = (uint32_t)above;
		const uint8_t width = above ? (uint8_t)(64 - __builtin_clzll(above)) : 0;
		if (width > widths[i / MINI])
			widths[i / MINI] = width;
	}
	add_zigzag(out, least);
	tp_buf_add(out, widths, sizeof(widths));
	for (uint32_t mini = 0; mini * MINI < count; mini++) {
		struct packer packer = {.out = out};
		for (uint32_t i = mini * MINI; i < (mini + 1) * MINI; i++) {
			uint64_t above = i < count ? (uint64_t)deltas[i] - (uint64_t)least : 0;
			if (size == 4)
				above = (uint32_t)above;
			pack(&packer, above, widths[mini]);
		}
	}
}

void tp_parquet_add_delta(struct tp_buf *out, const void *numbers, uint32_t size, uint32_t count)
{
	tp_varint_add(out, BLOCK);
	tp_varint_add(out, MINIS);
	tp_varint_add(out, count);
	int64_t last = count ? number_at(numbers, size, 0) : 0;
	add_zigzag(out, last);
	for (uint32_t at = 1; at < count;) {
		int64_t deltas[BLOCK] = {0};
		uint32_t had = 0;
		for (; had < BLOCK && at < count; had++, at++) {
			const int64_t value = number_at(numbers, size, at);
			deltas[had] = difference(value, last, size);
			last = value;
		}
		add_block(out, deltas, had, size);
	}
}

bool tp_parquet_read_delta(
    const void *data, size_t bytes, uint32_t size, uint32_t count, int64_t *numbers, size_t *used)
{
	struct cursor cursor = {.at = data, .end = (const uint8_t *)data + bytes};
	const uint64_t block = read_varint(&cursor);
	const uint64_t minis = read_varint(&cursor);
	const uint64_t all = read_varint(&cursor);
	int64_t value = read_zigzag(&cursor);
	// Ours and everybody's: other shapes are as good, but nobody writes them.
	if (cursor.failed || block != BLOCK || minis != MINIS || all != count)
		return false;
	if (count)
		numbers[0] = value;
	for (uint32_t at = 1; at < count;) {
		const int64_t least = read_zigzag(&cursor);
		const uint8_t *widths = take(&cursor, MINIS);
		for (uint32_t mini = 0; widths && mini < MINIS && at < count; mini++) {
			const uint8_t *packed =
			    widths[mini] <= 64 ? take(&cursor, (uint64_t)widths[mini] * MINI / 8)
					       : NULL;
			if (!packed)
				return false;
			for (uint32_t i = 0; i < MINI && at < count; i++) {
				const uint64_t sum = (uint64_t)value + (uint64_t)least +
						     unpack(packed, i, widths[mini]);
				value = size == 4 ? (int32_t)(uint32_t)sum : (int64_t)sum;
				numbers[at++] = value;
			}
		}
		if (cursor.failed)
			return false;
	}
	*used = (size_t)(cursor.at - (const uint8_t *)data);
	return true;
}

// ---- runs and packed groups

static void add_packed(struct tp_buf *out, const uint32_t *numbers, uint32_t count, uint32_t width)
{
	const uint32_t groups = (count + GROUP - 1) / GROUP;
	struct packer packer = {.out = out};
	tp_varint_add(out, (uint64_t)groups << 1 | 1);
	for (uint32_t i = 0; i < groups * GROUP; i++)
		pack(&packer, i < count ? numbers[i] : 0, width);
}

static void add_run(struct tp_buf *out, uint32_t number, uint32_t count, uint32_t width)
{
	tp_varint_add(out, (uint64_t)count << 1);
	tp_buf_add(out, &number, (width + 7) / 8);
}

void tp_parquet_add_hybrid(
    struct tp_buf *out, const uint32_t *numbers, uint32_t count, uint32_t width)
{
	uint32_t from = 0; // start of the values that are still to be packed
	for (uint32_t at = 0; at < count;) {
		uint32_t same = 1;
		while (at + same < count && numbers[at + same] == numbers[at])
			same++;
		// The last group of the values before is filled up first, unless the values end
		// here.
		const uint32_t fill = (GROUP - (at - from) % GROUP) % GROUP;
		if (same < fill + GROUP) {
			at += same;
			continue;
		}
		if (at + fill > from)
			add_packed(out, numbers + from, at + fill - from, width);
		add_run(out, numbers[at], same - fill, width);
		at += same;
		from = at;
	}
	if (from < count)
		add_packed(out, numbers + from, count - from, width);
}

bool tp_parquet_read_hybrid(
    const void *data, size_t bytes, uint32_t width, uint32_t count, uint32_t *numbers)
{
	struct cursor cursor = {.at = data, .end = (const uint8_t *)data + bytes};
	if (width > 32)
		return false;
	for (uint32_t at = 0; at < count;) {
		const uint64_t head = read_varint(&cursor);
		if (cursor.failed || head >> 1 == 0)
			return false;
		if (head & 1) {
			const uint64_t groups = head >> 1;
			const uint8_t *packed =
			    groups <= UINT32_MAX ? take(&cursor, groups * width) : NULL;
			if (!packed)
				return false;
			for (uint64_t i = 0; i < groups * GROUP && at < count; i++)
				numbers[at++] = (uint32_t)unpack(packed, i, width);
			continue;
		}
		uint32_t number = 0;
		const uint8_t *value = take(&cursor, (width + 7) / 8);
		if (!value || head >> 1 > count - at)
			return false;
		memcpy(&number, value, (width + 7) / 8);
		for (uint64_t i = 0; i < head >> 1; i++)
			numbers[at++] = number;
	}
	return true;
}

// ---- dictionaries

struct entry {
	const char *at;
	uint32_t size;
	uint32_t hash;
};

static uint32_t hash_entry(const void *context, uint32_t number)
{
	return ((const struct entry *)context)[number - 1].hash;
}

// The value at AT of the page; its bytes with the length of a text.
static struct entry entry_at(const char *at, uint32_t size)
{
	uint32_t length = 0;
	if (!size)
		memcpy(&length, at, sizeof(length));
	struct entry entry = {.at = at, .size = size ? size : length + 4};
	const uint64_t hash = tp_hash_bytes(TEEPERF_HASH_START, at, entry.size);
	entry.hash = tp_hash_number(hash);
	return entry;
}

static bool is_same(const struct entry *one, const struct entry *other)
{
	return one->hash == other->hash && one->size == other->size &&
	       memcmp(one->at, other->at, one->size) == 0;
}

bool tp_parquet_dictionary_make(struct tp_parquet_dictionary *dictionary,
    const struct tp_buf *plain, uint32_t size, uint32_t count)
{
	struct tp_index index = {0};
	const uint32_t most = count / 2 + 1 < DICTIONARY_MOST ? count / 2 + 1 : DICTIONARY_MOST;
	struct entry *entries = malloc((size_t)most * sizeof(*entries));
	*dictionary = (struct tp_parquet_dictionary){.codes = calloc(count + 1, sizeof(uint32_t))};
	tp_buf_init(&dictionary->values);
	dictionary->no_memory = !entries || !dictionary->codes;
	bool ok = !dictionary->no_memory && count && !plain->failed;
	const char *at = plain->data;
	struct entry last = {0};
	for (uint32_t i = 0; ok && i < count; i++) {
		const struct entry entry = entry_at(at, size);
		at += entry.size;
		if (i && is_same(&entry, &last)) {
			dictionary->codes[i] = dictionary->codes[i - 1];
			continue;
		}
		last = entry;
		ok = tp_index_reserve(&index, dictionary->count, hash_entry, entries);
		dictionary->no_memory = !ok;
		if (!ok)
			break;
		uint32_t *slot = tp_index_first(&index, entry.hash);
		while (*slot && !is_same(&entries[*slot - 1], &entry))
			slot = tp_index_next(&index, slot);
		if (!*slot) {
			ok = dictionary->count < most;
			if (!ok)
				break;
			entries[dictionary->count++] = entry;
			tp_buf_add(&dictionary->values, entry.at, entry.size);
			*slot = dictionary->count;
		}
		dictionary->codes[i] = *slot - 1;
	}
	tp_index_release(&index);
	free(entries);
	dictionary->no_memory |= dictionary->values.failed;
	return ok && !dictionary->no_memory;
}

void tp_parquet_dictionary_release(struct tp_parquet_dictionary *dictionary)
{
	tp_buf_release(&dictionary->values);
	free(dictionary->codes);
	*dictionary = (struct tp_parquet_dictionary){0};
}
