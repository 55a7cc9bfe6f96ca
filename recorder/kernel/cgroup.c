// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processor time and memory of a control group.
#define _GNU_SOURCE
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/read_all.h"

enum { FILE_MOST = 1 << 20 };
// The kernel's unit of cpuacct.stat, for all of user space: USER_HZ.
#define USER_HZ_NS UINT64_C(10000000)

// Where each meter is, by version 2 and by version 1: with which controller, in which file, behind
// which key.
static const struct source {
	const char *name;
	uint32_t unit;
	uint32_t kind;
	struct {
		const char *controller;
		const char *file;
		const char *key;
		uint64_t factor;
	} by[2];
} sources[TP_CGROUP_METERS] = {
    {"cgroup-cpu", TEEPERF_METER_NS, TEEPERF_METER_TOTAL,
	{{"", "cpu.stat", "usage_usec", 1000}, {"cpuacct", "cpuacct.usage", NULL, 1}}},
    {"cgroup-cpu-user", TEEPERF_METER_NS, TEEPERF_METER_TOTAL,
	{{"", "cpu.stat", "user_usec", 1000}, {"cpuacct", "cpuacct.stat", "user", USER_HZ_NS}}},
    {"cgroup-cpu-system", TEEPERF_METER_NS, TEEPERF_METER_TOTAL,
	{{"", "cpu.stat", "system_usec", 1000}, {"cpuacct", "cpuacct.stat", "system", USER_HZ_NS}}},
    {"cgroup-throttled", TEEPERF_METER_NS, TEEPERF_METER_TOTAL,
	{{"", "cpu.stat", "throttled_usec", 1000}, {"cpu", "cpu.stat", "throttled_time", 1}}},
    {"cgroup-memory", TEEPERF_METER_BYTES, TEEPERF_METER_GAUGE,
	{{"", "memory.current", NULL, 1}, {"memory", "memory.usage_in_bytes", NULL, 1}}},
    {"cgroup-memory-peak", TEEPERF_METER_BYTES, TEEPERF_METER_FINAL,
	{{"", "memory.peak", NULL, 1}, {"memory", "memory.max_usage_in_bytes", NULL, 1}}},
};

// All of PROC/WHO/NAME into TEXT, which is to be released.
static bool read_file(struct tp_buf *text, const char *proc, const char *who, const char *name)
{
	char path[PATH_MAX];
	tp_buf_init(text);
	snprintf(path, sizeof(path), "%s/%s/%s", proc, who, name);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	const int r = tp_read_all(text, fd, path, "the file", FILE_MOST, NULL);
	close(fd);
	return !r;
}

// Whether LIST, words separated by commas, has WORD; an empty word is in an empty list.
static bool has_word(const char *list, const char *word)
{
	const size_t size = strlen(word);
	for (;;) {
		const size_t length = strcspn(list, ",");
		if (length == size && !memcmp(list, word, size))
			return true;
		if (!list[length])
			return false;
		list += length + 1;
	}
}

// The path of the group for CONTROLLER, "" for version 2, from the lines "NUMBER:CONTROLLERS:PATH".
// To be freed, or NULL.
static char *find_group(const struct tp_buf *groups, const char *controller)
{
	char *found = NULL;
	char *copy = strdup(groups->data);
	char *rest = copy;
	for (char *line; !found && copy && (line = strsep(&rest, "\n"));) {
		strsep(&line, ":");
		const char *controllers = line ? strsep(&line, ":") : NULL;
		if (controllers && line && has_word(controllers, controller))
			found = strdup(line);
	}
	free(copy);
	return found;
}

/*
 * The folder of GROUP in the file system of CONTROLLER, by the lines of mountinfo (proc(5)): field
 * 4 is what of the hierarchy is mounted, field 5 where, and behind " - " are the type, the source
 * and the options.
 */
static bool find_folder(
    const struct tp_buf *mounts, const char *controller, const char *group, char folder[PATH_MAX])
{
	bool found = false;
	char *copy = strdup(mounts->data);
	char *rest = copy;
	for (char *line; !found && copy && (line = strsep(&rest, "\n"));) {
		char root[PATH_MAX];
		char place[PATH_MAX];
		char type[32];
		char options[256];
		const char *behind = strstr(line, " - ");
		if (!behind || sscanf(line, "%*s %*s %*s %4095s %4095s", root, place) != 2 ||
		    sscanf(behind, " - %31s %*s %255s", type, options) != 2)
			continue;
		if (*controller ? strcmp(type, "cgroup") != 0 || !has_word(options, controller)
				: strcmp(type, "cgroup2") != 0)
			continue;
		// In a container the mount may begin further down than the group's path.
		const size_t above = strlen(root);
		const char *below = group;
		if (above > 1 && !strncmp(group, root, above) &&
		    (group[above] == '/' || !group[above]))
			below += above;
		found = snprintf(folder, PATH_MAX, "%s%s", place, below) < PATH_MAX;
	}
	free(copy);
	return found;
}

