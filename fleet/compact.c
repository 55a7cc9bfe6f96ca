// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All folders of a fleet that are rewritten: to have fewer files, or without old runs.
#define _GNU_SOURCE
#include "folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { ID_TIME = 15 }; // "20261126-120545", with which a run's id begins

// One at a time in a folder. -1: there is another, *CODE; or locks do not work.
static int begin(const char *directory, int *code, struct tp_err *err)
{
	char path[TP_FLEET_PATH];
	*code = tp_fleet_check(directory, err);
	if (!*code)
		*code = tp_fleet_path(path, err, "%s/.compact.lock", directory);
	if (*code)
		return -1;
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		*code = tp_err_system(err, errno, path, "cannot write");
	} else if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		*code = tp_err_set(err, TP_ERR_LIMIT, directory,
		    "another 'teeperf fleet' is compacting or expiring it: wait for it");
		close(fd);
		return -1;
	}
	if (!*code)
		tp_fleet_clean(directory);
	return fd;
}

// Under the lock: who adds a run makes the folder, and then others in it.
static void remove_if_empty(const char *directory, const char *folder)
{
	const int lock = tp_fleet_lock(directory);
	rmdir(folder);
	if (lock >= 0)
		close(lock);
}

static int rewrite_day(struct tp_fleet_place *place, const struct tp_fleet_names *dropped,
    struct tp_fleet_rewritten *rewritten, struct tp_err *err)
{
	struct tp_fleet_names programs;
	char folder[TP_FLEET_PATH];
	int code = tp_fleet_path(
	    folder, err, "%s/%s/%s", place->directory, place->table->name, place->day);
	if (code)
		return code;
	code = tp_fleet_names_read(&programs, folder, "program=", err);
	for (uint32_t i = 0; !code && i < programs.count; i++) {
		place->program = programs.items[i];
		code = tp_fleet_rewrite(place, dropped, rewritten, err);
	}
	tp_fleet_names_release(&programs);
	if (dropped)
		remove_if_empty(place->directory, folder);
	return code;
}

// Whether one of the runs began on the DAY, "day=2026-11-26"; all do if there are none.
static bool is_of_day(const struct tp_fleet_names *runs, const char *day)
{
	char digits[9];
	if (!runs)
		return true;
	snprintf(digits, sizeof(digits), "%.4s%.2s%.2s", day + 4, day + 9, day + 12);
	for (uint32_t i = 0; i < runs->count; i++)
		if (strncmp(runs->items[i], digits, 8) == 0)
			return true;
	return false;
}

static int rewrite_table(const char *directory, const struct tp_fleet_table *table,
    const struct tp_fleet_names *dropped, struct tp_fleet_rewritten *rewritten, struct tp_err *err)
{
	struct tp_fleet_names days;
	char folder[TP_FLEET_PATH];
	int code = tp_fleet_path(folder, err, "%s/%s", directory, table->name);
	if (code)
		return code;
	code = tp_fleet_names_read(&days, folder, "day=", err);
	for (uint32_t i = 0; !code && i < days.count; i++) {
		if (strlen(days.items[i]) != strlen("day=2026-11-26") ||
		    !is_of_day(dropped, days.items[i]))
			continue;
		struct tp_fleet_place place = {
		    .directory = directory, .table = table, .day = days.items[i]};
		code = rewrite_day(&place, dropped, rewritten, err);
	}
	tp_fleet_names_release(&days);
	return code;
}

int tp_fleet_compact_all(
    const char *directory, struct tp_fleet_rewritten *rewritten, struct tp_err *err)
{
	int code;
	const int lock = begin(directory, &code, err);
	*rewritten = (struct tp_fleet_rewritten){0};
	for (int id = 0; !code && id < TP_FLEET_TABLES; id++)
		code = rewrite_table(directory, &tp_fleet_tables[id], NULL, rewritten, err);
	if (lock >= 0)
		close(lock);
	return code;
}

// ---- old runs

static bool is_old(const char *id, const struct tp_fleet_old *old)
{
	struct tm tm = {0};
	char begin_[ID_TIME + 1];
	snprintf(begin_, sizeof(begin_), "%.*s", ID_TIME, id);
	const char *end = strptime(begin_, "%Y%m%d-%H%M%S", &tm);
	return end && !*end && (uint64_t)timegm(&tm) < old->before_unix_s;
}

// Of a program's runs those that go. Ids begin with the time, so the newest are the last.
static int choose(const char *directory, const char *program, const struct tp_fleet_old *old,
    struct tp_fleet_names *dropped, struct tp_err *err)
{
	struct tp_fleet_names runs;
	char folder[TP_FLEET_PATH];
	if (!strchr(program, '='))
		return 0;
	int code = tp_fleet_path(folder, err, "%s/manifest/%s", directory, program);
	if (code)
		return code;
	code = tp_fleet_names_read(&runs, folder, "", err);
	for (uint32_t i = 0; !code && i < runs.count; i++) {
		char *end = strstr(runs.items[i], ".json");
		if (!end)
			continue;
		*end = '\0';
		if ((old->by_age && is_old(runs.items[i], old)) ||
		    (old->by_count && runs.count - i > old->keep)) {
			if (!tp_fleet_names_add(dropped, runs.items[i]))
				code = tp_err_memory(err, directory);
			if (old->each)
				old->each(old->context, runs.items[i], strchr(program, '=') + 1);
		}
	}
	tp_fleet_names_release(&runs);
	return code;
}

static void remove_manifests(
    const char *directory, const char *program, const struct tp_fleet_names *dropped)
{
	char path[TP_FLEET_PATH];
	for (uint32_t i = 0; i < dropped->count; i++)
		if (!tp_fleet_path(path, NULL, "%s/manifest/%s/%s.json", directory, program,
			dropped->items[i]))
			unlink(path);
	if (!tp_fleet_path(path, NULL, "%s/manifest/%s", directory, program))
		remove_if_empty(directory, path);
}

int tp_fleet_expire_runs(const char *directory, const struct tp_fleet_old *old,
    struct tp_fleet_rewritten *rewritten, struct tp_err *err)
{
	struct tp_fleet_names programs = {0};
	struct tp_fleet_names dropped = {0};
	char folder[TP_FLEET_PATH];
	int code;
	const int lock = begin(directory, &code, err);
	*rewritten = (struct tp_fleet_rewritten){0};
	if (!code)
		code = tp_fleet_path(folder, err, "%s/manifest", directory);
	// Those of programs, "program=...", and of experiments: whatever has an equals sign.
	if (!code)
		code = tp_fleet_names_read(&programs, folder, "", err);
	for (uint32_t i = 0; !code && i < programs.count; i++)
		code = choose(directory, programs.items[i], old, &dropped, err);
	tp_fleet_names_sort(&dropped);
	rewritten->runs = dropped.count;
	// A run is gone when its row in runs is; its manifest goes last, so that the next time ends
	// what was begun.
	for (int id = TP_FLEET_TABLES; !code && dropped.count && !old->dry_run && id-- > 0;)
		code = rewrite_table(directory, &tp_fleet_tables[id], &dropped, rewritten, err);
	for (uint32_t i = 0; !code && !old->dry_run && i < programs.count; i++)
		remove_manifests(directory, programs.items[i], &dropped);
	tp_fleet_names_release(&dropped);
	tp_fleet_names_release(&programs);
	if (lock >= 0)
		close(lock);
	return code;
}
