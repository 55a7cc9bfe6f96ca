// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After a link: which lines of the allowlist record nothing in the program that came out.
#include "driver.h"

#include "analyzer/symbols/build_faults.h"
#include "common/clean.h"
#include "allowlists/check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LISTS_MOST = 64, LIBRARIES_MOST = 64, SHOWN_MOST = 10 };

// Programs that a build makes to find out what the compiler can do: of no interest to anybody.
static bool is_probe(const char *output)
{
	static const char *const names[] = {"conftest", "cmTC_", NULL};
	static const char *const folders[] = {
	    "CMakeFiles/CMakeTmp", "CMakeFiles/CMakeScratch", "meson-private", NULL};
	const char *slash = strrchr(output, '/');
	const char *name = slash ? slash + 1 : output;
	for (const char *const *at = names; *at; at++)
		if (strncmp(name, *at, strlen(*at)) == 0)
			return true;
	char folder[TP_DRIVER_PATH_SIZE];
	if (!getcwd(folder, sizeof(folder)))
		folder[0] = '\0';
	for (const char *const *at = folders; *at; at++)
		if (strstr(folder, *at) || strstr(output, *at))
			return true;
	return false;
}

// -###: nothing has been linked.
static bool only_shows(int argc, char *const *argv)
{
	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "-###") == 0)
			return true;
	return false;
}

// The allowlists, as the plugin got them. The text is cut up.
static uint32_t split_lists(char *text, const char *lists[LISTS_MOST])
{
	uint32_t count = 0;
	char *rest;
	for (char *file = strtok_r(text, ":", &rest); file && count < LISTS_MOST;
	     file = strtok_r(NULL, ":", &rest))
		lists[count++] = file;
	return count;
}

// Where -lNAME is found among the folders of the command line: those of the system hold nothing of
// ours.
static bool find_library(
    const struct tp_driver_inputs *inputs, const char *name, char path[TP_DRIVER_PATH_SIZE])
{
	const char *end = inputs->folders.data + inputs->folders.size;
	for (const char *folder = inputs->folders.data; folder < end;
	     folder += strlen(folder) + 1) {
		const int size = snprintf(path, TP_DRIVER_PATH_SIZE, "%s/lib%s.so", folder, name);
		if (size < TP_DRIVER_PATH_SIZE && access(path, R_OK) == 0)
			return true;
	}
	return false;
}

// Set USED[i] for each line of the list that matches in a shared library that was linked.
static void match_libraries(
    const struct tp_driver_inputs *inputs, const struct tp_allowlist *list, bool *used)
{
	const char *end = inputs->libraries.data + inputs->libraries.size;
	for (const char *library = inputs->libraries.data; library < end;
	     library += strlen(library) + 1) {
		char path[TP_DRIVER_PATH_SIZE];
		const char *file = library;
		if (!strchr(library, '/') && !strstr(library, ".so")) {
			if (!find_library(inputs, library, path))
				continue;
			file = path;
		}
		struct tp_inventory inventory;
		struct tp_list_use use = {0};
		if (tp_inventory_open(&inventory, &file, 1, NULL) == 0 &&
		    tp_list_use_init(&use, list, &inventory, NULL) == 0)
			for (uint32_t i = 0; i < use.line_count; i++)
				used[i] |= use.lines[i].matched > 0;
		tp_list_use_release(&use);
		tp_inventory_release(&inventory);
	}
}

struct report {
	const struct tp_list_use *use;
	const char *output;
	const char *lists; // as a command line has them
	bool *used;        // lines that match in libraries
	bool shared;
	bool compiled; // in the same run, so that the plugin has warned as well; LTO always does
};

// Whether the plugin says the same: of a function that is gone for sure, by its name.
static bool is_said(const struct report *report, const struct tp_finding *finding,
    const struct tp_allowlist_line *line)
{
	if (!report->compiled || !line->exact || !finding->function_count ||
	    (finding->kind != TP_FINDING_INLINED && finding->kind != TP_FINDING_REMOVED))
		return false;
	const struct tp_inventory *inventory = report->use->inventory;
	return strcmp(inventory->functions[finding->functions[0]].linkage, "internal") == 0;
}

// Whether a finding is of use to somebody who has just linked.
static bool matters(const struct report *report, const struct tp_finding *finding)
{
	if (finding->line == TP_LINE_NONE || finding->severity == TP_SEVERITY_NOTE)
		return false;
	const struct tp_allowlist_line line = tp_allowlist_line(report->use->list, finding->line);
	if (!tp_category_instruments(line.category) || is_said(report, finding, &line))
		return false;
	if (finding->kind != TP_FINDING_NO_MATCH)
		return true;
	// Sources and modules of a list may be those of another program.
	return !report->shared && line.names_only && !report->used[finding->line];
}

