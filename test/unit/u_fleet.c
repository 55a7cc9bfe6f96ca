// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of a fleet: buckets of durations and how far off they are, keys of paths, groups of
// threads, names of folders.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/fleet/folder.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buckets),
	    cmocka_unit_test(path_keys),
	    cmocka_unit_test(groups),
	    cmocka_unit_test(folders),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
