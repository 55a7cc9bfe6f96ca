// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What analyze and export share: open a trace, analyse it, report its faults, write the output.
#include "open_trace.h"

#include "analyzer/output/completeness.h"
#include "analyzer/import/open.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/view.h"
#include "common/units.h"
#include "recorder/recover/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	const int64_t left =
	    done ? (now - progress->start) * (int64_t)(all - done) / (int64_t)done : 0;
	if (left >= 1000)
		fprintf(stderr, ", %" PRId64 ":%02" PRId64 " left", left / 60000, left / 1000 % 60);
}

void tp_open_warn_all(const struct tp_problems *problems)
{
	char text[1024];
	const uint32_t kept = tp_problems_kept(problems);
	for (uint32_t i = 0; i < kept; i++)
		tp_command_warn("%s", tp_err_format(&problems->kept[i], text, sizeof(text)));
	if (problems->count > kept)
		tp_command_warn("%" PRIu64 " more problems of this kind", problems->count - kept);
}

// What the recorder had not written when it was killed may still be in memory.
static void warn_of_log(const struct tp_tracefile *trace)
{
	if (trace->has_end || !trace->has_log)
		return;
	const char *file = trace->source.name;
	pid_t pid;
	switch (tp_recover_look(&trace->log, &pid)) {
	case TP_LOG_ORPHAN:
		tp_command_warn(
		    "'%s' lacks records that are still in its log: 'teeperf recover %s' adds them",
		    file, file);
		break;
	case TP_LOG_RUNNING:
		tp_command_warn(
		    "the recorder of '%s' was killed, but the program (process %d) runs on: when "
		    "it has ended, 'teeperf recover %s' adds the rest",
		    file, (int)pid, file);
		break;
	case TP_LOG_RECORDING:
		tp_command_warn("'%s' is still being recorded", file);
		break;
	case TP_LOG_GONE:
		break;
	}
}

// The fault of a time or a range of times, as the end of a message; NULL: none.
static const char *const too_large = "has a time that is too large: at most 9000000000s";
static const char *const no_range = "is not a range of times such as 1.5s..1600ms";

static const char *parse_time(const char *text, uint64_t *ns)
{
	struct tp_err err;
	double value = 0;
	if (tp_units_ns_or_zero(text, &value, &err))
		return no_range;
	if (!(value < 9e18))
		return too_large;
	*ns = (uint64_t)(value + 0.5);
	return NULL;
}

bool tp_open_parse_time(const char *text, uint64_t *ns)
{
	return !parse_time(text, ns);
}

// "FROM..TO", either of which may be missing.
static const char *parse_range(const char *text, uint64_t *from, uint64_t *to)
{
	const char *dots = strstr(text, "..");
	if (!dots || (size_t)(dots - text) > 63)
		return no_range;
	char first[64];
	memcpy(first, text, (size_t)(dots - text));
	first[dots - text] = '\0';
	const char *wrong = first[0] ? parse_time(first, from) : NULL;
	if (!wrong && dots[2])
		wrong = parse_time(dots + 2, to);
	if (wrong)
		return wrong;
	if (!first[0] && !dots[2])
		return no_range;
	if (!dots[2] || *to > *from)
		return NULL;
	return *to < *from ? "is a range that ends before it begins" : "is an empty range";
}

const char *const tp_time_words[] = {"wall", "cpu", "wait", "preempted", NULL};

