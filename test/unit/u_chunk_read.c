// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chunks of a trace, packed and as they are: the same records; and chunks that are damaged in spite
// of a good checksum, as a hostile program or recorder might leave them.
#define _GNU_SOURCE // memfd_create
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/trace/tracefile.h"
#include "common/buf.h"
#include "common/chunks/checksum.h"

enum { RECORDS = 3000 };

static struct {
	struct teeperf_chunk header;
	uint64_t records[RECORDS];
} chunk;
static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_chunk_reader reader;
static struct tp_err err;

static void add_section(uint32_t type, const void *payload, size_t size)
{
	const struct teeperf_section header = {
	    .magic = TEEPERF_SECTION_MAGIC,
	    .type = type,
	    .size = size,
	    .checksum = tp_checksum(payload, size),
	};
	tp_buf_add(&file, &header, sizeof(header));
	tp_buf_add(&file, payload, size);
	tp_buf_add(&file, "\0\0\0\0\0\0\0", (8 - size % 8) % 8);
}

static void begin(void)
{
	const struct teeperf_trace_header header = {
	    .magic = TEEPERF_TRACE_MAGIC,
	    .major = 1,
	    .oldest_major = 1,
	    .header_size = sizeof(header),
	    .chunk_shift = 16,
	};
	tp_buf_init(&file);
	tp_buf_add(&file, &header, sizeof(header));
}

static void open_trace(void)
{
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_chunk_reader_init(&reader, &trace, &err), 0);
}

