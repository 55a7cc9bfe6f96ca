// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf inventory: what the compiler saw of each function.
#include "cli/command/command.h"
#include "cli/allowlist/lists.h"
#include "cli/analyze/open_trace.h"
#include "allowlists/inventory/inventory.h"
#include "allowlists/inventory/build.h"
#include "analyzer/symbols/build_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_TPINV };

static const char *const formats[] = {"table", "json", "csv", "tpinv", NULL};
static const char *const sorts[] = {"instrs", "start", "loops", "calls", "name", "file", NULL};
static const char *const states[] = {
    "emitted", "partly", "inlined", "removed", "source", "all", NULL};

static int format;
static int sort;
static int state = 5; // all
static struct tp_inventory_view view = {.system = true};
static const char *limit_text;
static const char *output;
static const char *from_source;

static const struct tp_option options[] = {
    TP_OPT_CHOICE(0, "format", &format, formats, "FORMAT", "output format"),
    TP_OPT_STRING(0, "from-source", &from_source, "DIR",
	"before anything is compiled, read the sources in DIR/compile_commands.json with "
	"libclang"),
    TP_OPT_STRING(0, "function", &view.name, "GLOB",
	"show only functions whose linkage or demangled name matches GLOB"),
    TP_OPT_LIMIT(&limit_text),
    TP_OPT_OUTPUT(&output),
    TP_OPT_CHOICE(0, "sort", &sort, sorts, "KEY", "sort functions by KEY"),
    TP_OPT_CHOICE(0, "state", &state, states, "STATE", "show only functions in this state"),
    TP_OPT_BOOL(0, "system", &view.system,
	"also show functions from system headers (default; --no-system hides them)"),
    TP_OPT_END,
};

static void show(const struct tp_inventory *inventory, struct tp_buf *out)
{
	switch (format) {
	case FORMAT_JSON:
		tp_inventory_view_json(inventory, &view, out);
		break;
	case FORMAT_CSV:
		tp_inventory_view_csv(inventory, &view, out);
		break;
	case FORMAT_TPINV:
		tp_inventory_write(inventory, out);
		break;
	default:
		tp_inventory_view_table(inventory, &view, out);
		break;
	}
}

static void warn_source(void *context, const char *file, const char *text)
{
	(void)context;
	tp_command_warn("%s: %s", file, text);
}

// What the sources have, and what nobody can name before they are compiled.
static void note_source(const struct tp_from_source_counts *counts, uint32_t functions)
{
	tp_command_tell("%llu of %llu files read, %llu with errors: %u functions\n",
	    (unsigned long long)(counts->files - counts->lost), (unsigned long long)counts->files,
	    (unsigned long long)counts->erroneous, functions);
	tp_command_tell(
	    "without a name until compiled: %llu templates and their members, %llu lambdas, %llu "
	    "members that the compiler generates; left out: %llu functions of system headers\n",
	    (unsigned long long)counts->templates, (unsigned long long)counts->lambdas,
	    (unsigned long long)counts->implied, (unsigned long long)counts->system);
}

static int open_source(struct tp_inventory *inventory, struct tp_err *err)
{
	struct tp_from_source_counts counts = {0};
	const struct tp_from_source_options source = {.counts = &counts, .warn = warn_source};
	const int code = tp_inventory_from_source(inventory, from_source, &source, err);
	if (!code)
		note_source(&counts, inventory->function_count);
	return code;
}

// Functions that the inventory cannot have, since nothing has instrumented them.
static void warn_of_faults(int count, char **paths)
{
	struct tp_build_faults faults;
	for (int i = 0; i < count; i++) {
		tp_build_faults_read(&faults, paths[i]);
		char *text = tp_build_faults_text(&faults, TP_BUILD_FAULT_BITCODE);
		if (text)
			tp_command_warn("'%s': %s", paths[i], text);
		free(text);
	}
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	if (from_source && argc)
		return tp_options_usage(
		    "unexpected '%s': --from-source reads sources, not compiled files", argv[0]);
	if (argc < 1 && !from_source)
		return tp_options_usage(
		    "whose inventory? Name a program, library, object file or folder");
	for (int i = 0; i < argc && !status; i++)
		status = tp_keep_input(output, argv[i], NULL);
	if (status)
		return status;
	// Sources have no size after optimisation.
	view.sort = from_source && !sort ? TP_INVENTORY_SORT_START : (enum tp_inventory_sort)sort;
	view.width = output ? 0 : tp_terminal_width();
	tp_text_use_ascii(!tp_terminal_utf8());
	view.color = !output && tp_terminal_color();
	view.state = states[state + 1] ? state : -1;
	if (format == FORMAT_TPINV && (limit_text || view.name || !view.system || view.state >= 0))
		return tp_options_usage(
		    "--format tpinv writes the whole inventory and cannot filter it");
	if (!tp_parse_limit(limit_text, format == FORMAT_TABLE ? 40 : 0, &view.limit))
		return tp_options_usage("--limit: '%s' is not a whole number", limit_text);
	struct tp_inventory inventory;
	struct tp_err err;
	warn_of_faults(argc, argv);
	if (from_source
		? open_source(&inventory, &err)
		: tp_inventory_open(&inventory, (const char *const *)argv, (uint32_t)argc, &err))
		return tp_command_fail(&err);
	struct tp_buf out;
	tp_buf_init(&out);
	show(&inventory, &out);
	status = tp_write_out(&out, output);
	tp_buf_release(&out);
	tp_inventory_release(&inventory);
	return status;
}

const struct tp_command tp_cmd_inventory = {
    .name = "inventory",
    .summary = "show what the compiler saw of each function",
    .usage = "[options] PATH... | --from-source DIR",
    .description =
	"Show the functions of programs, libraries, object files, archives and *.tpinv files that\n"
	"'teeperf cc' compiled, and of all *.tpinv files in folders: their size before and after\n"
	"optimisation, where they were inlined, and how they are instrumented. With "
	"--from-source,\n"
	"read the functions from their sources instead: names, places and a rough size; of "
	"templates\n"
	"and lambdas, only the number. --format tpinv writes them all as one file, which can be "
	"read\n"
	"again.\n",
    .examples = "  teeperf inventory app\n"
		"  teeperf inventory --state inlined --no-system app\n"
		"  teeperf inventory --from-source build\n"
		"  teeperf inventory --format csv --sort file app libparse.so > functions.csv\n",
    .options = options,
    .run = run,
};
