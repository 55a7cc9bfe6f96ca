// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// System events: what the reader takes of a section that may say anything, which calls events
// belong to, the words of 'record --events', the clocks of BPF programs, and the numbers of system
// calls.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "analyzer/profile/system.h"
#include "analyzer/trace/text/dump_text.h"
#include "common/system_calls.h"
#include "recorder/kernel/bpf.h"

// ---- the section

static void sections_of_wrong_sizes(void **state)
{
	(void)state;
	static const uint8_t bytes[512];
	struct tp_system system = {0};
	bool memory;
	for (uint64_t size = 0; size < sizeof(bytes); size++) {
		const bool fits = size == 48 || (size > 48 && (size - 48) % 64 == 0);
		// At an odd address, and no byte behind the end is there for sanitizers.
		uint8_t *copy = malloc(size + 1);
		memcpy(copy + 1, bytes, size);
		const char *why = tp_system_add(&system, copy + 1, size, &memory);
		free(copy);
		assert_true(memory);
		assert_int_equal(why == NULL, fits);
		assert_int_equal(system.has, size >= 48);
	}
	// Events of kind 0 are none.
	assert_int_equal(system.count, 0);
	assert_int_equal(system.unknown, 1 + 2 + 3 + 4 + 5 + 6 + 7);
	tp_system_release(&system);
}

static void events_that_do_not_fit(void **state)
{
	(void)state;
	struct {
		struct teeperf_trace_system head;
		struct teeperf_system_event events[3];
	} section = {
	    .head = {.lost_calls = 4},
	    .events = {{.kind = TEEPERF_SYSTEM_BLOCK,
			   .start_ns = UINT64_MAX - 5,
			   .duration_ns = UINT64_MAX},
		{.kind = 77}, {.kind = TEEPERF_SYSTEM_CALL, .start_ns = 3, .duration_ns = 9}},
	};
	struct tp_system system = {0};
	bool memory;
	assert_null(tp_system_add(&system, &section, sizeof(section), &memory));
	assert_int_equal(system.count, 2);
	assert_int_equal(system.unknown, 1);
	assert_int_equal(system.events[0].duration_ns, 5);
	assert_int_equal(system.events[1].duration_ns, 9);
	// The next one adds its events; its numbers count.
	section.head.lost_calls = 6;
	assert_null(tp_system_add(&system, &section, sizeof(section), &memory));
	assert_int_equal(system.count, 4);
	assert_int_equal(system.head.lost_calls, 6);
	tp_system_release(&system);
}

// ---- which calls

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_paths paths;
static struct tp_system_items items;

static void open_trace(const char *text)
{
	struct tp_err err;
	const struct tp_analysis_options options = {.workers = 1};
	tp_buf_init(&file);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	assert_int_equal(tp_paths_init(&paths, &analysis, &err), 0);
	assert_int_equal(tp_system_items_init(&items, &analysis, &paths, &err), 0);
}

