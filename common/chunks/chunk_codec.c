// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs chunks of records for the trace, and unpacks them. Names and times are taken apart because
// they repeat in different ways; the names need no more than that: see docs/decisions/0006.
#include "chunk_codec.h"

#include "common/bytes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
	NEAR = TEEPERF_PACKED_NEAR,
	FAR = TEEPERF_PACKED_FAR,
	NEAR_SPAN = (FAR - NEAR) << 8, /* differences that two bytes can tell */
	TIME_BYTES_MAX = 1 + 4,        /* of one time */
};

static uint64_t words_of(uint64_t chunk_size)
{
	return (chunk_size - sizeof(struct teeperf_chunk)) / 8;
}

static int no_memory(struct tp_err *err)
{
	return tp_err_memory(err, NULL);
}

bool tp_packer_is_there(void)
{
	return true;
}

int tp_packer_init(struct tp_packer *packer, uint64_t chunk_size, int level, struct tp_err *err)
{
	const uint64_t words = words_of(chunk_size);
	*packer = (struct tp_packer){.level = level, .chunk_size = chunk_size};
	packer->capacity = sizeof(struct teeperf_packed) + ZSTD_compressBound(words * 4) +
			   ZSTD_compressBound(words * TIME_BYTES_MAX);
	packer->context = ZSTD_createCCtx();
	packer->names = malloc(words * 4);
	packer->times = malloc(words * TIME_BYTES_MAX);
	packer->packed = malloc(packer->capacity);
	if (packer->context && packer->names && packer->times && packer->packed)
		return 0;
	tp_packer_release(packer);
	return no_memory(err);
}

void tp_packer_release(struct tp_packer *packer)
{
	ZSTD_freeCCtx(packer->context);
	free(packer->names);
	free(packer->times);
	free(packer->packed);
	*packer = (struct tp_packer){0};
}

// What a time's difference is taken to: the last time, or 0 for a record that has none.
static uint32_t base_of(uint32_t name, uint32_t last)
{
	return (name & TEEPERF_KIND_MASK) == TEEPERF_KIND_UNTIMED ? 0 : last;
}

static uint32_t last_after(uint32_t name, uint32_t time, uint32_t last)
{
	return (name & TEEPERF_KIND_MASK) == TEEPERF_KIND_UNTIMED ? last : time;
}

// Take the words apart; returns the bytes of `times`.
static uint64_t split(
    struct tp_packer *packer, const uint64_t *words, uint64_t count, uint32_t last)
{
	uint8_t *more = packer->times + count;
	for (uint64_t i = 0; i < count; i++) {
		const uint32_t name = (uint32_t)(words[i] >> 32);
		const uint32_t time = (uint32_t)words[i];
		const uint32_t difference = time - base_of(name, last);
		last = last_after(name, time, last);
		packer->names[i] = name;
		if (difference < NEAR) {
			packer->times[i] = (uint8_t)difference;
		} else if (difference - NEAR < NEAR_SPAN) {
			packer->times[i] = (uint8_t)(NEAR + ((difference - NEAR) >> 8));
			*more++ = (uint8_t)(difference - NEAR);
		} else {
			packer->times[i] = FAR;
			memcpy(more, &difference, 4);
			more += 4;
		}
	}
	return (uint64_t)(more - packer->times);
}

uint64_t tp_packer_pack(struct tp_packer *packer, const struct teeperf_chunk *chunk)
{
	const uint64_t count = words_of(chunk->used);
	const uint64_t times_size =
	    split(packer, (const uint64_t *)(chunk + 1), count, (uint32_t)chunk->first_time);
	uint8_t *at = packer->packed + sizeof(struct teeperf_packed);
	const uint8_t *end = packer->packed + packer->capacity;
	const size_t names = ZSTD_compressCCtx(
	    packer->context, at, (size_t)(end - at), packer->names, count * 4, packer->level);
	if (ZSTD_isError(names))
		return 0;
	at += names;
	const size_t times = ZSTD_compressCCtx(
	    packer->context, at, (size_t)(end - at), packer->times, times_size, packer->level);
	if (ZSTD_isError(times))
		return 0;
	const struct teeperf_packed header = {
	    .chunk = *chunk,
	    .names_size = (uint32_t)names,
	    .times_size = (uint32_t)times,
	    .level = (uint32_t)packer->level,
	};
	memcpy(packer->packed, &header, sizeof(header));
	const uint64_t size = sizeof(header) + names + times;
	return size < chunk->used ? size : 0;
}

int tp_unpacker_init(struct tp_unpacker *unpacker, uint64_t chunk_size, struct tp_err *err)
{
	const uint64_t words = words_of(chunk_size);
	*unpacker = (struct tp_unpacker){.chunk_size = chunk_size};
	unpacker->context = ZSTD_createDCtx();
	unpacker->names = malloc(words * 4);
	unpacker->times = malloc(words * TIME_BYTES_MAX);
	if (unpacker->context && unpacker->names && unpacker->times)
		return 0;
	tp_unpacker_release(unpacker);
	return no_memory(err);
}

