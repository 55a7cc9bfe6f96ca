// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reader on files that are built here byte by byte: each header field that can be wrong, and
// sections that are cut, damaged, unknown or endless.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/reader.h"
#include "common/buf.h"
#include "common/chunks/checksum.h"

static struct tp_buf file;
static struct tp_source source;
static struct tp_problems problems;
static struct tp_reader reader;
static struct tp_err err;

static struct teeperf_trace_header good_header(void)
{
	return (struct teeperf_trace_header){
	    .magic = TEEPERF_TRACE_MAGIC,
	    .major = 1,
	    .oldest_major = 1,
	    .header_size = 64,
	    .chunk_shift = 16,
	};
}

static void begin(const struct teeperf_trace_header *header)
{
	tp_buf_init(&file);
	memset(&problems, 0, sizeof(problems));
	tp_buf_add(&file, header, sizeof(*header));
}

static void add_section(uint32_t type, uint32_t flags, const char *payload, size_t size)
{
	const struct teeperf_section header = {
	    .magic = TEEPERF_SECTION_MAGIC,
	    .type = type,
	    .size = size,
	    .checksum = tp_checksum(payload, size),
	    .flags = flags,
	};
	tp_buf_add(&file, &header, sizeof(header));
	tp_buf_add(&file, payload, size);
	tp_buf_add(&file, "\0\0\0\0\0\0\0", (8 - size % 8) % 8);
}

static int open_file(void)
{
	tp_source_from_memory(&source, "trace", file.data, file.size);
	return tp_reader_init(&reader, &source, &problems, &err);
}

static void end(void)
{
	tp_reader_release(&reader);
	tp_buf_release(&file);
}

// The one problem so far.
static void assert_problem(int code, uint64_t offset, const char *what)
{
	assert_int_equal(problems.count, 1);
	assert_int_equal(problems.kept[0].code, code);
	assert_int_equal(problems.kept[0].offset, offset);
	assert_string_equal(problems.kept[0].what, what);
	assert_string_equal(problems.kept[0].file, "trace");
}

static void sections_come_in_turn(void **state)
{
	(void)state;
	const struct teeperf_trace_header header = good_header();
	struct tp_section section;
	begin(&header);
	add_section(TEEPERF_SECTION_HOST, 0, "a=b\n", 4);
	add_section(TEEPERF_SECTION_SYMBOLS, 0, "", 0);
	add_section(TEEPERF_SECTION_COMMAND, 0, "12345678", 8);
	assert_int_equal(open_file(), 0);
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_int_equal(section.offset, 64);
	assert_int_equal(section.header.type, TEEPERF_SECTION_HOST);
	assert_memory_equal(section.payload, "a=b\n", 4);
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_int_equal(section.offset, 64 + 24 + 8);
	assert_int_equal(section.header.size, 0);
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_int_equal(section.offset, 64 + 24 + 8 + 24);
	assert_memory_equal(section.payload, "12345678", 8);
	assert_false(section.damaged);
	assert_int_equal(tp_reader_next(&reader, &section, &err), 0);
	assert_false(reader.stopped);
	assert_int_equal(problems.count, 0);
	end();
}

static void a_longer_header_of_a_newer_minor(void **state)
{
	(void)state;
	struct teeperf_trace_header header = good_header();
	struct tp_section section;
	header.minor = TEEPERF_TRACE_MINOR + 1;
	header.header_size = 72;
	begin(&header);
	tp_buf_add(&file, "newfield", 8);
	// Types and flags that we do not know are a newer minor's business.
	add_section(99, 0, "x", 1);
	assert_int_equal(open_file(), 0);
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_int_equal(section.offset, 72);
	assert_false(section.damaged);
	assert_int_equal(problems.count, 0);
	end();
}

static void check_header(struct teeperf_trace_header header, int code, uint64_t offset)
{
	begin(&header);
	memset(&err, 0, sizeof(err));
	assert_int_equal(open_file(), code);
	assert_int_equal(err.offset, offset);
	assert_string_equal(err.file, "trace");
	end();
}

static void bad_headers(void **state)
{
	(void)state;
	struct teeperf_trace_header header = good_header();
	header.magic = TEEPERF_LOG_MAGIC;
	check_header(header, TP_ERR_FORMAT, 0);
	header.magic ^= 1;
	check_header(header, TP_ERR_FORMAT, 0);
	header = good_header();
	header.major = 0;
	check_header(header, TP_ERR_VERSION, 8);
	header.major = 9;
	header.oldest_major = 2;
	check_header(header, TP_ERR_VERSION, 8);
	// A newer major that says we can read it.
	header.oldest_major = 1;
	begin(&header);
	assert_int_equal(open_file(), 0);
	end();
	header = good_header();
	header.header_size = 56;
	check_header(header, TP_ERR_FORMAT, 14);
	header.header_size = 65;
	check_header(header, TP_ERR_FORMAT, 14);
	header = good_header();
	header.chunk_shift = 11;
	check_header(header, TP_ERR_FORMAT, 24);
	header.chunk_shift = 25;
	check_header(header, TP_ERR_FORMAT, 24);
	header.chunk_shift = UINT32_MAX;
	check_header(header, TP_ERR_FORMAT, 24);
}

