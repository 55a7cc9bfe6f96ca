// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text as a trace: the words that each form gives, and the error that each mistake gives.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/trace/tracefile.h"

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_err err;

static void assemble(const char *text)
{
	tp_buf_init(&file);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
}

static void end(void)
{
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

static void check_words(const char *text, const uint64_t *words, uint32_t count)
{
	uint64_t found[32] = {0};
	assemble(text);
	assert_int_equal(trace.chunk_count, 1);
	assert_int_equal(trace.chunks[0].word_count, count);
	assert_int_equal(
	    tp_source_read(&trace.source, trace.chunks[0].offset, found, count * 8, &err), 0);
	for (uint32_t i = 0; i < count; i++)
		if (found[i] != words[i])
			fail_msg("word %u is 0x%llx, not 0x%llx", i, (unsigned long long)found[i],
			    (unsigned long long)words[i]);
	end();
}

static void each_record(void **state)
{
	(void)state;
	static const uint64_t words[] = {
	    UINT64_C(0x0000100000000001), // enter
	    UINT64_C(0x0000100100000002), // exit
	    UINT64_C(0x0040100600000000), // exit without a time
	    UINT64_C(0x0000000100000009), // sync
	    UINT64_C(0x0000000300000004), // lost
	    UINT64_C(0x0000000200000000), // pad
	    UINT64_C(0x0000000700000000), // thread-end
	    0,                            // empty
	    UINT64_C(0x1122334455667788), // word
	    UINT64_C(0x0000000800000002), // counts
	    UINT64_C(0x0000555500401006),
	    7,
	    0x401004,
	    UINT64_MAX,
	};
	check_words("symbols\n	symbol 0x401004 f\n"
		    "chunk\n"
		    "	1 enter 0x1000\n	2 exit 4096\n	exit f\n"
		    "	sync 9\n	lost 4\n	pad\n	thread-end\n	empty\n"
		    "	word 0x1122334455667788\n"
		    "	counts 2\n	count 0x555500401006 7\n"
		    "	count f 18446744073709551615\n"
		    "end\n",
	    words, 14);
}

// The upper half of the time: from the chunk, changed by SYNC, written by itself or on demand.
static void times_of_64_bits(void **state)
{
	(void)state;
	static const uint64_t words[] = {
	    UINT64_C(0x0000100000000006), // same half as the chunk
	    UINT64_C(0x0000000100000006),
	    UINT64_C(0x0000100100000001), // another
	    UINT64_C(0x0000000100000007),
	    UINT64_C(0x0000100000000002), // said by sync
	    UINT64_C(0x00000001ffffffff),
	    UINT64_C(0x00001001ffffffff),
	};
	check_words("chunk time=0x500000000\n"
		    "	0x500000006 enter 0x1000\n"
		    "	0x600000001 exit 0x1000\n"
		    "	sync 7\n	0x700000002 enter 0x1000\n"
		    "	0xffffffffffffffff exit 0x1000\n"
		    "end\n",
	    words, 7);
}

// A label stands for the position of its record: sequence * chunk size + offset, SYNC words
// counted.
static void labels_are_positions(void **state)
{
	(void)state;
	static const uint64_t words[] = {
	    UINT64_C(0x0000100000000001),
	    UINT64_C(0x0000000100000001),
	    UINT64_C(0x0000200000000000),
	    UINT64_C(0x0000200300000000),
	    3 * 4096 + 64 + 16,
	    UINT64_C(0x0000100300000001),
	    77,
	    UINT64_C(0x0000200300000002),
	    (3 * 4096 + 64 + 16) | TEEPERF_POSITION_LEAVES,
	};
	check_words("trace chunk-shift=12\n"
		    "chunk sequence=3\n"
		    "	1 enter 0x1000\n"
		    "	0x100000000 enter 0x2000 @inner\n"
		    "	0x100000000 resync 0x2000 @inner\n"
		    "	0x100000001 resync 0x1000 77\n"
		    "	0x100000002 leave 0x2000 @inner\n"
		    "end\n",
	    words, 9);
}

static void defaults(void **state)
{
	(void)state;
	assemble("");
	assert_int_equal(file.size, sizeof(struct teeperf_trace_header));
	end();
	assemble("# a comment\n\nchunk thread=4\nchunk thread=4 sequence=1\nend\n");
	assert_int_equal(trace.problems.count, 0);
	assert_int_equal(trace.chunk_count, 2);
	assert_int_equal(trace.chunks[1].os_tid, 5);
	assert_int_equal(trace.end.chunk_count, 2);
	assert_int_equal(trace.end.exit_kind, TEEPERF_EXIT_CODE);
	assert_int_equal(trace.end.attach, TEEPERF_ATTACH_DONE);
	end();
}

static void bytes_are_taken_as_they_are(void **state)
{
	(void)state;
	tp_buf_init(&file);
	assert_int_equal(tp_dump_assemble("bytes 00ff\nbytes\nbytes 7f", 25, NULL, &file, &err), 0);
	assert_int_equal(file.size, 3);
	assert_memory_equal(file.data, "\0\xff\x7f", 3);
	tp_buf_release(&file);
}

static void mistakes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t line;
		const char *what;
	} cases[] = {
	    {"enter 0x1000", 1, "'enter' does not belong here"},
	    {"host\n1 enter 0x1000", 2, "'1' does not belong here"},
	    {"chunk\nmodule", 2, "'module' is not a record"},
	    {"chunk\nchunk\ntrace", 3, "the first line must be 'trace'"},
	    {"chunk thread=4294967296", 1, "thread: '4294967296' is not a number, or too large"},
	    {"chunk unknown=1", 1, "unknown word 'unknown=1'"},
	    {"clock kind=sundial", 1, "unknown clock 'sundial'"},
	    {"chunk\n1 arrive 0x1000", 2, "'arrive' is not one of enter, exit, resync, leave"},
	    {"chunk\n1 enter", 2, "the line ends too early"},
	    {"chunk\n1 enter f", 2, "'f' is neither an address nor a symbol's name"},
	    {"chunk\n1 enter 0x1001", 2,
		"a function's address must be a multiple of 4, and at least 4096"},
	    {"chunk\n1 enter 0xffc", 2,
		"a function's address must be a multiple of 4, and at least 4096"},
	    {"chunk\nlost 4294967296", 2, "'4294967296' is not a number, or too large"},
	    {"chunk\n1 resync 0x1000 @x", 2, "'@x' is neither a position nor a label"},
	    {"chunk\n1 enter 0x1000 2", 2, "unknown word '2'"},
	    {"modules\nmodule build-id=xy", 2, "expected at most 32 bytes in hexadecimal"},
	    {"threads\nthread name=\"0123456789abcdef\"", 2,
		"the string has 16 bytes, at most 15 fit"},
	    {"clock\npoint 1", 2, "the line ends too early"},
	    {"chunk\nleaf 0x1000 5", 2, "'leaf' is not a record"},
	    {"chunk\nexit 0x1000 5", 2, "unknown word '5'"},
	    {"chunk\ncount f 5", 2, "'f' is neither an address nor a symbol's name"},
	    {"chunk\ncounts 4294967296", 2, "'4294967296' is not a number, or too large"},
	    {"on 5", 1, "'on' does not belong here"},
	    {"switches\noff", 2, "the line ends too early"},
	    {"switches\non 9223372036854775808", 2,
		"'9223372036854775808' is not a number, or too large"},
	    {"command\nstring \"open", 2, "the string does not end"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = cases[i].text;
		tp_buf_init(&file);
		assert_int_equal(
		    tp_dump_assemble(text, strlen(text), "text", &file, &err), TP_ERR_SYNTAX);
		assert_string_equal(err.what, cases[i].what);
		assert_int_equal(err.line, cases[i].line);
		assert_string_equal(err.file, "text");
		tp_buf_release(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_record),
	    cmocka_unit_test(times_of_64_bits),
	    cmocka_unit_test(labels_are_positions),
	    cmocka_unit_test(defaults),
	    cmocka_unit_test(bytes_are_taken_as_they_are),
	    cmocka_unit_test(mistakes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
