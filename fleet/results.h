/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Results of 'teeperf experiment' that are added to a fleet: for each task a set with a row for
 * each figure of each experiment, in the table experiments (docs/fleet.md). They are read from the
 * tables that the command has written: summary.parquet, measurements.parquet, runs.parquet, and
 * experiment.tsv.
 */
#ifndef TP_FLEET_RESULTS_H
#define TP_FLEET_RESULTS_H

#include "fleet/folder.h"

struct tp_fleet_results_watch {
	void *context;
	/* After each task. */
	void (*added)(void *context, const char *task, const struct tp_fleet_added *added);
};

/*
 * Add the results in FOLDER to the fleet in DIRECTORY, which is made if it is not there. 0;
 * TP_ERR_NOT_FOUND: FOLDER has no results; TP_ERR_FORMAT: they are damaged or of another program;
 * or another tp_error, of a task: those before it have been added.
 */
int tp_fleet_add_results(const char *directory, const char *folder,
    const struct tp_fleet_said *said, const struct tp_fleet_results_watch *watch,
    struct tp_err *err);

#endif
