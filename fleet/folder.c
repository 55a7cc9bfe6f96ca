// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folder of a fleet: names, locks, temporary files, and runs that are added.
#define _GNU_SOURCE
#include "folder.h"

#include "common/array.h"
#include "common/json.h"
#include "common/out_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <teeperf/version.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 8, LEFT_BEHIND_S = 600, UNLOCKED_S = 86400 };

// ---- names

void tp_fleet_encode(char out[TP_FLEET_NAME], const char *name)
{
	size_t size = 0;
	for (; *name && size + 4 < TP_FLEET_NAME; name++) {
		const char c = *name;
		const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				   (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
		if (plain)
			out[size++] = c;
		else
			size += (size_t)snprintf(out + size, 4, "%%%02X", (unsigned char)c);
	}
	out[size] = '\0';
}

void tp_fleet_decode(char out[TP_FLEET_NAME], const char *name)
{
	size_t size = 0;
	for (; *name && size + 1 < TP_FLEET_NAME; size++) {
		unsigned int byte;
		if (*name == '%' && strlen(name) > 2 && sscanf(name + 1, "%2x", &byte) == 1) {
			out[size] = (char)byte;
			name += 3;
		} else {
			out[size] = *name++;
		}
	}
	out[size] = '\0';
}

int tp_fleet_path(char path[TP_FLEET_PATH], struct tp_err *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const int size = vsnprintf(path, TP_FLEET_PATH, format, args);
	va_end(args);
	return size >= 0 && size < TP_FLEET_PATH
		   ? 0
		   : tp_err_set(err, TP_ERR_LIMIT, path, "this path is too long");
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool tp_fleet_names_add(struct tp_fleet_names *names, const char *name)
{
	if (!TP_GROW(names->items, names->room, names->count + UINT64_C(1)))
		return false;
	char *copy = strdup(name);
	names->items[names->count] = copy;
	names->count += copy != NULL;
	return copy != NULL;
}

void tp_fleet_names_sort(struct tp_fleet_names *names)
{
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items), compare_names);
}

int tp_fleet_names_read(
    struct tp_fleet_names *names, const char *folder, const char *prefix, struct tp_err *err)
{
	*names = (struct tp_fleet_names){0};
	DIR *dir = opendir(folder);
	if (!dir)
		return errno == ENOENT || errno == ENOTDIR
			   ? 0
			   : tp_err_system(err, errno, folder, "cannot read the folder");
	bool ok = true;
	for (const struct dirent *entry; ok && (entry = readdir(dir));)
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && entry->d_name[0] != '.')
			ok = tp_fleet_names_add(names, entry->d_name);
	closedir(dir);
	tp_fleet_names_sort(names);
	return ok ? 0 : tp_err_memory(err, folder);
}

uint32_t tp_fleet_names_find(const struct tp_fleet_names *names, const char *name)
{
	char *const *found =
	    names->count ? bsearch(&name, names->items, names->count, sizeof(name), compare_names)
			 : NULL;
	return found ? (uint32_t)(found - names->items) : names->count;
}

bool tp_fleet_names_have(const struct tp_fleet_names *names, const char *name)
{
	return tp_fleet_names_find(names, name) < names->count;
}

int tp_fleet_each_file(
    const char *folder, tp_fleet_take_file *take, void *context, bool *gone, struct tp_err *err)
{
	struct tp_fleet_names files;
	char path[TP_FLEET_PATH];
	int code = tp_fleet_names_read(&files, folder, "", err);
	for (uint32_t i = 0; !code && i < files.count; i++) {
		const char *end = strrchr(files.items[i], '.');
		if (!end || strcmp(end, ".parquet") != 0)
			continue;
		code = tp_fleet_path(path, err, "%s/%s", folder, files.items[i]);
		if (code)
			break;
		code = take(context, path, err);
		*gone = code == TP_ERR_SYSTEM && access(path, F_OK) != 0;
	}
	if (!code && access(folder, F_OK) != 0) {
		*gone = true;
		code = tp_err_set(err, TP_ERR_SYSTEM, folder, "no longer exists");
	}
	tp_fleet_names_release(&files);
	return code;
}

