// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Find, open and analyse the traces of one recording.
#include "open_family.h"

#include "analyzer/import/open.h"
#include "common/array.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct names {
	char **items;
	size_t count;
	size_t capacity;
};

static bool names_add(struct names *names, char *name)
{
	if (!TP_GROW(names->items, names->capacity, names->count + 1))
		return false;
	names->items[names->count++] = name;
	return name != NULL;
}

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

// "PID" or "PID-N".
static bool is_suffix(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	if (!digits)
		return false;
	text += digits;
	if (*text != '-')
		return !*text;
	digits = strspn(++text, "0123456789");
	return digits && !text[digits];
}

// By process id, then by its number among those of this process: shorter numbers are smaller.
static int compare_names(const void *a, const void *b)
{
	const char *x = *(char *const *)a;
	const char *y = *(char *const *)b;
	const size_t p = strlen(x);
	const size_t q = strlen(y);
	const char *x_dash = strrchr(x, '-');
	const char *y_dash = strrchr(y, '-');
	const size_t m = x_dash && is_suffix(x_dash + 1) ? (size_t)(x_dash - x) : p;
	const size_t n = y_dash && is_suffix(y_dash + 1) ? (size_t)(y_dash - y) : q;
	if (m != n)
		return m < n ? -1 : 1;
	const int order = strncmp(x, y, m);
	if (order || p == q)
		return order ? order : strcmp(x, y);
	return p < q ? -1 : 1;
}

// What has the name of a trace of another process than FILE's. Returns a tp_error.
static int find_names(struct names *names, const char *file, struct tp_err *err)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	const size_t base_size = strlen(base);
	const size_t folder_size = (size_t)(base - file);
	char *folder = folder_size ? strndup(file, folder_size) : strdup(".");
	DIR *dir = folder ? opendir(folder) : NULL;
	if (!dir) {
		const int code =
		    folder ? tp_err_system(err, errno, folder, "cannot look for other traces")
			   : tp_err_memory(err, NULL);
		free(folder);
		return code;
	}
	bool ok = true;
	for (const struct dirent *entry; ok && (entry = readdir(dir));) {
		const char *name = entry->d_name;
		if (strncmp(name, base, base_size) != 0 || name[base_size] != '.' ||
		    !is_suffix(name + base_size + 1))
			continue;
		const size_t size = strlen(name) + 1;
		char *path = malloc(folder_size + size);
		if (path) {
			memcpy(path, file, folder_size);
			memcpy(path + folder_size, name, size);
		}
		ok = names_add(names, path);
	}
	closedir(dir);
	free(folder);
	if (!ok)
		return tp_err_memory(err, NULL);
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items), compare_names);
	return 0;
}

