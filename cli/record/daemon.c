// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 'teeperf record --daemon': where its traces go, and which of them stay.
#define _GNU_SOURCE
#include "record.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/array.h"
#include "common/units.h"
#include "recorder/region/proc.h"

// A trace is NAME.PID.STAMP.trace, the stamp being the UTC time at which its recording began.
static const char suffix[] = ".trace";
static const char stamp_format[] = "%Y%m%dT%H%M%SZ";
enum { STAMP_LENGTH = 16, KEEP_DEFAULT = 24 };
#define SECOND UINT64_C(1000000000)
#define EVERY_DEFAULT (300 * SECOND)
#define DURATION_DEFAULT (10 * SECOND)

struct kept {
	char *name;
	const char *stamp; // in `name`
	uint64_t bytes;
};

static void make_stamp(char stamp[STAMP_LENGTH + 1], time_t when)
{
	struct tm parts;
	gmtime_r(&when, &parts);
	if (!strftime(stamp, STAMP_LENGTH + 1, stamp_format, &parts))
		stamp[0] = '\0';
}

char *tp_record_daemon_path(const struct tp_record_all *all, pid_t process)
{
	char name[32];
	char stamp[STAMP_LENGTH + 1];
	char *path;
	tp_proc_read(process, "comm", name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	// It is the process's word.
	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_-+", *at))
			*at = '_';
	make_stamp(stamp, time(NULL));
	return asprintf(&path, "%s/%s.%d.%s%s", all->folder, name[0] ? name : "_", (int)process,
		   stamp, suffix) < 0
		   ? NULL
		   : path;
}

// Where the stamp begins in the name of a trace of ours; NULL: it is none.
static const char *stamp_in(const char *name)
{
	const size_t length = strlen(name);
	const size_t tail = STAMP_LENGTH + sizeof(suffix) - 1;
	if (length < tail + 4 || strcmp(name + length - (sizeof(suffix) - 1), suffix))
		return NULL;
	const char *stamp = name + length - tail;
	for (int i = 0; i < STAMP_LENGTH; i++)
		if (i == 8    ? stamp[i] != 'T'
		    : i == 15 ? stamp[i] != 'Z'
			      : !isdigit((unsigned char)stamp[i]))
			return NULL;
	const char *at = stamp - 1;
	if (*at != '.' || !isdigit((unsigned char)at[-1]))
		return NULL;
	while (at > name && isdigit((unsigned char)at[-1]))
		at--;
	return at - name >= 2 && at[-1] == '.' ? stamp : NULL;
}

static int by_age(const void *one, const void *other)
{
	const struct kept *a = one;
	const struct kept *b = other;
	const int order = strcmp(a->stamp, b->stamp);
	return order ? order : strcmp(a->name, b->name);
}

// The traces in the folder, the oldest first. False: there is no memory, or no folder.
static bool list_traces(const char *folder, struct kept **traces, size_t *count)
{
	size_t room = 0;
	bool done = true;
	DIR *open = opendir(folder);
	*traces = NULL;
	*count = 0;
	if (!open)
		return false;
	for (struct dirent *entry; done && (entry = readdir(open));) {
		struct stat info;
		if (!stamp_in(entry->d_name) ||
		    fstatat(dirfd(open), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(info.st_mode))
			continue;
		char *name = strdup(entry->d_name);
		done = name && TP_GROW(*traces, room, *count + UINT64_C(1));
		if (done)
			(*traces)[(*count)++] =
			    (struct kept){name, stamp_in(name), (uint64_t)info.st_size};
		else
			free(name);
	}
	closedir(open);
	if (*count)
		qsort(*traces, *count, sizeof(**traces), by_age);
	return done;
}

void tp_record_daemon_tidy(const struct tp_record_all *all, time_t began, bool quiet)
{
	struct kept *traces;
	size_t count;
	uint64_t bytes = 0;
	uint64_t removed = 0;
	uint64_t removed_bytes = 0;
	char newest[STAMP_LENGTH + 1];
	char path[PATH_MAX];
	char text[TP_TEXT_NUMBER];
	const bool listed = list_traces(all->folder, &traces, &count);
	make_stamp(newest, began);
	for (size_t i = 0; i < count; i++)
		bytes += traces[i].bytes;
	for (size_t i = 0; listed && i < count; i++) {
		const bool many = count - i > all->keep;
		const bool large = all->max_bytes && bytes - removed_bytes > all->max_bytes;
		// Those of the round that is just over stay, whatever their size.
		if ((!many && !large) || strcmp(traces[i].stamp, newest) >= 0)
			break;
		snprintf(path, sizeof(path), "%s/%s", all->folder, traces[i].name);
		if (unlink(path))
			continue;
		removed++;
		removed_bytes += traces[i].bytes;
	}
	if (removed && !quiet)
		tp_command_tell("removed %llu older trace%s, of %s\n", (unsigned long long)removed,
		    tp_plural(removed), tp_text_bytes(text, (double)removed_bytes));
	if (all->max_bytes && bytes - removed_bytes > all->max_bytes)
		tp_command_warn(
		    "the traces of one round are larger than '--max-size': record fewer processes, "
		    "a shorter '--duration' or a smaller '--budget'");
	for (size_t i = 0; i < count; i++)
		free(traces[i].name);
	free(traces);
}

// ---- the options

static int check_folder(const char *folder)
{
	struct stat info;
	if (mkdir(folder, 0755) && errno != EEXIST)
		return tp_options_usage("option '--output-dir': cannot make the folder '%s': %s",
		    folder, strerror(errno));
	if (stat(folder, &info) || !S_ISDIR(info.st_mode))
		return tp_options_usage("option '--output-dir': '%s' is not a folder", folder);
	if (access(folder, W_OK | X_OK))
		return tp_options_usage(
		    "option '--output-dir': cannot write to the folder '%s': %s", folder,
		    strerror(errno));
	return 0;
}

static int check_daemon(struct tp_record_options *options)
{
	struct tp_record_all *all = &options->all;
	if (strcmp(options->wanted.output, TP_DEFAULT_TRACE) != 0)
		return tp_options_usage(
		    "with '--daemon' each trace has its own name: give '--output-dir DIR' in "
		    "place of '--output'");
	if (options->wanted.start_off)
		return tp_options_usage("'--on-start off' cannot be combined with '--daemon'");
	all->every_ns = EVERY_DEFAULT;
	if (all->every && tp_record_read_time("every", all->every, &all->every_ns))
		return TP_EXIT_USAGE;
	if (all->every_ns < SECOND)
		return tp_options_usage("option '--every' takes at least 1s");
	if (all->keep == UINT64_MAX)
		all->keep = KEEP_DEFAULT;
	if (!all->keep)
		return tp_options_usage("option '--keep' takes at least 1");
	if (!options->attach.duration)
		options->attach.duration_ns = DURATION_DEFAULT;
	if (!options->attach.duration_ns &&
	    tp_record_read_time("duration", options->attach.duration, &options->attach.duration_ns))
		return TP_EXIT_USAGE;
	if (options->attach.duration_ns > all->every_ns)
		return tp_options_usage("with '--daemon' '--every' is at least '--duration'");
	if (!all->folder)
		all->folder = ".";
	return check_folder(all->folder);
}

int tp_record_all_check(struct tp_record_options *options)
{
	const struct tp_record_all *all = &options->all;
	if (all->pattern && (options->attach.pid || options->wanted.argv))
		return tp_options_usage("'--all' names running processes: leave %s out",
		    options->wanted.argv ? "the program" : "'--pid'");
	if (all->pattern && (options->attach.file || options->attach.stream_name))
		return tp_options_usage(
		    "'--all' names running processes: leave '--attach' and '--stream' out");
	return all->daemon ? check_daemon(options) : 0;
}

void tp_record_daemon_tell(const struct tp_record_options *options)
{
	const struct tp_record_all *all = &options->all;
	char duration[TP_TEXT_NUMBER];
	char every[TP_TEXT_NUMBER];
	char shown[PATH_MAX];
	if (options->quiet)
		return;
	tp_command_tell(
	    "recording %s of all processes that match '%s' every %s, into '%s', keeping %llu "
	    "traces",
	    tp_text_ns(duration, options->attach.duration_ns), all->pattern,
	    tp_text_ns(every, all->every_ns), tp_shown_name(shown, all->folder),
	    (unsigned long long)all->keep);
	if (all->max_bytes)
		fprintf(stderr, ", of at most %s", tp_text_bytes(every, (double)all->max_bytes));
	fputc('\n', stderr);
}