void tp_fleet_names_release(struct tp_fleet_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct tp_fleet_names){0};
}

// ---- folders

int tp_fleet_make_folders(const char *path, struct tp_err *err)
{
	char part[TP_FLEET_PATH];
	for (size_t i = 1;; i++) {
		if (path[i] && path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		const bool made = mkdir(part, 0777) == 0;
		if (!made && errno != EEXIST)
			return tp_err_system(err, errno, part, "cannot create the folder");
		// So that it is there after a crash.
		char *slash = made ? strrchr(part, '/') : NULL;
		if (slash && slash != part) {
			*slash = '\0';
			const int code = tp_fleet_sync(part, err);
			if (code)
				return code;
		}
		if (!path[i])
			return 0;
	}
}

int tp_fleet_stage(char path[TP_FLEET_PATH], int *lock, const char *directory, const char *what,
    struct tp_err *err)
{
	*lock = -1;
	const int code = tp_fleet_path(path, err, "%s/.%s-XXXXXX", directory, what);
	if (code)
		return code;
	if (!mkdtemp(path))
		return tp_err_system(err, errno, directory, "cannot create a folder there");
	// mkdtemp is for secrets: these are for all who may read the others.
	const mode_t mask = umask(0);
	umask(mask);
	chmod(path, 0777 & ~mask);
	// Nobody else has it, or cleans a folder as new as that.
	*lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*lock >= 0 && flock(*lock, LOCK_SH | LOCK_NB) != 0) {
		close(*lock);
		*lock = -1;
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

void tp_fleet_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// Whether the one that made the folder is no more. AGE_S: how long nobody has put anything into it.
static bool is_left(const char *path, time_t age_s)
{
	if (age_s <= LEFT_BEHIND_S)
		return false;
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	const bool free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
	const bool used = !free && errno == EWOULDBLOCK;
	if (fd >= 0)
		close(fd);
	return free || (!used && age_s > UNLOCKED_S);
}

void tp_fleet_clean(const char *directory)
{
	static const char *const prefixes[] = {".add-", ".compact-", ".expire-"};
	DIR *dir = opendir(directory);
	for (const struct dirent *entry; dir && (entry = readdir(dir));)
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
			char path[TP_FLEET_PATH];
			struct stat stat;
			if (strncmp(entry->d_name, prefixes[i], strlen(prefixes[i])) == 0 &&
			    !tp_fleet_path(path, NULL, "%s/%s", directory, entry->d_name) &&
			    lstat(path, &stat) == 0 && S_ISDIR(stat.st_mode) &&
			    is_left(path, time(NULL) - stat.st_mtime))
				tp_fleet_remove(path);
		}
	if (dir)
		closedir(dir);
}

int tp_fleet_sync(const char *path, struct tp_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = 0;
	// A file system that cannot sync a folder says so by EINVAL.
	if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
		error = errno;
	if (fd >= 0)
		close(fd);
	return error ? tp_err_system(err, error, path, "cannot write") : 0;
}

int tp_fleet_lock(const char *directory)
{
	char path[TP_FLEET_PATH];
	if (tp_fleet_path(path, NULL, "%s/.lock", directory))
		return -1;
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
		;
	return fd;
}

int tp_fleet_check(const char *directory, struct tp_err *err)
{
	char path[TP_FLEET_PATH];
	struct stat stat_;
	const int code = tp_fleet_path(path, err, "%s/manifest", directory);
	if (code)
		return code;
	if (stat(path, &stat_) == 0 && S_ISDIR(stat_.st_mode))
		return 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, directory,
	    "is not a folder of a fleet: create one with 'teeperf fleet add TRACE --to DIR'");
}

