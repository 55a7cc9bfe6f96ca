// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traces as text: the exact text of each section, and bytes where text would not be the whole
// truth.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "common/err.h"
#include "common/chunks/checksum.h"

#include <teeperf/trace.h>

static struct tp_buf trace;
static struct tp_buf text;
static struct tp_problems problems;
static struct tp_err err;

static void dump(void)
{
	struct tp_source source;
	memset(&problems, 0, sizeof(problems));
	tp_source_from_memory(&source, "trace", trace.data, trace.size);
	tp_buf_reset(&text);
	assert_int_equal(tp_dump_text(&source, &text, &problems, &err), 0);
	assert_false(text.failed);
}

static void assemble(const char *from)
{
	tp_buf_init(&trace);
	tp_buf_init(&text);
	if (tp_dump_assemble(from, strlen(from), "text", &trace, &err))
		fail_msg("line %u: %s", err.line, err.what);
}

static void end(void)
{
	tp_buf_release(&trace);
	tp_buf_release(&text);
}

// The dump assembles to the very same bytes.
static void assert_lossless(void)
{
	struct tp_buf again;
	tp_buf_init(&again);
	assert_int_equal(tp_dump_assemble(text.data, text.size, "dump", &again, &err), 0);
	assert_int_equal(again.size, trace.size);
	assert_memory_equal(again.data, trace.data, trace.size);
	tp_buf_release(&again);
}

// Texts in the exact form that dump writes.
static void canonical_text_comes_back(void **state)
{
	(void)state;
	static const char *const texts[] = {
	    "trace major=1 oldest-major=1 minor=7 chunk-shift=16 machine=62 created=123\n",
	    "trace major=1 oldest-major=1 minor=7 chunk-shift=12 machine=0 created=0\n"
	    "command\n"
	    "\tstring \"/tmp\"\n"
	    "\tstring \"a\\\"b\\\\c\\x0a\\xff\"\n"
	    "\tstring \"\"\n"
	    "clock kind=soft-count hz=0 stores=18446744073709551615 max-gap=1 starved=2 "
	    "period=3\n"
	    "\tpoint 0 18446744073709551615\n"
	    "modules\n"
	    "\tmodule bias=0xffffffffffffffff start=0x1 end=0x2 anchor=0x3 loaded=4 unloaded=5 "
	    "flags=2 build-id=00ff path=\"/lib/x.so\"\n"
	    "\tmodule bias=0x0 start=0x0 end=0x0 anchor=0x0 loaded=0 unloaded=0 flags=0 build-id= "
	    "path=\"\"\n"
	    "threads\n"
	    "\tthread tid=1 lost=2 chunks=3 ended=0 first=4 name=\"worker 1\"\n"
	    "host\n"
	    "\tline \"cpu=x86\"\n"
	    "switches\n"
	    "\ton 0\n"
	    "\toff 9223372036854775807\n"
	    "symbols\n"
	    "\tline \"401000\\x0910\\x09main\\x09\\x090\"\n"
	    "chunk thread=4294967295 sequence=7 tid=9 time=4294967297\n"
	    "\t4294967298 enter 0x401000\n"
	    "\texit 0xfffffffc\n"
	    "\tsync 2\n"
	    "\t8589934592 exit 0x401000\n"
	    "\t8589934593 resync 0x401000 64\n"
	    "\tlost 3\n"
	    "\tpad\n"
	    "\tthread-end\n"
	    "\tfork 77\n"
	    "\tword 0x0000000000000000\n"
	    "\tcounts 0\n"
	    "\tcounts 3\n"
	    "\tcount 0x555500401002 18446744073709551615\n"
	    "\tsampled 0x555500401004 3\n"
	    "\tcount 0x0 0\n"
	    "\tcounts 1\n"
	    "\tword 0x0000000000000000\n"
	    "end exit-kind=2 exit-value=11 start=1 end=2 chunks=1 chunk-draws=4 lost-early=5 "
	    "lost-overflow=6 refused=7 log-bytes=8 mode=2 attach=3 modules=9 threads=10 "
	    "forked=11\n",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assemble(texts[i]);
		dump();
		assert_string_equal(text.data, texts[i]);
		assert_int_equal(problems.count, 0);
		end();
	}
}

// Words that no record form has: reserved kinds, bits that should be 0, RESYNC and COUNTS cut off.
static void odd_words(void **state)
{
	(void)state;
	static const char words[] = "\tword 0x0000002000000001\n"
				    "\tword 0x0000000200000001\n"
				    "\tword 0x00000fff00000000\n"
				    "\tword 0x0040100200000001\n"
				    "\tcounts 4294967295\n"
				    "\tword 0x0040100300000005\n";
	char from[200] = "chunk\n";
	strcat(from, words);
	assemble(from);
	dump();
	assert_non_null(strstr(text.data, words));
	assert_lossless();
	end();
}

