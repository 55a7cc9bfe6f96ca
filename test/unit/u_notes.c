// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notes as data: which a trace gets, what rules name, and that docs/troubleshooting.md lists all
// kinds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/output/notes.h"

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_notes notes;
static struct tp_err err;

static void make(const char *text)
{
	const struct tp_analysis_options options = {0};
	tp_buf_init(&file);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	tp_notes_init(&notes, &analysis);
	assert_false(notes.failed);
}

static void end(void)
{
	tp_notes_release(&notes);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

static void a_trace_has_its_notes(void **state)
{
	(void)state;
	static const struct {
		const char *id;
		uint64_t count;
		enum tp_note_severity severity;
	} expected[] = {
	    {"forked", 3, TP_NOTE_LIMIT},
	    {"lost", 1234, TP_NOTE_WRONG},
	    {"unmatched-exits", 1, TP_NOTE_WRONG},
	    {"open", 1, TP_NOTE_SCOPE},
	    {"ticks", 1, TP_NOTE_LIMIT},
	};
	make("threads\n	thread lost=1234\n"
	     "chunk\n	4 enter 0x1000\n	5 exit 0x2000\nend forked=3\n");
	assert_int_equal(notes.count, sizeof(expected) / sizeof(expected[0]));
	for (uint32_t i = 0; i < notes.count; i++) {
		assert_string_equal(notes.items[i].kind->id, expected[i].id);
		assert_int_equal(notes.items[i].count, expected[i].count);
		assert_int_equal(notes.items[i].kind->severity, expected[i].severity);
	}
	end();
	make("clock hz=1000000000\nchunk\n	0 enter 0x1000\n	5 exit 0x1000\nend\n");
	assert_int_equal(notes.count, 0);
	end();
}

static void as_json(void **state)
{
	(void)state;
	struct tp_buf out;
	tp_buf_init(&out);
	make("clock hz=1000000000\nthreads\n	thread lost=12\n"
	     "chunk\n	0 enter 0x1000\n	5 exit 0x1000\nend\n");
	struct tp_json json;
	tp_json_init(&json, &out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_notes_add_json(&notes, &json);
	tp_json_end(&json);
	assert_string_equal(out.data,
	    "{\"notes\":[{\"id\":\"lost\",\"severity\":\"wrong\",\"count\":12,"
	    "\"text\":\"12 events: times and counts are too low\","
	    "\"remedy\":\"record fewer functions ('teeperf allowlist generate'), or give a larger "
	    "--size\"}]}");
	end();
	tp_buf_release(&out);
}

static void rules(void **state)
{
	(void)state;
	const struct tp_note lost = {.kind = &tp_note_kinds[TP_NOTE_ID_LOST]};
	const struct tp_note starved = {.kind = &tp_note_kinds[TP_NOTE_ID_STARVED]};
	const struct tp_note part = {.kind = &tp_note_kinds[TP_NOTE_ID_PART]};
	assert_true(tp_note_rule_matches("note:lost", &lost));
	assert_false(tp_note_rule_matches("note:lost", &starved));
	assert_true(tp_note_rule_matches("note:wrong", &lost));
	assert_false(tp_note_rule_matches("note:wrong", &starved));
	assert_true(tp_note_rule_matches("note:limit", &lost));
	assert_true(tp_note_rule_matches("note:limit", &starved));
	assert_false(tp_note_rule_matches("note:limit", &part));
	assert_false(tp_note_rule_matches("lost", &lost));
	assert_true(tp_note_rule_is_valid("note:lost"));
	assert_true(tp_note_rule_is_valid("note:wrong"));
	assert_false(tp_note_rule_is_valid("note:los"));
	assert_false(tp_note_rule_is_valid("note:"));
	assert_false(tp_note_rule_is_valid("self>+5%"));
}

// An id is the user's, and a title fits its column.
static void kinds(void **state)
{
	(void)state;
	for (int i = 0; i < TP_NOTE_IDS; i++) {
		assert_true(strlen(tp_note_kinds[i].title) <= 10);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(tp_note_kinds[i].id, tp_note_kinds[j].id);
	}
}

// Braces end, and hold a fact, a choice, or both.
static void words(void **state)
{
	(void)state;
#define FIRST(text, ...) text
#define TP_SAY(name, when, count, ...) FIRST(__VA_ARGS__, 0),
#define TP_OR TP_SAY
#define TP_COUNT(name, ...) TP_SAY(name, 1, __VA_ARGS__)
#define TP_EACH TP_SAY
	static const char *const texts[] = {
#include "analyzer/output/notes.def"
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (const char *at = strchr(texts[i], '{'); at; at = strchr(at, '{')) {
			at += 1 + (at[1] >= 'a' && at[1] <= 'd');
			if (*at == '?') {
				at += strcspn(at, "|{}");
				assert_int_equal(*at, '|');
				at += strcspn(at, "{}");
			}
			assert_int_equal(*at, '}');
		}
}

static void the_page_lists_all(void **state)
{
	(void)state;
	const char *root = getenv("TEEPERF_SOURCE");
	char path[4096];
	if (!root)
		skip();
	snprintf(path, sizeof(path), "%s/docs/troubleshooting.md", root);
	FILE *page = fopen(path, "r");
	assert_non_null(page);
	char line[1024];
	char expected[1024];
	bool there = false;
	while (!there && fgets(line, sizeof(line), page))
		there = !strcmp(line, "<!-- notes -->\n");
	assert_true(there);
	assert_non_null(fgets(line, sizeof(line), page)); // the titles
	assert_non_null(fgets(line, sizeof(line), page));
	for (int i = 0; i < TP_NOTE_IDS; i++) {
		const struct tp_note_kind *kind = &tp_note_kinds[i];
		snprintf(expected, sizeof(expected), "| `%s` | %s | %s | %s | %s |\n", kind->id,
		    kind->title, tp_note_severity_name(kind->severity), kind->meaning,
		    kind->remedy);
		assert_non_null(fgets(line, sizeof(line), page));
		assert_string_equal(line, expected);
	}
	assert_null(fgets(line, sizeof(line), page));
	fclose(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_trace_has_its_notes),
	    cmocka_unit_test(as_json),
	    cmocka_unit_test(rules),
	    cmocka_unit_test(kinds),
	    cmocka_unit_test(words),
	    cmocka_unit_test(the_page_lists_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
