// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf export: write the profile in a form that other programs read.
#include "analyzer/output/format/export.h"
#include "analyzer/output/format/slices.h"
#include "cli/command/command.h"
#include "cli/analyze/open_family.h"
#include "cli/analyze/open_trace.h"
#include "cli/fleet/push.h"
#include "common/out_file.h"
#include "analyzer/query/query.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const weights[] = {"self", "calls", NULL};

static const char *format;
static const char *output;
static bool list;
static int weight = -1; // not said
static bool calls;
static const char *split;
static bool family;
static const char *least_pixels;
static const char *least_share;
static const char *baseline;
static struct tp_problems export_notes;
static struct tp_export_options wanted = {.notes = &export_notes, .least_share = 0.005};
static const struct tp_export *export; // that was asked for
static struct tp_open_options open_options = {.symbol_cache = true};
static struct tp_push_options push = {.kind = -1};

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "format", &format, "FORMAT", "write this format; see --list"),
    TP_OPT_BOOL(0, "list", &list, "list the formats and exit"),
    TP_OPT_STRING('o', "output", &output, "OUT",
	"write to OUT, or to standard output if OUT is - (default: standard output for folded "
	"and csv, and where it is redirected into a file; else FILE with the format's suffix)"),
    TP_OPT_CHOICE(0, "weight", &weight, weights, "WEIGHT",
	"weigh call paths by self time (default) or by calls"),
    TP_OPT_BOOL(
	0, "calls", &calls, "in speedscope, write single calls in order, not sums per call path"),
    TP_OPT_STRING(0, "split", &split, "TIME",
	"in formats with single calls, write one file per TIME: OUT.0001, OUT.0002, ..."),
    TP_OPT_BOOL(0, "family", &family,
	"in folded, write all processes of a recording with --follow-fork, FILE and every "
	"FILE.PID, each below its own frame"),
    TP_OPT_NEEDS("--format flamegraph"),
    TP_OPT_BOOL(0, "icicle", &wanted.icicle, "in a flame graph, put the program at the top"),
    TP_OPT_BOOL(0, "inverted", &wanted.inverted,
	"in a flame graph, start from the functions that use the time and stack their callers on "
	"them"),
    TP_OPT_STRING(0, "baseline", &baseline, "TRACE",
	"in a flame graph, colour frames by the change since TRACE"),
    TP_OPT_STRING(0, "min-width", &least_pixels, "PIXELS",
	"in a flame graph, omit narrower frames (default: 0.2)"),
    TP_OPT_NEEDS("--format dot"),
    TP_OPT_STRING(0, "min-share", &least_share, "PERCENT",
	"in dot, omit functions with less of all time, and calls with a fifth of that (default: "
	"0.5)"),
    TP_OPT_NEEDS(NULL),
    TP_PUSH_OPTIONS(push),
    TP_OPT_NEEDS(NULL),
    TP_OPEN_OPTIONS(open_options),
    TP_OPEN_FAIL_IF(open_options),
    TP_OPT_END,
};

// Export number I of the analyzer's and then SQL's; NULL: there are no more.
static const struct tp_export *get_export(size_t i)
{
	size_t count = 0;
	while (tp_exports()[count])
		count++;
	return i == count ? &tp_export_sqlite : i < count ? tp_exports()[i] : NULL;
}

static const struct tp_export *find_export(const char *name)
{
	for (size_t i = 0; get_export(i); i++)
		if (strcmp(get_export(i)->name, name) == 0)
			return get_export(i);
	return NULL;
}

static int print_formats(void)
{
	for (size_t i = 0; get_export(i); i++)
		printf("%-17s  %s\n", get_export(i)->name, get_export(i)->summary);
	return TP_EXIT_DONE;
}

static int unknown_format(void)
{
	struct tp_buf names;
	tp_buf_init(&names);
	for (size_t i = 0; get_export(i); i++)
		tp_buf_addf(&names, "%s%s", i ? ", " : "", get_export(i)->name);
	const int status =
	    format
		? tp_options_usage("unknown format '%s'; expected one of: %s", format, names.data)
		: tp_options_usage("which format? give --format with one of: %s", names.data);
	tp_buf_release(&names);
	return status;
}

