// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a trace is complete: each thing that may be missing says so by itself, in the text and in
// JSON.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/output/completeness.h"

struct lack {
	const char *host; // lines of the trace's host section
	struct tp_lacks lacks;
	uint64_t lost;
	uint64_t problems;
	uint64_t damage;
	const char *text;
	const char *json;
};

#define JSON(complete, events, most, chunks, calls)                       \
	"{\"complete\":" complete ",\"missing_events\":" events           \
	",\"missing_events_at_most\":" most ",\"missing_chunks\":" chunks \
	",\"missing_counted_calls\":" calls "}"

static const struct lack cases[] = {
    {.text = "complete", .json = JSON("true", "0", "0", "0", "0")},
    {.host = "mode=stream\nlog_gone=1\n",
	.text = "complete",
	.json = JSON("true", "0", "0", "0", "0")},
    // Lost by the program.
    {.lost = 12,
	.text = "incomplete: 12 events missing",
	.json = JSON("false", "12", "12", "0", "0")},
    // Not written by the recorder, which has counted it; gone from the file since.
    {.lacks = {.chunks = 1, .counted = 1, .events = 1000},
	.lost = 234,
	.text = "incomplete: 1,234 events missing",
	.json = JSON("false", "1234", "1234", "1", "0")},
    {.lacks = {.chunks = 1, .counted = 1, .calls = 5},
	.text = "incomplete: 5 counted calls missing",
	.json = JSON("false", "0", "0", "1", "5")},
    {.lacks = {.chunks = 2, .more = 200},
	.text = "incomplete: up to 200 events missing",
	.json = JSON("false", "0", "200", "2", "0")},
    {.lacks = {.chunks = 2, .counted = 1, .events = 7, .more = 100},
	.text = "incomplete: 7 to 107 events missing",
	.json = JSON("false", "7", "107", "2", "0")},
    // Nobody knows.
    {.lacks = {.open = true},
	.text = "incomplete: an unknown number of events is missing",
	.json = JSON("false", "0", "null", "0", "0")},
    {.lacks = {.open = true},
	.lost = 3,
	.text = "incomplete: at least 3 events missing",
	.json = JSON("false", "3", "null", "0", "0")},
    // The log's memory went away.
    {.host = "mode=stream\nlog_gone_bytes=4096\n",
	.text = "incomplete: an unknown number of events is missing",
	.json = JSON("false", "0", "null", "0", "0")},
    {.host = "log_gone_bytes=4096\n",
	.lost = 3,
	.text = "incomplete: at least 3 events missing",
	.json = JSON("false", "3", "null", "0", "0")},
    // Parts that cannot be used: of the file, and of a chunk whose checksum is right.
    {.problems = 1,
	.text = "incomplete: parts of the trace are unusable",
	.json = JSON("false", "0", "0", "0", "0")},
    {.damage = 1,
	.text = "incomplete: parts of the trace are unusable",
	.json = JSON("false", "0", "0", "0", "0")},
    // Sums that are too large stop.
    {.lacks = {.chunks = 1, .events = UINT64_MAX - 1, .more = 9},
	.lost = 1,
	.text = "incomplete: 18,446,744,073,709,551,615 events missing",
	.json = JSON("false", "18446744073709551615", "18446744073709551615", "1", "0")},
};

static void each_lack_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lack *lack = &cases[i];
		struct tp_tracefile trace = {.host = (char *)(uintptr_t)lack->host,
		    .lacks = lack->lacks,
		    .problems = {.count = lack->problems}};
		const struct tp_analysis analysis = {
		    .trace = &trace, .lost = lack->lost, .damage = {.count = lack->damage}};
		struct tp_buf out;
		struct tp_json json;
		tp_buf_init(&out);
		tp_completeness_add_text(&analysis, &out);
		assert_string_equal(out.data, lack->text);
		tp_buf_reset(&out);
		tp_json_init(&json, &out, TP_JSON_COMPACT);
		tp_json_object(&json, NULL);
		tp_completeness_add_json(&json, &analysis);
		tp_json_end(&json);
		assert_string_equal(out.data, lack->json);
		tp_buf_release(&out);
		// All but the first three lack more than the program lost.
		assert_int_equal(tp_analysis_lacks(&analysis), i > 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_lack_is_told)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
