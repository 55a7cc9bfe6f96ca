// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measurements around a run, and those from the files that it has left.
#define _GNU_SOURCE
#include "session.h"

#include "analyzer/trace/tracefile.h"
#include "experiment/system.h"
#include "recorder/kernel/bpf.h"
#include "recorder/kernel/counters.h"
#include "recorder/kernel/energy.h"
#include "recorder/kernel/gramine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- counters

// Of the run that is measured.
static struct {
	const struct tp_plan *plan;
	const char *folder;
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
static void note_absent(
    const struct teeperf_trace_meter *meters, uint32_t count, struct tp_measured *to)
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
		tp_measured_note(to, "not measured: %s: %s", names.data, meters[i].note);
		tp_buf_release(&names);
	}
}

static void start_counters(struct tp_measured *to)
{
	struct tp_buf list;
	struct tp_err err;
	tp_buf_init(&list);
	tp_buf_add_string(&list, TP_PLAN_USUAL_EVENTS);
	for (uint32_t i = 0; i < now.plan->events.count; i++) {
		const char *event = now.plan->events.items[i].text;
		if (tp_counters_check(event, &err))
			tp_measured_note(to, "not counted: %s", err.what);
		else
			tp_buf_addf(&list, ",%s", event);
	}
	const int code = tp_counters_open(&now.counters, list.data, 0, &err);
	now.counting = !code;
	if (code)
		tp_measured_note(to, "nothing was counted: %s", err.what);
	tp_buf_release(&list);
}

