// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures while a program runs: counters, energy, system events.
#define _GNU_SOURCE
#include "measure.h"
#include "system.h"

#include "recorder/kernel/bpf.h"
#include "recorder/kernel/counters.h"
#include "recorder/kernel/energy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- counters

// Of the program that is measured.
static struct {
	const struct tp_measurement *what;
	uint64_t energy_ns; // next time of its sample
	uint64_t system_ns;
	struct tp_counters counters;
	bool counting;
	struct tp_energy energy;
	FILE *samples; // of energy
	struct tp_bpf bpf;
	struct tp_bpf_reader reader; // of all processes
	struct tp_system_sums system;
} now;

static const char *unit_name(uint32_t unit)
{
	return unit == TEEPERF_METER_NS            ? "s"
	       : unit == TEEPERF_METER_MICROJOULES ? "J"
	       : unit == TEEPERF_METER_BYTES       ? "bytes"
						   : "count";
}

static double in_unit(uint32_t unit, double value)
{
	return unit == TEEPERF_METER_NS            ? value / 1e9
	       : unit == TEEPERF_METER_MICROJOULES ? value / 1e6
						   : value;
}

// Meters without a value, those with the same reason in one note.
static void note_absent(const struct teeperf_trace_meter *meters, uint32_t count, struct tp_buf *to)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tp_buf names;
		bool told = meters[i].flags & TEEPERF_METER_COUNTED;
		for (uint32_t j = 0; j < i && !told; j++)
			told = !(meters[j].flags & TEEPERF_METER_COUNTED) &&
			       !strcmp(meters[j].note, meters[i].note);
		if (told)
			continue;
		tp_buf_init(&names);
		for (uint32_t j = i; j < count; j++)
			if (!(meters[j].flags & TEEPERF_METER_COUNTED) &&
			    !strcmp(meters[j].note, meters[i].note))
				tp_buf_addf(&names, "%s%s", names.size ? ", " : "", meters[j].name);
		tp_measure_note(to, "not measured: %s: %s", names.data, meters[i].note);
		tp_buf_release(&names);
	}
}

static void start_counters(struct tp_buf *to)
{
	struct tp_buf list;
	struct tp_err err;
	tp_buf_init(&list);
	for (char *const *at = now.what->events; *at; at++) {
		const char *event = *at;
		if (tp_counters_check(event, &err))
			tp_measure_note(to, "not counted: %s", err.what);
		else
			tp_buf_addf(&list, "%s%s", list.size ? "," : "", event);
	}
	const int code = tp_counters_open(&now.counters, list.data, 0, &err);
	now.counting = !code;
	if (code)
		tp_measure_note(to, "nothing was counted: %s", err.what);
	tp_buf_release(&list);
}

static void stop_counters(struct tp_buf *to)
{
	static const struct tp_meter_value nothing = {.known = true};
	struct tp_meter_value readings[TP_COUNTERS_MOST];
	if (now.counting) {
		tp_counters_read(&now.counters, readings);
		note_absent(now.counters.meters, now.counters.count, to);
	}
	for (uint32_t i = 0; now.counting && i < now.counters.count; i++) {
		const struct teeperf_trace_meter *meter = &now.counters.meters[i];
		double value = (double)readings[i].value;
		if (!(meter->flags & TEEPERF_METER_COUNTED) || !readings[i].known)
			continue;
		if (meter->flags & TEEPERF_METER_BROKEN)
			tp_measure_note(to, "not measured: %s: it could not be read", meter->name);
		else if ((meter->flags & TEEPERF_METER_TIMED) &&
			 !tp_counters_scale(&nothing, &readings[i], &value))
			tp_measure_note(
			    to, "not measured: %s: the hardware had no counter free", meter->name);
		else
			tp_measure_metric(
			    to, meter->name, unit_name(meter->unit), in_unit(meter->unit, value));
		if (meter->flags & TEEPERF_METER_USER_ONLY)
			tp_measure_note(to,
			    "counters cover user space only: kernel.perf_event_paranoid is above "
			    "1");
	}
	tp_counters_close(&now.counters);
}

// ---- energy

