// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What analyze and export share: open a trace, analyse it, say what is wrong with it, write out.
#include "open_trace.h"

#include "analyzer/view.h"
#include "recovery/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// When the progress line appears, and how often it changes.
#define PROGRESS_AFTER_MS 1000
#define PROGRESS_EVERY_MS 200

struct progress {
	int64_t start;
	int64_t last; // 0: nothing printed yet
};

static int64_t now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void show_progress(void *context, uint64_t done, uint64_t all)
{
	struct progress *progress = context;
	const int64_t now = now_ms();
	if (now - progress->start < PROGRESS_AFTER_MS || now - progress->last < PROGRESS_EVERY_MS)
		return;
	progress->last = now;
	fprintf(stderr, "\r\033[Kreading: %" PRIu64 " of %" PRIu64 " chunks", done, all);
}

static void warn_all(const struct tp_command *command, const struct tp_problems *problems)
{
	char text[1024];
	const uint32_t kept = tp_problems_kept(problems);
	for (uint32_t i = 0; i < kept; i++)
		tp_command_warn(
		    command, "%s", tp_err_format(&problems->kept[i], text, sizeof(text)));
	if (problems->count > kept)
		tp_command_warn(
		    command, "%" PRIu64 " more problems of this kind", problems->count - kept);
}

// What the recorder had not written when it was killed may still be in memory.
static void warn_of_log(const struct tp_command *command, const struct tp_tracefile *trace)
{
	if (trace->has_end || !trace->has_log)
		return;
	const char *file = trace->source.name;
	pid_t pid;
	switch (tp_recover_look(&trace->log, &pid)) {
	case TP_LOG_ORPHAN:
		tp_command_warn(command,
		    "more was recorded than '%s' holds, and its log is still there: 'teeperf recover "
		    "%s' adds it",
		    file, file);
		break;
	case TP_LOG_RUNNING:
		tp_command_warn(command,
		    "the recorder of '%s' was killed, but the program (process %d) runs on: when it "
		    "has ended, 'teeperf recover %s' adds the rest",
		    file, (int)pid, file);
		break;
	case TP_LOG_RECORDING:
		tp_command_warn(command, "'%s' is still being recorded", file);
		break;
	case TP_LOG_GONE:
		break;
	}
}

int tp_open_trace(struct tp_open_trace *open, const struct tp_command *command, const char *file,
    const struct tp_open_options *options)
{
	memset(open, 0, sizeof(*open));
	open->trace.source.fd = -1;
	struct progress progress = {.start = now_ms()};
	struct tp_analysis_options analysis = {
	    .context = &progress,
	    .compensate = options->compensate,
	    .symbols.debug_dirs = options->debug_dirs.items,
	    .symbols.debug_dir_count = options->debug_dirs.count,
	};
	if (options->thread) {
		char *end;
		errno = 0;
		const unsigned long number = strtoul(options->thread, &end, 10);
		if (errno || *end || end == options->thread || options->thread[0] == '-' ||
		    number > UINT32_MAX)
			return tp_options_usage(
			    command, "'%s' is not the number of a thread", options->thread);
		analysis.one_thread = true;
		analysis.thread = (uint32_t)number;
	}
	if (isatty(STDERR_FILENO))
		analysis.progress = show_progress;

	struct tp_err err;
	int code = tp_tracefile_open(&open->trace, file, &err);
	if (!code)
		code = tp_analysis_init(&open->analysis, &open->trace, &analysis, &err);
	if (progress.last)
		fputs("\r\033[K", stderr);
	warn_all(command, &open->trace.problems);
	warn_of_log(command, &open->trace);
	if (code)
		return tp_command_fail(command, &err);
	warn_all(command, &open->analysis.damage);
	warn_all(command, &open->analysis.notes);
	open->damaged = open->trace.problems.count || open->analysis.damage.count;
	return TP_EXIT_DONE;
}

void tp_open_trace_release(struct tp_open_trace *open)
{
	tp_analysis_release(&open->analysis);
	tp_tracefile_close(&open->trace);
}

void tp_open_trace_warn(const struct tp_open_trace *open, const struct tp_command *command)
{
	struct tp_buf buf;
	tp_buf_init(&buf);
	tp_view_add_health(&open->analysis, &buf);
	if (buf.size)
		fprintf(stderr, "teeperf %s: note: %s", command->name, buf.data);
	tp_buf_reset(&buf);
	tp_view_add_header(&open->analysis, true, &buf);
	for (const char *line = buf.data; *line;) {
		const char *end = strchr(line, '\n');
		tp_command_warn(command, "%.*s", (int)(end - line), line);
		line = end + 1;
	}
	tp_buf_release(&buf);
}

static int write_failed(const struct tp_command *command, const char *path)
{
	struct tp_err err;
	tp_err_system(&err, errno, path, "cannot write");
	return tp_command_fail(command, &err);
}

int tp_write_out(const struct tp_command *command, const struct tp_buf *buf, const char *path)
{
	struct tp_err err;
	if (buf->failed) {
		tp_err_set(
		    &err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory for the output");
		return tp_command_fail(command, &err);
	}
	// A file that grows too large is an error of write(), not the end of us.
	signal(SIGXFSZ, SIG_IGN);
	const bool to_stdout = !path || strcmp(path, "-") == 0;
	FILE *file = to_stdout ? stdout : fopen(path, "we");
	if (!file)
		return write_failed(command, path);
	bool ok = fwrite(buf->data, 1, buf->size, file) == buf->size;
	ok = fflush(file) == 0 && ok;
	const int saved = errno;
	if (!to_stdout)
		ok = fclose(file) == 0 && ok;
	if (!ok) {
		if (to_stdout)
			tp_command_drop_output();
		errno = saved;
		return write_failed(command, to_stdout ? "standard output" : path);
	}
	return TP_EXIT_DONE;
}
