/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whether exports that are no text, or no common one, are what their readers take. As
 * check_output.h.
 */
#ifndef TP_CHECK_EXPORTS_H
#define TP_CHECK_EXPORTS_H

#include "test/fuzz/check_output.h"

#include <zlib.h>

static inline uint64_t check_varint(const unsigned char **at, const unsigned char *end)
{
	uint64_t value = 0;
	for (int shift = 0;; shift += 7) {
		check_that(*at < end && shift < 70, "varint", "");
		const unsigned char c = *(*at)++;
		value |= (uint64_t)(c & 0x7f) << (shift < 64 ? shift : 63);
		if (c < 0x80)
			return value;
	}
}

/* Fields of a message, which has none above MOST; how many have the number COUNT. */
static inline uint64_t check_message(
    const unsigned char *at, const unsigned char *end, uint64_t most, uint64_t counted)
{
	uint64_t count = 0;
	while (at < end) {
		const uint64_t tag = check_varint(&at, end);
		check_that(tag >> 3 && tag >> 3 <= most, "protobuf: field", "");
		count += tag >> 3 == counted;
		if ((tag & 7) == 2) {
			const uint64_t size = check_varint(&at, end);
			check_that(size <= (uint64_t)(end - at), "protobuf: length", "");
			at += size;
		} else {
			check_that((tag & 7) == 0, "protobuf: type", "");
			check_varint(&at, end);
		}
	}
	return count;
}

/* A gzip file of a profile whose samples have locations, values and labels. */
static inline void check_pprof(const char *packed, size_t size)
{
	z_stream stream = {.next_in = (unsigned char *)packed, .avail_in = (uInt)size};
	size_t capacity = 1 << 16;
	unsigned char *data = malloc(capacity);
	check_that(data && inflateInit2(&stream, 31) == Z_OK, "gzip", "");
	int code;
	do {
		if (stream.total_out == capacity)
			data = realloc(data, capacity *= 2);
		check_that(data != NULL, "memory", "");
		stream.next_out = data + stream.total_out;
		stream.avail_out = (uInt)(capacity - stream.total_out);
		code = inflate(&stream, Z_NO_FLUSH);
	} while (code == Z_OK);
	check_that(code == Z_STREAM_END && !stream.avail_in, "gzip", "");
	const unsigned char *end = data + stream.total_out;
	const uint64_t functions = check_message(data, end, 14, 5);
	check_that(functions == check_message(data, end, 14, 4), "pprof: locations", "");
	for (const unsigned char *at = data; at < end;) {
		const uint64_t tag = check_varint(&at, end);
		const uint64_t number = check_varint(&at, end);
		if ((tag & 7) != 2)
			continue;
		if (tag >> 3 == 2)
			check_message(at, at + number, 3, 0);
		else if (tag >> 3 != 6)
			check_message(at, at + number, 10, 0);
		at += number;
	}
	inflateEnd(&stream);
	free(data);
}

/* What functions cost of themselves is the sum in the header, and what the root costs. */
static inline void check_callgrind(const char *text)
{
	uint64_t total = 0;
	uint64_t sum = 0;
	uint64_t root = 0;
	bool body = false;
	bool called = false;
	bool in_root = false;
	for (const char *at = text; *at; at++) {
		char *end;
		if (body && *at >= '0' && *at <= '9') {
			strtoull(at, &end, 10);
			check_that(*end == ' ', "callgrind: cost", at);
			const uint64_t cost = strtoull(end, &end, 10);
			check_that(*end == '\n', "callgrind: cost", at);
			sum += called ? 0 : cost;
			root += called && in_root ? cost : 0;
			called = false;
		} else if (!strncmp(at, "summary: ", 9)) {
			total = strtoull(at + 9, NULL, 10);
			body = true;
		} else if (!strncmp(at, "calls=", 6)) {
			check_that(strtoull(at + 6, NULL, 10) > 0, "callgrind: calls", at);
			called = true;
		} else if (!strncmp(at, "fn=", 3)) {
			in_root = !strncmp(at, "fn=(1)", 6);
		} else if (body && *at != '\n') {
			check_that(!strncmp(at, "fl=(", 4) || !strncmp(at, "ob=(", 4) ||
				       !strncmp(at, "cfi=(", 5) || !strncmp(at, "cob=(", 5) ||
				       !strncmp(at, "cfn=(", 5),
			    "callgrind: line", at);
		}
		at = strchr(at, '\n');
		check_that(at != NULL, "callgrind: last line", text);
	}
	check_that(total == sum && total == root, "callgrind: sums", text);
}

static inline uint64_t check_u64(const char *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}

/* Sections are in the file, and records fill theirs. */
static inline void check_perfdata(const char *data, size_t size)
{
	check_that(size > 104 && !memcmp(data, "PERFILE2", 8), "perf.data: header", "");
	const uint64_t start = check_u64(data + 40);
	const uint64_t end = start + check_u64(data + 48);
	check_that(check_u64(data + 24) + check_u64(data + 32) <= start && end <= size,
	    "perf.data: sections", "");
	for (uint64_t at = start; at < end;) {
		uint16_t bytes;
		check_that(end - at >= 8, "perf.data: record", "");
		memcpy(&bytes, data + at + 6, sizeof(bytes));
		check_that(
		    bytes >= 8 && bytes % 8 == 0 && bytes <= end - at, "perf.data: size", "");
		if (data[at] == 9)
			check_that(check_u64(data + at + 48) > 0 &&
				       check_u64(data + at + 56) * 8 + 64 == bytes,
			    "perf.data: sample", "");
		at += bytes;
	}
	uint64_t features = (uint64_t)__builtin_popcountll(check_u64(data + 72));
	for (const char *at = data + end; features-- > 0; at += 16)
		check_that(
		    (size_t)(at + 16 - data) <= size && check_u64(at) + check_u64(at + 8) <= size,
		    "perf.data: feature", "");
}

#endif