static void print_finding(const struct report *report, const struct tp_finding *finding)
{
	const struct tp_allowlist_line line = tp_allowlist_line(report->use->list, finding->line);
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_addf_clean(&text, "%s:%" PRIu32 ":%" PRIu32 ": warning: %s\n", line.file, line.line,
	    line.column, finding->what);
	if (finding->remedy)
		tp_buf_addf_clean(&text, "%s:%" PRIu32 ":%" PRIu32 ": note: %s\n", line.file,
		    line.line, line.column, finding->remedy);
	fputs(text.data, stderr);
	tp_buf_release(&text);
}

// Whether any line that instruments something matches any function, here or in a library.
static bool concerns_program(const struct report *report)
{
	bool instruments = false;
	for (uint32_t i = 0; i < report->use->line_count; i++) {
		const struct tp_allowlist_line line = tp_allowlist_line(report->use->list, i);
		if (!tp_category_instruments(line.category))
			continue;
		instruments = true;
		if (report->use->lines[i].matched || report->used[i])
			return true;
	}
	return !instruments;
}

static void print_report(const struct report *report, const struct tp_list_check *check)
{
	if (report->use->line_count > 1 && !concerns_program(report)) {
		if (!report->shared)
			tp_command_warn(
			    "'%s': no line of %s matches any of its functions (--check=off if "
			    "that is intended)",
			    report->output, report->lists);
		return;
	}
	uint32_t shown = 0;
	uint32_t more = 0;
	for (uint32_t i = 0; i < check->count; i++) {
		if (!matters(report, &check->findings[i]))
			continue;
		if (shown < SHOWN_MOST) {
			print_finding(report, &check->findings[i]);
			shown++;
		} else {
			more++;
		}
	}
	if (more)
		tp_command_warn("%" PRIu32
				" more lines record nothing, or not everything; for all of them: "
				"teeperf allowlist check %s -- %s",
		    more, report->lists, report->output);
}

void tp_driver_check_faults(int argc, char *const *argv)
{
	struct tp_driver_inputs inputs;
	struct tp_build_faults faults = {0};
	tp_driver_inputs_read(&inputs, argc, argv);
	if (!is_probe(inputs.output) && !only_shows(argc, argv))
		tp_build_faults_read(&faults, inputs.output);
	for (int i = 0; i < TP_BUILD_FAULTS; i++) {
		char *text = tp_build_faults_text(&faults, i);
		if (text)
			tp_command_warn("'%s': %s", inputs.output, text);
		free(text);
	}
	tp_driver_inputs_release(&inputs);
}

void tp_driver_check(const struct tp_driver_plan *plan, int argc, char *const *argv)
{
	const char *text = getenv("TEEPERF_ALLOWLIST");
	struct tp_driver_inputs inputs;
	tp_driver_inputs_read(&inputs, argc, argv);
	char *files = text ? strdup(text) : NULL;
	struct tp_allowlist *list = NULL;
	struct tp_inventory inventory = {0};
	struct tp_list_use use = {0};
	struct tp_list_check check = {0};
	struct tp_buf lists;
	tp_buf_init(&lists);
	struct report report = {
	    .use = &use,
	    .output = inputs.output,
	    .shared = plan->shared,
	    .compiled = plan->compiles || plan->lto,
	};
	const char *names[LISTS_MOST];
	const char *const output = inputs.output;
	const uint32_t count = files ? split_lists(files, names) : 0;
	// The compiler has reported the list's faults; without an inventory nothing is known.
	if (!count || is_probe(output) || only_shows(argc, argv) ||
	    tp_allowlist_load(&list, names, count, NULL) ||
	    tp_inventory_open(&inventory, &output, 1, NULL) || !inventory.function_count ||
	    tp_list_use_init(&use, list, &inventory, NULL))
		goto out;
	for (uint32_t i = 0; i < count; i++)
		tp_buf_addf(&lists, "%s%s", i ? " " : "", names[i]);
	report.lists = lists.data;
	report.used = calloc((size_t)use.line_count + 1, sizeof(*report.used));
	if (!report.used)
		goto out;
	match_libraries(&inputs, list, report.used);
	const struct tp_list_check_options options = {
	    .lenient = {[TP_FINDING_AMBIGUOUS] = true,
		[TP_FINDING_SHADOWED] = true,
		[TP_FINDING_SUSPICIOUS] = true,
		[TP_FINDING_EMPTY] = true},
	};
	if (tp_list_check_init(&check, &use, &options, NULL) == 0)
		print_report(&report, &check);
out:
	free(report.used);
	free(files);
	tp_buf_release(&lists);
	tp_list_check_release(&check);
	tp_list_use_release(&use);
	tp_inventory_release(&inventory);
	tp_allowlist_free(list);
	tp_driver_inputs_release(&inputs);
}
