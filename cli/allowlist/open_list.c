// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What check, explain and diff share: lists, the inventories of programs, and profiles with costs.
#include "lists.h"

#include "analyzer/output/text.h"
#include "cli/driver/list_file.h"
#include "common/units.h"

#include <stdlib.h>
#include <string.h>
#include <teeperf/log.h>

// The operands behind "--".
static int count_programs(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return argc - i - 1;
	return 0;
}

bool tp_open_list_parse(struct tp_open_list_options *options, int *argc, char ***argv, int least,
    int most, const char *which, int *status)
{
	struct tp_option_list *list = &options->inventories;
	const int programs = count_programs(*argc, *argv);
	list->most = TP_OPEN_INVENTORIES_MAX;
	if (!tp_options_parse(argc, argv, status))
		return false;
	*argc -= programs;
	*status = TP_EXIT_DONE;
	for (int i = 0; i < programs && !*status; i++)
		*status = list->count < list->most ? tp_option_list_add(list, (*argv)[*argc + i])
						   : tp_options_usage("more than %d programs",
							 (int)TP_OPEN_INVENTORIES_MAX);
	if (!*status && (*argc < least || *argc > most))
		*status = tp_options_usage("%s", which);
	return !*status;
}

int tp_open_fail(const struct tp_err *err)
{
	tp_command_fail(err);
	return TP_EXIT_TROUBLE;
}

int tp_open_inventory(struct tp_inventory *inventory, const struct tp_open_list_options *options)
{
	*inventory = (struct tp_inventory){0};
	struct tp_err err;
	if (!options->inventories.count)
		return TP_EXIT_CLEAN;
	if (tp_inventory_open(
		inventory, options->inventories.items, options->inventories.count, &err))
		return tp_open_fail(&err);
	return TP_EXIT_CLEAN;
}

int tp_open_list(struct tp_allowlist **list, const char *const *files, uint32_t count)
{
	struct tp_err err;
	int status = TP_EXIT_CLEAN;
	*list = NULL;
	char(*paths)[TP_DRIVER_PATH_SIZE] = calloc(count, sizeof(*paths));
	const char **names = calloc(count, sizeof(*names));
	int code = paths && names ? 0 : tp_err_memory(&err, NULL);
	for (uint32_t i = 0; i < count && !code; i++) {
		code = tp_list_file_path(files[i], paths[i], &err);
		names[i] = paths[i];
	}
	if (!code)
		code = tp_allowlist_load(list, names, count, &err);
	if (code)
		status = tp_open_fail(&err);
	for (uint32_t i = 0; !code && i < tp_allowlist_warning_count(*list); i++) {
		tp_command_tell_place(tp_allowlist_warning(*list, i), "warning");
	}
	free(paths);
	free(names);
	return status;
}

// The workload of the trace that has been opened, and what its calls cost.
static int read_workload(struct tp_open_profile *profile, double event_ns, double time_ns,
    const struct tp_inventory *inventory, struct tp_err *err)
{
	const struct tp_analysis *analysis = &profile->trace.analysis;
	const struct teeperf_trace_clock *clock = &profile->trace.trace.clock;
	struct tp_workload *workload = &profile->workload;
	const bool timed = analysis->time.known && !analysis->timeless && analysis->counts.events;
	const int code = tp_workload_add_trace(workload, analysis, timed, err);
	if (code)
		return code;
	// A run that only counts needs no clock, which says nothing of how events will be timed.
	const bool clocked = profile->trace.trace.has_clock && clock->kind != TEEPERF_CLOCK_NONE;
	tp_cost_init(&profile->cost, clocked ? clock->kind : TEEPERF_CLOCK_TSC, event_ns <= 0);
	if (event_ns > 0) {
		profile->cost.event_ns = event_ns;
		profile->cost.source = TP_COST_GIVEN;
	}
	workload->time_ns = tp_workload_run_ns(workload);
	bool believed;
	if (timed && tp_workload_compensate(workload, &profile->cost, &believed))
		return tp_err_memory(err, NULL);
	if (time_ns > 0)
		workload->time_ns = time_ns;
	return tp_workload_add_inventory(workload, inventory, err);
}

int tp_open_profile(struct tp_open_profile *profile, const struct tp_inventory *inventory,
    const struct tp_open_list_options *options)
{
	*profile = (struct tp_open_profile){0};
	tp_workload_init(&profile->workload);
	if (!options->counts) {
		if (options->event_cost || options->time)
			return tp_options_usage(
			    "costs need calls: name a trace with --counts TRACE");
		return TP_EXIT_CLEAN;
	}
	struct tp_err err;
	double event_ns = 0;
	double time_ns = 0;
	if (options->event_cost && tp_units_ns(options->event_cost, &event_ns, &err))
		return tp_options_usage("--event-cost: %s", err.what);
	if (options->time && tp_units_ns(options->time, &time_ns, &err))
		return tp_options_usage("--time: %s", err.what);
	const struct tp_open_options none = {.raw = true};
	profile->is_there = true;
	if (tp_open_trace(&profile->trace, options->counts, &none))
		return TP_EXIT_TROUBLE;
	if (read_workload(profile, event_ns, time_ns, inventory, &err))
		return tp_open_fail(&err);
	return TP_EXIT_CLEAN;
}

void tp_open_profile_release(struct tp_open_profile *profile)
{
	tp_workload_release(&profile->workload);
	if (profile->is_there)
		tp_open_trace_release(&profile->trace);
}

void tp_open_add_overhead(struct tp_buf *out, double ns, double time_ns)
{
	char text[TP_TEXT_NUMBER];
	if (time_ns > 0)
		tp_buf_addf(
		    out, "%.2f %% of %s", 100 * ns / time_ns, tp_text_ns(text, (uint64_t)time_ns));
	else
		tp_buf_add_string(out, tp_text_ns(text, (uint64_t)ns));
}

bool tp_open_list_is_shipped(const char *file)
{
	char folder[TP_DRIVER_PATH_SIZE];
	if (tp_shipped_folder(folder, NULL))
		return false;
	const size_t size = strlen(folder);
	return strncmp(file, folder, size) == 0 && file[size] == '/';
}
