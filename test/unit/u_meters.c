// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sections COUNTERS and ENERGY: what a recorder writes, and what a reader makes of them, also
// of damaged ones.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/meters.h"
#include "common/buf.h"
#include "recorder/kernel/meters.h"

static struct tp_buf section;
static struct tp_arena arena;
static struct tp_meter_table table;

static int begin(void **state)
{
	(void)state;
	tp_buf_init(&section);
	tp_arena_init(&arena);
	table = (struct tp_meter_table){0};
	return 0;
}

static int end(void **state)
{
	(void)state;
	tp_buf_release(&section);
	tp_arena_release(&arena);
	return 0;
}

static void put_head(uint32_t meters, uint32_t readings)
{
	const struct teeperf_trace_meters head = {.meter_count = meters, .reading_count = readings};
	tp_buf_reset(&section);
	tp_buf_add(&section, &head, sizeof(head));
}

static void put_meter(const char *name, uint32_t kind, uint32_t flags)
{
	struct teeperf_trace_meter meter;
	tp_meter_init(&meter, name, TEEPERF_METER_COUNT, kind);
	meter.flags = flags;
	tp_buf_add(&section, &meter, sizeof(meter));
}

static void put(
    uint64_t ns, uint32_t meter, uint32_t cause, uint64_t value, uint64_t enabled, uint64_t running)
{
	const struct teeperf_trace_reading reading = {.monotonic_ns = ns,
	    .meter = meter,
	    .cause = cause,
	    .value = value,
	    .enabled_ns = enabled,
	    .running_ns = running};
	tp_buf_add(&section, &reading, sizeof(reading));
}

static const char *read_section(void)
{
	bool memory;
	const char *why = tp_meter_table_read(&table, &arena, section.data, section.size, &memory);
	assert_true(memory);
	return why;
}

static void expect(uint32_t i, const char *name, uint32_t phase, bool known, uint64_t value)
{
	assert_true(i < table.row_count);
	const struct tp_meter_row *row = &table.rows[i];
	assert_string_equal(row->meter->name, name);
	assert_int_equal(row->phase, phase);
	assert_int_equal(row->known, known);
	if (known)
		assert_int_equal(row->value, value);
}

static void a_run_without_phases_has_one_row_each(void **state)
{
	(void)state;
	put_head(3, 5);
	put_meter("faults", TEEPERF_METER_TOTAL, TEEPERF_METER_COUNTED);
	put_meter("absent", TEEPERF_METER_TOTAL, 0);
	put_meter("peak", TEEPERF_METER_FINAL, TEEPERF_METER_COUNTED);
	put(100, 0, TEEPERF_READING_START, 10, 0, 0);
	put(100, 2, TEEPERF_READING_START, 7, 0, 0);
	put(200, 0, TEEPERF_READING_INTERVAL, 15, 0, 0);
	put(300, 0, TEEPERF_READING_END, 25, 0, 0);
	put(300, 2, TEEPERF_READING_END, 9, 0, 0);
	assert_null(read_section());
	assert_int_equal(table.row_count, 3);
	expect(0, "faults", 0, true, 15);
	expect(1, "absent", 0, false, 0);
	expect(2, "peak", 0, true, 9);
	assert_int_equal(table.rows[0].start_ns, 100);
	assert_int_equal(table.rows[0].end_ns, 300);
	assert_int_equal(table.reading_count, 5);
	assert_string_equal(table.readings[4].meter->name, "peak");
}

static void switches_and_marks_make_phases(void **state)
{
	(void)state;
	put_head(2, 8);
	put_meter("total", TEEPERF_METER_TOTAL, TEEPERF_METER_COUNTED);
	put_meter("gauge", TEEPERF_METER_GAUGE, TEEPERF_METER_COUNTED);
	put(0, 0, TEEPERF_READING_START, 0, 0, 0);
	put(0, 1, TEEPERF_READING_START, 5, 0, 0);
	put(10, 0, TEEPERF_READING_SWITCH, 4, 0, 0);
	put(10, 1, TEEPERF_READING_SWITCH, 9, 0, 0);
	put(20, 0, TEEPERF_READING_MARK, 5, 0, 0);
	put(20, 1, TEEPERF_READING_MARK, 3, 0, 0);
	put(30, 0, TEEPERF_READING_END, 11, 0, 0);
	put(30, 1, TEEPERF_READING_END, 2, 0, 0);
	assert_null(read_section());
	assert_int_equal(table.row_count, 8);
	expect(0, "total", 0, true, 11);
	expect(1, "total", 1, true, 4);
	expect(2, "total", 2, true, 1);
	expect(3, "total", 3, true, 6);
	expect(4, "gauge", 0, true, 9);
	expect(5, "gauge", 1, true, 9);
	expect(6, "gauge", 2, true, 9);
	expect(7, "gauge", 3, true, 3);
	assert_int_equal(table.rows[2].start_ns, 10);
	assert_int_equal(table.rows[2].end_ns, 20);
}

