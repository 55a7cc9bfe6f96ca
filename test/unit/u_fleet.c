// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of a fleet: buckets of durations and how far off they are, keys of paths, groups of
// threads, names of folders, labels, which runs are old.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "fleet/folder.h"
#include "analyzer/trace/text/dump_text.h"
#include "common/hash.h"

static void assert_bucket(uint64_t ns)
{
	const uint32_t bucket = tp_histogram_fine_bucket(ns);
	const uint64_t value = tp_fleet_bucket_value(bucket);
	const uint64_t off = value > ns ? value - ns : ns - value;
	if (ns < 64)
		assert_int_equal(value, ns);
	assert_true(off <= ns / 64);
	// It is in the bucket that it stands for.
	assert_int_equal(tp_histogram_fine_bucket(value), bucket);
}

static void buckets(void **state)
{
	(void)state;
	uint32_t last = 0;
	for (uint64_t ns = 0; ns < 100000; ns++) {
		const uint32_t bucket = tp_histogram_fine_bucket(ns);
		assert_true(bucket == last || bucket == last + 1);
		last = bucket;
		assert_bucket(ns);
	}
	for (uint32_t bit = 6; bit < 63; bit++)
		for (int64_t by = -2; by <= 2; by++)
			assert_bucket((UINT64_C(1) << bit) + (uint64_t)by);
	// As docs/fleet.md has it.
	assert_int_equal(tp_histogram_fine_bucket(1000), 32 * (9 - 5) + 1000 / 16);
	assert_int_equal(tp_fleet_bucket_value(tp_histogram_fine_bucket(1000)), 992 + 8);
}

// By the few lines of Python in docs/fleet.md.
static void path_keys(void **state)
{
	(void)state;
	const uint64_t one = tp_fleet_path_hash(TEEPERF_HASH_START, 1);
	assert_true(one == tp_hash_bytes(TEEPERF_HASH_START, "\1\0\0\0\0\0\0\0", 8));
	const uint64_t two = tp_fleet_path_hash(one, -2);
	assert_true(two == tp_hash_bytes(TEEPERF_HASH_START,
			       "\1\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff", 16));
}

static void groups(void **state)
{
	(void)state;
	static const char *const names[][2] = {{"", ""}, {"worker", "worker"},
	    {"worker-12", "worker-#"}, {"12", "#"}, {"io3:w45x", "io#:w#x"}};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char group[40];
		tp_fleet_group_name(group, names[i][0]);
		assert_string_equal(group, names[i][1]);
	}
}

