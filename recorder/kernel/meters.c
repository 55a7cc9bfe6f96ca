// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meters of a recording, read beside the program.
#define _GNU_SOURCE
#include "meters.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "recorder/clock/host_clock.h"

// How soon a switch that the program itself makes is seen.
enum { TICK_MS = 10 };
static const uint64_t WRAP_NS = UINT64_C(1000000) * TP_ENERGY_WRAP_MS / 2;

// Leave out every second moment of cause INTERVAL, so that the time between those that stay is
// about twice as long.
static void thin(struct tp_meter_series *series)
{
	uint32_t kept = 0;
	uint64_t moments = 0;
	uint64_t intervals = 0;
	bool drop = true;
	for (uint32_t i = 0; i < series->count;) {
		const struct teeperf_trace_reading *first = &series->readings[i];
		uint32_t end = i + 1;
		while (end < series->count &&
		       series->readings[end].monotonic_ns == first->monotonic_ns)
			end++;
		const bool is_interval = first->cause == TEEPERF_READING_INTERVAL;
		drop = is_interval && !drop;
		if (!drop) {
			memmove(&series->readings[kept], first, (end - i) * sizeof(*first));
			kept += end - i;
			moments++;
			intervals += is_interval;
		}
		i = end;
	}
	series->count = kept;
	series->moments = moments;
	series->intervals = intervals;
	series->interval_ns *= 2;
}

// NOW is above that of the last moment. READINGS are of COUNT meters, from number FIRST on.
static void add(struct tp_meter_series *series, uint64_t now, enum teeperf_reading_cause cause,
    const struct tp_meter_value *readings, uint32_t count, uint32_t first)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!readings[i].known ||
		    !TP_GROW(series->readings, series->room, series->count + 1))
			continue;
		series->readings[series->count++] = (struct teeperf_trace_reading){
		    .monotonic_ns = now,
		    .meter = first + i,
		    .cause = cause,
		    .value = readings[i].value,
		    .enabled_ns = readings[i].enabled_ns,
		    .running_ns = readings[i].running_ns,
		};
	}
}

// Whether there is room for a moment. Ends are always kept.
static bool make_room(struct tp_meter_series *series, enum teeperf_reading_cause cause)
{
	if (series->moments >= TP_METERS_MOMENTS && series->intervals > 1)
		thin(series);
	const bool has_room = series->moments < TP_METERS_MOMENTS ||
			      cause == TEEPERF_READING_START || cause == TEEPERF_READING_END;
	if (has_room) {
		series->moments++;
		series->intervals += cause == TEEPERF_READING_INTERVAL;
	} else if (cause != TEEPERF_READING_INTERVAL) {
		series->left_out++;
	}
	return has_room;
}

static void read_counters(struct tp_meters *meters, uint64_t now, enum teeperf_reading_cause cause)
{
	struct tp_meter_series *series = &meters->of_counters;
	struct tp_meter_value readings[TP_COUNTERS_MOST];
	if (!meters->has_counters || !make_room(series, cause))
		return;
	tp_counters_read(&meters->counters, readings);
	add(series, now, cause, readings, meters->counters.count, 0);
	if (!meters->counters.with_cgroup)
		return;
	tp_cgroup_read(&meters->cgroup, readings);
	add(series, now, cause, readings, TP_CGROUP_METERS, meters->counters.count);
}

static void read_energy(struct tp_meters *meters, uint64_t now, enum teeperf_reading_cause cause)
{
	struct tp_meter_value readings[TP_ENERGY_MOST];
	if (!meters->has_energy)
		return;
	meters->energy_read_ns = now;
	tp_energy_read(&meters->energy, readings);
	if (make_room(&meters->of_energy, cause))
		add(&meters->of_energy, now, cause, readings, meters->energy.count, 0);
}

// So that no two moments have the same time.
static uint64_t now_ns(const struct tp_meters *meters)
{
	const struct tp_meter_series *all[] = {&meters->of_counters, &meters->of_energy};
	uint64_t now = tp_clock_monotonic_ns();
	for (int i = 0; i < 2; i++)
		if (all[i]->count && all[i]->readings[all[i]->count - 1].monotonic_ns >= now)
			now = all[i]->readings[all[i]->count - 1].monotonic_ns + 1;
	return now;
}

static bool is_due(struct tp_meter_series *series, uint64_t now)
{
	if (!series->interval_ns || now < series->next_ns)
		return false;
	series->next_ns = now + series->interval_ns;
	return true;
}

static void read_all(struct tp_meters *meters, enum teeperf_reading_cause cause)
{
	const uint64_t now = now_ns(meters);
	read_counters(meters, now, cause);
	read_energy(meters, now, cause);
}

bool tp_meters_read(struct tp_meters *meters, enum teeperf_reading_cause cause)
{
	if (!meters->has_counters && !meters->has_energy)
		return false;
	pthread_mutex_lock(&meters->lock);
	meters->switches_seen = tp_load_relaxed(meters->switch_count);
	if (!meters->ended)
		read_all(meters, cause);
	meters->ended |= cause == TEEPERF_READING_END;
	pthread_mutex_unlock(&meters->lock);
	return true;
}