// The number in the open file: all of it, or behind "KEY " in a line. 0 or an errno.
static int read_number(int fd, const char *key, uint64_t *number)
{
	char text[4096];
	const ssize_t size = pread(fd, text, sizeof(text) - 1, 0);
	if (size < 0)
		return errno;
	text[size] = '\0';
	const size_t length = key ? strlen(key) : 0;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!key || (!strncmp(line, key, length) && line[length] == ' '))
			return sscanf(line + length, "%" SCNu64, number) == 1 ? 0 : ENODATA;
	}
	return ENODATA;
}

// By one version. 0 or an errno: ENOENT if the version does not have it here.
static int open_meter(struct tp_cgroup *cgroup, int i, int version, const struct tp_buf *groups,
    const struct tp_buf *mounts, char **group)
{
	char folder[PATH_MAX];
	char path[PATH_MAX + 64];
	const char *controller = sources[i].by[version].controller;
	*group = find_group(groups, controller);
	if (!*group || !find_folder(mounts, controller, *group, folder))
		return ENOENT;
	snprintf(path, sizeof(path), "%s/%s", folder, sources[i].by[version].file);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	uint64_t number;
	const int error = read_number(fd, sources[i].by[version].key, &number);
	if (error) {
		close(fd);
		return error == ENODATA ? ENOENT : error;
	}
	cgroup->files[i].fd = fd;
	cgroup->files[i].key = sources[i].by[version].key;
	cgroup->files[i].factor = sources[i].by[version].factor;
	return 0;
}

static void open_any(
    struct tp_cgroup *cgroup, int i, const struct tp_buf *groups, const struct tp_buf *mounts)
{
	struct teeperf_trace_meter *meter = &cgroup->meters[i];
	int error = ENOENT;
	tp_meter_init(meter, sources[i].name, sources[i].unit, sources[i].kind);
	cgroup->files[i].fd = -1;
	for (int version = 0; version < 2 && error == ENOENT; version++) {
		char *group;
		error = open_meter(cgroup, i, version, groups, mounts, &group);
		if (!error) {
			meter->flags = TEEPERF_METER_COUNTED;
			TP_METER_NOTE(meter, "all of group '%.80s'%s", group,
			    meter->kind == TEEPERF_METER_FINAL ? ", since it was created" : "");
		}
		free(group);
	}
	if (error == ENOENT)
		TP_METER_NOTE(meter, "the kernel does not provide it for this group");
	else if (error)
		TP_METER_NOTE(meter, "it cannot be read: %s", strerror(error));
}

void tp_cgroup_open(struct tp_cgroup *cgroup, const char *proc, pid_t pid)
{
	struct tp_buf groups;
	struct tp_buf mounts;
	char who[16] = "self";
	if (pid)
		snprintf(who, sizeof(who), "%d", (int)pid);
	read_file(&groups, proc, who, "cgroup");
	read_file(&mounts, proc, "self", "mountinfo");
	for (int i = 0; i < TP_CGROUP_METERS; i++)
		open_any(cgroup, i, &groups, &mounts);
	tp_buf_release(&groups);
	tp_buf_release(&mounts);
}

void tp_cgroup_read(struct tp_cgroup *cgroup, struct tp_meter_value readings[TP_CGROUP_METERS])
{
	for (int i = 0; i < TP_CGROUP_METERS; i++) {
		uint64_t number = 0;
		readings[i] = (struct tp_meter_value){.value = 0};
		if (cgroup->files[i].fd < 0)
			continue;
		if (read_number(cgroup->files[i].fd, cgroup->files[i].key, &number)) {
			cgroup->meters[i].flags |= TEEPERF_METER_BROKEN;
			continue;
		}
		readings[i] = (struct tp_meter_value){
		    .value = number * cgroup->files[i].factor, .known = true};
	}
}

void tp_cgroup_close(struct tp_cgroup *cgroup)
{
	for (int i = 0; i < TP_CGROUP_METERS; i++) {
		if (cgroup->files[i].fd >= 0)
			close(cgroup->files[i].fd);
		cgroup->files[i].fd = -1;
	}
}
