// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compress and decompress generated text with zlib, at three levels, in pieces as a stream has
// them. zlib_work KIB prints sizes and checksums.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zlib.h"

enum { PIECE = 4096 };

static void fail(const char *what)
{
	fprintf(stderr, "zlib_work: %s failed\n", what);
	exit(1);
}

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 33) % limit);
}

// Words of a small vocabulary, the first ones far more often, so that it compresses as text does.
static void generate(char *text, size_t size)
{
	uint64_t state = 7;
	size_t used = 0;
	while (used < size) {
		const uint32_t range = random_below(&state, 2000) + 1;
		uint32_t word = random_below(&state, range) + 1;
		while (used < size && word) {
			text[used++] = (char)('a' + word * 7 % 26);
			word /= 3;
		}
		if (used < size)
			text[used++] = random_below(&state, 12) ? ' ' : '\n';
	}
}

static size_t compress_all(
    const char *text, size_t size, unsigned char *out, size_t room, int level)
{
	z_stream stream = {0};
	if (deflateInit(&stream, level) != Z_OK)
		fail("deflateInit");
	size_t used = 0;
	size_t done = 0;
	int status = Z_OK;
	while (status != Z_STREAM_END) {
		const size_t piece = size - done < PIECE ? size - done : PIECE;
		stream.next_in = (unsigned char *)(uintptr_t)(text + done);
		stream.avail_in = (uInt)piece;
		stream.next_out = out + used;
		stream.avail_out = room - used < PIECE ? (uInt)(room - used) : PIECE;
		const uInt offered = stream.avail_out;
		status = deflate(&stream, done + piece == size ? Z_FINISH : Z_NO_FLUSH);
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			fail("deflate");
		if (!offered)
			fail("deflate: the room");
		done += piece - stream.avail_in;
		used += offered - stream.avail_out;
	}
	deflateEnd(&stream);
	return used;
}

static void decompress_all(const unsigned char *in, size_t size, char *text, size_t text_size)
{
	z_stream stream = {0};
	if (inflateInit(&stream) != Z_OK)
		fail("inflateInit");
	size_t done = 0;
	size_t used = 0;
	int status = Z_OK;
	while (status != Z_STREAM_END) {
		const size_t piece = size - done < PIECE ? size - done : PIECE;
		const size_t room = text_size - used < PIECE ? text_size - used : PIECE;
		stream.next_in = (unsigned char *)(uintptr_t)(in + done);
		stream.avail_in = (uInt)piece;
		stream.next_out = (unsigned char *)text + used;
		stream.avail_out = (uInt)room;
		status = inflate(&stream, Z_NO_FLUSH);
		if (status != Z_OK && status != Z_STREAM_END)
			fail("inflate");
		done += piece - stream.avail_in;
		used += room - stream.avail_out;
	}
	inflateEnd(&stream);
	if (used != text_size)
		fail("inflate: the length");
}

int main(int argc, char **argv)
{
	const long kib = argc > 1 ? atol(argv[1]) : 0;
	if (kib < 1 || kib > 1 << 20) {
		fputs("usage: zlib_work KIB (1 to 1048576)\n", stderr);
		return 129;
	}
	const size_t size = (size_t)kib << 10;
	const size_t room = size + size / 8 + PIECE;
	char *text = malloc(size);
	char *back = malloc(size);
	unsigned char *packed = malloc(room);
	if (!text || !back || !packed)
		fail("malloc");
	generate(text, size);
	static const int levels[] = {1, 6, 9};
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		const size_t packed_size = compress_all(text, size, packed, room, levels[i]);
		memset(back, 0, size);
		decompress_all(packed, packed_size, back, size);
		if (memcmp(text, back, size))
			fail("comparing");
		printf("level %d: %zu to %zu, crc %08lx\n", levels[i], size, packed_size,
		    crc32(0, packed, (uInt)packed_size));
	}
	free(text);
	free(back);
	free(packed);
	return 0;
}