// The export that was asked for by name, in the form that was asked for. Returns an exit code.
static int choose_export(void)
{
	if (format && strcmp(format, "speedscope-events") == 0) {
		tp_command_warn(
		    "'speedscope-events' is an old name that the next release will not have: use "
		    "--format speedscope --calls");
		format = "speedscope";
		calls = true;
	}
	export = format ? find_export(format) : NULL;
	if (!export)
		return unknown_format();
	if (calls && !export->calls)
		return tp_options_usage(
		    export->slices ? "--calls: '%s' has single calls anyway"
				   : "--calls: '%s' cannot have single calls; speedscope can",
		    format);
	if (calls)
		export = export->calls;
	if (open_options.time && (export->slices || strcmp(export->name, "csv") == 0))
		return tp_options_usage(
		    "--time: '%s' shows single calls, with all their time", export->name);
	return TP_EXIT_DONE;
}

// What was asked for; without a clock calls are all there is.
static int choose(const struct tp_open_trace *open, const char *file)
{
	if (weight >= 0)
		wanted.weight = (enum tp_weight)weight;
	if (!open->analysis.timeless || export->tables)
		return TP_EXIT_DONE;
	if (export->slices)
		return tp_command_refuse(TP_ERR_NOT_FOUND, file,
		    "recorded without a clock, and this format needs times");
	if (weight == TP_WEIGHT_SELF)
		return tp_command_refuse(TP_ERR_NOT_FOUND, file,
		    "recorded without a clock, so there are no times: use --weight calls");
	if (weight < 0)
		tp_command_warn(
		    "recorded without a clock: call paths are weighted by calls, as with --weight "
		    "calls");
	wanted.weight = TP_WEIGHT_CALLS;
	return TP_EXIT_DONE;
}

// What the process is called in an export of several: its program, its id and, after a dash, its
// number among those of this id.
static void add_process_name(
    const struct tp_open_family *members, uint32_t index, struct tp_buf *out)
{
	const struct tp_family_member *member = &members->members[index];
	tp_buf_add_string(out, tp_tracefile_program(member->analysis->trace));
	if (index)
		tp_buf_addf(out, " %s", members->names[index] + strlen(members->names[0]) + 1);
	else if (member->process)
		tp_buf_addf(out, " %" PRIu64, member->process);
}

static bool is_stdout(const char *path)
{
	return !path || !*path || strcmp(path, "-") == 0;
}

// Export to PATH, of all MEMBERS if there are any, else of the ANALYSIS.
static int write_file(
    const struct tp_analysis *analysis, const struct tp_open_family *members, const char *path)
{
	struct tp_out_file out;
	struct tp_err err;
	struct tp_buf name;
	int code = 0;
	if (is_stdout(path))
		tp_out_file_from_fd(&out, STDOUT_FILENO, "standard output");
	else
		code = tp_out_file_replace(&out, path, &err);
	if (code)
		return tp_command_fail(&err);
	tp_buf_init(&name);
	if (!members)
		code = tp_export_render(export, analysis, &wanted, &out.buf, &err);
	for (uint32_t i = 0; members && i < members->count && !code; i++) {
		struct tp_export_options its = wanted;
		tp_buf_reset(&name);
		add_process_name(members, i, &name);
		out.buf.failed |= name.failed;
		its.process = name.data;
		code = tp_export_render(export, members->members[i].analysis, &its, &out.buf, &err);
	}
	tp_buf_release(&name);
	if (code)
		tp_out_file_drop(&out);
	else
		code = tp_out_file_close(&out, &err);
	return code ? tp_command_fail(&err) : TP_EXIT_DONE;
}

// Whether standard output is redirected into an empty file of its own: not a log, into which
// standard error or earlier commands write, too.
static bool has_own_file(void)
{
	struct stat out;
	struct stat err;
	return fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode) && out.st_size == 0 &&
	       (fstat(STDERR_FILENO, &err) != 0 || err.st_dev != out.st_dev ||
		   err.st_ino != out.st_ino);
}