// Phase by phase, and not at all where the hardware was never free.
static void shared_hardware_is_scaled_by_phase(void **state)
{
	(void)state;
	put_head(1, 4);
	put_meter("cycles", TEEPERF_METER_TOTAL, TEEPERF_METER_COUNTED | TEEPERF_METER_TIMED);
	put(0, 0, TEEPERF_READING_START, 0, 0, 0);
	put(10, 0, TEEPERF_READING_MARK, 100, 40, 10);
	put(20, 0, TEEPERF_READING_MARK, 100, 80, 10);
	put(30, 0, TEEPERF_READING_END, 150, 100, 30);
	assert_null(read_section());
	expect(0, "cycles", 0, true, 500);
	expect(1, "cycles", 1, true, 400);
	expect(2, "cycles", 2, false, 0);
	expect(3, "cycles", 3, true, 50);
	assert_int_equal(table.rows[0].raw, 150);
	assert_int_equal(table.rows[0].enabled_ns, 100);
	assert_int_equal(table.rows[0].running_ns, 30);
}

static void a_meter_that_broke_keeps_what_it_had(void **state)
{
	(void)state;
	put_head(2, 5);
	put_meter("whole", TEEPERF_METER_TOTAL, TEEPERF_METER_COUNTED);
	put_meter("broke", TEEPERF_METER_TOTAL, TEEPERF_METER_COUNTED | TEEPERF_METER_BROKEN);
	put(0, 0, TEEPERF_READING_START, 0, 0, 0);
	put(0, 1, TEEPERF_READING_START, 0, 0, 0);
	put(10, 0, TEEPERF_READING_INTERVAL, 1, 0, 0);
	put(10, 1, TEEPERF_READING_INTERVAL, 8, 0, 0);
	put(20, 0, TEEPERF_READING_END, 2, 0, 0);
	assert_null(read_section());
	expect(0, "whole", 0, true, 2);
	expect(1, "broke", 0, true, 8);
}

static void a_value_that_falls_is_not_known(void **state)
{
	(void)state;
	put_head(1, 2);
	put_meter("forged", TEEPERF_METER_TOTAL, TEEPERF_METER_COUNTED);
	put(0, 0, TEEPERF_READING_START, 100, 0, 0);
	put(1, 0, TEEPERF_READING_END, 99, 0, 0);
	assert_null(read_section());
	expect(0, "forged", 0, false, 0);
}

static void damaged_sections_are_not_used(void **state)
{
	(void)state;
	put_head(1, 1);
	put_meter("one", TEEPERF_METER_TOTAL, TEEPERF_METER_COUNTED);
	put(0, 0, TEEPERF_READING_START, 0, 0, 0);
	assert_null(read_section());
	const size_t whole = section.size;
	for (section.size = 0; section.size < whole; section.size++)
		assert_non_null(read_section());
	tp_buf_add(&section, "x", 1);
	section.size = whole + 1;
	assert_non_null(read_section());
	put_head(UINT32_MAX, UINT32_MAX);
	assert_non_null(read_section());
	put_head(0, 1);
	put(0, 0, TEEPERF_READING_START, 0, 0, 0);
	assert_non_null(strstr(read_section(), "belong to no meter"));
	put_head(1, 2);
	put_meter("back", TEEPERF_METER_TOTAL, TEEPERF_METER_COUNTED);
	put(5, 0, TEEPERF_READING_START, 0, 0, 0);
	put(4, 0, TEEPERF_READING_END, 0, 0, 0);
	assert_non_null(strstr(read_section(), "out of order"));
	// What was read before is still there.
	assert_int_equal(table.row_count, 1);
	put_head(0, 0);
	assert_null(read_section());
	assert_int_equal(table.row_count, 0);
}

static void so_many_phases_are_refused(void **state)
{
	(void)state;
	enum { METERS = 1024, READINGS = 1024 };
	put_head(METERS, READINGS);
	for (int i = 0; i < METERS; i++)
		put_meter("m", TEEPERF_METER_TOTAL, 0);
	for (int i = 0; i < READINGS; i++)
		put((uint64_t)i, 0, TEEPERF_READING_MARK, 0, 0, 0);
	assert_non_null(strstr(read_section(), "phases"));
}