// What the options say of the part of the trace that is wanted. Returns an exit code.
static int parse_filters(
    const struct tp_open_options *options, struct tp_analysis_options *analysis)
{
	const char *wrong = NULL;
	static const char by_marks[] = "mark:";
	if (options->time_range && !strncmp(options->time_range, by_marks, sizeof(by_marks) - 1)) {
		analysis->marks = options->time_range + sizeof(by_marks) - 1;
		if (!*analysis->marks || !strcmp(analysis->marks, ".."))
			wrong =
			    "names no mark: 'mark:A..B', 'mark:A..', 'mark:..B', or 'mark:A' for a "
			    "phase";
	} else if (options->time_range)
		wrong = parse_range(options->time_range, &analysis->from_ns, &analysis->to_ns);
	if (wrong)
		return tp_options_usage("--time-range: '%s' %s", options->time_range, wrong);
	if (options->min_time && !tp_open_parse_time(options->min_time, &analysis->least_ns))
		return tp_options_usage(
		    "--min-time: '%s' is not a time such as 10us", options->min_time);
	if (options->thread) {
		char *end;
		errno = 0;
		const unsigned long number = strtoul(options->thread, &end, 10);
		if (errno || *end || end == options->thread || options->thread[0] == '-' ||
		    number > UINT32_MAX)
			return tp_options_usage(
			    "'%s' is not the number of a thread", options->thread);
		analysis->one_thread = true;
		analysis->thread = (uint32_t)number;
	}
	for (uint32_t i = 0; i < options->fail_if.count; i++)
		if (!tp_note_rule_is_valid(options->fail_if.items[i]))
			return tp_options_usage(
			    "--fail-if: '%s' is not a note such as 'note:lost' or 'note:wrong'; "
			    "docs/troubleshooting.md lists them",
			    options->fail_if.items[i]);
	return TP_EXIT_DONE;
}

int tp_open_check(const struct tp_open_options *options)
{
	struct tp_analysis_options analysis = {0};
	return parse_filters(options, &analysis);
}

// Why --strict makes it a failure.
static void tell_incomplete(const struct tp_analysis *analysis)
{
	struct tp_buf text;
	tp_buf_init(&text);
	tp_completeness_add_text(analysis, &text);
	tp_command_warn("--strict: '%s' is %s", analysis->trace->source.name,
	    text.data ? text.data : "incomplete");
	tp_buf_release(&text);
}

// The costs of options->costs, if they are asked for. 0 or a negative tp_error.
static int measure_costs(struct tp_open_trace *open, const struct tp_open_options *options,
    struct tp_analysis_options *analysis, struct tp_err *err)
{
	const struct tp_analysis_options plain = {
	    .workers = analysis->workers, .symbols = analysis->symbols};
	struct tp_tracefile trace = {.source.fd = -1};
	struct tp_analysis measured = {0};
	if (!options->costs || options->raw)
		return 0;
	int code =
	    tp_import_open(&trace, options->costs, &(struct tp_original_options){0}, NULL, 0, err);
	if (!code && trace.has_clock && open->trace.has_clock &&
	    trace.clock.kind != open->trace.clock.kind)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, options->costs,
		    "was recorded with another clock than '%s': give both the same '--clock'",
		    open->trace.source.name);
	if (!code && trace.problems.count)
		code = tp_err_set(err, trace.problems.kept[0].code, options->costs,
		    "is damaged, so its costs may be wrong: record it again with 'teeperf record "
		    "--calibrate'; the first problem: %s",
		    trace.problems.kept[0].what);
	if (!code)
		code = tp_analysis_init(&measured, &trace, &plain, err);
	if (!code)
		code = tp_measured_costs_init(&open->costs, &measured, err);
	tp_analysis_release(&measured);
	tp_tracefile_close(&trace);
	analysis->costs = &open->costs;
	return code;
}

// Analyse the trace; KEPT is NULL where all of it is to be read.
static int analyse(struct tp_open_trace *open, const struct tp_open_kept *options,
    struct tp_kept *kept, struct tp_analysis_options analysis, struct tp_err *err)
{
	analysis.kept = kept;
	// Before the rest: the kept state ends where the last look did.
	if (options && options->last && options->replay.until) {
		struct tp_analysis_options last = analysis;
		last.since = options->replay.until;
		open->has_last = true;
		const int code = tp_analysis_init(&open->since_last, &open->trace, &last, err);
		if (code)
			return code;
	}
	return tp_analysis_init(&open->analysis, &open->trace, &analysis, err);
}

