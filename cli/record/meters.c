// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters and energy of 'teeperf record'.
#define _GNU_SOURCE
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tp_record_meters_list(const struct tp_record_options *options)
{
	const char *list = options->wanted.meters.counters;
	if (!list || strcmp(list, "list") != 0)
		return false;
	struct tp_buf names;
	tp_buf_init(&names);
	tp_counters_list(&names, "  ");
	printf("names for '--counters', separated by commas:\n%s", names.data);
	tp_buf_release(&names);
	return true;
}

int tp_record_meters_check(
    const struct tp_record_options *options, struct tp_meters_options *meters)
{
	enum { DEFAULT_MS = 100, MOST_MS = 3600 * 1000 };
	struct tp_err err;
	uint64_t energy_ms = DEFAULT_MS;
	const uint64_t ms = options->counters_ms == UINT64_MAX ? DEFAULT_MS : options->counters_ms;
	if (meters->counters && tp_counters_check(meters->counters, &err))
		return tp_options_usage("%s", err.what);
	if (meters->counters && !options->wanted.argv && !options->attach.pid)
		return tp_options_usage(
		    "option '--counters' needs a PROGRAM to start, or '--pid' with its process");
	if (tp_counters_has(meters->counters, TP_COUNTERS_GRAMINE) &&
	    (!options->wanted.argv || !options->attach.port_name ||
		strcmp(options->attach.port_name, "gramine") != 0))
		return tp_options_usage(
		    "the counter 'gramine' needs '--port gramine' and a PROGRAM to start");
	if (options->energy && *options->energy) {
		char *end;
		energy_ms = strtoull(options->energy, &end, 10);
		if (*end || options->energy[0] < '0' || options->energy[0] > '9')
			return tp_options_usage(
			    "option '--energy' takes a number of milliseconds, not '%s'",
			    options->energy);
	}
	if (ms > MOST_MS || energy_ms > MOST_MS)
		return tp_options_usage(
		    "counters and energy are read at least every %d ms", MOST_MS);
	meters->energy = options->energy;
	meters->counters_interval_ns = ms * 1000000;
	meters->energy_interval_ns = energy_ms * 1000000;
	return 0;
}

// Once for all that have the same reason.
static void tell(const char *what, const struct teeperf_trace_meter *meters, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tp_buf names;
		bool told = meters[i].flags & TEEPERF_METER_COUNTED;
		for (uint32_t k = 0; k < i && !told; k++)
			told = !(meters[k].flags & TEEPERF_METER_COUNTED) &&
			       !strcmp(meters[k].note, meters[i].note);
		if (told)
			continue;
		tp_buf_init(&names);
		for (uint32_t k = i; k < count; k++)
			if (!(meters[k].flags & TEEPERF_METER_COUNTED) &&
			    !strcmp(meters[k].note, meters[i].note))
				tp_buf_addf(&names, "%s%s", k > i ? ", " : "", meters[k].name);
		tp_command_tell("%s not measured: %s: %s\n", what, names.data, meters[i].note);
		tp_buf_release(&names);
	}
}

void tp_record_meters_tell(const struct tp_meters *meters)
{
	tell("counters", meters->counters.meters, meters->counters.count);
	if (meters->counters.with_cgroup)
		tell("counters", meters->cgroup.meters, TP_CGROUP_METERS);
	if (meters->has_energy)
		tell("energy", meters->energy.meters, meters->energy.count);
}