void tp_unpacker_release(struct tp_unpacker *unpacker)
{
	ZSTD_freeDCtx(unpacker->context);
	free(unpacker->names);
	free(unpacker->times);
	*unpacker = (struct tp_unpacker){0};
}

enum { RUN = 8 }; // records that are looked at together

// Whether RUN records are all timed, and need no bytes behind the codes: most are so.
static bool is_plain(const uint32_t *names, const uint8_t *codes)
{
	_Static_assert(NEAR == 0xf0, "these and greater ones have the upper four bits");
	_Static_assert(TEEPERF_KIND_UNTIMED == 2, "bit 1 without bit 0");
	uint64_t all;
	uint32_t untimed = 0;
	memcpy(&all, codes, RUN);
	for (uint32_t i = 0; i < RUN; i++)
		untimed |= names[i] & ~(names[i] << 1);
	return !(untimed & 2) &&
	       !(all & all << 1 & all << 2 & all << 3 & UINT64_C(0x8080808080808080));
}

// Put names and times together; false if the times are not what the codes say.
static bool join(const struct tp_unpacker *unpacker, uint64_t size, uint32_t last, uint64_t *words,
    uint64_t count)
{
	const uint8_t *more = unpacker->times + count;
	const uint8_t *end = unpacker->times + size;
	for (uint64_t i = 0; i < count; i++) {
		while (count - i >= RUN && is_plain(unpacker->names + i, unpacker->times + i)) {
			for (uint32_t j = 0; j < RUN; j++, i++) {
				last += unpacker->times[i];
				words[i] = (uint64_t)unpacker->names[i] << 32 | last;
			}
		}
		if (i == count)
			break;
		const uint32_t name = unpacker->names[i];
		uint32_t difference = unpacker->times[i];
		if (difference == FAR) {
			if (end - more < 4)
				return false;
			memcpy(&difference, more, 4);
			more += 4;
		} else if (difference >= NEAR) {
			if (more == end)
				return false;
			difference = NEAR + ((difference - NEAR) << 8) + *more++;
		}
		const uint32_t time = base_of(name, last) + difference;
		last = last_after(name, time, last);
		words[i] = (uint64_t)name << 32 | time;
	}
	return more == end;
}

int tp_unpacker_unpack(struct tp_unpacker *unpacker, const void *payload, uint64_t size,
    uint64_t *records, uint32_t *count, const char *file, uint64_t offset, struct tp_err *err)
{
	struct tp_bytes bytes;
	struct teeperf_packed header;
	tp_bytes_init(&bytes, payload, size);
	tp_bytes_copy(&bytes, &header, sizeof(header));
	const uint64_t used = header.chunk.used;
	if (bytes.underflow || used < sizeof(header.chunk) || used > unpacker->chunk_size ||
	    used % 8)
		return tp_err_set_at(err, TP_ERR_FORMAT, file, offset,
		    "packed chunk of %" PRIu64 " bytes, which unpacks to %" PRIu64
		    ": chunks do not have that size",
		    size, used);
	const void *names = tp_bytes_take(&bytes, header.names_size);
	const void *times = tp_bytes_take(&bytes, header.times_size);
	if (bytes.underflow || tp_bytes_left(&bytes))
		return tp_err_set_at(err, TP_ERR_FORMAT, file, offset,
		    "packed chunk of %" PRIu64 " bytes, but its parts have %" PRIu32
		    " and %" PRIu32,
		    size, header.names_size, header.times_size);
	const uint64_t words = words_of(used);
	// Into buffers of a fixed size: whatever a frame claims, nothing is allocated for it.
	size_t got = ZSTD_decompressDCtx(
	    unpacker->context, unpacker->names, words * 4, names, header.names_size);
	if (got != words * 4)
		return tp_err_set_at(err, TP_ERR_FORMAT, file, offset,
		    "packed chunk whose names do not unpack: %s",
		    ZSTD_isError(got) ? ZSTD_getErrorName(got) : "there are too few");
	got = ZSTD_decompressDCtx(
	    unpacker->context, unpacker->times, words * TIME_BYTES_MAX, times, header.times_size);
	if (ZSTD_isError(got) || got < words ||
	    !join(unpacker, got, (uint32_t)header.chunk.first_time, records, words))
		return tp_err_set_at(err, TP_ERR_FORMAT, file, offset,
		    "packed chunk whose times do not unpack: %s",
		    ZSTD_isError(got) ? ZSTD_getErrorName(got)
				      : "their number differs from that of the names");
	*count = (uint32_t)words;
	return 0;
}