// Open and analyse FILE; DEFERS as struct tp_tracefile has it.
static int read_trace(struct tp_open_trace *open, const char *file,
    const struct tp_open_options *options, const struct tp_original_options *original,
    struct tp_analysis_options analysis, bool defers, struct tp_open_kept *kept, struct tp_err *err)
{
	const struct tp_buf *more = options->more;
	int code = tp_import_begin(
	    &open->trace, file, original, more ? more->data : NULL, more ? more->size : 0, err);
	open->trace.defers = !code && defers;
	if (!code && options->kept)
		open->trace.source.read_bytes = &options->kept->read_bytes;
	if (!code && kept && !tp_source_remember(&open->trace.source, &kept->memo))
		tp_kept_forget(&kept->replay);
	if (!code)
		code = tp_tracefile_load(&open->trace, err);
	if (!code && !kept && open->trace.defers && open->trace.problems.count)
		return 0; // it is not whole
	if (!code)
		code = measure_costs(open, options, &analysis, err);
	if (!code)
		code = analyse(open, options->kept, kept ? &kept->replay : NULL, analysis, err);
	return code;
}

void tp_open_kept_release(struct tp_open_kept *kept)
{
	tp_kept_release(&kept->replay);
	tp_source_memo_release(&kept->memo);
}

// Read only the new part. False: there is damage, or an error; then the whole trace must be read.
static bool read_new(struct tp_open_trace *open, const char *file,
    const struct tp_open_options *options, const struct tp_original_options *original,
    const struct tp_analysis_options *analysis)
{
	struct tp_open_kept *kept = options->kept;
	struct tp_err ignored;
	const int code = read_trace(open, file, options, original, *analysis, true, kept, &ignored);
	if (!code && !open->analysis.damage.count)
		return true;
	tp_open_trace_release(open);
	memset(open, 0, sizeof(*open));
	open->trace.source.fd = -1;
	tp_kept_forget(&kept->replay);
	tp_source_memo_release(&kept->memo);
	return false;
}

int tp_open_trace(
    struct tp_open_trace *open, const char *file, const struct tp_open_options *options)
{
	memset(open, 0, sizeof(*open));
	open->trace.source.fd = -1;
	struct progress progress = {.start = now_ms()};
	struct tp_analysis_options analysis = {
	    .context = &progress,
	    .compensate = !options->raw,
	    .fine_histograms = options->fine_histograms,
	    .time = (enum tp_time)options->time,
	    .depth = options->depth,
	    .most_paths =
		options->max_paths < UINT32_MAX ? (uint32_t)options->max_paths : UINT32_MAX,
	    .focus = options->focus.items,
	    .focus_count = options->focus.count,
	    .ignore = options->ignore.items,
	    .ignore_count = options->ignore.count,
	    .symbols.debug_dirs = options->debug_dirs.items,
	    .symbols.debug_dir_count = options->debug_dirs.count,
	    .symbols.debuginfod = options->debuginfod,
	    .symbols.no_cache = !options->symbol_cache,
	};
	const int status = parse_filters(options, &analysis);
	if (status)
		return status;
	if (isatty(STDERR_FILENO) && !options->quiet)
		analysis.progress = show_progress;
	if (options->progress) {
		analysis.progress = options->progress;
		analysis.context = options->progress_context;
	}

	const struct tp_original_options original = {
	    .programs = options->programs.items,
	    .program_count = options->programs.count,
	    .symbols = analysis.symbols,
	};
	struct tp_err err;
	// Most traces are whole: they are checked while they are replayed, and read once.
	int code = 0;
	const bool is_new = options->kept && read_new(open, file, options, &original, &analysis);
	if (!is_new)
		code = read_trace(open, file, options, &original, analysis, true, NULL, &err);
	if (!is_new && !tp_tracefile_is_whole(&open->trace)) {
		tp_open_trace_release(open);
		open->has_last = false;
		code = read_trace(open, file, options, &original, analysis, false, NULL, &err);
	}
	if (!code && options->kept)
		options->kept->replay.until = tp_analysis_last(&open->analysis);
	if (progress.last)
		fputs("\r\033[K", stderr);
	open->damaged = open->trace.problems.count || open->analysis.damage.count;
	const bool incomplete = !code && !tp_analysis_is_complete(&open->analysis);
	open->damaged |= options->strict && incomplete;
	if (options->quiet && code)
		*options->quiet = err;
	if (options->quiet)
		return code ? TP_EXIT_FAILED : TP_EXIT_DONE;
	tp_open_warn_all(&open->trace.problems);
	tp_open_warn_all(&open->trace.notes);
	warn_of_log(&open->trace);
	if (code)
		return tp_command_fail(&err);
	tp_open_warn_all(&open->analysis.damage);
	tp_open_warn_all(&open->analysis.notes);
	if (options->strict && incomplete)
		tell_incomplete(&open->analysis);
	open->damaged |= tp_open_has_notes(&open->analysis, &options->fail_if);
	// The note 'empty' says why.
	open->damaged |=
	    options->time_range && !open->analysis.function_count && !open->analysis.counts.events;
	return TP_EXIT_DONE;
}