static void stop_counters(struct tp_measured *to)
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
			tp_measured_note(to, "not measured: %s: it could not be read", meter->name);
		else if ((meter->flags & TEEPERF_METER_TIMED) &&
			 !tp_counters_scale(&nothing, &readings[i], &value))
			tp_measured_note(
			    to, "not measured: %s: the hardware had no counter free", meter->name);
		else
			tp_measured_add(
			    to, meter->name, unit_name(meter->unit), in_unit(meter->unit, value));
		if (meter->flags & TEEPERF_METER_USER_ONLY)
			tp_measured_note(to,
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

static void start_energy(struct tp_measured *to)
{
	char path[PATH_MAX];
	(void)to;
	now.samples = NULL;
	tp_energy_open(&now.energy, TP_ENERGY_ROOT);
	if (!has_energy())
		return;
	snprintf(path, sizeof(path), "%s/energy.csv", now.folder);
	now.samples = fopen(path, "we");
	if (now.samples)
		fputs("timestamp_ns,domain,microjoule\n", now.samples);
	sample_energy();
}

static void stop_energy(struct tp_measured *to)
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
		tp_measured_add(to, name, unit_name(meter->unit),
		    in_unit(meter->unit, (double)readings[i].value));
		tp_measured_note(
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

static void start_system(struct tp_measured *to)
{
	now.bpf = (struct tp_bpf){0};
	now.system = (struct tp_system_sums){0};
	if (tp_bpf_open(&now.bpf, TEEPERF_SYSTEM_IO, TP_BPF_FAMILY))
		tp_measured_note(to, "no system events: %s", now.bpf.refused.what);
	tp_bpf_reader_init(&now.reader, &now.bpf, 0);
}

static void stop_system(struct tp_measured *to)
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

static void tick_system(void)
{
	if (now.bpf.object)
		take_system();
}

const struct tp_collector *const *tp_collectors(const struct tp_experiment *experiment,
    const struct tp_grid_cell *cell, const struct tp_run *run, const char *folder)
{
	static const struct tp_collector counters = {
	    .name = "counters", .start = start_counters, .stop = stop_counters};
	static struct tp_collector energy = {
	    .name = "energy", .start = start_energy, .tick = sample_energy, .stop = stop_energy};
	static const struct tp_collector system = {.name = "system events",
	    .start = start_system,
	    .tick = tick_system,
	    .tick_ns = SYSTEM_TICK_NS,
	    .stop = stop_system};
	static const struct tp_collector *list[TP_COLLECTORS_MOST + 1];
	uint32_t count = 0;
	now.plan = &experiment->plan;
	now.folder = folder;
	energy.tick_ns = experiment->plan.energy_interval_ns;
	// Whatever perf counts by itself would be counted twice, and slow it.
	if (cell->variant->kind != TP_VARIANT_PERF_STAT)
		list[count++] = &counters;
	if (experiment->plan.energy)
		list[count++] = &energy;
	// What starts another program would have its own events among those of the program.
	if (experiment->plan.system_events && cell->variant->kind == TP_VARIANT_NATIVE &&
	    run->kind != TP_RUN_DEEP_TRACE)
		list[count++] = &system;
	list[count] = NULL;
	return list;
}

// ---- what a run has left

// Lines of 'perf stat -x;': value;unit;event;...
static void read_perf(const char *folder, struct tp_measured *to)
{
	char path[PATH_MAX];
	char line[1024];
	snprintf(path, sizeof(path), "%s/perf.csv", folder);
	FILE *file = fopen(path, "re");
	uint32_t found = 0;
	struct tp_buf absent;
	tp_buf_init(&absent);
	while (file && fgets(line, sizeof(line), file)) {
		char *rest = line;
		char *value = strsep(&rest, ";");
		const char *unit = rest ? strsep(&rest, ";") : NULL;
		const char *event = rest ? strsep(&rest, ";") : NULL;
		if (!event || *line == '#')
			continue;
		char *comma = strchr(value, ',');
		if (comma)
			*comma = '.';
		char *end;
		const double number = strtod(value, &end);
		const bool is_time = strcmp(unit, "msec") == 0;
		if (end == value)
			tp_buf_addf(&absent, "%s%s", absent.size ? ", " : "", event);
		else if (strcmp(event, "duration_time") == 0)
			tp_measured_set(to, "wall_time", "s", number / 1e9, "command_time");
		else
			tp_measured_add(to, event,
			    is_time ? "s"
			    : *unit ? unit
				    : "count",
			    is_time ? number / 1e3 : number);
		found++;
	}
	if (file)
		fclose(file);
	if (!found)
		tp_measured_note(to, "'perf stat' has written no counters");
	if (absent.size)
		tp_measured_note(
		    to, "not counted by 'perf stat', or not supported here: %s", absent.data);
	tp_buf_release(&absent);
}

// What Gramine says of SGX in the end, on the program's standard error.
static void read_gramine(const char *path, struct tp_measured *to)
{
	struct tp_gramine heard = {0};
	struct teeperf_trace_meter meters[TP_GRAMINE_METERS];
	struct tp_meter_value values[TP_GRAMINE_METERS];
	char piece[4096];
	size_t size;
	FILE *file = fopen(path, "re");
	while (file && (size = fread(piece, 1, sizeof(piece), file)) > 0)
		tp_gramine_feed(&heard, piece, size);
	if (file)
		fclose(file);
	tp_gramine_read(&heard, meters, values);
	note_absent(meters, TP_GRAMINE_METERS, to);
	for (uint32_t i = 0; i < TP_GRAMINE_METERS; i++)
		if (values[i].known)
			tp_measured_add(
			    to, meters[i].name, unit_name(meters[i].unit), (double)values[i].value);
}

static void report_system(const struct tp_system *system, struct tp_measured *to)
{
	struct tp_system_sums sums = {0};
	tp_system_sums_add(&sums, system->events, system->count);
	tp_system_sums_report(&sums,
	    system->head.lost_calls + system->head.lost_faults + system->head.lost_blocks, to);
}

static void read_trace(const char *path, struct tp_measured *to)
{
	struct tp_tracefile *trace = malloc(sizeof(*trace));
	struct tp_err err;
	struct stat info;
	if (!trace) {
		to->failed = true;
		return;
	}
	if (stat(path, &info)) {
		tp_measured_note(to,
		    "no trace was written: 'teeperf record' gives the reason in the file stderr");
	} else if (tp_tracefile_open(trace, path, &err)) {
		tp_measured_note(to, "the trace cannot be read: %s", err.what);
		tp_tracefile_close(trace);
	} else {
		uint64_t records = 0;
		uint64_t lost = 0;
		for (uint64_t i = 0; i < trace->chunk_count; i++)
			records += trace->chunks[i].word_count;
		for (uint32_t i = 0; i < trace->thread_count; i++)
			lost += trace->threads[i].lost;
		// Of the program alone, so that it can be compared with other variants.
		if (trace->has_end && trace->end.end_ns > trace->end.start_ns)
			tp_measured_set(to, "wall_time", "s",
			    (double)(trace->end.end_ns - trace->end.start_ns) / 1e9,
			    "command_time");
		if (trace->cpu.flags & TEEPERF_CPU_EXACT)
			tp_measured_set(to, "cpu_time", "s", (double)trace->cpu.cpu_ns / 1e9, NULL);
		if (trace->system.has)
			report_system(&trace->system, to);
		tp_measured_add(to, "trace_bytes", "bytes", (double)info.st_size);
		tp_measured_add(to, "trace_records", "count", (double)records);
		tp_measured_add(to, "lost_events", "count", (double)lost);
		if (!records && !trace->system.count)
			tp_measured_note(to,
			    "nothing of the program was recorded: it is not built "
			    "with 'teeperf cc', or its allowlist left no function");
		if (lost)
			tp_measured_note(to,
			    "events were lost: the times are those of a program that "
			    "wrote fewer than it should have");
		tp_tracefile_close(trace);
	}
	free(trace);
}

static const struct tp_metric *find(const struct tp_measured *in, const char *name)
{
	for (uint32_t i = 0; i < in->metric_count; i++)
		if (strcmp(in->metrics[i].name, name) == 0)
			return &in->metrics[i];
	return NULL;
}

// What the plan says a byte takes, times what went to the disk and came from it.
static void add_disk_energy(const struct tp_plan *plan, struct tp_measured *to)
{
	const struct tp_metric *read = find(to, "disk_read_bytes");
	const struct tp_metric *written = find(to, "disk_written_bytes");
	const bool reads = plan->disk_read_nj >= 0;
	const bool writes = plan->disk_write_nj >= 0;
	if ((!reads && !writes) || !read || !written)
		return;
	tp_measured_add(to, "disk_energy", "J",
	    (reads ? read->value * plan->disk_read_nj / 1e9 : 0) +
		(writes ? written->value * plan->disk_write_nj / 1e9 : 0));
}

void tp_collect_rest(const struct tp_experiment *experiment, const struct tp_grid_cell *cell,
    const struct tp_run *run, const char *folder, struct tp_measured *to)
{
	char path[PATH_MAX];
	const enum tp_variant_kind kind = cell->variant->kind;
	const bool traced = run->kind == TP_RUN_DEEP_TRACE;
	add_disk_energy(&experiment->plan, to);
	if (kind == TP_VARIANT_PERF_STAT)
		read_perf(folder, to);
	if (kind == TP_VARIANT_TEEPERF || traced) {
		snprintf(path, sizeof(path), "%s/teeperf.trace", folder);
		read_trace(path, to);
		tp_measured_note(to,
		    "user and system time, memory, faults, switches, counters, reads and writes "
		    "include the recorder; wall_time and cpu_time do not");
		if (!traced && !cell->variant->keep_traces)
			unlink(path);
	}
	if (kind == TP_VARIANT_GRAMINE_SGX) {
		snprintf(path, sizeof(path), "%s/stderr", folder);
		read_gramine(path, to);
	}
}
