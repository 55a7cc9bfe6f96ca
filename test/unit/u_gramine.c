// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Gramine prints of SGX: read in pieces of any size, added up over processes, and passed on as
// it is.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/kernel/gramine.h"

static const char printed[] =
    "Hello from the program: # of EENTERs: 999\n"
    "----- SGX stats for thread 87219 -----\n"
    "  # of EENTERs:        224\n"
    "  # of EEXITs:         193\n"
    "  # of AEXs:           201\n"
    "  # of sync signals:   32\n"
    "  # of async signals:  4\n"
    "----- Total SGX stats for process 87219 -----\n"
    "  # of EENTERs:        1224\n"
    "  # of EEXITs:         1193\n"
    "  # of AEXs:           1201\n"
    "  # of something new:  7\n"
    "  # of sync signals:   132\n"
    "  # of async signals:  1\n"
    "----- SGX stats for thread 9 -----\n"
    "  # of EENTERs:        5\n"
    "----- Total SGX stats for process 9 -----\n"
    "  # of EENTERs:        6\n"
    "  # of AEXs:           18446744073709551615\n"
    "a line that is much longer than any of those that matter, and has # of EENTERs: "
    "5 in it, behind the end of what is kept of a line\n"
    "  # of EEXITs:         not a number\n"
    "  # of sync signals:";

static const uint64_t sums[TP_GRAMINE_METERS] = {1230, 1193, UINT64_MAX, 132, 1};

static void expect(const struct tp_gramine *gramine)
{
	struct teeperf_trace_meter meters[TP_GRAMINE_METERS];
	struct tp_meter_value values[TP_GRAMINE_METERS];
	tp_gramine_read(gramine, meters, values);
	assert_int_equal(gramine->processes, 2);
	assert_string_equal(meters[0].name, "sgx-eenters");
	assert_string_equal(meters[4].name, "sgx-async-signals");
	for (int i = 0; i < TP_GRAMINE_METERS; i++) {
		assert_true(values[i].known);
		assert_int_equal(values[i].value, sums[i]);
		assert_int_equal(meters[i].flags, TEEPERF_METER_COUNTED);
		assert_int_equal(meters[i].kind, TEEPERF_METER_FINAL);
	}
}

static void pieces_may_have_any_size(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < sizeof(printed); piece++) {
		struct tp_gramine gramine = {.used = 0};
		for (size_t at = 0; at < sizeof(printed) - 1; at += piece) {
			const size_t left = sizeof(printed) - 1 - at;
			tp_gramine_feed(&gramine, printed + at, left < piece ? left : piece);
		}
		expect(&gramine);
	}
}

static void nothing_is_a_note(void **state)
{
	(void)state;
	struct tp_gramine gramine = {.used = 0};
	struct teeperf_trace_meter meters[TP_GRAMINE_METERS];
	struct tp_meter_value values[TP_GRAMINE_METERS];
	tp_gramine_feed(&gramine, "# of EENTERs: 3\n\0\xff\n----- Total\n# of AEXs: 4\n", 43);
	tp_gramine_read(&gramine, meters, values);
	for (int i = 0; i < TP_GRAMINE_METERS; i++) {
		assert_false(values[i].known);
		assert_int_equal(meters[i].flags, 0);
		assert_non_null(strstr(meters[i].note, "sgx.enable_stats"));
	}
}

// Our standard error is a pipe for the time, which gets the same bytes.
static void a_tap_passes_all_on(void **state)
{
	(void)state;
	int ours[2];
	char got[sizeof(printed)] = "";
	struct tp_gramine_tap tap;
	const int kept = dup(STDERR_FILENO);
	assert_int_equal(pipe(ours), 0);
	dup2(ours[1], STDERR_FILENO);
	close(ours[1]);
	const int code = tp_gramine_tap_start(&tap, NULL);
	dup2(kept, STDERR_FILENO);
	close(kept);
	assert_int_equal(code, 0);
	const pid_t pid = fork();
	if (!pid) {
		for (size_t i = 0; i < sizeof(printed) - 1; i++)
			if (write(tap.program, printed + i, 1) != 1)
				_exit(1);
		_exit(0);
	}
	tp_gramine_tap_given(&tap);
	size_t size = 0;
	for (ssize_t more; size < sizeof(got) - 1 &&
			   (more = read(ours[0], got + size, sizeof(got) - 1 - size)) > 0;)
		size += (size_t)more;
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(size, sizeof(printed) - 1);
	assert_memory_equal(got, printed, size);
	tp_gramine_tap_finish(&tap, 60000);
	assert_int_equal(tap.pid, 0);
	expect(tap.heard);
	tp_gramine_tap_stop(&tap);
	close(ours[0]);
}

static void an_unused_tap_is_stopped(void **state)
{
	(void)state;
	struct tp_gramine_tap tap = {.program = 0};
	tp_gramine_tap_stop(&tap);
	assert_int_equal(tap.program, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_may_have_any_size),
	    cmocka_unit_test(nothing_is_a_note),
	    cmocka_unit_test(a_tap_passes_all_on),
	    cmocka_unit_test(an_unused_tap_is_stopped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