static void files_that_are_too_short(void **state)
{
	(void)state;
	const struct teeperf_trace_header header = good_header();
	begin(&header);
	for (size_t size = 0; size < sizeof(header); size++) {
		file.size = size;
		const int code = open_file();
		assert_int_equal(code, size == 0 || size >= 8 ? TP_ERR_TRUNCATED : TP_ERR_FORMAT);
		assert_int_equal(err.offset, 0);
		tp_reader_release(&reader);
	}
	end();
}

static void the_end_inside_of_a_section(void **state)
{
	(void)state;
	const struct teeperf_trace_header header = good_header();
	for (size_t cut = 1; cut < 24 + 8; cut++) {
		struct tp_section section;
		begin(&header);
		add_section(TEEPERF_SECTION_HOST, 0, "a=b\n", 4);
		const size_t second = file.size;
		add_section(TEEPERF_SECTION_CLOCK, 0, "12345", 5);
		file.size -= cut;
		assert_int_equal(open_file(), 0);
		assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
		// Only padding is missing: the section is there, its end is reported.
		if (cut <= 3) {
			assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
			assert_memory_equal(section.payload, "12345", 5);
		}
		assert_int_equal(tp_reader_next(&reader, &section, &err), 0);
		assert_true(reader.stopped);
		assert_int_equal(problems.count, 1);
		assert_int_equal(problems.kept[0].code, TP_ERR_TRUNCATED);
		assert_int_equal(problems.kept[0].offset, cut <= 3 ? file.size : second);
		assert_int_equal(tp_reader_next(&reader, &section, &err), 0);
		assert_int_equal(problems.count, 1);
		end();
	}
}

static void hostile_sizes(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {5, 1000, UINT64_C(1) << 63, UINT64_MAX - 6, UINT64_MAX};
	const struct teeperf_trace_header header = good_header();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct tp_section section;
		begin(&header);
		add_section(TEEPERF_SECTION_HOST, 0, "", 0);
		memcpy(file.data + 64 + offsetof(struct teeperf_section, size), &sizes[i], 8);
		assert_int_equal(open_file(), 0);
		assert_int_equal(tp_reader_next(&reader, &section, &err), 0);
		assert_true(reader.stopped);
		assert_int_equal(problems.kept[0].code, TP_ERR_TRUNCATED);
		assert_int_equal(problems.kept[0].offset, 64);
		end();
	}
}

static void damage_is_marked_and_passed(void **state)
{
	(void)state;
	const struct teeperf_trace_header header = good_header();
	struct tp_section section;
	begin(&header);
	add_section(TEEPERF_SECTION_HOST, 0, "a=b\n", 4);
	add_section(TEEPERF_SECTION_HOST, 0, "c=d\n", 4);
	file.data[64 + 24] = 'z';
	assert_int_equal(open_file(), 0);
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_true(section.damaged);
	assert_problem(TP_ERR_FORMAT, 64,
	    "host section is damaged: its checksum is 0x31fc4d1f, but its bytes give 0x7b9e4c8b; "
	    "the section is not used");
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_false(section.damaged);
	assert_int_equal(problems.count, 1);
	end();
}

static void what_is_not_part_of_the_format(void **state)
{
	(void)state;
	const struct teeperf_trace_header header = good_header();
	struct tp_section section;
	begin(&header);
	add_section(99, 0, "x", 1);
	assert_int_equal(open_file(), 0);
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_true(section.damaged);
	assert_problem(TP_ERR_FORMAT, 64,
	    "section of type 99 with flags 0x0 is not part of format 1.0; it is not used");
	end();
	begin(&header);
	add_section(TEEPERF_SECTION_HOST, 4, "x", 1);
	assert_int_equal(open_file(), 0);
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_true(section.damaged);
	assert_int_equal(problems.count, 1);
	end();
	begin(&header);
	tp_buf_add(&file, "no section begins in this text", 30);
	assert_int_equal(open_file(), 0);
	assert_int_equal(tp_reader_next(&reader, &section, &err), 0);
	assert_true(reader.stopped);
	assert_problem(TP_ERR_FORMAT, 64,
	    "no section begins here (0x73206f6e): the rest of the file is not used");
	end();
}

static void sections_have_names(void **state)
{
	(void)state;
	assert_null(tp_section_name(0));
	assert_string_equal(tp_section_name(TEEPERF_SECTION_CHUNK), "chunk");
	assert_string_equal(tp_section_name(TEEPERF_SECTION_END), "end");
	assert_string_equal(tp_section_name(TEEPERF_SECTION_SWITCHES), "switches");
	assert_null(tp_section_name(200));
	assert_null(tp_section_name(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sections_come_in_turn),
	    cmocka_unit_test(a_longer_header_of_a_newer_minor),
	    cmocka_unit_test(bad_headers),
	    cmocka_unit_test(files_that_are_too_short),
	    cmocka_unit_test(the_end_inside_of_a_section),
	    cmocka_unit_test(hostile_sizes),
	    cmocka_unit_test(damage_is_marked_and_passed),
	    cmocka_unit_test(what_is_not_part_of_the_format),
	    cmocka_unit_test(sections_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
