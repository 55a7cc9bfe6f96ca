// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Costs that are kept from one recording to the next: what holds is found again, all else is as if
// it were not there.
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder/cost_cache.h"

#include <teeperf/abi.h>
#include <teeperf/log.h>

static char base[] = "/tmp/u-cost-cache-XXXXXX";
static char folder[64];
static char file[128];

static const struct tp_cost_key key = {
    .clock = TEEPERF_CLOCK_SOFT_TSC, .period_ns = 2000, .cores = 2, .counter_cpu = 1};
static const struct tp_cost_kept given = {
    .cost = {1.25, 2.5, 0.125, 0.5, 3, 80}, .took_ns = 12345678};

// How much later it is, by the clock of the machine's running time.
static int64_t later_s;

int clock_gettime(clockid_t clock, struct timespec *time)
{
	const int result = (int)syscall(SYS_clock_gettime, clock, time);
	if (clock == CLOCK_BOOTTIME)
		time->tv_sec += later_s;
	return result;
}

static int make_folder(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(base));
	snprintf(folder, sizeof(folder), "%s/teeperf", base);
	snprintf(file, sizeof(file), "%s/cost-soft-tsc", folder);
	return setenv("XDG_CACHE_HOME", base, 1);
}

static int remove_folder(void **state)
{
	(void)state;
	chmod(folder, 0700);
	unlink(file);
	rmdir(folder);
	return rmdir(base);
}

static bool is_kept(const struct tp_cost_key *wanted)
{
	struct tp_cost_kept kept;
	return tp_cost_cache_read(wanted, &kept);
}