static void end(void)
{
	tp_chunk_reader_release(&reader);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

static void make_chunk(uint64_t sequence)
{
	chunk.header = (struct teeperf_chunk){
	    .thread = 1, .sequence = sequence, .os_tid = 5, .used = sizeof(chunk)};
	for (uint64_t i = 0; i < RECORDS; i++)
		chunk.records[i] = (0x401000 + (i + sequence) % 4) << 32 | i * 30;
}

// The payload that the chunk packs to.
static uint64_t pack(uint8_t *to)
{
	struct tp_packer packer;
	assert_int_equal(tp_packer_init(&packer, 65536, 1, &err), 0);
	const uint64_t size = tp_packer_pack(&packer, &chunk.header);
	assert_in_range(size, 81, 8192);
	memcpy(to, packer.packed, size);
	tp_packer_release(&packer);
	return size;
}

static void packed_or_not_is_the_same(void **state)
{
	(void)state;
	uint8_t packed[8192];
	begin();
	for (uint64_t i = 0; i < 4; i++) {
		make_chunk(i);
		if (i % 2)
			add_section(TEEPERF_SECTION_PACKED, packed, pack(packed));
		else
			add_section(TEEPERF_SECTION_CHUNK, &chunk, sizeof(chunk));
	}
	open_trace();
	assert_int_equal(trace.chunk_count, 4);
	for (uint64_t i = 0; i < 4; i++) {
		make_chunk(i);
		assert_int_equal(trace.chunks[i].word_count, RECORDS);
		assert_int_equal(trace.chunks[i].packed_size != 0, i % 2);
		assert_int_equal(tp_chunk_reader_read(&reader, &trace.chunks[i], &err), 0);
		assert_memory_equal(reader.words, chunk.records, sizeof(chunk.records));
	}
	end();
}

static void what_does_not_unpack_is_named(void **state)
{
	(void)state;
	uint8_t packed[8192];
	begin();
	make_chunk(0);
	const uint64_t size = pack(packed);
	memset(packed + sizeof(struct teeperf_packed), 0, 4); // zstd's magic
	add_section(TEEPERF_SECTION_PACKED, packed, size);
	open_trace();
	assert_int_equal(trace.chunk_count, 1);
	assert_int_equal(tp_chunk_reader_read(&reader, trace.chunks, &err), TP_ERR_FORMAT);
	assert_string_equal(err.file, "trace");
	assert_int_equal(err.offset, 64 + 24);
	assert_string_equal(
	    err.what, "packed chunk whose names do not unpack: Unknown frame descriptor");
	end();
}

// The sizes in the header are checked when the trace is opened.
static void hostile_sizes_are_refused(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		uint64_t value;
	} cases[] = {
	    {offsetof(struct teeperf_chunk, used), UINT64_C(1) << 40},
	    {offsetof(struct teeperf_chunk, used), 65536 + 8},
	    {offsetof(struct teeperf_chunk, used), 56},
	    {offsetof(struct teeperf_chunk, used), 1001},
	    {offsetof(struct teeperf_chunk, used), 128}, // smaller than packed
	    {offsetof(struct teeperf_packed, names_size), UINT64_MAX},
	    {offsetof(struct teeperf_packed, names_size), 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t packed[8192];
		begin();
		make_chunk(0);
		const uint64_t size = pack(packed);
		memcpy(packed + cases[i].at, &cases[i].value, sizeof(cases[i].value));
		add_section(TEEPERF_SECTION_PACKED, packed, size);
		open_trace();
		assert_int_equal(trace.chunk_count, 0);
		assert_int_equal(trace.problems.kept[0].code, TP_ERR_FORMAT);
		assert_int_equal(trace.problems.kept[0].offset, 64);
		end();
	}
	begin();
	add_section(TEEPERF_SECTION_PACKED, &chunk, sizeof(struct teeperf_packed) - 1);
	open_trace();
	assert_int_equal(trace.chunk_count, 0);
	end();
}

static void a_file_that_changes_meanwhile(void **state)
{
	(void)state;
	uint8_t packed[8192];
	begin();
	make_chunk(0);
	add_section(TEEPERF_SECTION_PACKED, packed, pack(packed));
	open_trace();
	make_chunk(0);
	chunk.header.used -= 8;
	struct tp_chunk other = *trace.chunks;
	other.packed_size = (uint32_t)pack(packed);
	memcpy(file.data + other.offset, packed, other.packed_size);
	assert_int_equal(tp_chunk_reader_read(&reader, &other, &err), TP_ERR_FORMAT);
	assert_string_equal(err.what, "the chunk changed while the file was read");
	trace.source.size = other.offset + 20;
	assert_int_equal(tp_chunk_reader_read(&reader, &other, &err), TP_ERR_TRUNCATED);
	end();
}

// ---- chunks that are checked when they are read

static int memory_file;

// The trace so far as a file without a name, opened so that its chunks are checked later.
static void open_deferring(void)
{
	char name[32];
	memory_file = memfd_create("trace", 0);
	assert_true(memory_file >= 0);
	assert_int_equal(write(memory_file, file.data, file.size), file.size);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", memory_file);
	assert_int_equal(tp_tracefile_begin(&trace, name, &err), 0);
	trace.source.name = "trace";
	trace.defers = true;
	assert_int_equal(tp_tracefile_load(&trace, &err), 0);
	assert_int_equal(tp_chunk_reader_init(&reader, &trace, &err), 0);
}

static void end_deferring(void)
{
	end();
	close(memory_file);
}

static void add_chunks(uint64_t count)
{
	uint8_t packed[8192];
	begin();
	for (uint64_t i = 0; i < count; i++) {
		make_chunk(i);
		if (i % 2)
			add_section(TEEPERF_SECTION_PACKED, packed, pack(packed));
		else
			add_section(TEEPERF_SECTION_CHUNK, &chunk, sizeof(chunk));
	}
	const struct teeperf_trace_end last = {.chunk_count = count};
	add_section(TEEPERF_SECTION_END, &last, sizeof(last));
}

static void later_checks_find_the_same(void **state)
{
	(void)state;
	// Nothing, one of the raw ones, one of the packed ones, the chunk's own header.
	static const size_t damage[] = {0, 64 + 24 + 500, 64 + 24 + 24064 + 24 + 300, 64 + 24 + 2};
	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		for (uint64_t reads = 0; reads <= 4; reads += 4) {
			add_chunks(4);
			if (damage[i])
				file.data[damage[i]] ^= 1;
			open_trace();
			const bool whole = !trace.problems.count;
			assert_true(tp_tracefile_is_whole(&trace));
			assert_int_equal(whole, !damage[i]);
			tp_chunk_reader_release(&reader);
			tp_tracefile_close(&trace);
			open_deferring();
			uint64_t failed = 0;
			for (uint64_t j = 0; j < reads && j < trace.chunk_count; j++)
				failed +=
				    tp_chunk_reader_read(&reader, &trace.chunks[j], &err) != 0;
			assert_int_equal(failed, reads && trace.chunk_count == 4 && !whole);
			assert_int_equal(tp_tracefile_is_whole(&trace), whole);
			end_deferring();
		}
	}
}

// Bytes that this process has read; -1: the kernel does not count them.
static long long bytes_read(void)
{
	long long count = -1;
	FILE *io = fopen("/proc/self/io", "r");
	if (io && fscanf(io, "rchar: %lld", &count) != 1)
		count = -1;
	if (io)
		fclose(io);
	return count;
}

// Each byte of a trace is read once, whoever checks it.
static void a_trace_is_read_once(void **state)
{
	(void)state;
	add_chunks(64);
	const long long before = bytes_read();
	if (before < 0)
		skip();
	open_deferring();
	for (uint64_t i = 0; i < trace.chunk_count; i++)
		assert_int_equal(tp_chunk_reader_read(&reader, &trace.chunks[i], &err), 0);
	assert_true(tp_tracefile_is_whole(&trace));
	const long long after = bytes_read();
	assert_int_equal(trace.chunk_count, 64);
	assert_in_range(after - before, file.size, file.size + file.size / 20);
	end_deferring();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(packed_or_not_is_the_same),
	    cmocka_unit_test(what_does_not_unpack_is_named),
	    cmocka_unit_test(hostile_sizes_are_refused),
	    cmocka_unit_test(a_file_that_changes_meanwhile),
	    cmocka_unit_test(later_checks_find_the_same),
	    cmocka_unit_test(a_trace_is_read_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