// Whether DIRECTORY, which exists, has anything in it.
static bool is_empty(const char *directory)
{
	DIR *dir = opendir(directory);
	bool empty = dir != NULL;
	for (const struct dirent *entry; dir && (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			empty = false;
	if (dir)
		closedir(dir);
	return empty;
}

static int make_directory(const char *path, bool reuse, struct tp_err *err)
{
	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return tp_err_system(err, errno, path, "cannot make the directory");
	if (reuse || is_empty(path))
		return 0;
	return tp_err_set(err, TP_ERR_LIMIT, path,
	    "exists and is not an empty directory: remove it, or give another -o");
}

// Write any export but a single file that is written from front to back.
static int write_named(const struct tp_analysis *analysis, const char *path)
{
	struct tp_err err;
	int code;
	if (is_stdout(path))
		return tp_command_refuse(TP_ERR_NOT_FOUND, NULL,
		    split ? "several files cannot go to standard output: name them with -o"
		    : export->render_file
			? "this format is not written from front to back and cannot go to standard "
			  "output: name a file with -o"
			: "this format is a directory and cannot go to standard output: name it "
			  "with -o");
	if (split) {
		code = tp_slices_split(export->slices, analysis, &wanted, path, &err);
	} else if (export->render_file) {
		code = export->render_file(analysis, &wanted, path, &err);
	} else {
		code = make_directory(path, export->tables, &err);
		if (!code)
			code = tp_export_render_directory(export, analysis, &wanted, path, &err);
	}
	return code ? tp_command_fail(&err) : TP_EXIT_DONE;
}

// What the output has of single calls that is not as it might seem.
static void note_calls(const struct tp_analysis *analysis)
{
	if (analysis->compensation.known)
		tp_command_warn("times are as recorded, including the cost of recording");
	if (analysis->counts.contexts)
		tp_command_warn(
		    "calls whose stack was left and resumed appear in parts, and count more than "
		    "once");
	if (split)
		tp_command_warn("calls that span two files appear in both");
	if (analysis->counted_count || analysis->sampled_count || analysis->left_out_count ||
	    analysis->unscaled_count)
		tp_command_warn("calls that were only counted are not in the output");
}

// Returns an exit code.
static int choose_share(void)
{
	char *end;
	if (!least_share)
		return TP_EXIT_DONE;
	wanted.least_share = strtod(least_share, &end) / 100;
	if (end == least_share || *end || !(wanted.least_share >= 0) || wanted.least_share > 1)
		return tp_options_usage(
		    "--min-share: '%s' is not a percentage such as 0.5", least_share);
	return TP_EXIT_DONE;
}

// Options of flame graphs. Returns an exit code.
static int choose_flame(void)
{
	if (wanted.inverted && baseline)
		return tp_options_usage("--inverted and --baseline cannot be combined");
	if (least_pixels) {
		char *end;
		wanted.least_pixels = strtod(least_pixels, &end);
		if (end == least_pixels || *end || !(wanted.least_pixels > 0) ||
		    wanted.least_pixels > 10000)
			return tp_options_usage(
			    "--min-width: '%s' is not a number of pixels such as 0.5",
			    least_pixels);
	}
	return TP_EXIT_DONE;
}

// The trace to compare with, by the same options. Returns an exit code.
static int open_baseline(struct tp_open_trace *other, const struct tp_open_trace *open)
{
	const int status = tp_open_trace(other, baseline, &open_options);
	if (status)
		return status;
	tp_open_trace_warn(other);
	if (other->analysis.compensation.applied != open->analysis.compensation.applied)
		tp_command_warn(
		    "only one of the traces has times as recorded: use --raw to compare them");
	wanted.baseline = &other->analysis;
	return TP_EXIT_DONE;
}

// All processes of a recording into one file. Returns an exit code.
static int export_family(const char *file)
{
	struct tp_open_family members;
	int status = tp_open_family(&members, file, &open_options);
	if (status) {
		tp_open_family_release(&members);
		return status;
	}
	const struct tp_family shown = {
	    .members = members.members, .count = members.count, .left_out = members.left_out};
	tp_open_family_warn(&shown);
	status = choose(members.opens[0], file);
	for (uint32_t i = 0; i < members.count && !status; i++)
		status = tp_keep_input(output, members.names[i], NULL);
	// A file that grows too large is an error of write(), not the end of us.
	signal(SIGXFSZ, SIG_IGN);
	if (!status)
		status = write_file(NULL, &members, output);
	if (!status && members.damaged)
		status = TP_EXIT_FAILED;
	tp_open_family_release(&members);
	return status;
}

// Whether the options go together, and with the export that was chosen. Returns an exit code.
static int check_options(void)
{
	if (weight >= 0 && (export->slices || export->tables))
		return tp_options_usage(
		    export->slices ? "--weight: '%s' has single calls, which have no weight"
				   : "--weight: '%s' has both calls and times",
		    format);
	if (split && (!tp_open_parse_time(split, &wanted.split_ns) || !wanted.split_ns))
		return tp_options_usage("--split: '%s' is not a time such as 100ms", split);
	if (split && !export->slices)
		return tp_options_usage(
		    export->calls
			? "--split: '%s' has single calls only with --calls, so it cannot be split"
			: "--split: '%s' has no single calls, so it cannot be split",
		    format);
	int status = choose_share();
	if (!status)
		status = choose_flame();
	if (!status)
		status = tp_push_check(&push, export);
	if (status)
		return status;
	if (family && !export->families)
		return tp_options_usage(
		    "--family: '%s' holds a single trace; folded can hold several processes",
		    format);
	if (family && push.server.url)
		return tp_options_usage(
		    "--push: a server takes one process at a time, not a --family");
	if (push.server.url && output)
		return tp_options_usage(
		    "--push sends the output instead of writing it: leave -o out");
	if (family && tp_open_family_refuses(&open_options))
		return tp_options_usage(
		    "%s is for a single trace: it cannot be combined with --family",
		    tp_open_family_refuses(&open_options));
	return TP_EXIT_DONE;
}

static int export_one(const char *file)
{
	struct tp_open_trace open;
	struct tp_open_trace other = {.trace.source.fd = -1};
	struct tp_buf path;
	tp_buf_init(&path);
	int status = tp_open_trace(&open, file, &open_options);
	if (status)
		goto out;
	tp_open_trace_warn(&open);
	if (export->slices)
		note_calls(&open.analysis);
	status = choose(&open, file);
	if (!status && baseline)
		status = open_baseline(&other, &open);
	if (push.server.url) {
		status = status ? status : tp_push_export(&push, export, &open.analysis, &wanted);
		goto done;
	}
	const bool whole = split || export->render_file || tp_export_is_directory(export);
	if (output)
		tp_buf_add_string(&path, output);
	else if (export->suffix && (whole || !has_own_file()))
		tp_buf_addf(&path, "%s%s", file, export->suffix);
	// Without the path it would go to standard output.
	if (!status && path.failed)
		status = tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory");
	if (!status && path.size)
		status = tp_keep_input(path.data, file, baseline);
	if (status)
		goto out;
	// A file that grows too large is an error of write(), not the end of us.
	signal(SIGXFSZ, SIG_IGN);
	if (whole)
		status = write_named(&open.analysis, path.data);
	else
		status = write_file(&open.analysis, NULL, path.data);
done:
	tp_open_warn_all(&export_notes);
	if (!status && !output && path.size)
		tp_command_tell(
		    "wrote '%s%s'\n", path.data, split ? ".0001' and so on, those with calls" : "");
	if (!status && (open.damaged || other.damaged))
		status = TP_EXIT_FAILED;
out:
	tp_buf_release(&path);
	tp_open_trace_release(&open);
	tp_open_trace_release(&other);
	return status;
}

static int run(int argc, char **argv)
{
	if (list)
		return print_formats();
	int status = tp_default_trace(&argc, &argv, "only one trace at a time");
	if (!status)
		status = choose_export();
	if (!status)
		status = check_options();
	if (status)
		return status;
	// Single calls are shown as recorded: what all calls together have cost cannot be taken off
	// one.
	if (export->slices && !family)
		open_options.raw = true;
	return family ? export_family(argv[0]) : export_one(argv[0]);
}

const struct tp_command tp_cmd_export = {
    .name = "export",
    .summary = "convert a recorded profile for other programs",
    .usage = "--format FORMAT [options] [FILE]",
    .operands = TP_OPERANDS_TRACES,
    .description =
	"Convert the profile in the trace FILE: to folded stacks, to a flame graph (one SVG file "
	"with\n"
	"search and zoom that opens in any browser without network access), or to another format "
	"of\n"
	"--list.\n"
	"\n"
	"With --push, send the result to a server instead: pprof to Pyroscope or Parca, with the\n"
	"labels service_name (the program), host, and those of --label. Each push adds to the\n"
	"server's data, so push a recording only once.\n",
    .examples =
	"teeperf export --format flamegraph teeperf.trace\n"
	"teeperf export --format folded teeperf.trace > teeperf.folded\n"
	"teeperf export --format flamegraph --baseline before.trace after.trace\n"
	"teeperf export --format folded --family teeperf.trace > teeperf.folded\n"
	"teeperf export --format pprof --push http://localhost:4040 --label environment=canary "
	"teeperf.trace\n"
	"teeperf export --format pprof --push https://parca.example.com --server parca "
	"--token-file ~/.token teeperf.trace\n"
	"teeperf export --list\n",
    .options = options,
    .run = run,
};
