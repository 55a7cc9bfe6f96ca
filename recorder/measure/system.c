// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kernel did for a run, added up: calls that read and write, requests to block devices.
#include "system.h"

#include "common/system_calls.h"

#include <stdio.h>
#include <string.h>

// The requests of a device: sequential if it begins where the one before it ended.
static void add_request(struct tp_system_sums *sums, const struct teeperf_system_event *event)
{
	enum { SECTOR = 512, READS = 0, WRITES = 1 };
	struct tp_system_device *device = sums->devices;
	while (device < &sums->devices[sums->device_count] && device->number != event->number)
		device++;
	if (device == &sums->devices[TP_SYSTEM_DEVICES]) {
		sums->other_devices++;
		return;
	}
	if (device == &sums->devices[sums->device_count]) {
		sums->device_count++;
		device->number = event->number;
		device->next_sector = UINT64_MAX;
	}
	if (event->detail != READS && event->detail != WRITES)
		return;
	device->bytes[event->detail] += event->result;
	device->requests[event->argument == device->next_sector]++;
	device->total_ns += event->duration_ns;
	device->next_sector = event->argument + event->result / SECTOR;
}

void tp_system_sums_add(
    struct tp_system_sums *sums, const struct teeperf_system_event *events, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		const struct teeperf_system_event *event = &events[i];
		if (event->kind == TEEPERF_SYSTEM_BLOCK)
			add_request(sums, event);
		if (event->kind != TEEPERF_SYSTEM_CALL)
			continue;
		const struct tp_system_call *call = tp_system_call_here(event->number);
		if (!call || !tp_system_call_moves(call))
			continue;
		// What copies does both at once.
		const bool reads = call->use != TP_SYSTEM_CALL_WRITES;
		struct tp_system_moves *moves = reads ? &sums->reads : &sums->writes;
		moves->calls++;
		moves->total_ns += event->duration_ns;
	}
}

// "sda", or "8_0" if the system does not tell.
static void name_device(uint32_t number, char name[64])
{
	char path[64];
	char line[128];
	const uint32_t major = number >> 20;
	const uint32_t minor = number & ((1U << 20) - 1);
	snprintf(name, 64, "%u_%u", major, minor);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/uevent", major, minor);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "DEVNAME=", 8) == 0)
			snprintf(name, 64, "%.*s", (int)strcspn(line + 8, "\n"), line + 8);
	if (file)
		fclose(file);
}

static void report_moves(const struct tp_system_moves *moves, const char *what, struct tp_buf *to)
{
	char name[64];
	snprintf(name, sizeof(name), "system_%s_calls", what);
	tp_measure_metric(to, name, "count", (double)moves->calls);
	snprintf(name, sizeof(name), "system_%s_mean", what);
	if (moves->calls)
		tp_measure_metric(
		    to, name, "s", (double)moves->total_ns / 1e9 / (double)moves->calls);
}

void tp_system_sums_report(const struct tp_system_sums *sums, uint64_t lost, struct tp_buf *to)
{
	report_moves(&sums->reads, "read", to);
	report_moves(&sums->writes, "write", to);
	for (uint32_t i = 0; i < sums->device_count; i++) {
		const struct tp_system_device *device = &sums->devices[i];
		const uint64_t requests = device->requests[0] + device->requests[1];
		char of[64];
		char name[128];
		name_device(device->number, of);
#define ADD(what, unit, value)                               \
	(snprintf(name, sizeof(name), "block_%s_" what, of), \
	    tp_measure_metric(to, name, unit, (double)(value)))
		ADD("read_bytes", "bytes", device->bytes[0]);
		ADD("written_bytes", "bytes", device->bytes[1]);
		ADD("random", "count", device->requests[0]);
		ADD("sequential", "count", device->requests[1]);
		if (requests)
			ADD("mean", "s", (double)device->total_ns / 1e9 / (double)requests);
#undef ADD
	}
	if (lost)
		tp_measure_note(to,
		    "system events came too fast and were lost: figures of calls and "
		    "block devices are too small");
	if (sums->other_devices)
		tp_measure_note(
		    to, "requests of more than %d block devices are left out", TP_SYSTEM_DEVICES);
}