static void folders(void **state)
{
	(void)state;
	char name[TP_FLEET_NAME];
	char longer[1000];
	tp_fleet_encode(name, "a b/c=d%_-.Z9");
	assert_string_equal(name, "a%20b%2Fc%3Dd%25_-.Z9");
	memset(longer, '/', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	tp_fleet_encode(name, longer);
	assert_true(strlen(name) < TP_FLEET_NAME && strlen(name) % 3 == 0);
}

// Labels with a VALUE of any text, as JSON, against a look at the labels themselves.
static void labels(void **state)
{
	(void)state;
	static const char letters[] = "ab:,=\"\\ {}";
	uint32_t seed = 1;
	uint32_t fits = 0;
	for (int round = 0; round < 100000; round++) {
		char texts[4][12];
		const char *given[3];
		const char *wanted = texts[3];
		for (int i = 0; i < 4; i++) {
			size_t size = 0;
			for (int part = 0; part < 2; part++) {
				seed = seed * 1664525 + 1013904223;
				// A key is not empty, and has no equals sign.
				size_t left = (part ? 0 : 1) + (seed >> 16) % 4;
				for (; left; left--) {
					seed = seed * 1664525 + 1013904223;
					const char letter = letters[(seed >> 16) % 10];
					texts[i][size++] = !part && letter == '=' ? 'b' : letter;
				}
				if (!part)
					texts[i][size++] = '=';
			}
			texts[i][size] = '\0';
			if (i < 3)
				given[i] = texts[i];
		}
		const struct tp_fleet_said said = {.labels = given, .label_count = 1 + seed % 3};
		// One of those that are there, half of the time.
		if (seed >> 12 & 1)
			wanted = given[(seed >> 13) % said.label_count];
		bool is_there = false;
		for (uint32_t i = 0; i < said.label_count; i++)
			is_there |= strcmp(given[i], wanted) == 0;
		struct tp_buf json;
		tp_buf_init(&json);
		tp_fleet_labels(&json, &said);
		if (tp_fleet_fits_labels(json.data, &wanted, 1) != is_there)
			fail_msg("'%s' is %sin %s", wanted, is_there ? "" : "not ", json.data);
		fits += is_there;
		tp_buf_release(&json);
	}
	assert_in_range(fits, 40000, 70000);
	// Of each key one of those that are wanted.
	static const char json[] = "{\"a\": \"1\", \"b\": \"2\"}";
	static const char *const some[] = {"a=1", "b=3", "b=2", "a=2"};
	assert_true(tp_fleet_fits_labels(json, some, 0));
	assert_true(tp_fleet_fits_labels(json, some, 1));
	assert_false(tp_fleet_fits_labels(json, some, 2));
	assert_true(tp_fleet_fits_labels(json, some, 3));
	assert_true(tp_fleet_fits_labels(json, some, 4));
	assert_false(tp_fleet_fits_labels(json, some + 3, 1));
	// A key that begins like another one is another key.
	static const char *const longer[] = {"ab=1", "a=1"};
	assert_false(tp_fleet_fits_labels(json, longer, 2));
	assert_false(tp_fleet_same_label("a=1", "ab=1") || tp_fleet_same_label("ab=1", "a=1"));
	assert_true(tp_fleet_same_label("a=1", "a=2"));
}

// ---- runs that are old

static char dropped[64];

static void note_dropped(void *context, const char *id, const char *program)
{
	(void)context;
	assert_string_equal(program, "it");
	assert_true(strlen(dropped) < sizeof(dropped) - 2);
	strncat(dropped, id + strlen(id) - 1, 1);
}

// Runs 1 to 4 began on 26 November 2026 at 0:00:00, 0:00:01, 12:00:00 and 23:59:59, in UTC.
static void old_runs(void **state)
{
	(void)state;
	static const char *const ids[] = {
	    "20261126-000000-1", "20261126-000001-2", "20261126-120000-3", "20261126-235959-4"};
	static const char *const zones[] = {"UTC", "XXX-9", "XXX+11", "XXX3YYY,M10.1.0,M3.3.0"};
	static const uint64_t midnight = 1795651200;
	static const struct {
		struct tp_fleet_old old;
		const char *dropped;
	} cases[] = {
	    {{.by_age = true, .before_unix_s = midnight}, ""},
	    {{.by_age = true, .before_unix_s = midnight + 1}, "1"},
	    {{.by_age = true, .before_unix_s = midnight + 43200}, "12"},
	    {{.by_age = true, .before_unix_s = midnight + 43201}, "123"},
	    {{.by_age = true, .before_unix_s = midnight + 86399}, "123"},
	    {{.by_age = true, .before_unix_s = midnight + 86400}, "1234"},
	    {{.by_count = true, .keep = 4}, ""},
	    {{.by_count = true, .keep = 3}, "1"},
	    {{.by_count = true, .keep = 1}, "123"},
	    {{.by_count = true}, "1234"},
	    {{.by_count = true, .keep = 3, .by_age = true, .before_unix_s = midnight + 2}, "12"},
	};
	char directory[] = "/tmp/u_fleet_XXXXXX";
	char path[TP_FLEET_PATH];
	struct tp_err err;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/manifest/program=it", directory);
	assert_int_equal(tp_fleet_make_folders(path, &err), 0);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/manifest/program=it/%s.json", directory, ids[i]);
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		fclose(file);
	}
	for (size_t zone = 0; zone < sizeof(zones) / sizeof(zones[0]); zone++) {
		setenv("TZ", zones[zone], 1);
		tzset();
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct tp_fleet_rewritten rewritten;
			struct tp_fleet_old old = cases[i].old;
			old.dry_run = true;
			old.each = note_dropped;
			dropped[0] = '\0';
			assert_int_equal(
			    tp_fleet_expire_runs(directory, &old, &rewritten, &err), 0);
			assert_string_equal(dropped, cases[i].dropped);
			assert_int_equal(rewritten.runs, strlen(dropped));
		}
	}
	unsetenv("TZ");
	tzset();
	tp_fleet_remove(directory);
}