static int manifest_path(char path[TP_FLEET_PATH], const char *directory, const char *kind,
    const char *program, const char *id, struct tp_err *err)
{
	return tp_fleet_path(path, err, "%s/manifest/%s=%s/%s.json", directory, kind, program, id);
}

bool tp_fleet_has_run(const char *directory, const char *kind, const char *program, const char *id)
{
	char path[TP_FLEET_PATH];
	return !manifest_path(path, directory, kind, program, id, NULL) && access(path, F_OK) == 0;
}

// ---- what comes in

static bool is_there(const struct tp_fleet_adding *adding)
{
	return tp_fleet_has_run(
	    adding->directory, adding->kind, adding->program, adding->added->id);
}

int tp_fleet_adding_begin(struct tp_fleet_adding *adding, struct tp_err *err)
{
	tp_fleet_encode(adding->program, adding->name);
	adding->stage[0] = '\0';
	adding->stage_lock = -1;
	adding->added->already = is_there(adding);
	if (adding->added->already)
		return 0;
	const int code = tp_fleet_make_folders(adding->directory, err);
	if (code)
		return code;
	tp_fleet_clean(adding->directory);
	return tp_fleet_stage(adding->stage, &adding->stage_lock, adding->directory, "add", err);
}

int tp_fleet_adding_file(
    struct tp_fleet_adding *adding, enum tp_fleet_table_id id, uint64_t rows, struct tp_err *err)
{
	char path[TP_FLEET_PATH];
	struct stat stat_;
	int code =
	    tp_fleet_path(path, err, "%s/%s.parquet", adding->stage, tp_fleet_tables[id].name);
	if (!code)
		code = tp_fleet_sync(path, err);
	if (!code && stat(path, &stat_) == 0)
		adding->added->bytes[id] = (uint64_t)stat_.st_size;
	adding->added->rows[id] = rows;
	adding->has[id] = true;
	return code;
}

// Put a file of the stage in its place, over one that a run that was not completed has left there.
static int publish(const struct tp_fleet_adding *adding, const char *table, struct tp_err *err)
{
	char from[TP_FLEET_PATH];
	char folder[TP_FLEET_PATH];
	char to[TP_FLEET_PATH];
	int code = tp_fleet_path(from, err, "%s/%s.parquet", adding->stage, table);
	if (!code)
		code = tp_fleet_path(folder, err, "%s/%s/day=%s/program=%s/run=%s",
		    adding->directory, table, adding->day, adding->program, adding->added->id);
	if (!code)
		code = tp_fleet_path(to, err, "%s/%s.parquet", folder, table);
	for (int i = 0; !code && i < TRIES; i++) {
		code = tp_fleet_make_folders(folder, err);
		if (code || rename(from, to) == 0)
			break;
		// Without locks, somebody may have exchanged the folder meanwhile.
		if (errno != ENOENT || i + 1 == TRIES)
			code = tp_err_system(err, errno, to, "cannot write");
	}
	return code ? code : tp_fleet_sync(folder, err);
}

static void add_manifest(const struct tp_fleet_adding *adding, struct tp_buf *out)
{
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_SPACED);
	tp_json_object(&json, NULL);
	tp_json_uint(&json, "schema", TP_FLEET_SCHEMA);
	tp_json_text(&json, "run_id", adding->added->id);
	tp_json_text(&json, "day", adding->day);
	tp_json_text(&json, "program", adding->name);
	tp_json_text(&json, "teeperf", TEEPERF_VERSION);
	tp_json_object(&json, "tables");
	for (int id = 0; id < TP_FLEET_TABLES; id++) {
		if (!adding->has[id])
			continue;
		tp_json_object(&json, tp_fleet_tables[id].name);
		tp_json_uint(&json, "rows", adding->added->rows[id]);
		tp_json_uint(&json, "bytes", adding->added->bytes[id]);
		tp_json_end(&json);
	}
	tp_json_end(&json);
	tp_json_end(&json);
	tp_buf_add_char(out, '\n');
}