static void close_trace(void)
{
	tp_system_items_release(&items);
	tp_paths_release(&paths);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

static const char *owner(uint64_t item)
{
	const struct tp_system_place place = items.items[item].at;
	return place.path ? analysis.functions[paths.items[place.path].function].symbol.name : "-";
}

#define HEAD                                                                       \
	"trace machine=62\n"                                                       \
	"symbols\n\tsymbol 0x401000 outer\n\tsymbol 0x401010 inner\n"              \
	"threads\n\tthread tid=1 chunks=1\n"                                       \
	"chunk\n\t100 enter 0x401000\n\t200 enter 0x401010\n\t300 exit 0x401010\n" \
	"\t400 enter 0x401010\n\t450 exit 0x401010\n\t500 exit 0x401000\n"

static void innermost_call_by_the_middle(void **state)
{
	(void)state;
	open_trace(
	    HEAD "clock kind=tsc hz=1000000000\n\tpoint 0 0\n\tpoint 1000 1000\nsystem groups=2\n"
		 // Seems to begin before the call, and to end behind one.
		 "\tevent 1 start=196 duration=20 tid=1 pid=1 number=39 result=1\n"
		 "\tevent 1 start=290 duration=16 tid=1 pid=1 number=39 result=1\n"
		 "\tevent 1 start=320 duration=10 tid=1 pid=1 number=39 result=1\n"
		 "\tevent 1 start=10 duration=10 tid=1 pid=1 number=39 result=1\n"
		 "\tevent 1 start=510 duration=100000 tid=1 pid=1 number=39 result=1\n"
		 "\tevent 1 start=410 duration=1 tid=2 pid=1 number=39 result=1\n");
	static const char *const wanted[] = {"-", "inner", "inner", "outer", "-", "-"};
	assert_int_equal(items.count, 6);
	for (uint64_t i = 0; i < 6; i++)
		assert_string_equal(owner(i), wanted[i]);
	assert_int_equal(items.items[4].at.thread, TP_SYSTEM_NOBODY);
	assert_int_equal(items.total.count, 6);
	assert_int_equal(items.lists[TP_SYSTEM_CALLS].count, 6);
	assert_int_equal(items.lists[TP_SYSTEM_IO].count, 0);
	close_trace();
}

static void a_clock_that_changes_its_rate(void **state)
{
	(void)state;
	// By the line through the ends, 1250 ns would be tick 250, in inner; by the points around
	// it, it is tick 350.
	open_trace(HEAD "clock kind=soft-tsc\n\tpoint 0 0\n\tpoint 300 1000\n\tpoint 400 1500\n"
			"\tpoint 1000 5000\nsystem groups=2\n"
			"\tevent 1 start=1250 duration=0 tid=1 pid=1 number=39 result=1\n");
	assert_string_equal(owner(0), "outer");
	close_trace();
}

static void no_clock_points(void **state)
{
	(void)state;
	open_trace(HEAD "clock kind=tsc hz=1000000000\nsystem groups=2\n"
			"\tevent 1 start=250 duration=0 tid=1 pid=1 number=39 result=1\n");
	assert_string_equal(owner(0), "-");
	assert_int_equal(items.row_count, 1);
	close_trace();
}

static void system_calls_around_the_tee(void **state)
{
	(void)state;
	open_trace(
	    "trace machine=62\n"
	    "symbols\n\tsymbol 0x401000 invoke\n\tsymbol 0x501000 command\n"
	    "\tsymbol 0x501010 helper\n\tsymbol 0x401010 callback\n"
	    "modules\n\tmodule start=0x401000 end=0x402000 path=\"/host\"\n"
	    "\tmodule start=0x501000 end=0x502000 flags=4 path=\"/tee\"\n"
	    "threads\n\tthread tid=1 chunks=1\n"
	    "chunk\n\t100 enter 0x401000\n\t200 enter 0x501000\n\t250 enter 0x501010\n"
	    "\t350 exit 0x501010\n\t400 enter 0x401010\n\t500 exit 0x401010\n"
	    "\t900 exit 0x501000\n\t1000 exit 0x401000\n"
	    "clock kind=tsc hz=1000000000\n\tpoint 0 0\n\tpoint 2000 2000\nsystem groups=2\n"
	    // By which the host entered the TEE; its middle is in the helper.
	    "\tevent 1 start=150 duration=300 tid=1 pid=1 number=16 result=0\n"
	    // For the TEE, by code that is not recorded.
	    "\tevent 1 start=280 duration=10 tid=1 pid=1 number=0 result=0\n"
	    // Begins before what it is in, as far as the clocks agree: of the host's own function.
	    "\tevent 1 start=390 duration=50 tid=1 pid=1 number=0 result=0\n"
	    "\tevent 1 start=600 duration=10 tid=1 pid=1 number=0 result=0\n");
	static const char *const wanted[] = {"invoke", "helper", "callback", "command"};
	assert_int_equal(items.count, 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_string_equal(owner(i), wanted[i]);
	close_trace();
}

// ---- the recorder's side

static void words(void **state)
{
	(void)state;
	static const char *const wrong[] = {
	    "", ",", "io,", ",io", "io,,sched", "ios", "i", "IO", "io sched"};
	struct tp_err err;
	assert_int_equal(tp_bpf_groups("faults", &err), TEEPERF_SYSTEM_FAULTS);
	assert_int_equal(tp_bpf_groups("sched,syscalls,io,faults,mem", &err), 31);
	assert_int_equal(tp_bpf_groups("io,io", &err), TEEPERF_SYSTEM_IO);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(tp_bpf_groups(wrong[i], &err), 0);
		assert_int_equal(err.code, TP_ERR_SYNTAX);
	}
}

static void clocks(void **state)
{
	(void)state;
	// The second stretch is slower, as NTP may have it.
	static const struct tp_bpf_moment moments[] = {{1000, 50}, {2000, 1050}, {3000, 2000}};
	assert_int_equal(tp_bpf_raw_ns(moments, 3, 1000), 50);
	assert_int_equal(tp_bpf_raw_ns(moments, 3, 1500), 550);
	assert_int_equal(tp_bpf_raw_ns(moments, 3, 2000), 1050);
	assert_int_equal(tp_bpf_raw_ns(moments, 3, 2500), 1525);
	assert_int_equal(tp_bpf_raw_ns(moments, 3, 3000), 2000);
	// Before and behind all of them, by the stretch that is nearest.
	assert_int_equal(tp_bpf_raw_ns(moments, 3, 960), 10);
	assert_int_equal(tp_bpf_raw_ns(moments, 3, 0), 0);
	assert_int_equal(tp_bpf_raw_ns(moments, 3, 4000), 2950);
	assert_int_equal(tp_bpf_raw_ns(moments, 1, 1500), 550);
	assert_int_equal(tp_bpf_raw_ns(moments, 2, 500), 0);
}

static void numbers(void **state)
{
	(void)state;
	assert_string_equal(tp_system_call_here(SYS_read)->name, "read");
	assert_string_equal(tp_system_call_here(SYS_pwritev2)->name, "pwritev2");
	assert_string_equal(tp_system_call_here(SYS_statx)->name, "statx");
	assert_int_equal(tp_system_call_here(SYS_futex)->use, TP_SYSTEM_CALL_FUTEX);
	assert_int_equal(tp_system_call_here(SYS_exit_group)->use, TP_SYSTEM_CALL_ENDS);
	assert_true(tp_system_call_moves(tp_system_call_here(SYS_sendfile)));
	assert_string_equal(tp_system_call(62, 0)->name, "read");
	assert_string_equal(tp_system_call(183, 63)->name, "read");
	assert_string_equal(tp_system_call(243, 63)->name, "read");
	assert_null(tp_system_call(62, 9999));
	assert_null(tp_system_call(62, UINT32_MAX));
	assert_null(tp_system_call(40, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sections_of_wrong_sizes),
	    cmocka_unit_test(events_that_do_not_fit),
	    cmocka_unit_test(innermost_call_by_the_middle),
	    cmocka_unit_test(a_clock_that_changes_its_rate),
	    cmocka_unit_test(no_clock_points),
	    cmocka_unit_test(system_calls_around_the_tee),
	    cmocka_unit_test(words),
	    cmocka_unit_test(clocks),
	    cmocka_unit_test(numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