static void look(struct tp_meters *meters)
{
	pthread_mutex_lock(&meters->lock);
	const uint64_t switches = tp_load_relaxed(meters->switch_count);
	const uint64_t now = now_ns(meters);
	if (meters->ended) {
		// The rest of the recording is ours.
	} else if (switches != meters->switches_seen) {
		meters->switches_seen = switches;
		read_all(meters, TEEPERF_READING_SWITCH);
	} else {
		if (is_due(&meters->of_counters, now))
			read_counters(meters, now, TEEPERF_READING_INTERVAL);
		if (is_due(&meters->of_energy, now))
			read_energy(meters, now, TEEPERF_READING_INTERVAL);
		else if (meters->has_energy && now - meters->energy_read_ns > WRAP_NS)
			tp_energy_read(
			    &meters->energy, (struct tp_meter_value[TP_ENERGY_MOST]){{0}});
	}
	pthread_mutex_unlock(&meters->lock);
}

static int wait_ms(const struct tp_meters *meters)
{
	uint64_t wait = TICK_MS;
	const uint64_t intervals[] = {
	    meters->of_counters.interval_ns, meters->of_energy.interval_ns};
	for (int i = 0; i < 2; i++)
		if (intervals[i] && intervals[i] / 1000000 < wait)
			wait = intervals[i] / 1000000;
	return wait ? (int)wait : 1;
}

static void *run(void *argument)
{
	struct tp_meters *meters = argument;
	pthread_setname_np(pthread_self(), "teeperf-meters");
	while (!tp_load_relaxed(&meters->worker.stop)) {
		tp_doorbell_wait(&meters->worker.bell, wait_ms(meters));
		look(meters);
	}
	return NULL;
}

int tp_meters_start(struct tp_meters *meters, const struct tp_meters_options *options, pid_t pid,
    const uint64_t *switch_count, struct tp_err *err)
{
	memset(meters, 0, sizeof(*meters));
	if (!options->counters && !options->energy)
		return 0;
	meters->switch_count = switch_count;
	meters->switches_seen = tp_load_relaxed(switch_count);
	int r = 0;
	if (options->counters)
		r = tp_counters_open(&meters->counters, options->counters, pid, err);
	meters->has_counters = options->counters;
	meters->of_counters.interval_ns = options->counters_interval_ns;
	if (meters->counters.with_cgroup)
		tp_cgroup_open(&meters->cgroup, "/proc", pid);
	if (options->energy)
		tp_energy_open(&meters->energy, TP_ENERGY_ROOT);
	meters->has_energy = options->energy;
	meters->of_energy.interval_ns = options->energy_interval_ns;
	pthread_mutex_init(&meters->lock, NULL);
	if (!r) {
		const uint64_t now = now_ns(meters);
		meters->of_counters.next_ns = now + options->counters_interval_ns;
		meters->of_energy.next_ns = now + options->energy_interval_ns;
		read_all(meters, TEEPERF_READING_START);
		r = tp_worker_start(
		    &meters->worker, run, meters, "the thread of the counters", err);
	}
	meters->runs = !r;
	if (r)
		tp_meters_release(meters);
	return r;
}

void tp_meters_stop(struct tp_meters *meters)
{
	if (!meters->runs)
		return;
	tp_worker_stop(&meters->worker);
	meters->runs = false;
}

void tp_meters_set_gramine(struct tp_meters *meters, const struct tp_gramine *gramine)
{
	static const struct tp_gramine none;
	struct tp_meter_value values[TP_GRAMINE_METERS];
	const uint32_t cgroup = meters->counters.with_cgroup ? TP_CGROUP_METERS : 0;
	tp_gramine_read(gramine ? gramine : &none, meters->gramine, values);
	add(&meters->of_counters, now_ns(meters), TEEPERF_READING_END, values, TP_GRAMINE_METERS,
	    meters->counters.count + cgroup);
}

// Meters that stand side by side.
struct group {
	const struct teeperf_trace_meter *meters;
	uint32_t count;
};

static void add_section(const struct tp_meter_series *series, const struct group *groups,
    uint32_t group_count, struct tp_buf *out)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < group_count; i++)
		count += groups[i].count;
	const struct teeperf_trace_meters head = {
	    .meter_count = count,
	    .reading_count = series->count,
	    .interval_ns = series->interval_ns,
	    .left_out = series->left_out,
	};
	tp_buf_add(out, &head, sizeof(head));
	for (uint32_t i = 0; i < group_count; i++)
		tp_buf_add(out, groups[i].meters, groups[i].count * sizeof(*groups[i].meters));
	tp_buf_add(out, series->readings, series->count * sizeof(*series->readings));
}

void tp_meters_add_counters(const struct tp_meters *meters, struct tp_buf *out)
{
	const struct group groups[] = {
	    {meters->counters.meters, meters->counters.count},
	    {meters->cgroup.meters, meters->counters.with_cgroup ? TP_CGROUP_METERS : 0},
	    {meters->gramine, meters->counters.with_gramine ? TP_GRAMINE_METERS : 0},
	};
	if (meters->has_counters)
		add_section(&meters->of_counters, groups, 3, out);
}

void tp_meters_add_energy(const struct tp_meters *meters, struct tp_buf *out)
{
	const struct group group = {meters->energy.meters, meters->energy.count};
	if (meters->has_energy)
		add_section(&meters->of_energy, &group, 1, out);
}

void tp_meters_release(struct tp_meters *meters)
{
	if (!meters->has_counters && !meters->has_energy)
		return;
	tp_counters_close(&meters->counters);
	if (meters->counters.with_cgroup)
		tp_cgroup_close(&meters->cgroup);
	if (meters->has_energy)
		tp_energy_close(&meters->energy);
	pthread_mutex_destroy(&meters->lock);
	free(meters->of_counters.readings);
	free(meters->of_energy.readings);
	meters->of_counters.readings = meters->of_energy.readings = NULL;
	meters->has_counters = meters->has_energy = false;
}
