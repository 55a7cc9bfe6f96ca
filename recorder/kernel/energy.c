// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the machine has consumed, from the kernel's powercap files.
#define _GNU_SOURCE
#include "energy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A whole number from the beginning of the open file. 0 or an errno.
static int read_number(int fd, uint64_t *number)
{
	char text[32];
	const ssize_t size = pread(fd, text, sizeof(text) - 1, 0);
	if (size < 0)
		return errno;
	text[size] = '\0';
	return sscanf(text, "%" SCNu64, number) == 1 ? 0 : EIO;
}

// The first line of ZONE's file NAME. 0 or an errno.
static int read_text(int folder, const char *zone, const char *name, char *text, size_t room)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", zone, name);
	const int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	const ssize_t size = read(fd, text, room - 1);
	const int error = size < 0 ? errno : 0;
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return error;
}

/*
 * "package-0", "package-0/core": zone "intel-rapl:0:1" is part of "intel-rapl:0". On machines with
 * several dies the names are the kernel's, "package-0-die-1".
 */
static bool name_zone(int folder, const char *zone, char *name, size_t room)
{
	char own[24];
	char parent[24] = "";
	char above[NAME_MAX + 1];
	if (read_text(folder, zone, "name", own, sizeof(own)) || !own[0])
		return false;
	snprintf(above, sizeof(above), "%s", zone);
	char *colon = strrchr(above, ':');
	*colon = '\0';
	if (strchr(above, ':') && read_text(folder, above, "name", parent, sizeof(parent)))
		parent[0] = '\0';
	snprintf(name, room, "%s%s%s", parent, parent[0] ? "/" : "", own);
	return true;
}

static void explain(struct teeperf_trace_meter *meter, int error)
{
	if (error == EACCES || error == EPERM)
		TP_METER_NOTE(meter,
		    "only root may read it: run as root, or 'chmod a+r' its energy_uj "
		    "in " TP_ENERGY_ROOT);
	else
		TP_METER_NOTE(meter, "it cannot be read: %s", strerror(error));
}

static void open_zone(struct tp_energy *energy, int folder, const char *zone)
{
	char path[PATH_MAX];
	char most[32];
	struct teeperf_trace_meter *meter = &energy->meters[energy->count];
	struct tp_energy_zone *to = &energy->zones[energy->count];
	char name[sizeof(meter->name)];
	if (!name_zone(folder, zone, name, sizeof(name)))
		return;
	energy->count++;
	tp_meter_init(meter, name, TEEPERF_METER_MICROJOULES, TEEPERF_METER_TOTAL);
	snprintf(path, sizeof(path), "%s/energy_uj", zone);
	*to = (struct tp_energy_zone){.fd = openat(folder, path, O_RDONLY | O_CLOEXEC)};
	int error = to->fd < 0 ? errno : read_number(to->fd, &to->last_uj);
	if (!read_text(folder, zone, "max_energy_range_uj", most, sizeof(most)))
		to->most_uj = strtoull(most, NULL, 10);
	if (!error)
		meter->flags = TEEPERF_METER_COUNTED;
	else
		explain(meter, error);
}

// Zones of RAPL; those of the memory-mapped interface are the same domains once more.
static int is_zone(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "intel-rapl:", strlen("intel-rapl:"));
}

void tp_energy_open(struct tp_energy *energy, const char *root)
{
	memset(energy, 0, sizeof(*energy));
	struct dirent **zones = NULL;
	const int count = scandir(root, &zones, is_zone, versionsort);
	const int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < count; i++) {
		if (folder >= 0 && energy->count < TP_ENERGY_MOST)
			open_zone(energy, folder, zones[i]->d_name);
		free(zones[i]);
	}
	free(zones);
	if (folder >= 0)
		close(folder);
	if (energy->count)
		return;
	energy->count = 1;
	energy->zones[0].fd = -1;
	tp_meter_init(&energy->meters[0], "energy", TEEPERF_METER_MICROJOULES, TEEPERF_METER_TOTAL);
	TP_METER_NOTE(&energy->meters[0],
	    "not available: this machine has no RAPL (virtual machines have none), or its kernel "
	    "has no powercap driver");
}

static void give_up(struct teeperf_trace_meter *meter, struct tp_energy_zone *zone, const char *why)
{
	close(zone->fd);
	zone->fd = -1;
	meter->flags |= TEEPERF_METER_BROKEN;
	TP_METER_NOTE(meter, "%s", why);
}

void tp_energy_read(struct tp_energy *energy, struct tp_meter_value *readings)
{
	for (uint32_t i = 0; i < energy->count; i++) {
		struct tp_energy_zone *zone = &energy->zones[i];
		uint64_t now;
		readings[i] = (struct tp_meter_value){.value = 0};
		if (!(energy->meters[i].flags & TEEPERF_METER_COUNTED) || zone->fd < 0)
			continue;
		if (read_number(zone->fd, &now)) {
			give_up(&energy->meters[i], zone, "it vanished during the recording");
			continue;
		}
		if (now < zone->last_uj && zone->most_uj < zone->last_uj) {
			give_up(&energy->meters[i], zone, "its counter went backwards");
			continue;
		}
		zone->sum_uj +=
		    now < zone->last_uj ? zone->most_uj - zone->last_uj + now : now - zone->last_uj;
		zone->last_uj = now;
		readings[i] = (struct tp_meter_value){.value = zone->sum_uj, .known = true};
	}
}

void tp_energy_close(struct tp_energy *energy)
{
	for (uint32_t i = 0; i < energy->count; i++) {
		if (energy->zones[i].fd >= 0)
			close(energy->zones[i].fd);
		energy->zones[i].fd = -1;
	}
	energy->count = 0;
}