static void damage_is_shown_as_bytes(void **state)
{
	(void)state;
	assemble("host\n\tline \"a=b\"\nhost\n\tline \"c=d\"\n");
	trace.data[64 + 24] ^= 1;
	dump();
	assert_string_equal(text.data,
	    "trace major=1 oldest-major=1 minor=7 chunk-shift=16 machine=0 created=0\n"
	    "bytes 545053430600000004000000000000001f4dfc3100000000603d620a00000000\n"
	    "host\n"
	    "\tline \"c=d\"\n");
	assert_int_equal(problems.count, 1);
	assert_int_equal(problems.kept[0].offset, 64);
	assert_lossless();
	end();
}

// Padding that is not zero has no form, so the section must not be shown as text.
static void padding_that_is_not_zero(void **state)
{
	(void)state;
	assemble("host\n\tline \"a=b\"\nend\n");
	trace.data[64 + 24 + 7] = 1;
	dump();
	assert_int_equal(problems.count, 0);
	assert_null(strstr(text.data, "host"));
	assert_non_null(strstr(text.data, "\nend "));
	assert_lossless();
	end();
}

static void random_damage_is_lossless(void **state)
{
	(void)state;
	uint32_t seed = 1;
	assemble("command\n\tstring \"/\"\n\tstring \"p\"\n"
		 "modules\n\tmodule path=\"x\"\nthreads\n\tthread name=\"t\"\n"
		 "clock hz=5\n\tpoint 1 2\n"
		 "chunk\n\t1 enter 0x401000\n\t2 exit 0x401000\nend\n");
	char *good = malloc(trace.size);
	assert_non_null(good);
	const size_t size = trace.size;
	memcpy(good, trace.data, size);
	for (int i = 0; i < 2000; i++) {
		memcpy(trace.data, good, size);
		trace.size = size;
		for (int j = 0; j <= i % 3; j++) {
			seed = seed * 1664525 + 1013904223;
			// Behind the file header, which has to be usable.
			trace.data[64 + (seed >> 8) % (size - 64)] ^= (char)(1 << (seed >> 29));
		}
		if (i % 4 == 0)
			trace.size -= (seed >> 16) % (size - 64);
		dump();
		assert_lossless();
	}
	trace.size = size;
	free(good);
	end();
}

static void packed_chunks(void **state)
{
	(void)state;
	struct tp_buf from;
	tp_buf_init(&from);
	tp_buf_add_string(&from, "chunk thread=1 sequence=2 tid=3 time=4 packed=1\n");
	for (int i = 0; i < 100; i++)
		tp_buf_addf(&from, "\t%d enter 0x%x\n", 10 + i * 5, 0x401000 + i % 3 * 16);
	assemble(from.data);
	struct teeperf_section section;
	const size_t at = sizeof(struct teeperf_trace_header);
	memcpy(&section, trace.data + at, sizeof(section));
	assert_int_equal(section.type, TEEPERF_SECTION_PACKED);
	dump();
	assert_string_equal(strchr(text.data, '\n') + 1, from.data);
	assert_lossless();

	// What does not unpack, or was packed in another way, is written as bytes.
	char *payload = trace.data + at + sizeof(section);
	static const size_t places[] = {
	    offsetof(struct teeperf_packed, level), sizeof(struct teeperf_packed)};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		payload[places[i]] ^= 64;
		section.checksum = tp_checksum(payload, section.size);
		memcpy(trace.data + at, &section, sizeof(section));
		dump();
		assert_int_equal(problems.count, 0);
		assert_non_null(strstr(text.data, "\nbytes 54505343"));
		assert_null(strstr(text.data, "chunk thread"));
		assert_lossless();
		payload[places[i]] ^= 64;
	}
	tp_buf_release(&from);
	end();
}

static void what_is_no_trace_is_refused(void **state)
{
	(void)state;
	struct tp_source source;
	tp_buf_init(&text);
	memset(&problems, 0, sizeof(problems));
	tp_source_from_memory(&source, "x", "plain text", 10);
	assert_int_equal(tp_dump_text(&source, &text, &problems, &err), TP_ERR_FORMAT);
	assert_int_equal(text.size, 0);
	tp_buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(canonical_text_comes_back),
	    cmocka_unit_test(odd_words),
	    cmocka_unit_test(damage_is_shown_as_bytes),
	    cmocka_unit_test(padding_that_is_not_zero),
	    cmocka_unit_test(random_damage_is_lossless),
	    cmocka_unit_test(packed_chunks),
	    cmocka_unit_test(what_is_no_trace_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