void tp_open_trace_release(struct tp_open_trace *open)
{
	if (open->has_last)
		tp_analysis_release(&open->since_last);
	tp_analysis_release(&open->analysis);
	tp_measured_costs_release(&open->costs);
	tp_tracefile_close(&open->trace);
}

bool tp_open_has_notes(const struct tp_analysis *analysis, const struct tp_option_list *rules)
{
	struct tp_notes notes;
	bool found = false;
	if (!rules->count)
		return false;
	tp_notes_init(&notes, analysis);
	for (uint32_t i = 0; i < notes.count; i++)
		for (uint32_t j = 0; j < rules->count; j++)
			if (tp_note_rule_matches(rules->items[j], &notes.items[i])) {
				const struct tp_note *note = &notes.items[i];
				tp_command_tell("failed by --fail-if note:%s: %s%s%s\n",
				    note->kind->id, note->text, note->kind->remedy[0] ? "; " : "",
				    note->kind->remedy);
				found = true;
				break;
			}
	// What cannot be known has to fail, too.
	found |= notes.failed;
	tp_notes_release(&notes);
	return found;
}

void tp_open_trace_warn(const struct tp_open_trace *open)
{
	struct tp_buf buf;
	tp_buf_init(&buf);
	tp_view_add_health(&open->analysis, &buf);
	if (buf.size)
		tp_command_tell("note: %s", buf.data);
	tp_buf_reset(&buf);
	tp_view_add_header(&open->analysis, true, &buf);
	tp_command_warn_lines(buf.data);
	tp_buf_release(&buf);
}

static bool is_same(const struct stat *output, const char *input)
{
	struct stat it;
	return input && stat(input, &it) == 0 && it.st_dev == output->st_dev &&
	       it.st_ino == output->st_ino;
}

int tp_keep_input(const char *output, const char *input, const char *other)
{
	struct stat it;
	if (!output || strcmp(output, "-") == 0 || stat(output, &it) != 0 || !S_ISREG(it.st_mode) ||
	    (!is_same(&it, input) && !is_same(&it, other)))
		return TP_EXIT_DONE;
	return tp_command_refuse(TP_ERR_LIMIT, output,
	    "is an input, and would be overwritten: give another name with -o");
}

void tp_stdout_open(struct tp_out_file *out)
{
	// A file that grows too large is an error of write(), not the end of us.
	signal(SIGXFSZ, SIG_IGN);
	tp_out_file_from_fd(out, STDOUT_FILENO, "standard output");
}

int tp_stdout_close(struct tp_out_file *out, int code, const struct tp_err *err)
{
	struct tp_err close_err;
	const int closed = tp_out_file_close(out, &close_err);
	if (code)
		return tp_command_fail(err);
	return closed ? tp_command_fail(&close_err) : TP_EXIT_DONE;
}

int tp_write_out(const struct tp_buf *buf, const char *path)
{
	struct tp_err err;
	if (buf->failed)
		return tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory for the output");
	// A file that grows too large is an error of write(), not the end of us.
	signal(SIGXFSZ, SIG_IGN);
	if (!path || strcmp(path, "-") == 0) {
		const bool wrote = fwrite(buf->data, 1, buf->size, stdout) == buf->size;
		if (fflush(stdout) == 0 && wrote)
			return TP_EXIT_DONE;
		tp_err_system(&err, errno, "standard output", "cannot write");
		tp_command_drop_output();
		return tp_command_fail(&err);
	}
	struct tp_out_file out;
	int code = tp_out_file_replace(&out, path, &err);
	if (!code) {
		tp_buf_add(&out.buf, buf->data, buf->size);
		code = tp_out_file_close(&out, &err);
	}
	return code ? tp_command_fail(&err) : TP_EXIT_DONE;
}