static void found_again(void **state)
{
	(void)state;
	struct tp_cost_kept kept;
	assert_false(is_kept(&key));
	tp_cost_cache_write(&key, &given);
	assert_true(tp_cost_cache_read(&key, &kept));
	assert_memory_equal(&kept.cost, &given.cost, sizeof(given.cost));
	assert_int_equal(kept.took_ns, given.took_ns);
	struct stat info;
	assert_int_equal(stat(file, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(stat(folder, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0700);
}

static void other_conditions(void **state)
{
	(void)state;
	tp_cost_cache_write(&key, &given);
	struct tp_cost_key other[5] = {key, key, key, key, key};
	other[0].clock = TEEPERF_CLOCK_TSC;
	other[1].period_ns++;
	other[2].cores++;
	other[3].counter_cpu--;
	for (int i = 0; i < 4; i++)
		assert_false(is_kept(&other[i]));
	assert_true(is_kept(&other[4]));
}

static size_t load(char text[4096])
{
	FILE *from = fopen(file, "r");
	assert_non_null(from);
	const size_t size = fread(text, 1, 4096, from);
	fclose(from);
	return size;
}

static void store(const char *text, size_t size)
{
	FILE *to = fopen(file, "w");
	assert_non_null(to);
	assert_int_equal(fwrite(text, 1, size, to), size);
	fclose(to);
}

// A day later, also if the machine has not run for a day yet.
static void old_ones(void **state)
{
	(void)state;
	enum { HOUR = 3600 };
	struct tp_cost_kept kept;
	later_s = 30 * HOUR;
	tp_cost_cache_write(&key, &given);
	assert_true(tp_cost_cache_read(&key, &kept));
	later_s += 23 * HOUR;
	assert_true(tp_cost_cache_read(&key, &kept));
	assert_true(kept.age_ns / 1000000000 / HOUR == 23);
	later_s += 2 * HOUR;
	assert_false(is_kept(&key));
	// Nor what was written later than now.
	later_s = 29 * HOUR;
	assert_false(is_kept(&key));
	later_s = 0;
}

// Another byte anywhere, a byte less, a byte more.
static void damaged(void **state)
{
	(void)state;
	char text[4096];
	tp_cost_cache_write(&key, &given);
	const size_t size = load(text);
	for (size_t i = 0; i < size; i++) {
		text[i] ^= 1;
		store(text, size);
		assert_false(is_kept(&key));
		text[i] ^= 1;
		store(text, i);
		assert_false(is_kept(&key));
	}
	text[size] = '\n';
	store(text, size + 1);
	assert_false(is_kept(&key));
	store(text, size);
	assert_true(is_kept(&key));
	// A damaged file is replaced.
	store("", 0);
	tp_cost_cache_write(&key, &given);
	assert_true(is_kept(&key));
}

// What one bad measurement has found decides the times of no later recording.
static void not_believed(void **state)
{
	(void)state;
	struct tp_cost_kept kept;
	struct tp_cost_kept bad = given;
	unlink(file);
	bad.cost.in_ns = TP_EVENT_COST_MOST_NS;
	tp_cost_cache_write(&key, &bad);
	assert_false(is_kept(&key));
	// Several times the shortest call beside it.
	bad.cost.in_ns = 300;
	bad.cost.least_ns = 20;
	tp_cost_cache_write(&key, &bad);
	assert_false(is_kept(&key));
	bad.cost.least_ns = 100;
	tp_cost_cache_write(&key, &bad);
	assert_true(is_kept(&key));
	// Less is always news; several times the last one never.
	tp_cost_cache_write(&key, &given);
	tp_cost_cache_write(&key, &bad);
	assert_true(tp_cost_cache_read(&key, &kept));
	assert_memory_equal(&kept.cost, &given.cost, sizeof(given.cost));
	bad.cost.in_ns = 40;
	tp_cost_cache_write(&key, &bad);
	assert_true(tp_cost_cache_read(&key, &kept));
	assert_true(kept.cost.in_ns == 40);
}

static uint64_t sum_of(const char *text, size_t size)
{
	return teeperf_hash_bytes(TEEPERF_HASH_START, text, size);
}

// A file of a version that kept anything.
static void poisoned(void **state)
{
	(void)state;
	char text[4096];
	unlink(file);
	tp_cost_cache_write(&key, &given);
	text[load(text)] = '\0';
	char *values = strstr(text, "1250 2500 125 ");
	assert_non_null(values);
	char rest[256];
	snprintf(rest, sizeof(rest), "%s", values + strlen("1250 2500 125 "));
	*strchr(rest, '\n') = '\0';
	const size_t room = sizeof(text) - (size_t)(values - text);
	for (int i = 0; i < 2; i++) {
		const int size = snprintf(
		    values, room, "%s %s\n", i ? "1250 2500 125" : "670000 1741000 125", rest);
		const size_t whole = (size_t)(values - text) + (size_t)size;
		snprintf(
		    values + size, room - (size_t)size, "%016" PRIx64 "\n", sum_of(text, whole));
		store(text, strlen(text));
		assert_int_equal(is_kept(&key), i);
	}
}

static void whose(void **state)
{
	(void)state;
	tp_cost_cache_write(&key, &given);
	assert_int_equal(chmod(file, 0620), 0);
	assert_false(is_kept(&key));
	assert_int_equal(chmod(file, 0602), 0);
	assert_false(is_kept(&key));
	assert_int_equal(chmod(file, 0644), 0);
	assert_true(is_kept(&key));
	assert_int_equal(chmod(folder, 0770), 0);
	assert_false(is_kept(&key));
	assert_int_equal(chmod(folder, 0700), 0);
	if (geteuid())
		return;
	// Only root can give files away.
	assert_int_equal(chown(file, 1, 0), 0);
	assert_false(is_kept(&key));
	tp_cost_cache_write(&key, &given);
	assert_true(is_kept(&key));
	assert_int_equal(chown(folder, 1, 0), 0);
	assert_false(is_kept(&key));
	assert_int_equal(chown(folder, 0, 0), 0);
}

static void no_file(void **state)
{
	(void)state;
	char target[128];
	snprintf(target, sizeof(target), "%s/elsewhere", base);
	tp_cost_cache_write(&key, &given);
	assert_int_equal(rename(file, target), 0);
	assert_int_equal(symlink(target, file), 0);
	assert_false(is_kept(&key));
	assert_int_equal(unlink(file), 0);
	assert_int_equal(unlink(target), 0);
	// A FIFO that nobody writes holds nobody up.
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_false(is_kept(&key));
	tp_cost_cache_write(&key, &given);
	assert_true(is_kept(&key));
}

static void no_place(void **state)
{
	(void)state;
	static const char *const places[] = {"/dev/null", "relative", "/proc/nowhere"};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		setenv("XDG_CACHE_HOME", places[i], 1);
		tp_cost_cache_write(&key, &given);
		assert_false(is_kept(&key));
	}
	setenv("XDG_CACHE_HOME", base, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(found_again),
	    cmocka_unit_test(other_conditions), cmocka_unit_test(old_ones),
	    cmocka_unit_test(damaged), cmocka_unit_test(not_believed), cmocka_unit_test(poisoned),
	    cmocka_unit_test(whose), cmocka_unit_test(no_file), cmocka_unit_test(no_place)};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