// Its id and its day are those of its beginning in UTC, wherever it is added.
static void named_by_its_beginning(void **state)
{
	(void)state;
	static const char *const zones[] = {"UTC", "XXX-9", "XXX+11"};
	static const char text[] =
	    "trace created=1795651199999999999\nclock kind=tsc hz=1000000000\nend\n";
	char first[TP_FLEET_RUN_ID] = "";
	for (size_t zone = 0; zone < sizeof(zones) / sizeof(zones[0]); zone++) {
		struct tp_buf file;
		struct tp_tracefile trace;
		struct tp_analysis analysis;
		struct tp_fleet_run run;
		struct tp_err err;
		const struct tp_analysis_options options = {.workers = 1};
		setenv("TZ", zones[zone], 1);
		tzset();
		tp_buf_init(&file);
		assert_int_equal(tp_dump_assemble(text, strlen(text), "text", &file, &err), 0);
		assert_int_equal(
		    tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
		assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
		assert_int_equal(tp_fleet_run_name(&run, &analysis, &err), 0);
		assert_string_equal(run.day, "2026-11-25");
		assert_memory_equal(run.id, "20261125-235959-", 16);
		if (zone)
			assert_string_equal(run.id, first);
		strcpy(first, run.id);
		tp_analysis_release(&analysis);
		tp_tracefile_close(&trace);
		tp_buf_release(&file);
	}
	unsetenv("TZ");
	tzset();
}

// ---- counts that are full

static const char calls_of_f[] =
    "clock kind=tsc hz=1000000000\nsymbols\n\tsymbol 0x401000 f\nchunk\n"
    "\t0 enter f\n\t5 exit f\n\t10 enter f\n\t17 exit f\n\t20 enter f\n\t29 exit f\nend\n";

// Calls of 5, 7 and 9 ns, as often as these COUNTS say, in a node that has CALLS of them.
static void check_durations(const uint32_t counts[3], uint64_t calls, const uint64_t wanted[3])
{
	struct tp_buf file;
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	struct tp_paths paths;
	struct tp_durations durations;
	struct tp_err err;
	const struct tp_analysis_options options = {.workers = 1, .fine_histograms = true};
	tp_buf_init(&file);
	assert_int_equal(tp_dump_assemble(calls_of_f, strlen(calls_of_f), "text", &file, &err), 0);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	assert_int_equal(tp_paths_init(&paths, &analysis, &err), 0);
	assert_int_equal(analysis.function_count, 1);
	struct tp_node *node = &analysis.threads[0].profile.nodes[1];
	assert_int_equal(node->calls, 3);
	node->calls = calls;
	for (uint32_t i = 0; i < 3; i++)
		node->times.counts[5 + 2 * i - tp_histogram_first(&node->times)] = counts[i];
	const uint32_t function_slots[] = {0};
	const uint32_t path_slots[] = {TP_FLEET_NO_SLOT, 1};
	assert_int_equal(
	    tp_durations_init(&durations, &analysis, &paths, function_slots, path_slots, 2, &err),
	    0);
	for (int slot = 0; slot < 2; slot++) {
		const struct tp_duration_counts *found = &durations.slots[slot];
		uint64_t sum = 0;
		for (uint32_t i = 0; i < found->size; i++)
			sum += found->counts[i];
		assert_true(sum == wanted[0] + wanted[1] + wanted[2]);
		for (uint32_t i = 0; i < 3; i++)
			assert_true(found->counts[5 + 2 * i - found->first] == wanted[i]);
	}
	tp_durations_release(&durations);
	tp_paths_release(&paths);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

// A count that is full stands still; what its node has more calls than counts is the first one's.
static void full_counts(void **state)
{
	(void)state;
	const uint64_t full = UINT32_MAX;
	check_durations((const uint32_t[]){1, 2, 3}, 6, (const uint64_t[]){1, 2, 3});
	check_durations(
	    (const uint32_t[]){1, UINT32_MAX, 3}, full + 104, (const uint64_t[]){1, full + 100, 3});
	check_durations((const uint32_t[]){1, UINT32_MAX, UINT32_MAX}, 2 * full + 101,
	    (const uint64_t[]){1, full + 100, full});
	check_durations((const uint32_t[]){UINT32_MAX, UINT32_MAX, UINT32_MAX}, 3 * full + 100,
	    (const uint64_t[]){full + 100, full, full});
	// Calls without a time are in no count.
	check_durations((const uint32_t[]){1, UINT32_MAX, 3}, 7, (const uint64_t[]){1, full, 3});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buckets),
	    cmocka_unit_test(path_keys),
	    cmocka_unit_test(groups),
	    cmocka_unit_test(folders),
	    cmocka_unit_test(labels),
	    cmocka_unit_test(old_runs),
	    cmocka_unit_test(named_by_its_beginning),
	    cmocka_unit_test(full_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