static int write_manifest(const struct tp_fleet_adding *adding, struct tp_err *err)
{
	struct tp_out_file out;
	char folder[TP_FLEET_PATH];
	char from[TP_FLEET_PATH];
	char to[TP_FLEET_PATH];
	int code = tp_fleet_path(
	    folder, err, "%s/manifest/%s=%s", adding->directory, adding->kind, adding->program);
	if (!code)
		code = tp_fleet_path(from, err, "%s/manifest.json", adding->stage);
	if (!code)
		code = manifest_path(
		    to, adding->directory, adding->kind, adding->program, adding->added->id, err);
	if (!code)
		code = tp_fleet_make_folders(folder, err);
	if (code)
		return code;
	code = tp_out_file_open(&out, from, err);
	if (!code)
		add_manifest(adding, &out.buf);
	if (code) {
		tp_out_file_drop(&out);
		return code;
	}
	code = tp_out_file_close(&out, err);
	if (!code)
		code = tp_fleet_sync(from, err);
	if (!code && rename(from, to) != 0)
		code = tp_err_system(err, errno, to, "cannot write");
	return code ? code : tp_fleet_sync(folder, err);
}

int tp_fleet_adding_publish(struct tp_fleet_adding *adding, struct tp_err *err)
{
	int code = 0;
	const int lock = tp_fleet_lock(adding->directory);
	adding->added->already = is_there(adding);
	for (int id = 0; !code && !adding->added->already && id < TP_FLEET_TABLES; id++)
		if (adding->has[id])
			code = publish(adding, tp_fleet_tables[id].name, err);
	if (!code && !adding->added->already)
		code = write_manifest(adding, err);
	if (lock >= 0)
		close(lock);
	return code;
}

void tp_fleet_adding_end(const struct tp_fleet_adding *adding)
{
	if (adding->stage[0])
		tp_fleet_remove(adding->stage);
	if (adding->stage_lock >= 0)
		close(adding->stage_lock);
}

// ---- a run

static int write_files(struct tp_fleet_adding *adding, struct tp_fleet_run *run, struct tp_err *err)
{
	int code = 0;
	for (int id = 0; !code && id < TP_FLEET_TABLES; id++) {
		const enum tp_fleet_table_id table = (enum tp_fleet_table_id)id;
		char name[64];
		if (!tp_fleet_run_has(run, table))
			continue;
		snprintf(name, sizeof(name), "%s.parquet", tp_fleet_tables[id].name);
		code = tp_fleet_run_write(run, table, adding->stage, name, err);
		if (!code)
			code = tp_fleet_adding_file(adding, table, run->rows[id], err);
	}
	return code;
}

int tp_fleet_add_run(const char *directory, const struct tp_analysis *analysis,
    const struct tp_fleet_said *said, struct tp_fleet_added *added, struct tp_err *err)
{
	struct tp_fleet_run run = {0};
	struct tp_fleet_adding adding = {
	    .directory = directory,
	    .kind = TP_FLEET_OF_PROGRAMS,
	    .name = tp_tracefile_program(analysis->trace),
	    .added = added,
	};
	*added = (struct tp_fleet_added){0};
	int code = tp_fleet_run_name(&run, analysis, err);
	if (code)
		return code;
	snprintf(added->id, sizeof(added->id), "%s", run.id);
	memcpy(adding.day, run.day, sizeof(adding.day));
	code = tp_fleet_adding_begin(&adding, err);
	if (!code && !added->already) {
		code = tp_fleet_run_init(&run, analysis, said, err);
		if (!code)
			code = write_files(&adding, &run, err);
		if (!code)
			code = tp_fleet_adding_publish(&adding, err);
		tp_fleet_run_release(&run);
	}
	tp_fleet_adding_end(&adding);
	return code;
}
