// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was measured of a run, in memory and in its file: lines of fields with tabs in between.
#include "run.h"

#include "common/array.h"
#include "common/clean.h"
#include "common/out_file.h"
#include "common/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE "teeperf experiment result\t1\n"

enum { RESULT_BYTES_MOST = 4 << 20, FIELDS_MOST = 4 };

const char *const tp_run_statuses[] = {"done", "failed", "timed out", NULL};

void tp_measured_release(struct tp_measured *measured)
{
	free(measured->metrics);
	free(measured->notes);
	tp_arena_release(&measured->arena);
	*measured = (struct tp_measured){0};
}

static const char *keep(struct tp_measured *measured, const char *text)
{
	const char *copy = tp_arena_copy(&measured->arena, text, strlen(text));
	measured->failed |= !copy;
	return copy;
}

void tp_measured_add(struct tp_measured *measured, const char *name, const char *unit, double value)
{
	char fit[80];
	size_t size = 0;
	for (; name[size] && size < sizeof(fit) - 1; size++) {
		const char c = name[size];
		const bool plain =
		    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		fit[size] = plain ? c : '_';
	}
	fit[size] = 0;
	if (!isfinite(value))
		return;
	for (uint32_t i = 0; i < measured->metric_count; i++)
		if (strcmp(measured->metrics[i].name, fit) == 0)
			return;
	if (!TP_GROW(measured->metrics, measured->metric_room, measured->metric_count + 1)) {
		measured->failed = true;
		return;
	}
	const struct tp_metric metric = {keep(measured, fit), keep(measured, unit), value};
	if (metric.name && metric.unit)
		measured->metrics[measured->metric_count++] = metric;
}

void tp_measured_set(struct tp_measured *measured, const char *name, const char *unit, double value,
    const char *former)
{
	for (uint32_t i = 0; i < measured->metric_count; i++) {
		if (strcmp(measured->metrics[i].name, name))
			continue;
		const double old = measured->metrics[i].value;
		measured->metrics[i].value = value;
		if (former)
			tp_measured_add(measured, former, unit, old);
		return;
	}
	tp_measured_add(measured, name, unit, value);
}

void tp_measured_note(struct tp_measured *measured, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	const int size = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	tp_clean(text, size < (int)sizeof(text) ? (size_t)size : sizeof(text) - 1);
	for (uint32_t i = 0; i < measured->note_count; i++)
		if (strcmp(measured->notes[i], text) == 0)
			return;
	if (!TP_GROW(measured->notes, measured->note_room, measured->note_count + 1)) {
		measured->failed = true;
		return;
	}
	const char *copy = keep(measured, text);
	if (copy)
		measured->notes[measured->note_count++] = copy;
}

// ---- the file

int tp_measured_write(const struct tp_measured *measured, const char *folder, struct tp_err *err)
{
	char path[PATH_MAX];
	struct tp_replace replace;
	struct tp_buf out;
	int fd = -1;
	snprintf(path, sizeof(path), "%s/" TP_RESULT_FILE, folder);
	tp_buf_init(&out);
	tp_buf_add_string(&out, FIRST_LINE);
	tp_buf_addf(&out,
	    "key\t%016" PRIx64 "\nstatus\t%s\t%s\nstarted\t%s\nposition\t%" PRIu64 "\n",
	    measured->key, tp_run_statuses[measured->status], measured->how ? measured->how : "",
	    measured->started ? measured->started : "", measured->position);
	for (uint32_t i = 0; i < measured->metric_count; i++)
		tp_buf_addf(&out, "metric\t%s\t%s\t%.17g\n", measured->metrics[i].name,
		    measured->metrics[i].unit, measured->metrics[i].value);
	for (uint32_t i = 0; i < measured->note_count; i++)
		tp_buf_addf(&out, "note\t%s\n", measured->notes[i]);
	tp_buf_add_string(&out, "end\n");
	if (measured->failed || out.failed) {
		tp_buf_release(&out);
		return tp_err_memory(err, path);
	}
	int code = tp_replace_begin(&replace, path, &fd, err);
	if (!code) {
		// The disk has it before the name does: a result that is there is whole, also after
		// a power failure.
		const bool ok = tp_write_all(fd, out.data, out.size) && fsync(fd) == 0;
		const int error = errno;
		close(fd);
		code = tp_replace_end(&replace, ok, err);
		if (!ok)
			code = tp_err_system(err, error, path, "cannot write the result");
	}
	tp_buf_release(&out);
	return code;
}

static bool read_status(struct tp_measured *measured, const char *word)
{
	for (int i = 0; tp_run_statuses[i]; i++)
		if (strcmp(word, tp_run_statuses[i]) == 0) {
			measured->status = (enum tp_run_status)i;
			return true;
		}
	return false;
}

// Of a line that begins with WORD; unknown ones are those of a later version.
static bool read_line(struct tp_measured *measured, char *const *fields, int count)
{
	const char *word = fields[0];
	char *end = NULL;
	if (strcmp(word, "key") == 0 && count == 2) {
		measured->key = strtoull(fields[1], &end, 16);
		return !*end;
	}
	if (strcmp(word, "status") == 0 && count == 3) {
		measured->how = keep(measured, fields[2]);
		return read_status(measured, fields[1]);
	}
	if (strcmp(word, "started") == 0 && count == 2)
		measured->started = keep(measured, fields[1]);
	else if (strcmp(word, "position") == 0 && count == 2)
		measured->position = strtoull(fields[1], &end, 10);
	else if (strcmp(word, "note") == 0 && count == 2)
		tp_measured_note(measured, "%s", fields[1]);
	else if (strcmp(word, "metric") == 0 && count == 4) {
		const double value = strtod(fields[3], &end);
		if (*end || end == fields[3] || !*fields[1])
			return false;
		tp_measured_add(measured, fields[1], fields[2], value);
	}
	return true;
}

static bool read_text(struct tp_measured *measured, char *text)
{
	const size_t first = strlen(FIRST_LINE);
	bool ended = false;
	if (strncmp(text, FIRST_LINE, first))
		return false;
	char *rest = NULL;
	for (char *line = strtok_r(text + first, "\n", &rest); line && !ended;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *fields[FIELDS_MOST] = {line};
		int count = 1;
		for (char *tab; count < FIELDS_MOST && (tab = strchr(fields[count - 1], '\t'));) {
			*tab = 0;
			fields[count++] = tab + 1;
		}
		ended = strcmp(line, "end") == 0;
		if (!ended && !read_line(measured, fields, count))
			return false;
	}
	return ended && measured->how && measured->started;
}

int tp_measured_read(struct tp_measured *measured, const char *folder, struct tp_err *err)
{
	char path[PATH_MAX];
	struct tp_buf text;
	*measured = (struct tp_measured){0};
	snprintf(path, sizeof(path), "%s/" TP_RESULT_FILE, folder);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return tp_err_set(err, TP_ERR_NOT_FOUND, path, "there is no result");
	tp_buf_init(&text);
	int code = tp_read_all(&text, fd, path, "the result", RESULT_BYTES_MOST, err);
	close(fd);
	if (!code && !(text.size && read_text(measured, text.data)))
		code = tp_err_set(err, TP_ERR_NOT_FOUND, path, "this is not a complete result");
	if (!code && measured->failed)
		code = tp_err_memory(err, path);
	tp_buf_release(&text);
	return code;
}
