// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, opened: the facts of each section, and sections that contradict themselves. Traces are
// written as text where the text form can say it, else as bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/trace/tracefile.h"
#include "common/chunks/checksum.h"

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_err err;

static void assemble(const char *text)
{
	tp_buf_init(&file);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
}

static void open_file(void)
{
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
}

static void end(void)
{
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

// A section whose checksum is right, whatever is in it.
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

static void every_section_is_read(void **state)
{
	(void)state;
	assemble("trace chunk-shift=12 machine=62 created=5\n"
		 "command\n"
		 "	string \"/home\"\n"
		 "	string \"./dir/prog\"\n"
		 "	string \"-x\"\n"
		 "clock kind=soft-tsc hz=3 stores=4 max-gap=5 starved=6\n"
		 "	point 10 20\n"
		 "	point 30 40\n"
		 "modules\n"
		 "	module bias=0x1000 start=0x401000 end=0x402000 build-id=00ff path=\"/p\"\n"
		 "threads\n"
		 "	thread tid=77 lost=3 chunks=1 ended=1 name=\"main\"\n"
		 "host\n"
		 "	line \"os=linux\"\n"
		 "symbols\n"
		 "	symbol 0x401000 f\n"
		 "chunk thread=0 tid=77 time=10\n"
		 "	11 enter f\n"
		 "	12 exit f\n"
		 "end exit-kind=2 exit-value=9 start=1 end=2\n");
	open_file();
	assert_int_equal(trace.problems.count, 0);
	assert_int_equal(trace.header.machine, 62);
	assert_string_equal(trace.directory, "/home");
	assert_string_equal(trace.arguments[0], "./dir/prog");
	assert_string_equal(trace.arguments[1], "-x");
	assert_null(trace.arguments[2]);
	assert_string_equal(tp_tracefile_program(&trace), "prog");
	assert_int_equal(trace.clock.kind, TEEPERF_CLOCK_SOFT_TSC);
	assert_int_equal(trace.clock.point_count, 2);
	assert_int_equal(trace.points[1].monotonic_ns, 40);
	assert_int_equal(trace.module_count, 1);
	assert_string_equal(trace.modules[0].path, "/p");
	assert_int_equal(trace.modules[0].build_id_size, 2);
	assert_int_equal(trace.modules[0].build_id[1], 0xff);
	assert_int_equal(trace.thread_count, 1);
	assert_string_equal(trace.threads[0].name, "main");
	assert_int_equal(trace.threads[0].lost, 3);
	assert_string_equal(trace.host, "os=linux\n");
	assert_string_equal(trace.symbols, "401000\t10\tf\t\t0\n");
	assert_int_equal(trace.chunk_count, 1);
	assert_int_equal(trace.chunks[0].word_count, 2);
	uint64_t word;
	assert_int_equal(tp_source_read(&trace.source, trace.chunks[0].offset, &word, 8, &err), 0);
	assert_true(word == (UINT64_C(0x401000) << 32 | 11));
	assert_true(trace.has_end);
	assert_int_equal(trace.end.exit_value, 9);
	end();
}

static void the_last_section_of_a_kind_counts(void **state)
{
	(void)state;
	assemble("command\n	string \"/\"\n	string \"old\"\n"
		 "clock kind=tsc hz=1\n"
		 "modules\n	module path=\"a\"\n	module path=\"b\"\n"
		 "command\n	string \"/\"\n	string \"new\"\n"
		 "clock kind=cntvct hz=2\n"
		 "modules\n	module path=\"c\"\n"
		 "end\n");
	open_file();
	assert_string_equal(tp_tracefile_program(&trace), "new");
	assert_int_equal(trace.clock.hz, 2);
	assert_int_equal(trace.module_count, 1);
	assert_string_equal(trace.modules[0].path, "c");
	end();
}

static void programs_without_a_name(void **state)
{
	(void)state;
	static const struct {
		const char *text, *name;
	} cases[] = {
	    {"end\n", "program"},
	    {"command\n	string \"/\"\nend\n", "program"},
	    {"command\n	string \"/\"\n	string \"\"\nend\n", "program"},
	    {"command\n	string \"/\"\n	string \"dir/\"\nend\n", "dir/"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assemble(cases[i].text);
		open_file();
		assert_string_equal(tp_tracefile_program(&trace), cases[i].name);
		end();
	}
}

static void check_rejected(uint32_t type, const void *payload, size_t size, const char *why)
{
	assemble("trace chunk-shift=12\n");
	add_section(type, payload, size);
	add_section(
	    TEEPERF_SECTION_END, &(struct teeperf_trace_end){0}, sizeof(struct teeperf_trace_end));
	open_file();
	assert_int_equal(trace.problems.count, 1);
	assert_int_equal(trace.problems.kept[0].code, TP_ERR_FORMAT);
	assert_int_equal(trace.problems.kept[0].offset, 64);
	char what[200];
	snprintf(what, sizeof(what), "section of %zu bytes is not used: %s", size, why);
	assert_non_null(strstr(trace.problems.kept[0].what, what));
	assert_int_equal(trace.chunk_count + trace.module_count + trace.thread_count, 0);
	assert_null(trace.arguments);
	assert_null(trace.points);
	end();
}

static void check_chunk(uint64_t used, size_t size)
{
	static uint64_t payload[1024];
	const struct teeperf_chunk chunk = {.used = used};
	memcpy(payload, &chunk, sizeof(chunk));
	check_rejected(TEEPERF_SECTION_CHUNK, payload, size, "its size does not fit a chunk");
}

static void sections_that_contradict_themselves(void **state)
{
	(void)state;
	static const char zeroes[1024];
	check_chunk(0, 72);
	check_chunk(64, 72);
	check_chunk(80, 72);
	check_chunk(UINT64_MAX, 72);
	check_chunk(63, 63);
	check_chunk(68, 68);
	check_chunk(4104, 4104); // more than a chunk holds
	check_chunk(32, 32);
	const char *multiple = "its size is not a multiple of its entries' size";
	check_rejected(TEEPERF_SECTION_MODULES, zeroes, 511, multiple);
	check_rejected(TEEPERF_SECTION_THREADS, zeroes, 65, multiple);
	const char *points = "its size does not fit a clock and its points";
	check_rejected(TEEPERF_SECTION_CLOCK, zeroes, 47, points);
	check_rejected(TEEPERF_SECTION_CLOCK, zeroes, 64, points);
	const struct teeperf_trace_clock many = {.point_count = UINT32_MAX};
	check_rejected(TEEPERF_SECTION_CLOCK, &many, sizeof(many), points);
	check_rejected(TEEPERF_SECTION_COMMAND, "", 0, "its strings do not end");
	check_rejected(TEEPERF_SECTION_COMMAND, "/\0prog", 6, "its strings do not end");
}

static void facts_about_the_host(void **state)
{
	(void)state;
	char value[8];
	assemble(
	    "host\n	line \"drainage=wet\"\n	line \"drain=late\"\n	line \"long=0123456789\"\n"
	    "	line \"odd=a\\x1b=\\x7f\"\n	line \"none=\"\n	line \"bare\"\nend\n");
	open_file();
	assert_true(tp_tracefile_host(&trace, "drain", value, sizeof(value)));
	assert_string_equal(value, "late");
	assert_true(tp_tracefile_host(&trace, "long", value, sizeof(value)));
	assert_string_equal(value, "0123456");
	assert_true(tp_tracefile_host(&trace, "odd", value, sizeof(value)));
	assert_string_equal(value, "a?=?");
	assert_true(tp_tracefile_host(&trace, "none", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_false(tp_tracefile_host(&trace, "bare", value, sizeof(value)));
	assert_false(tp_tracefile_host(&trace, "wet", value, sizeof(value)));
	end();
	assemble("end\n");
	open_file();
	assert_false(trace.has_clock);
	assert_false(tp_tracefile_host(&trace, "drain", value, sizeof(value)));
	end();
}

static void the_last_switches_count(void **state)
{
	(void)state;
	assemble("switches\n	off 5\nswitches\n	on 3\n	off 5\nclock kind=none\nend\n");
	open_file();
	assert_int_equal(trace.problems.count, 0);
	assert_int_equal(trace.gaps.count, 2);
	assert_int_equal(trace.gaps.items[0].to, 3);
	assert_int_equal(trace.gaps.items[1].from, 5);
	assert_true(trace.has_clock);
	end();
	check_rejected(TEEPERF_SECTION_SWITCHES, "123456789", 9, "its size does not fit switches");
}

static void a_short_end_is_no_end(void **state)
{
	(void)state;
	static const char zeroes[127];
	assemble("trace\n");
	add_section(TEEPERF_SECTION_END, zeroes, sizeof(zeroes));
	open_file();
	assert_false(trace.has_end);
	assert_int_equal(trace.problems.count, 2);
	assert_string_equal(
	    trace.problems.kept[0].what, "end section of 127 bytes is not used: it is too short");
	end();
}

static void hostile_entries(void **state)
{
	(void)state;
	struct teeperf_module module = {.build_id_size = UINT32_MAX};
	memset(module.path, 'p', sizeof(module.path));
	assemble("trace\n");
	add_section(TEEPERF_SECTION_MODULES, &module, sizeof(module));
	open_file();
	assert_int_equal(strlen(trace.modules[0].path), TEEPERF_MODULE_PATH_SIZE - 1);
	assert_int_equal(trace.modules[0].build_id_size, TEEPERF_BUILD_ID_SIZE);
	end();
}

static void a_damaged_section_is_not_used(void **state)
{
	(void)state;
	assemble("command\n	string \"/\"\n	string \"prog\"\nhost\n	line \"a=b\"\nend\n");
	file.data[64 + 24 + 3] ^= 1;
	open_file();
	assert_null(trace.arguments);
	assert_string_equal(trace.host, "a=b\n");
	assert_int_equal(trace.problems.count, 1);
	end();
}

static void files_that_do_not_open(void **state)
{
	(void)state;
	assert_int_equal(tp_tracefile_open(&trace, "no-such-file", &err), TP_ERR_SYSTEM);
	tp_tracefile_close(&trace);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", "", 0, &err), TP_ERR_TRUNCATED);
	tp_tracefile_close(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_section_is_read),
	    cmocka_unit_test(the_last_section_of_a_kind_counts),
	    cmocka_unit_test(programs_without_a_name),
	    cmocka_unit_test(sections_that_contradict_themselves),
	    cmocka_unit_test(facts_about_the_host),
	    cmocka_unit_test(the_last_switches_count),
	    cmocka_unit_test(a_short_end_is_no_end),
	    cmocka_unit_test(hostile_entries),
	    cmocka_unit_test(a_damaged_section_is_not_used),
	    cmocka_unit_test(files_that_do_not_open),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