static void names_are_made_fit_to_be_shown(void **state)
{
	(void)state;
	struct teeperf_trace_meter meter;
	put_head(1, 0);
	memset(&meter, 0, sizeof(meter));
	memset(meter.name, '\033', sizeof(meter.name));
	memset(meter.note, 'n', sizeof(meter.note));
	tp_buf_add(&section, &meter, sizeof(meter));
	assert_null(read_section());
	assert_int_equal(strlen(table.rows[0].meter->name), sizeof(meter.name) - 1);
	assert_int_equal(table.rows[0].meter->name[0], '?');
	assert_int_equal(strlen(table.rows[0].meter->note), sizeof(meter.note) - 1);
	assert_string_equal(tp_meter_unit_name(UINT32_MAX), "");
	assert_string_equal(tp_meter_cause_name(99), "");
}

// The cgroup's and the energy's are always there, if without values.
static void a_recorder_writes_what_a_reader_reads(void **state)
{
	(void)state;
	static const uint64_t switches;
	const struct tp_meters_options options = {.counters = "task-clock,page-faults,cgroup",
	    .counters_interval_ns = 1000000,
	    .energy = true};
	struct tp_meters meters;
	struct tp_err err;
	assert_int_equal(tp_meters_start(&meters, &options, 0, &switches, &err), 0);
	assert_true(tp_meters_read(&meters, TEEPERF_READING_MARK));
	assert_true(tp_meters_read(&meters, TEEPERF_READING_END));
	// Behind the end nothing counts.
	assert_true(tp_meters_read(&meters, TEEPERF_READING_MARK));
	tp_meters_stop(&meters);
	tp_meters_add_counters(&meters, &section);
	assert_null(read_section());
	assert_in_range(table.row_count, 2 + TP_CGROUP_METERS, 3 * (2 + TP_CGROUP_METERS));
	assert_string_equal(table.rows[0].meter->name, "task-clock");
	for (uint64_t i = 0; i < table.row_count; i++) {
		const struct teeperf_trace_meter *meter = table.rows[i].meter;
		if (!(meter->flags & TEEPERF_METER_COUNTED))
			assert_string_not_equal(meter->note, "");
		else if (meter->kind != TEEPERF_METER_FINAL || !table.rows[i].phase)
			assert_true(table.rows[i].known);
	}
	tp_buf_reset(&section);
	tp_meters_add_energy(&meters, &section);
	assert_null(read_section());
	assert_true(table.row_count >= 1);
	tp_meters_release(&meters);
}

static void without_being_asked_nothing_is_there(void **state)
{
	(void)state;
	static const uint64_t switches;
	struct tp_meters meters;
	assert_int_equal(
	    tp_meters_start(&meters, &(struct tp_meters_options){0}, 0, &switches, NULL), 0);
	assert_false(tp_meters_read(&meters, TEEPERF_READING_MARK));
	tp_meters_stop(&meters);
	tp_meters_add_counters(&meters, &section);
	tp_meters_add_energy(&meters, &section);
	assert_int_equal(section.size, 0);
	tp_meters_release(&meters);
}

// Marks without end take a bounded room; the end is always there, and what was left out is counted.
static void memory_is_bounded(void **state)
{
	(void)state;
	static const uint64_t switches;
	const struct tp_meters_options options = {.counters = "task-clock"};
	struct tp_meters meters;
	assert_int_equal(tp_meters_start(&meters, &options, 0, &switches, NULL), 0);
	const bool counts = meters.counters.meters[0].flags & TEEPERF_METER_COUNTED;
	for (int i = 0; i < 2 * TP_METERS_MOMENTS; i++) {
		tp_meters_read(&meters, TEEPERF_READING_INTERVAL);
		if (i % 8 == 0)
			tp_meters_read(&meters, TEEPERF_READING_MARK);
	}
	for (int i = 0; i < 2 * TP_METERS_MOMENTS; i++)
		tp_meters_read(&meters, TEEPERF_READING_MARK);
	tp_meters_read(&meters, TEEPERF_READING_END);
	tp_meters_stop(&meters);
	tp_meters_add_counters(&meters, &section);
	assert_null(read_section());
	assert_true(table.head.left_out > 0);
	assert_true(table.reading_count <= TP_METERS_MOMENTS + 1);
	if (counts) {
		assert_true(table.reading_count > TP_METERS_MOMENTS / 2);
		assert_int_equal(table.readings[0].reading->cause, TEEPERF_READING_START);
		assert_int_equal(
		    table.readings[table.reading_count - 1].reading->cause, TEEPERF_READING_END);
	}
	tp_meters_release(&meters);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	    TEST(a_run_without_phases_has_one_row_each),
	    TEST(switches_and_marks_make_phases),
	    TEST(shared_hardware_is_scaled_by_phase),
	    TEST(a_meter_that_broke_keeps_what_it_had),
	    TEST(a_value_that_falls_is_not_known),
	    TEST(damaged_sections_are_not_used),
	    TEST(so_many_phases_are_refused),
	    TEST(names_are_made_fit_to_be_shown),
	    TEST(a_recorder_writes_what_a_reader_reads),
	    TEST(without_being_asked_nothing_is_there),
	    TEST(memory_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