static void sample_energy(void)
{
	struct tp_meter_value readings[TP_ENERGY_MOST];
	struct timespec time;
	tp_energy_read(&now.energy, readings);
	clock_gettime(CLOCK_MONOTONIC, &time);
	for (uint32_t i = 0; now.samples && i < now.energy.count; i++)
		if (readings[i].known)
			fprintf(now.samples, "%" PRIu64 ",%s,%" PRIu64 "\n",
			    (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec,
			    now.energy.meters[i].name, readings[i].value);
}

static bool has_energy(void)
{
	for (uint32_t i = 0; i < now.energy.count; i++)
		if (now.energy.meters[i].flags & TEEPERF_METER_COUNTED)
			return true;
	return false;
}

static void start_energy(void)
{
	now.samples = NULL;
	tp_energy_open(&now.energy, TP_ENERGY_ROOT);
	if (!has_energy())
		return;
	now.samples = fopen(now.what->energy, "we");
	if (now.samples)
		fputs("timestamp_ns,domain,microjoule\n", now.samples);
	sample_energy();
}

static void stop_energy(struct tp_buf *to)
{
	struct tp_meter_value readings[TP_ENERGY_MOST];
	if (has_energy())
		sample_energy();
	tp_energy_read(&now.energy, readings);
	note_absent(now.energy.meters, now.energy.count, to);
	for (uint32_t i = 0; i < now.energy.count; i++) {
		const struct teeperf_trace_meter *meter = &now.energy.meters[i];
		char name[64];
		if (!(meter->flags & TEEPERF_METER_COUNTED) || !readings[i].known ||
		    (meter->flags & TEEPERF_METER_BROKEN))
			continue;
		snprintf(name, sizeof(name), "energy_%s", meter->name);
		tp_measure_metric(to, name, unit_name(meter->unit),
		    in_unit(meter->unit, (double)readings[i].value));
		tp_measure_note(
		    to, "energy is that of the whole machine, not of the program alone");
	}
	tp_energy_close(&now.energy);
	if (now.samples)
		fclose(now.samples);
}

// ---- system events

// Often enough that the ring of the BPF programs does not fill up.
enum { SYSTEM_TICK_NS = 20000000 };

static void take_system(void)
{
	struct tp_buf *events = &now.reader.events;
	tp_bpf_take(&now.bpf);
	tp_system_sums_add(&now.system,
	    (const struct teeperf_system_event *)(const void *)events->data,
	    events->size / sizeof(struct teeperf_system_event));
	tp_buf_reset(events);
}

static void start_system(struct tp_buf *to)
{
	now.bpf = (struct tp_bpf){0};
	now.system = (struct tp_system_sums){0};
	if (tp_bpf_open(&now.bpf, TEEPERF_SYSTEM_IO, TP_BPF_FAMILY))
		tp_measure_note(to, "no system events: %s", now.bpf.refused.what);
	tp_bpf_reader_init(&now.reader, &now.bpf, 0);
}

static void stop_system(struct tp_buf *to)
{
	if (now.bpf.object) {
		take_system();
		tp_bpf_close(&now.bpf);
		take_system();
		const struct teeperf_trace_system *head = &now.bpf.head;
		uint64_t lost = head->lost_calls + head->lost_faults + head->lost_blocks;
		for (int i = 0; i < 4; i++)
			lost += now.bpf.dropped[i];
		tp_system_sums_report(&now.system, lost, to);
	}
	tp_bpf_reader_release(&now.reader);
	tp_bpf_release(&now.bpf);
}

void tp_collect_start(const struct tp_measurement *what, struct tp_buf *lines)
{
	now.what = what;
	now.energy_ns = now.system_ns = 0;
	if (what->events)
		start_counters(lines);
	if (what->energy)
		start_energy();
	if (what->system)
		start_system(lines);
}

// Whether something with this interval is due; the first time is an interval after the start.
static bool is_due(uint64_t now_ns, uint64_t interval_ns, uint64_t *at_ns, uint64_t *next_ns)
{
	const bool due = *at_ns && now_ns >= *at_ns;
	if (due || !*at_ns)
		*at_ns = now_ns + interval_ns;
	if (*at_ns < *next_ns)
		*next_ns = *at_ns;
	return due;
}

void tp_collect_tick(uint64_t now_ns, uint64_t *next_ns)
{
	if (now.what->energy &&
	    is_due(now_ns, now.what->energy_interval_ns, &now.energy_ns, next_ns))
		sample_energy();
	if (now.what->system && now.bpf.object &&
	    is_due(now_ns, SYSTEM_TICK_NS, &now.system_ns, next_ns))
		take_system();
}

void tp_collect_stop(struct tp_buf *lines)
{
	if (now.what->events)
		stop_counters(lines);
	if (now.what->energy)
		stop_energy(lines);
	if (now.what->system)
		stop_system(lines);
}