static uint64_t host_number(const struct tp_tracefile *trace, const char *key)
{
	char text[32];
	return tp_tracefile_host(trace, key, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

enum kin { KIN_SAME, KIN_OTHER, KIN_UNKNOWN };

/*
 * Whether TRACE is of the recording that FIRST is of. All of its traces name the process of the
 * recorder, and where both have points of the clock, the first point is that at which the recording
 * began.
 */
static enum kin judge(const struct tp_tracefile *first, const struct tp_tracefile *trace)
{
	if (!trace->has_log || !trace->host)
		return KIN_UNKNOWN;
	if (!host_number(trace, "process") || trace->log.recorder_pid != first->log.recorder_pid ||
	    trace->header.created_unix_ns < first->header.created_unix_ns)
		return KIN_OTHER;
	if (!first->has_clock || !trace->has_clock || !first->clock.point_count ||
	    !trace->clock.point_count || first->clock.kind != trace->clock.kind)
		return KIN_SAME;
	return first->points[0].ticks == trace->points[0].ticks &&
		       first->points[0].monotonic_ns == trace->points[0].monotonic_ns
		   ? KIN_SAME
		   : KIN_OTHER;
}

static const char *clock_of(const struct tp_tracefile *trace)
{
	return trace->has_clock ? teeperf_clock_name(trace->clock.kind) : "unknown";
}

static void leave_out(struct tp_open_family *family)
{
	family->left_out++;
	family->damaged = true;
}

// Whether to analyse the file NAME; says why not.
static bool belongs(
    struct tp_open_family *family, const struct tp_tracefile *first, const char *name)
{
	char text[1024];
	struct tp_err err;
	struct tp_tracefile trace;
	bool wanted = false;
	if (tp_import_open(&trace, name, NULL, NULL, 0, &err)) {
		tp_command_warn("%s: it is left out", tp_err_format(&err, text, sizeof(text)));
		leave_out(family);
		tp_tracefile_close(&trace);
		return false;
	}
	switch (judge(first, &trace)) {
	case KIN_UNKNOWN:
		tp_command_warn(
		    "'%s' does not name its recording, as its beginning is damaged: it is left out",
		    name);
		leave_out(family);
		break;
	case KIN_OTHER:
		tp_command_warn("'%s' belongs to another recording than '%s': it is left out", name,
		    first->source.name);
		break;
	case KIN_SAME:
		wanted = true;
		if (!first->has_clock == !trace.has_clock &&
		    (!first->has_clock || first->clock.kind == trace.clock.kind))
			break;
		wanted = false;
		tp_command_warn(
		    "the clock of '%s' is %s and that of '%s' is %s, so their times cannot be "
		    "summed: it is left out",
		    name, clock_of(&trace), first->source.name, clock_of(first));
		leave_out(family);
		break;
	}
	tp_tracefile_close(&trace);
	return wanted;
}

// Analyse FILE, and have it in the family. Returns an exit code.
static int add_member(
    struct tp_open_family *family, const char *file, const struct tp_open_options *options)
{
	struct tp_open_trace *open = calloc(1, sizeof(*open));
	char *name = strdup(file);
	if (!open || !name) {
		free(open);
		free(name);
		return tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory");
	}
	const int status = tp_open_trace(open, name, options);
	const struct tp_analysis *first = family->count ? family->members[0].analysis : NULL;
	const bool fits = status || !first || first->time.known == open->analysis.time.known;
	if (!fits)
		tp_command_warn(
		    "the clock rate of only one of '%s' and '%s' is known, so their times cannot "
		    "be summed: the latter is left out",
		    family->names[0], name);
	if (status || !fits) {
		tp_open_trace_release(open);
		free(open);
		free(name);
		return status ? status : TP_EXIT_FAILED;
	}
	// There may be more processes than files that can be open, and all that is needed has been
	// read.
	tp_source_close(&open->trace.source);
	const uint32_t at = family->count++;
	family->opens[at] = open;
	family->names[at] = name;
	family->members[at] = (struct tp_family_member){
	    .analysis = &open->analysis,
	    .process = host_number(&open->trace, "process"),
	    .parent = host_number(&open->trace, "parent"),
	    .damaged = open->damaged,
	};
	family->damaged |= open->damaged;
	return TP_EXIT_DONE;
}

// Whether a thread of the first process has the number PROCESS, which then is its own.
static bool is_first(const struct tp_tracefile *first, uint64_t process)
{
	for (uint32_t i = 0; i < first->thread_count; i++)
		if (first->threads[i].os_tid == process)
			return true;
	return false;
}

// The first process does not tell its id, its children do.
static void find_first(struct tp_open_family *family)
{
	for (uint32_t i = 1; i < family->count && !family->members[0].process; i++)
		if (family->members[i].parent &&
		    is_first(family->members[0].analysis->trace, family->members[i].parent))
			family->members[0].process = family->members[i].parent;
}

static bool has_process(const struct tp_open_family *family, uint64_t process)
{
	for (uint32_t i = 0; i < family->count; i++)
		if (family->members[i].process == process)
			return true;
	return false;
}

// Parents that have no trace, each once.
static void warn_of_missing(const struct tp_open_family *family)
{
	for (uint32_t i = 1; i < family->count; i++) {
		const uint64_t parent = family->members[i].parent;
		bool told = !parent || has_process(family, parent);
		for (uint32_t j = 1; j < i && !told; j++)
			told = family->members[j].parent == parent;
		if (!told)
			tp_command_warn("process %" PRIu64 ", which forked '%s', %s", parent,
			    family->names[i],
			    family->members[0].process
				? "has no trace here: it recorded nothing, or its trace is missing"
				: "is the first one, or has no trace here: then it recorded "
				  "nothing, or its trace is missing");
	}
}

// Open the first process' trace. Returns an exit code.
static int open_first(
    struct tp_open_family *family, const char *file, const struct tp_open_options *options)
{
	const int status = add_member(family, file, options);
	if (status)
		return status;
	if (family->members[0].process)
		return tp_command_refuse(TP_ERR_LIMIT, file,
		    "is of process %" PRIu64
		    " of a recording: --family takes the first process' trace, whose name has no "
		    "number at the end",
		    family->members[0].process);
	if (!family->opens[0]->trace.has_log)
		return tp_command_refuse(TP_ERR_NOT_FOUND, file,
		    "does not name its recording, so its family is not known: analyze it without "
		    "--family");
	return TP_EXIT_DONE;
}

int tp_open_family(
    struct tp_open_family *family, const char *file, const struct tp_open_options *options)
{
	struct tp_err err;
	struct names names = {0};
	*family = (struct tp_open_family){0};
	int status = TP_EXIT_DONE;
	if (find_names(&names, file, &err)) {
		status = tp_command_fail(&err);
		goto out;
	}
	family->opens = calloc(names.count + 1, sizeof(*family->opens));
	family->names = calloc(names.count + 1, sizeof(*family->names));
	family->members = calloc(names.count + 1, sizeof(*family->members));
	if (!family->opens || !family->names || !family->members) {
		status = tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory");
		goto out;
	}
	status = open_first(family, file, options);
	for (size_t i = 0; i < names.count && !status; i++) {
		if (belongs(family, &family->opens[0]->trace, names.items[i]) &&
		    add_member(family, names.items[i], options))
			leave_out(family);
	}
	if (!status) {
		find_first(family);
		warn_of_missing(family);
		if (family->count == 1)
			tp_command_warn(
			    "no trace of another process of this recording is next to '%s'", file);
	}
out:
	names_release(&names);
	return status;
}

void tp_open_family_release(struct tp_open_family *family)
{
	for (uint32_t i = 0; i < family->count; i++) {
		tp_open_trace_release(family->opens[i]);
		free(family->opens[i]);
		free(family->names[i]);
	}
	free(family->opens);
	free(family->names);
	free(family->members);
	*family = (struct tp_open_family){0};
}

const char *tp_open_family_refuses(const struct tp_open_options *options)
{
	return options->thread           ? "--thread"
	       : options->time_range     ? "--time-range"
	       : options->focus.count    ? "--focus"
	       : options->ignore.count   ? "--ignore"
	       : options->programs.count ? "--program"
					 : NULL;
}

void tp_open_family_warn(const struct tp_family *family)
{
	struct tp_buf buf;
	tp_buf_init(&buf);
	tp_family_add_heading(family, true, &buf);
	tp_command_warn_lines(buf.data);
	tp_buf_release(&buf);
}
